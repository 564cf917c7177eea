// SPDX-License-Identifier: GPL-3.0-or-later

/* Tables and trees as text. Figures are on the left, right-aligned; names are on the right,
 * where they may be long. Without a terminal nothing is shortened. */

#include "render/text-table-private.h"

#include "text/text.h"

#include <string.h>

#define SHARE_DIGITS 6   /* columns of the number in it */
#define MOST_LEVELS  200 /* levels of a tree that are indented */
#define LIST_INDENT  18
#define SHORT_TEXT   12
#define BELOW_INDENT 9 /* indentation of lines below a row */
#define LEAST_NAME   8 /* columns of a name in a heading */
#define LOCATION_GAP 2 /* blanks between a function and its source location */

static const char *
color (const TextTable *table, const char *code)
{
  return table->request->use_color ? code : "";
}

static void
append_blanks (const TextTable *table, size_t n)
{
  static const char blanks[] =
      "                                                                ";

  for (size_t part; n > 0; n -= part)
    {
      part = MIN (n, sizeof blanks - 1);
      g_string_append_len (table->line, blanks, (gssize) part);
    }
}

static void
begin_cell (const TextTable *table, uint32_t position)
{
  if (position > 0)
    append_blanks (table, 2);
}

/* Appends `text` to the line, right-aligned for figures, left-aligned for texts. */
static void
append_cell (const TextTable *table, uint32_t position, const char *text)
{
  const Column *column = sysprof_text_table_column (table, position);
  size_t width = table->width[position] + (column->share ? SHARE_COLUMNS + 1 : 0);
  size_t columns = sysprof_text_columns (text);
  size_t n_blanks = width > columns ? width - columns : 0;

  begin_cell (table, position);
  if (sysprof_column_is_figure (column))
    append_blanks (table, n_blanks);
  g_string_append (table->line, text);
  if (!sysprof_column_is_figure (column))
    append_blanks (table, n_blanks);
}

static void
write_titles (const TextTable *table)
{
  g_string_truncate (table->line, 0);
  for (uint32_t i = 0; i < table->n; i++)
    append_cell (table, i, sysprof_text_table_column (table, i)->title);
  sysprof_text_writer_printf (table->writer, "%s%s%s\n", color (table, COLOR_TITLE),
                              g_strchomp (table->line->str), color (table, COLOR_RESET));
}

static const char *
color_of_row (const TextTable *table, const Cell *cells)
{
  const char *kind = table->kind >= 0 ? cells[table->kind].text : "user";

  if (strcmp (kind, "user") == 0)
    return "";
  return color (table, strcmp (kind, "kernel") == 0 ? COLOR_KERNEL : COLOR_OTHER);
}

/* The share is before the figure, both right-aligned. */
static void
append_figure (const TextTable *table, uint32_t position, Cell cell)
{
  const Column *column = sysprof_text_table_column (table, position);
  CellText room;
  const char *figure = sysprof_cell_text (column, cell, &room);

  if (column->hides_zero && cell.count == 0)
    append_cell (table, position, "");
  else if (column->share)
    {
      char share[SYSPROF_GROUPED_SIZE];
      const char *percent =
          sysprof_format_fixed (sysprof_percent (cell.count, table->rows->total), share);

      begin_cell (table, position);
      append_blanks (table, SHARE_DIGITS - MIN (strlen (percent), SHARE_DIGITS));
      g_string_append (table->line, percent);
      g_string_append_len (table->line, " % ", 3);
      append_blanks (table,
                     table->width[position] - MIN (strlen (figure), table->width[position]));
      g_string_append (table->line, figure);
    }
  else
    append_cell (table, position, figure);
  sysprof_cell_text_clear (&room);
}

static size_t
level_of (const TextTable *table, uint32_t row)
{
  return table->tree ? table->tree->depth[row + 1] - 1 : 0;
}

/* Only for the last column, because color escapes count as width. Suffixes by the compiler
 * are dim. */
static void
append_tinted (const TextTable *table, const Column *column, const char *tint, const char *text)
{
  size_t size = strlen (text);
  size_t stem =
      column->is_function && table->request->use_color ? sysprof_name_stem (text) : size;

  g_string_append (table->line, tint);
  g_string_append_len (table->line, text, (gssize) stem);
  if (stem < size)
    {
      g_string_append (table->line, COLOR_DIM);
      g_string_append_len (table->line, text + stem, (gssize) (size - stem));
    }
  g_string_append (table->line, tint[0] || stem < size ? COLOR_RESET : "");
}

