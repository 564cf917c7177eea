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

#define SHARE_COLUMNS 8 /* "100.00 %" */

/* Rows whose cells are measured to find the width of a column; figures are measured in all. */
#define ROWS_TO_MEASURE 200
#define TEXT_COLUMN_MAX 48 /* of a text that is not the last one */

typedef struct
{
  Out *out;
  const ViewRequest *request;
  const Rows *rows;
  const RowTree *tree;              /* NULL for a flat table */
  uint32_t order[VIEW_MAX_COLUMNS]; /* figures first */
  uint32_t n;
  size_t width[VIEW_MAX_COLUMNS];
  int kind; /* column of the kind of function, or -1 */
} Table;

static void
put_color (const Table *table, const char *color)
{
  if (table->request->use_color)
    sysprof_out_text (table->out, color);
}

static void
order_columns (Table *table)
{
  const Rows *rows = table->rows;

  for (int figures = 1; figures >= 0; figures--)
    for (uint32_t i = 0; i < rows->n_columns; i++)
      if (!rows->columns[i].json_only &&
          sysprof_column_is_figure (&rows->columns[i]) == figures)
        table->order[table->n++] = i;
}

static void
measure_columns (Table *table)
{
  const Rows *rows = table->rows;

  for (uint32_t i = 0;
       i + 1 < table->n ||
       (i < table->n && sysprof_column_is_figure (&rows->columns[table->order[i]]));
       i++)
    {
      const Column *column = &rows->columns[table->order[i]];
      bool is_figure = sysprof_column_is_figure (column);
      uint32_t n = is_figure ? rows->n_rows : MIN (rows->n_rows, ROWS_TO_MEASURE);
      size_t width = strlen (column->title);

      for (uint32_t row = 0; row < n; row++)
        {
          g_autofree char *text =
              sysprof_dup_cell (column, sysprof_rows_cells (rows, row)[table->order[i]]);

          width = MAX (width, sysprof_text_columns (text));
        }
      table->width[i] = is_figure ? width : MIN (width, TEXT_COLUMN_MAX);
    }
}

static void
write_titles (const Table *table)
{
  put_color (table, COLOR_TITLE);
  for (uint32_t i = 0; i < table->n; i++)
    {
      const Column *column = &table->rows->columns[table->order[i]];
      size_t size = strlen (column->title);
      size_t width = table->width[i] + (column->share ? SHARE_COLUMNS + 1 : 0);

      if (i > 0)
        sysprof_out_text (table->out, "  ");
      if (sysprof_column_is_figure (column))
        sysprof_out_fill (table->out, ' ', width - size);
      sysprof_out_text (table->out, column->title);
      if (!sysprof_column_is_figure (column) && i + 1 < table->n)
        sysprof_out_fill (table->out, ' ', width > size ? width - size : 0);
    }
  put_color (table, COLOR_RESET);
  sysprof_out_text (table->out, "\n");
}

static const char *
color_of_row (const Table *table, const Cell *cells)
{
  const char *kind = table->kind >= 0 ? cells[table->kind].text : "user";

  if (strcmp (kind, "user") == 0)
    return NULL;
  return strcmp (kind, "kernel") == 0 ? COLOR_KERNEL : COLOR_OTHER;
}

/* Depth as blanks; where a terminal is too narrow for that, as a number. */
static char *
dup_indent (const Table *table, uint32_t row, size_t room)
{
  size_t blanks = table->tree ? 2 * (table->tree->depth[row + 1] - 1) : 0;

  if (table->request->terminal_width > 0 && blanks > room / 2)
    return g_strdup_printf ("%*s[%u] ", (int) MIN (room / 2, 200), "",
                            table->tree->depth[row + 1]);
  return g_strnfill (blanks, ' ');
}

static void
write_row (const Table *table, uint32_t row)
{
  const Cell *cells = sysprof_rows_cells (table->rows, row);
  const char *color = color_of_row (table, cells);
  size_t used = 0;
  bool is_first_text = true;

  for (uint32_t i = 0; i < table->n; i++)
    {
      const Column *column = &table->rows->columns[table->order[i]];
      g_autofree char *text = sysprof_dup_cell (column, cells[table->order[i]]);
      bool is_last = i + 1 == table->n;
      size_t terminal = table->request->terminal_width;
      size_t columns;

      if (i > 0)
        sysprof_out_text (table->out, "  ");
      used += i > 0 ? 2 : 0;
      if (column->share)
        sysprof_out_printf (table->out, "%6.2f %% ",
                            sysprof_percent (cells[table->order[i]].count, table->rows->total));
      used += column->share ? SHARE_COLUMNS + 1 : 0;
      if (sysprof_column_is_figure (column))
        {
          columns = strlen (text);
          sysprof_out_fill (table->out, ' ', table->width[i] - columns);
          sysprof_out_text (table->out, text);
          used += table->width[i];
          continue;
        }

      if (is_first_text && table->tree)
        {
          g_autofree char *indent =
              dup_indent (table, row, terminal > used ? terminal - used : 0);

          g_free (g_steal_pointer (&text));
          g_autofree char *name = sysprof_dup_one_line (cells[table->order[i]].text);
          text = g_strconcat (indent, name, NULL);
        }
      if (terminal > 0 || !is_last)
        {
          size_t room = is_last ? (terminal > used ? terminal - used : 1) : table->width[i];

          if (terminal > 0)
            {
              char *cut = sysprof_dup_ellipsized (text, room);

              g_free (text);
              text = cut;
            }
        }
      columns = sysprof_text_columns (text);
      if (color && is_first_text)
        put_color (table, color);
      sysprof_out_text (table->out, text);
      if (color && is_first_text)
        put_color (table, COLOR_RESET);
      if (!is_last)
        {
          sysprof_out_fill (table->out, ' ',
                            columns < table->width[i] ? table->width[i] - columns : 0);
          used += MAX (columns, table->width[i]);
        }
      is_first_text = false;
    }
  sysprof_out_text (table->out, "\n");
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
  write_titles (&table);
  if (rows->parent)
    for (uint32_t at = sysprof_row_tree_next (&tree, 0); at;
         at = sysprof_row_tree_next (&tree, at))
      write_row (&table, at - 1);
  else
    for (uint32_t row = 0; row < rows->n_rows; row++)
      write_row (&table, row);
  if (rows->n_hidden > 0)
    {
      put_color (&table, COLOR_DIM);
      sysprof_out_printf (out, "... and %u more (--limit 0 shows all)\n", rows->n_hidden);
      put_color (&table, COLOR_RESET);
    }
  sysprof_row_tree_clear (&tree);
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

  if (part.limit == 0)
    part.limit = 8; /* three such tables and the facts fill one screen */
  sysprof_out_printf (out, "%-9s %s\n", "Capture", path);
  for (char **line = facts; *line; line++)
    sysprof_out_printf (out, "%s\n", *line);
  if (!sysprof_for_each_section (view, &part, write_section, out, error))
    return false;
  sysprof_out_text (
      out,
      "\nMore: sysprof-report functions | tree | flame -o FILE.html | callers --focus FUNCTION |\n"
      "      processes | threads | quality CAPTURE; sysprof-report --help\n");
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

      sysprof_out_printf (&out, "%s\n\n", heading);
      write_table (&out, request, rows);
    }
  return sysprof_out_finish (&out, is_filled ? error : NULL) && is_filled;
}
