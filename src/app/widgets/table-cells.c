// SPDX-License-Identifier: GPL-3.0-or-later

/* How columns look. */

#include "app/widgets/table-cells.h"

#include "app/charts/palette.h"
#include "app/main/state.h"
#include "app/widgets/cut-text.h"
#include "render/render.h"
#include "text/text.h"

#include <glib/gi18n.h>
#include <string.h>

static const struct
{
  ColumnKind kind;
  int width; /* px */
} widths[] = {
  { COLUMN_DURATION, 84 }, { COLUMN_BYTES, 80 },  { COLUMN_REAL, 72 },
  { COLUMN_QUANTITY, 88 }, { COLUMN_GRAPH, 124 },
};
#define SHARE_PADDING 8 /* for longer figures */
#define SHARE_WIDTH   112
#define LEAST_WIDTH   44
#define TEXT_MOST     260
#define CELL_PADDING  24  /* with room for longer figures of another selection */
#define TITLE_PADDING 34  /* with the arrow of the sorted column */
#define MOST_MEASURED 100 /* rows */
#define TOOLTIP_LEAST 20  /* letters of a text with a tooltip */

/* Title of the amounts of the weight. */
static const char *
get_amount_title (const Rows *rows)
{
  if (g_strcmp0 (rows->weight_unit, "bytes") == 0)
    return _ ("Size");
  if (g_strcmp0 (rows->noun, "allocations") == 0)
    return _ ("Number");
  return g_strcmp0 (rows->weight_unit, "ns") == 0 ? _ ("Time") : _ ("Hits");
}

/* The weights of functions are shown as their shares alone: names need the width. */
static bool
is_share_of_function (const Rows *rows, uint32_t column)
{
  return rows->columns[column].share && sysprof_rows_column (rows, "symbol") >= 0 &&
         sysprof_rows_column (rows, "total") >= 0;
}

static void
shown_column_clear (gpointer data)
{
  g_free (((ShownColumn *) data)->title);
}

static void
add_shown (GArray *shown, const Rows *rows, uint32_t column, ColumnPart part, const char *title)
{
  ShownColumn added = { column, part, NULL };

  if (part == COLUMN_SHOWS_ALL && is_share_of_function (rows, column))
    added.part = COLUMN_SHOWS_SHARE;
  added.title =
      g_strdup (title != NULL ? _ (title) : app_column_get_title (&rows->columns[column]));
  g_array_append_val (shown, added);
}

/* Whether tables show the column: a function has its binary in its own cell. */
static bool
is_shown (const Rows *rows, uint32_t column)
{
  const Column *row = &rows->columns[column];

  if (row->json_only)
    return false;
  return strcmp (row->name, "binary") != 0 || sysprof_rows_column (rows, "symbol") < 0 ||
         sysprof_rows_column (rows, "instruction") >= 0;
}

GArray *
app_columns_choose (const Rows *rows, const char *const *columns, const char *const *titles)
{
  GArray *shown = g_array_new (FALSE, FALSE, sizeof (ShownColumn));

  g_array_set_clear_func (shown, shown_column_clear);
  for (size_t i = 0; columns != NULL && columns[i] != NULL; i++)
    {
      int column = sysprof_rows_column (rows, columns[i]);
      bool is_repeated = i > 0 && g_str_equal (columns[i], columns[i - 1]);
      bool repeats = columns[i + 1] != NULL && g_str_equal (columns[i], columns[i + 1]);

      if (column >= 0)
        add_shown (shown, rows, (uint32_t) column,
                   is_repeated ? COLUMN_SHOWS_AMOUNT
                   : repeats   ? COLUMN_SHOWS_SHARE
                               : COLUMN_SHOWS_ALL,
                   is_repeated      ? get_amount_title (rows)
                   : titles != NULL ? titles[i]
                                    : NULL);
    }
  for (int is_long = 1; columns == NULL && is_long >= 0; is_long--) /* functions come first */
    for (uint32_t i = 0; i < rows->n_columns; i++)
      if (is_shown (rows, i) && rows->columns[i].is_function == is_long)
        add_shown (shown, rows, i, COLUMN_SHOWS_ALL, NULL);
  return shown;
}

/* Columns of allocated bytes are counts. Only their rows know the unit. */
static bool
is_weight_of_bytes (const Rows *rows, const Column *column)
{
  return column->kind == COLUMN_COUNT && (column->share || column->is_weight) &&
         g_strcmp0 (rows->weight_unit, "bytes") == 0;
}

/* Words and icons of the severities of log messages. */
static const struct
{
  const char *name, *word, *icon;
} severities[] = {
  { "error", N_ ("Error"), "process-stop-symbolic" },
  { "critical", N_ ("Critical"), "dialog-error-symbolic" },
  { "warning", N_ ("Warning"), "dialog-warning-symbolic" },
  { "message", N_ ("Message"), "mail-unread-symbolic" },
  { "info", N_ ("Info"), "dialog-information-symbolic" },
  { "debug", N_ ("Debug"), "applications-engineering-symbolic" },
};

