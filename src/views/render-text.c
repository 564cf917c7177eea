// SPDX-License-Identifier: GPL-3.0-or-later

/* Tables and trees for terminals and pipes: figures at the left, right-aligned; names at the right, where they may be
 * long. Without a terminal nothing is cut and nothing depends on the environment. */

#include "views/render.h"
#include "views/rows.h"

#include <string.h>

#define COLOR_RESET  "\033[0m"
#define COLOR_TITLE  "\033[1m"
#define COLOR_DIM    "\033[2m"
#define COLOR_KERNEL "\033[34m"
#define COLOR_OTHER  "\033[35m"

#define SUMMARY_COLUMNS 120
#define SHARE_COLUMNS   8   /* "100.00 %" */
#define MOST_LEVELS     200 /* of a tree that blanks show */
#define TEXT_COLUMN_MAX 60  /* to which a text that is not the last one makes its column */
#define TEXT_COLUMN_MIN 12  /* to which a narrow terminal presses it */
#define LIST_INDENT     18
#define SHORT_TEXT      12
#define LONG_COLUMN_MIN 26 /* that a narrow terminal leaves to the last text */

typedef struct
{
  Out *out;
  const ViewRequest *request;
  const Rows *rows;
  const RowTree *tree;              /* NULL for a flat table */
  uint32_t order[VIEW_MAX_COLUMNS]; /* [n] figures, then texts, then what is long */
  uint32_t n;
  size_t width[VIEW_MAX_COLUMNS]; /* [n] without the share; of the last text: 0 */
  int kind;                       /* column of the kind of function, or -1 */
} Table;

static const char *
color (const Table *table, const char *code)
{
  return table->request->use_color ? code : "";
}

static uint32_t
rank_of_column (const Column *column)
{
  return column->is_long ? 2 : sysprof_column_is_figure (column) ? 0 : 1;
}

static void
order_columns (Table *table)
{
  const Rows *rows = table->rows;

  for (uint32_t rank = 0; rank < 3; rank++)
    for (uint32_t i = 0; i < rows->n_columns; i++)
      if (!rows->columns[i].json_only && rows->columns[i].kind != COLUMN_TEXTS &&
          rank_of_column (&rows->columns[i]) == rank)
        table->order[table->n++] = i;
}

static const Column *
column_at (const Table *table, uint32_t place)
{
  return &table->rows->columns[table->order[place]];
}

static size_t
measure_column (const Table *table, uint32_t place)
{
  const Column *column = column_at (table, place);
  size_t width = strlen (column->title);

  for (uint32_t row = 0; row < table->rows->n_rows; row++)
    {
      Cell cell = sysprof_rows_cells (table->rows, row)[table->order[place]];
      g_autofree char *text = sysprof_dup_cell (column, cell);

      width = MAX (width, sysprof_text_columns (text));
    }
  return sysprof_column_is_figure (column) ? width : MIN (width, TEXT_COLUMN_MAX);
}

static void
measure_columns (Table *table)
{
  for (uint32_t i = 0; i < table->n; i++)
    if (sysprof_column_is_figure (column_at (table, i)) || i + 1 < table->n)
      table->width[i] = measure_column (table, i);
}

/* Adds `text` to the line: figures at the right of their column, texts at its left. */
static void
append_cell (const Table *table, GString *line, uint32_t place, const char *text)
{
  const Column *column = column_at (table, place);
  size_t width = table->width[place] + (column->share ? SHARE_COLUMNS + 1 : 0);
  size_t columns = sysprof_text_columns (text);
  g_autofree char *blanks = g_strnfill (width > columns ? width - columns : 0, ' ');

  if (place > 0)
    g_string_append (line, "  ");
  if (sysprof_column_is_figure (column))
    g_string_append (line, blanks);
  g_string_append (line, text);
  if (!sysprof_column_is_figure (column))
    g_string_append (line, blanks);
}

static void
write_titles (const Table *table)
{
  g_autoptr (GString) line = g_string_new (NULL);

  for (uint32_t i = 0; i < table->n; i++)
    append_cell (table, line, i, column_at (table, i)->title);
  sysprof_out_printf (table->out, "%s%s%s\n", color (table, COLOR_TITLE),
                      g_strchomp (line->str), color (table, COLOR_RESET));
}

static const char *
color_of_row (const Table *table, const Cell *cells)
{
  const char *kind = table->kind >= 0 ? cells[table->kind].text : "user";

  if (strcmp (kind, "user") == 0)
    return "";
  return color (table, strcmp (kind, "kernel") == 0 ? COLOR_KERNEL : COLOR_OTHER);
}

/* The share stands before the figure, both right-aligned. */
static char *
dup_figure (const Table *table, uint32_t place, Cell cell)
{
  const Column *column = column_at (table, place);
  char *text = sysprof_dup_cell (column, cell);
  g_autofree char *figure = text;
  char share[SYSPROF_GROUPED_SIZE];

  if (!column->share)
    return g_steal_pointer (&figure);
  return g_strdup_printf (
      "%6s %% %*s",
      sysprof_format_fixed (sysprof_percent (cell.count, table->rows->total), share),
      (int) table->width[place], text);
}

