// SPDX-License-Identifier: GPL-3.0-or-later

/* Comma-separated values (RFC 4180, but with Unix line ends) for spreadsheets and scripts,
 * with the columns and numbers of the JSON. A tree has its depth in a first column. A stack
 * has further columns for binaries, lines and so on of its entries. */

#include "render/renderers.h"
#include "views/views.h"

#include <string.h>

/* Removes control characters from each line and keeps line ends. *(full)* */
static char *
dup_harmless (const char *text)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);

  for (char **line = lines; *line; line++)
    {
      char *harmless = sysprof_dup_line_of_data (*line);

      g_free (*line);
      *line = harmless;
    }
  return g_strjoinv ("\n", lines);
}

static void
write_text (TextWriter *writer, const char *text)
{
  g_autofree char *valid = dup_harmless (text);

  if (!valid[strcspn (valid, ",\"\n")])
    {
      sysprof_text_writer_puts (writer, valid);
      return;
    }
  sysprof_text_writer_puts (writer, "\"");
  for (const char *at = valid; *at;)
    {
      size_t size = strcspn (at, "\"");

      sysprof_text_writer_bytes (writer, at, size);
      at += size;
      if (*at)
        {
          sysprof_text_writer_puts (writer, "\"\"");
          at++;
        }
    }
  sysprof_text_writer_puts (writer, "\"");
}

/* Properties of stack entries that have a column. */
typedef enum
{
  STACK_SYMBOLS,
  STACK_BINARIES,
  STACK_KINDS,
  STACK_FILES,
  STACK_LINES,
  STACK_INLINED,
  N_STACK_PARTS,
} StackPart;

/* Suffixes of column names, as in the JSON of an entry. */
static const char *const stack_parts[] = {
  [STACK_SYMBOLS] = "",    [STACK_BINARIES] = "-binary", [STACK_KINDS] = "-kind",
  [STACK_FILES] = "-file", [STACK_LINES] = "-line",      [STACK_INLINED] = "-inlined",
};
G_STATIC_ASSERT (G_N_ELEMENTS (stack_parts) == N_STACK_PARTS);

static void
append_part (GString *text, const StackEntry *entry, StackPart part)
{
  switch (part)
    {
    case STACK_SYMBOLS:
      g_string_append (text, entry->symbol);
      break;
    case STACK_BINARIES:
      g_string_append (text, entry->binary);
      break;
    case STACK_KINDS:
      g_string_append (text, sysprof_symbol_kind_to_string ((SymbolKind) entry->kind));
      break;
    case STACK_FILES:
      if (entry->line != 0)
        g_string_append (text, entry->file);
      break;
    case STACK_LINES:
      if (entry->line != 0)
        g_string_append_printf (text, "%u", entry->line);
      break;
    case STACK_INLINED:
      g_string_append (text, entry->is_inlined ? "true" : "");
      break;
    case N_STACK_PARTS:
      break;
    }
}

/* One line per entry in a cell; the cells of one stack have the same lines. */
static char *
dup_stack (const StackText *stack, StackPart part)
{
  GString *text = g_string_new (NULL);

  for (uint32_t i = 0; i < stack->n; i++)
    {
      if (i > 0)
        g_string_append_c (text, '\n');
      append_part (text, stack->entries[i], part);
    }
  return g_string_free (text, FALSE);
}

static char *
dup_graph (const GraphValues *graph)
{
  GString *text = g_string_new (NULL);
  char buffer[G_ASCII_DTOSTR_BUF_SIZE];

  for (uint32_t i = 0; i < graph->n; i++)
    g_string_append_printf (text, "%s%s", i ? " " : "",
                            sysprof_format_real (graph->values[i], buffer));
  return g_string_free (text, FALSE);
}