/* The index of a severity in `severities`; -1 if the cell is none. */
static int
find_severity (const Column *kind, Cell cell)
{
  for (size_t i = 0; strcmp (kind->name, "severity") == 0 && i < G_N_ELEMENTS (severities); i++)
    if (strcmp (severities[i].name, cell.text) == 0)
      return (int) i;
  return -1;
}

/* Numbers that are not known, and the CPU of events that no CPU has. */
static bool
is_unknown (const Column *kind, Cell cell)
{
  bool is_number = kind->kind == COLUMN_NUMBER || kind->kind == COLUMN_TIME ||
                   kind->kind == COLUMN_DURATION || kind->kind == COLUMN_BYTES;

  return is_number &&
         (cell.number == NO_NUMBER || (cell.number < 0 && strcmp (kind->name, "cpu") == 0));
}

static char *
dup_amount (const Rows *rows, const Column *kind, Cell cell)
{
  int severity = find_severity (kind, cell);

  if (kind->kind == COLUMN_GRAPH || (kind->hides_zero && cell.count == 0) ||
      is_unknown (kind, cell))
    return g_strdup ("");
  if (severity >= 0)
    return g_strdup (_ (severities[severity].word));
  if (kind->kind == COLUMN_BOOL)
    return g_strdup (cell.flag ? "✓" : "");
  if (is_weight_of_bytes (rows, kind))
    return sysprof_dup_quantity ((double) cell.count, "bytes");
  if (kind->kind == COLUMN_BYTES && cell.number != NO_NUMBER)
    return g_format_size ((guint64) MAX (cell.number, 0));
  return sysprof_dup_cell (kind, cell);
}

static char *
dup_part (const RowResult *result, uint32_t row, uint32_t column, ColumnPart part)
{
  const Rows *rows = &result->rows;
  const Column *kind = &rows->columns[column];
  Cell cell = sysprof_rows_cells (rows, row)[column];
  g_autofree char *amount = dup_amount (rows, kind, cell);
  double percent;

  if (!kind->share || rows->total == 0 || part == COLUMN_SHOWS_AMOUNT ||
      (part == COLUMN_SHOWS_ALL && cell.count == 0))
    return g_steal_pointer (&amount);
  percent = sysprof_percent (cell.count, rows->total);
  return part == COLUMN_SHOWS_SHARE ? g_strdup_printf ("%.1f %%", percent)
                                    : g_strdup_printf ("%s   %.1f %%", amount, percent);
}

char *
app_row_dup_text (const RowResult *result, uint32_t row, uint32_t column)
{
  return dup_part (result, row, column, COLUMN_SHOWS_ALL);
}

static int
measure (GtkWidget *widget, const char *text)
{
  g_autofree char *cut = app_dup_cut_text (text);
  g_autoptr (PangoLayout) layout = gtk_widget_create_pango_layout (widget, cut);
  int width;

  pango_layout_get_pixel_size (layout, &width, NULL);
  return width;
}

/* The width of the longest text among rows of the whole table. */
static int
measure_texts (GtkWidget *widget, const RowResult *result, const ShownColumn *shown)
{
  uint32_t n = MIN (result->rows.n_rows, MOST_MEASURED);
  g_autofree char *longest = g_strdup ("");

  for (uint32_t i = 0; i < n; i++)
    {
      uint32_t row = (uint32_t) ((uint64_t) i * result->rows.n_rows / n);
      g_autofree char *text = dup_part (result, row, shown->column, shown->part);

      if (strlen (text) > strlen (longest))
        {
          g_free (longest);
          longest = g_steal_pointer (&text);
        }
    }
  return measure (widget, longest);
}

int
app_column_get_width (GtkWidget *widget, const RowResult *result, const ShownColumn *shown)
{
  const Column *column = &result->rows.columns[shown->column];
  bool has_bar = column->share && shown->part == COLUMN_SHOWS_ALL;
  int least = MAX (measure (widget, shown->title) + TITLE_PADDING, LEAST_WIDTH);
  int width;

  if (column->share && shown->part == COLUMN_SHOWS_SHARE)
    return MAX (measure (widget, "100.0 %") + CELL_PADDING, least);
  width = measure_texts (widget, result, shown) + CELL_PADDING;
  for (size_t at = 0; at < G_N_ELEMENTS (widths); at++)
    if (widths[at].kind == column->kind)
      least = MAX (widths[at].width, least);
  return MAX (has_bar ? MAX (width + SHARE_PADDING, SHARE_WIDTH) : MIN (width, TEXT_MOST),
              least);
}

char *
app_row_dup_label (const RowResult *result, uint32_t row)
{
  GString *label = g_string_new (NULL);

  for (uint32_t i = 0; i < result->rows.n_columns; i++)
    if (is_shown (&result->rows, i))
      {
        g_autofree char *text = app_row_dup_text (result, row, i);

        g_string_append_printf (label, "%s%s", label->len > 0 && text[0] ? ", " : "", text);
      }
  return g_string_free (label, FALSE);
}