/* Depth as blanks; where a terminal is too narrow for that, as a number. Deeper than anybody reads, also elsewhere: with
 * blanks, a stack of thousands would take megabytes. */
static char *
dup_indented (const Table *table, uint32_t row, const char *text, size_t room)
{
  size_t level = table->tree ? table->tree->depth[row + 1] - 1 : 0;
  g_autofree char *blanks = NULL;

  if (table->request->terminal_width > 0 && 2 * level > room / 2)
    {
      blanks = g_strnfill (room / 4, ' ');
      return g_strdup_printf ("%s[%zu] %s", blanks, level, text);
    }
  blanks = g_strnfill (2 * MIN (level, MOST_LEVELS), ' ');
  if (level > MOST_LEVELS)
    return g_strdup_printf ("%s[%zu] %s", blanks, level, text);
  return g_strconcat (blanks, text, NULL);
}

static char *
dup_long_text (const Table *table, uint32_t row, uint32_t place, size_t used)
{
  Cell cell = sysprof_rows_cells (table->rows, row)[table->order[place]];
  size_t terminal = table->request->terminal_width;
  size_t room = terminal > used + 2 ? terminal - used - 2 : 1;
  g_autofree char *text = sysprof_dup_cell (column_at (table, place), cell);
  g_autofree char *indented = dup_indented (table, row, text, room);

  if (terminal == 0)
    return g_steal_pointer (&indented);
  return sysprof_dup_ellipsized (indented, room);
}

static char *
dup_text (const Table *table, uint32_t place, Cell cell)
{
  g_autofree char *text = sysprof_dup_cell (column_at (table, place), cell);

  if (table->request->terminal_width == 0)
    return g_steal_pointer (&text);
  return sysprof_dup_ellipsized (text, table->width[place]);
}

/* Lists stand below their row, a line for each text; short ones, as thread ids are, in one line. */
static void
write_list (const Table *table, const Column *column, const char *const *texts)
{
  size_t terminal = table->request->terminal_width;
  g_autofree char *joined = g_strjoinv (" ", (char **) texts);
  const char *const lines[] = { joined, NULL };
  bool is_short = true;

  for (const char *const *text = texts; *text; text++)
    is_short = is_short && strlen (*text) <= SHORT_TEXT;
  for (const char *const *text = is_short ? lines : texts; *text; text++)
    {
      g_autofree char *line = sysprof_dup_one_line (*text);
      g_autofree char *cut = terminal > LIST_INDENT + SHORT_TEXT
                                 ? sysprof_dup_ellipsized (line, terminal - LIST_INDENT)
                                 : g_strdup (line);

      sysprof_out_printf (table->out, "%s%*s%s  %s\n", color (table, COLOR_DIM),
                          LIST_INDENT - 2, text == texts || is_short ? column->title : "",
                          color (table, COLOR_RESET), cut);
    }
}

static void
write_lists (const Table *table, const Cell *cells)
{
  const Rows *rows = table->rows;

  for (uint32_t i = 0; i < rows->n_columns; i++)
    if (rows->columns[i].kind == COLUMN_TEXTS && cells[i].texts[0])
      write_list (table, &rows->columns[i], cells[i].texts);
}

static void
write_row (const Table *table, uint32_t row)
{
  const Cell *cells = sysprof_rows_cells (table->rows, row);
  const char *tint = color_of_row (table, cells);
  g_autoptr (GString) line = g_string_new (NULL);

  for (uint32_t i = 0; i < table->n; i++)
    {
      const Column *column = column_at (table, i);
      Cell cell = cells[table->order[i]];
      g_autofree char *text = NULL;

      if (sysprof_column_is_figure (column))
        text = dup_figure (table, i, cell);
      else if (column->is_long)
        text = dup_long_text (table, row, i, sysprof_text_columns (line->str));
      else
        text = dup_text (table, i, cell);
      if (column->is_long && tint[0])
        {
          /* Behind the last column only: escapes have no width, but are counted. */
          g_string_append_printf (line, "%s%s%s%s", i ? "  " : "", tint, text, COLOR_RESET);
          continue;
        }
      append_cell (table, line, i, text);
    }
  sysprof_out_printf (table->out, "%s\n", g_strchomp (line->str));
  write_lists (table, cells);
}

/* With what stands between it and the column before, and beside it. */
static size_t
width_at (const Table *table, uint32_t place)
{
  return (place > 0 ? 2 : 0) + table->width[place] +
         (column_at (table, place)->share ? SHARE_COLUMNS + 1 : 0);
}

static void
remove_column (Table *table, uint32_t place)
{
  table->n--;
  memmove (&table->order[place], &table->order[place + 1],
           (table->n - place) * sizeof table->order[0]);
  memmove (&table->width[place], &table->width[place + 1],
           (table->n - place) * sizeof table->width[0]);
}