/* Appends the source location after a function name, if it fits into `room`. */
static void
append_location (const TextTable *table, uint32_t row, uint32_t position, size_t room)
{
  g_autofree char *text =
      sysprof_source_locations_format (&table->locations, row, table->order[position]);

  if (text != NULL && LOCATION_GAP + sysprof_text_columns (text) <= room)
    g_string_append_printf (table->line, "%*s%s%s%s", LOCATION_GAP, "",
                            color (table, COLOR_DIM), text, color (table, COLOR_RESET));
}

/* Appends a whole text without a copy, for millions of rows without a terminal. Indents like
 * dup_indent(). */
static void
append_whole (const TextTable *table, uint32_t row, uint32_t position, const Cell *cells)
{
  const Column *column = sysprof_text_table_column (table, position);
  CellText room;
  const char *text = sysprof_cell_text (column, cells[table->order[position]], &room);

  if (column->is_long)
    {
      size_t level = level_of (table, row);
      const char *tint = color_of_row (table, cells);

      begin_cell (table, position);
      append_blanks (table, 2 * MIN (level, MOST_LEVELS));
      if (level > MOST_LEVELS)
        g_string_append_printf (table->line, "[%zu] ", level);
      append_tinted (table, column, tint, text);
      append_location (table, row, position, SIZE_MAX);
    }
  else
    append_cell (table, position, text);
  sysprof_cell_text_clear (&room);
}

/* Depth as blanks, or as a number if the terminal is too narrow or the row is very deep.
 * Blanks for a stack of thousands of functions would take megabytes. */
static char *
dup_indent (const TextTable *table, uint32_t row, size_t room)
{
  size_t level = level_of (table, row);
  bool is_narrow = 2 * level > room / 2;
  g_autofree char *blanks =
      g_strnfill (is_narrow ? room / 4 : 2 * MIN (level, MOST_LEVELS), ' ');

  return is_narrow || level > MOST_LEVELS ? g_strdup_printf ("%s[%zu] ", blanks, level)
                                          : g_steal_pointer (&blanks);
}

/* The command line without the folder of its program. */
static const char *
skip_folder (const char *command)
{
  size_t program = strcspn (command, " ");
  const char *slash = memrchr (command, '/', program);

  return slash && slash[1] && slash[1] != ' ' ? slash + 1 : command;
}

/* Shortens a text if there is too little room. */
static char *
dup_short (const Column *column, Cell cell, size_t room)
{
  char *text = sysprof_dup_cell (column, cell), *whole = text;

  if (sysprof_text_columns (text) <= room)
    return text;
  if (column->is_function)
    text = sysprof_dup_short_name (whole, room);
  else if (column->kind == COLUMN_STACK)
    {
      text = sysprof_dup_bare_stack (cell.stack, false);
      if (sysprof_text_columns (text) > room)
        {
          g_free (text);
          text = sysprof_dup_bare_stack (cell.stack, true);
        }
    }
  else if (column->is_command)
    text = g_strdup (skip_folder (whole));
  else
    return text;
  g_free (whole);
  return text;
}

static char *
dup_long_text (const TextTable *table, uint32_t row, uint32_t position, size_t used)
{
  const Column *column = sysprof_text_table_column (table, position);
  Cell cell = sysprof_rows_cells (table->rows, row)[table->order[position]];
  size_t terminal = table->request->terminal_width;
  size_t gap = position > 0 ? 2 : 0;
  size_t room = terminal > used + gap ? terminal - used - gap : 1;
  g_autofree char *indent = dup_indent (table, row, room);
  size_t indent_columns = sysprof_text_columns (indent);
  g_autofree char *text =
      dup_short (column, cell, room > indent_columns ? room - indent_columns : 0);
  g_autofree char *indented = g_strconcat (indent, text, NULL);

  return sysprof_dup_ellipsized (indented, room);
}

static char *
dup_text (const TextTable *table, uint32_t position, Cell cell)
{
  g_autofree char *text =
      sysprof_text_table_dup_shown (table, sysprof_text_table_column (table, position), cell);

  return sysprof_dup_ellipsized (text, table->width[position]);
}

/* Lists are below their row, one line per text; short texts, such as thread IDs, share one
 * line. */
static void
write_list (const TextTable *table, const Column *column, const char *const *texts)
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

      sysprof_text_writer_printf (
          table->writer, "%s%*s%s  %s\n", color (table, COLOR_DIM), LIST_INDENT - 2,
          text == texts || is_short ? column->title : "", color (table, COLOR_RESET), cut);
    }
}