static const char *
find_text (const Rows *rows, uint32_t row, const char *name)
{
  int column = sysprof_rows_column (rows, name);

  return column >= 0 && rows->columns[column].kind == COLUMN_TEXT
             ? sysprof_rows_cells (rows, row)[column].text
             : NULL;
}

char *
app_row_dup_tooltip (const RowResult *result, uint32_t row, uint32_t column)
{
  const Rows *rows = &result->rows;
  g_autofree char *text = app_row_dup_text (result, row, column);
  g_autofree char *cut = app_dup_cut_text (text);
  const char *binary = find_text (rows, row, "binary"), *file = find_text (rows, row, "file");
  g_autofree char *line = NULL;
  GString *tooltip;
  char *valid;

  if (!rows->columns[column].is_function)
    return strlen (text) > TOOLTIP_LEAST ? g_steal_pointer (&cut) : NULL;
  tooltip = g_string_new (cut);
  if (binary != NULL && binary[0] != '\0')
    g_string_append_printf (tooltip, "\n%s", binary);
  if (file != NULL && file[0] != '\0')
    {
      line = app_row_result_dup_cell (result, row, "line");
      g_string_append_printf (tooltip, "\n%s:%s", file, line);
    }
  valid = g_utf8_make_valid (tooltip->str, -1);
  g_string_free (tooltip, TRUE);
  return valid;
}

static void
set_color (AppCell *cell, const char *category)
{
  GdkRGBA color = { 0 };

  if (!app_palette_find_category (category, app_palette_is_dark (), &color))
    color = (GdkRGBA){ 0 };
  app_cell_set_color (cell, &color);
}

/* The short name of the binary, unless the function has no name but "[libz.so.1:0x1234]", and
 * the color of the category. */
static void
bind_function (AppCell *cell, const RowResult *result, uint32_t row, const char *text)
{
  const char *binary = find_text (&result->rows, row, "binary");
  const char *category = find_text (&result->rows, row, "category");
  g_autofree char *base =
      binary != NULL && binary[0] != '\0' ? g_path_get_basename (binary) : NULL;
  g_autofree char *shown = base != NULL ? sysprof_dup_one_line (base) : NULL;

  app_cell_set_text (cell, text, text[0] != '[' ? shown : NULL);
  app_cell_set_kind (cell, find_text (&result->rows, row, "kind"));
  if (category != NULL && result->focus->categorizes)
    set_color (cell, category);
  else
    app_cell_set_color (cell, NULL);
}

void
app_cell_bind (AppCell *cell, AppRow *item, const ShownColumn *shown, bool is_first)
{
  RowResult *result = app_row_get_result (item);
  const Rows *rows = &result->rows;
  uint32_t row = app_row_get_row (item), column = shown->column;
  const Column *kind = &rows->columns[column];
  Cell value = sysprof_rows_cells (rows, row)[column];
  g_autofree char *text = dup_part (result, row, column, shown->part);

  if (is_first && rows->parent != NULL)
    app_cell_set_level (cell, app_row_get_depth (item), app_row_is_expandable (item),
                        app_row_is_expanded (item));
  if (kind->is_function)
    bind_function (cell, result, row, text);
  else
    app_cell_set_text (cell, text, NULL);
  if (strcmp (kind->name, "category") == 0 && kind->kind == COLUMN_TEXT)
    set_color (cell, value.text);
  if (kind->share && shown->part != COLUMN_SHOWS_AMOUNT)
    app_cell_set_share (cell,
                        rows->total > 0 ? sysprof_percent (value.count, rows->total) / 100 : 0);
  if (kind->kind == COLUMN_GRAPH)
    app_cell_set_graph (cell, value.graph);
  if (find_severity (kind, value) >= 0)
    app_cell_set_icon (cell, severities[find_severity (kind, value)].icon);
}

static void
on_width (GtkColumnViewColumn *column, GParamSpec *spec, gpointer data)
{
  app_state_set (g_object_get_data (G_OBJECT (column), "group"),
                 g_object_get_data (G_OBJECT (column), "name"),
                 gtk_column_view_column_get_fixed_width (column));
}

void
app_column_remember_width (GtkColumnViewColumn *column,
                           const RowQuery *query,
                           const char *name,
                           int width)
{
  const char *view = query != NULL && query->view != NULL ? query->view : "";
  g_autofree char *group = g_strdup_printf ("columns-%s", view);

  width = app_state_get (group, name, width);
  if (width > 0)
    gtk_column_view_column_set_fixed_width (column, width);
  g_object_set_data (G_OBJECT (column), "name", (gpointer) name);
  g_object_set_data_full (G_OBJECT (column), "group", g_steal_pointer (&group), g_free);
  g_signal_connect (column, "notify::fixed-width", G_CALLBACK (on_width), NULL);
}