/* As wide as the terminal where that can be: the widest texts give way, figures never. */
static void
fit_columns (Table *table)
{
  size_t terminal = table->request->terminal_width;
  size_t sum = 0;

  for (uint32_t i = 0; i < table->n; i++)
    sum += width_at (table, i);
  if (table->n > 0 && column_at (table, table->n - 1)->is_long)
    sum += LONG_COLUMN_MIN;
  for (uint32_t i = table->n; sum > terminal && i-- > 0;)
    if (column_at (table, i)->is_extra)
      {
        sum -= width_at (table, i) + (column_at (table, i)->is_long ? LONG_COLUMN_MIN : 0);
        remove_column (table, i);
      }
  while (sum > terminal)
    {
      uint32_t widest = 0;

      for (uint32_t i = 1; i < table->n; i++)
        if (!sysprof_column_is_figure (column_at (table, i)) &&
            (sysprof_column_is_figure (column_at (table, widest)) ||
             table->width[i] > table->width[widest]))
          widest = i;
      if (table->width[widest] <= TEXT_COLUMN_MIN ||
          sysprof_column_is_figure (column_at (table, widest)))
        return;
      table->width[widest]--;
      sum--;
    }
}

static void
write_table (Out *out, const ViewRequest *request, const Rows *rows)
{
  Table table = { .out = out, .request = request, .rows = rows };
  RowTree tree = { 0 };

  if (rows->parent)
    {
      sysprof_row_tree_init (&tree, rows);
      table.tree = &tree;
    }
  table.kind = sysprof_rows_column (rows, "kind");
  order_columns (&table);
  measure_columns (&table);
  if (request->terminal_width > 0)
    fit_columns (&table);
  write_titles (&table);
  if (rows->parent)
    for (uint32_t at = sysprof_row_tree_next (&tree, 0); at;
         at = sysprof_row_tree_next (&tree, at))
      write_row (&table, at - 1);
  else
    for (uint32_t row = 0; row < rows->n_rows; row++)
      write_row (&table, row);
  if (rows->n_hidden > 0)
    sysprof_out_printf (out, "%s... and %u more (--limit 0 shows all)%s\n",
                        color (&table, COLOR_DIM), rows->n_hidden, color (&table, COLOR_RESET));
  sysprof_row_tree_clear (&tree);
}

/* Cut where the terminal ends. */
static void
write_line (Out *out, const ViewRequest *request, const char *text)
{
  g_autofree char *line = request->terminal_width
                              ? sysprof_dup_ellipsized (text, request->terminal_width)
                              : g_strdup (text);

  sysprof_out_printf (out, "%s\n", line);
}

static void
write_section (const View *view, const ViewRequest *request, const Rows *rows, void *data)
{
  Out *out = data;

  if (rows->n_rows == 0)
    return;
  sysprof_out_printf (out, "\n%s%s%s\n", request->use_color ? COLOR_TITLE : "", view->title,
                      request->use_color ? COLOR_RESET : "");
  write_table (out, request, rows);
}

static bool
write_sections (Out *out, const View *view, const ViewRequest *request, GError **error)
{
  g_auto (GStrv) facts = sysprof_dup_machine_facts (request);
  g_autofree char *path = sysprof_dup_one_line (sysprof_capture_path (request));
  ViewRequest part = *request;

  /* One screen also where it is none: command lines may have thousands of characters. */
  if (part.terminal_width == 0)
    part.terminal_width = SUMMARY_COLUMNS;
  sysprof_out_printf (out, "%-9s %s\n", "Capture", path);
  for (char **line = facts; *line; line++)
    write_line (out, &part, *line);
  if (!sysprof_for_each_section (view, &part, false, write_section, out, error))
    return false;
  sysprof_out_text (
      out, "\nMore: sysprof-report functions | tree | callers --focus FUNCTION | processes |\n"
           "      threads | quality | flame -o FILE.html CAPTURE; sysprof-report --help\n");
  return true;
}

bool
sysprof_render_text (const View *view,
                     const ViewRequest *request,
                     const Rows *rows,
                     GOutputStream *stream,
                     GError **error)
{
  Out out;
  bool is_filled = true;

  sysprof_out_init (&out, stream);
  if (view->sections)
    is_filled = write_sections (&out, view, request, error);
  else
    {
      g_autofree char *heading = sysprof_dup_heading (view, request, rows);

      write_line (&out, request, heading);
      sysprof_out_text (&out, "\n");
      if (rows->n_rows > 0)
        write_table (&out, request, rows);
      else
        {
          g_autofree char *emptiness = sysprof_dup_emptiness (request, rows);

          sysprof_out_printf (&out, "%s\n", emptiness);
        }
    }
  return sysprof_out_finish (&out, is_filled ? error : NULL) && is_filled;
}