static void
write_lists (const TextTable *table, const Cell *cells)
{
  const Rows *rows = table->rows;

  for (uint32_t i = 0; i < rows->n_columns; i++)
    if (rows->columns[i].kind == COLUMN_TEXTS && !rows->columns[i].json_only &&
        cells[i].texts[0])
      write_list (table, &rows->columns[i], cells[i].texts);
}

/* Writes columns that do not fit, in lines below the row; repeated texts once. */
static void
write_below (TextTable *table, const Cell *cells)
{
  const char *text = table->below >= 0 ? cells[table->below].text : "";
  g_autofree char *line = NULL;
  g_autofree char *wrapped = NULL;

  if (text[0] && g_strcmp0 (text, table->last_below) != 0)
    {
      line = sysprof_dup_one_line (text);
      wrapped = sysprof_dup_wrapped (line, table->request->terminal_width, BELOW_INDENT);
      sysprof_text_writer_printf (table->writer, "%*s%s%s%s\n", BELOW_INDENT, "-> ",
                                  color (table, COLOR_DIM), wrapped,
                                  color (table, COLOR_RESET));
      table->last_below = text;
    }
}

static bool
is_same_cell (const Column *column, Cell left, Cell right)
{
  return column->kind == COLUMN_TEXT ? strcmp (left.text, right.text) == 0
                                     : left.number == right.number;
}

static bool
is_same_heading (const TextTable *table, const Cell *cells, unsigned heading)
{
  const Rows *rows = table->rows;

  for (uint32_t i = 0; i < rows->n_columns && table->last_cells != NULL; i++)
    if (rows->columns[i].heading > 0 && rows->columns[i].heading <= heading &&
        !is_same_cell (&rows->columns[i], cells[i], table->last_cells[i]))
      return false;
  return table->last_cells != NULL;
}

/* Heading of the rows from here on: "function  binary", "file:line"; omits unknown parts.
 * `room`: columns of a terminal, for which it omits folders and shortens names; 0 = no
 * limit. *(full)* */
static char *
dup_heading (const TextTable *table, const Cell *cells, unsigned heading, size_t room)
{
  const Rows *rows = table->rows;
  g_autoptr (GString) behind = g_string_new (NULL);

  /* From last to first: function names get the remaining room. */
  for (uint32_t i = rows->n_columns; i-- > 0;)
    {
      const Column *column = &rows->columns[i];
      g_autofree char *whole = NULL;
      g_autofree char *name = NULL;
      const char *cell;

      if (column->heading != heading || sysprof_cell_is_none (column, cells[i]))
        continue;
      cell = whole = sysprof_dup_cell (column, cells[i]);
      if (room > 0 && column->is_command)
        cell = skip_folder (whole);
      else if (room > 0 && column->kind == COLUMN_TEXT)
        {
          size_t used = sysprof_text_columns (behind->str);
          size_t left = used + LEAST_NAME < room ? room - used : LEAST_NAME;
          g_autofree char *shorter = sysprof_dup_short_name (whole, left);

          cell = name = sysprof_dup_ellipsized (shorter, left);
        }
      if (cell[0] == '\0')
        continue;
      g_string_prepend (behind, cell);
      if (column->kind == COLUMN_NUMBER)
        g_string_prepend (behind, ":");
      else
        g_string_prepend (behind, "  ");
    }
  if (behind->str[0] == ':') /* the file is unknown */
    return g_strdup_printf ("line %s", behind->str + 1);
  return g_strdup (behind->str + (g_str_has_prefix (behind->str, "  ") ? 2 : 0));
}

/* `is_known`: whether the rows before have a heading. Returns whether these rows have one. */
static bool
write_heading (const TextTable *table, const Cell *cells, unsigned heading, bool is_known)
{
  size_t room = table->request->terminal_width;
  g_autofree char *text = dup_heading (table, cells, heading, 0);
  bool is_told = text[0] != '\0';
  g_autofree char *line = NULL;

  if (!is_told && !is_known)
    return false;
  if (room > 0 && sysprof_text_columns (text) > room)
    {
      g_free (text);
      text = dup_heading (table, cells, heading, room);
    }
  line = room > 0 ? sysprof_dup_ellipsized (text, room) : g_strdup (text);
  sysprof_text_writer_printf (table->writer, "%s%s%s%s\n",
                              heading == 1 && table->last_cells != NULL ? "\n" : "",
                              color (table, heading == 1 ? COLOR_TITLE : COLOR_DIM),
                              is_told ? line : "(unknown)", color (table, COLOR_RESET));
  return is_told;
}