static char *
dup_cell (const Column *column, Cell cell)
{
  char buffer[G_ASCII_DTOSTR_BUF_SIZE];

  if (sysprof_cell_is_none (column, cell))
    return g_strdup ("");
  switch (column->kind)
    {
    case COLUMN_TEXT:
      return g_strdup (cell.text);
    case COLUMN_TEXTS:
    case COLUMN_OPTIONS:
      return g_strjoinv ("\n", (char **) cell.texts);
    case COLUMN_STACK:
      return dup_stack (cell.stack, STACK_SYMBOLS);
    case COLUMN_GRAPH:
      return dup_graph (cell.graph);
    case COLUMN_COUNT:
      return g_strdup_printf ("%" G_GUINT64_FORMAT, cell.count);
    case COLUMN_REAL:
      return g_strdup (sysprof_format_real (cell.real, buffer));
    case COLUMN_QUANTITY:
      return g_strdup (sysprof_format_real (cell.quantity->value, buffer));
    case COLUMN_BOOL:
      return g_strdup (cell.flag ? "true" : column->may_miss ? "" : "false");
    case COLUMN_DURATION:
    case COLUMN_TIME:
    case COLUMN_BYTES:
    case COLUMN_NUMBER:
      return g_strdup_printf ("%" G_GINT64_FORMAT, cell.number);
    }
  g_assert_not_reached ();
}

static void
write_parts (TextWriter *writer, const StackText *stack)
{
  for (StackPart part = STACK_SYMBOLS + 1; part < N_STACK_PARTS; part++)
    {
      g_autofree char *text = dup_stack (stack, part);

      sysprof_text_writer_puts (writer, ",");
      write_text (writer, text);
    }
}

static void
write_row (TextWriter *writer, const Rows *rows, uint32_t row, uint32_t depth, const void *data)
{
  if (rows->parent)
    sysprof_text_writer_printf (writer, "%u,", depth);
  for (uint32_t i = 0; i < rows->n_columns; i++)
    {
      g_autofree char *text = dup_cell (&rows->columns[i], sysprof_rows_cells (rows, row)[i]);

      if (i > 0)
        sysprof_text_writer_puts (writer, ",");
      write_text (writer, text);
      if (rows->columns[i].kind == COLUMN_STACK)
        write_parts (writer, sysprof_rows_cells (rows, row)[i].stack);
    }
  sysprof_text_writer_puts (writer, "\n");
}

static void
write_table (TextWriter *writer, const Rows *rows)
{
  sysprof_text_writer_puts (writer, rows->parent ? "depth," : "");
  for (uint32_t i = 0; i < rows->n_columns; i++)
    {
      const Column *column = &rows->columns[i];
      StackPart n_parts = column->kind == COLUMN_STACK ? N_STACK_PARTS : 1;

      for (StackPart part = 0; part < n_parts; part++)
        sysprof_text_writer_printf (writer, "%s%s%s", i + part > 0 ? "," : "", column->name,
                                    stack_parts[part]);
    }
  sysprof_text_writer_puts (writer, "\n");
  sysprof_write_each_row (writer, rows, write_row, NULL);
}

/* Several tables, each after a line with its name and separated by empty lines. */
static void
write_section (const View *view, const ViewRequest *request, const Rows *rows, void *data)
{
  TextWriter *writer = data;

  sysprof_text_writer_printf (writer, "%s\n", view->name);
  write_table (writer, rows);
  sysprof_text_writer_puts (writer, "\n");
}

static bool
render_csv (const View *view,
            const ViewRequest *request,
            const Rows *rows,
            GOutputStream *stream,
            GError **error)
{
  bool is_filled = true;
  TextWriter writer;

  sysprof_text_writer_init (&writer, stream);
  if (view->sections)
    is_filled = sysprof_for_each_section (view, request, true, write_section, &writer, error);
  else
    write_table (&writer, rows);
  return sysprof_text_writer_finish (&writer, is_filled ? error : NULL) && is_filled;
}

const RenderFormatRow sysprof_csv_format = {
  .name = "csv",
  .suffix = ".csv",
  .render = render_csv,
};