static void
write_headings (TextTable *table, const Cell *cells)
{
  if (!table->has_headings)
    return;
  for (unsigned heading = 1; heading <= MOST_HEADING; heading++)
    if (!is_same_heading (table, cells, heading))
      {
        table->has_heading[heading] =
            write_heading (table, cells, heading, table->has_heading[heading]);
        for (unsigned below = heading + 1; below <= MOST_HEADING; below++)
          table->has_heading[below] = false;
      }
  table->last_cells = cells;
}

/* Appends as much of a text as fits. */
static void
append_fitted (const TextTable *table, uint32_t row, uint32_t position, const Cell *cells)
{
  const Column *column = sysprof_text_table_column (table, position);
  g_autofree char *text = NULL;

  if (column->is_long)
    {
      size_t used = sysprof_text_columns (table->line->str);

      text = dup_long_text (table, row, position, used);
      begin_cell (table, position);
      used += (position > 0 ? 2 : 0) + sysprof_text_columns (text);
      append_tinted (table, column, color_of_row (table, cells), text);
      append_location (table, row, position,
                       table->request->terminal_width -
                           MIN (used, table->request->terminal_width));
    }
  else
    {
      text = dup_text (table, position, cells[table->order[position]]);
      append_cell (table, position, text);
    }
}

/* Writes the line without trailing blanks. */
static void
write_line (const TextTable *table)
{
  GString *line = table->line;

  while (line->len > 0 && g_ascii_isspace (line->str[line->len - 1]))
    line->len--;
  line->str[line->len] = '\n';
  sysprof_text_writer_bytes (table->writer, line->str, line->len + 1);
}

static void
write_row (TextTable *table, uint32_t row)
{
  const Cell *cells = sysprof_rows_cells (table->rows, row);

  write_headings (table, cells);
  g_string_truncate (table->line, 0);
  for (uint32_t i = 0; i < table->n; i++)
    if (sysprof_column_is_figure (sysprof_text_table_column (table, i)))
      append_figure (table, i, cells[table->order[i]]);
    else if (table->request->terminal_width == 0)
      append_whole (table, row, i, cells);
    else
      append_fitted (table, row, i, cells);
  write_line (table);
  if (!table->is_section)
    write_below (table, cells);
  write_lists (table, cells);
}

static void
tell_hidden (const TextTable *table)
{
  const Rows *rows = table->rows;
  char least[SYSPROF_GROUPED_SIZE], share[SYSPROF_GROUPED_SIZE];

  if (rows->n_hidden > 0)
    sysprof_text_writer_printf (table->writer, "%s... and %u more%s (--limit 0 shows all)%s\n",
                                color (table, COLOR_DIM), rows->n_hidden,
                                rows->total_left_out > 0 ? ", and lighter ones" : "",
                                color (table, COLOR_RESET));
  else if (rows->total_left_out > 0)
    sysprof_text_writer_printf (
        table->writer,
        "%s... calls below %s %% hidden (%s %% of the total); --min 0 shows them%s\n",
        color (table, COLOR_DIM), sysprof_format_fixed (table->request->min_percent, least),
        sysprof_format_fixed (sysprof_percent (rows->total_left_out, rows->total), share),
        color (table, COLOR_RESET));
}

void
sysprof_text_table_write (TextWriter *writer,
                          const ViewRequest *request,
                          const Rows *rows,
                          bool is_section)
{
  g_autoptr (GString) line = g_string_new (NULL);
  TextTable table = { .writer = writer,
                      .request = request,
                      .rows = rows,
                      .squeeze = 1,
                      .below = -1,
                      .is_section = is_section,
                      .line = line };
  RowTree tree = { 0 };

  if (rows->parent)
    {
      sysprof_row_tree_init (&tree, rows);
      table.tree = &tree;
    }
  table.kind = sysprof_rows_column (rows, "kind");
  sysprof_source_locations_init (&table.locations, rows);
  for (uint32_t i = 0; i < rows->n_columns; i++)
    table.has_headings |= rows->columns[i].heading > 0;
  sysprof_text_table_fit (&table);
  write_titles (&table);
  if (rows->parent)
    for (uint32_t at = sysprof_row_tree_next (&tree, 0);
         at && sysprof_text_writer_is_open (writer); at = sysprof_row_tree_next (&tree, at))
      write_row (&table, at - 1);
  else
    for (uint32_t row = 0; row < rows->n_rows && sysprof_text_writer_is_open (writer); row++)
      write_row (&table, row);
  if (!is_section)
    tell_hidden (&table);
  sysprof_row_tree_clear (&tree);
}
