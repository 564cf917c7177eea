// SPDX-License-Identifier: GPL-3.0-or-later

/* A view as one JSON object for programs. Its members are a stable interface: members may be
 * added, but must not change their meaning. */

#include "document/document.h"
#include "render/renderers.h"
#include "views/views.h"

#include <math.h>
#include <string.h>

/* Names by frame type of the file format. */
static const char *const frame_names[STORE_N_FRAME_TYPES] = {
  "unknown",    "timestamp", "sample", "map",  "process",     "fork", "exit",
  "jitmap",     "ctrdef",    "ctrset", "mark", "metadata",    "log",  "file",
  "allocation", "overlay",   "trace",  "dbus", "frame-index",
};

/* Parsers have limits of nesting: jq 1.6 256 levels, Python about 1,000. */
#define MOST_LEVELS 250
/* Depth of rows: each is an object in an array, below two more levels. */
#define MOST_DEPTH ((MOST_LEVELS - 2) / 2)

static void
write_key (TextWriter *writer, const char *key)
{
  sysprof_text_writer_json (writer, key);
  sysprof_text_writer_puts (writer, ": ");
}

static void
write_capture (TextWriter *writer, const ViewRequest *request)
{
  const Store *store = request->store;
  StackFacts facts = sysprof_stack_facts (request, NULL);

  sysprof_text_writer_puts (writer, "{\"path\": ");
  sysprof_text_writer_json (writer, sysprof_capture_path (request));
  sysprof_text_writer_puts (writer, ", \"start-time\": ");
  sysprof_text_writer_json (writer, store->capture_time);
  sysprof_text_writer_printf (
      writer,
      ", \"duration\": %" G_GINT64_FORMAT ", \"samples\": %" G_GUINT64_FORMAT
      ", \"lost\": %" G_GUINT64_FORMAT ", \"lost-samples\": %" G_GUINT64_FORMAT
      ", \"lost-records\": %" G_GUINT64_FORMAT ",\n    \"frames\": {",
      sysprof_time_between (store->begin, store->end), store->n_frames_by_type[2],
      store->n_lost, store->n_lost_samples, store->n_lost_records);
  for (size_t i = 1; i <= STORE_N_FRAME_TYPES; i++)
    sysprof_text_writer_printf (
        writer, "\"%s\": %" G_GUINT64_FORMAT "%s", frame_names[i % STORE_N_FRAME_TYPES],
        store->n_frames_by_type[i % STORE_N_FRAME_TYPES], i < STORE_N_FRAME_TYPES ? ", " : "");
  sysprof_text_writer_printf (writer,
                              "},\n    \"stacks\": {\"complete\": %" G_GUINT64_FORMAT
                              ", \"total\": %" G_GUINT64_FORMAT "}",
                              facts.whole, facts.samples);
  if (store->damage)
    {
      sysprof_text_writer_puts (writer, ", \"damage\": ");
      sysprof_text_writer_json (writer, store->damage);
    }
  if (store->mixed)
    {
      sysprof_text_writer_puts (writer, ", \"joined\": ");
      sysprof_text_writer_json (writer, store->mixed);
    }
  sysprof_text_writer_puts (writer, "}");
}

static void
write_texts (TextWriter *writer, const char *const *texts)
{
  sysprof_text_writer_puts (writer, "[");
  for (size_t i = 0; texts[i]; i++)
    {
      if (i > 0)
        sysprof_text_writer_puts (writer, ", ");
      sysprof_text_writer_json (writer, texts[i]);
    }
  sysprof_text_writer_puts (writer, "]");
}

static void
write_option (TextWriter *writer, const SelectionOption *option, const void *member)
{
  char **texts = option->kind == SELECTION_LIST ? *(char ***) member : NULL;
  const char *text = option->kind == SELECTION_TEXT ? *(char **) member : NULL;

  write_key (writer, option->name);
  if (texts != NULL)
    write_texts (writer, (const char *const *) texts);
  else if (text != NULL)
    sysprof_text_writer_json (writer, text);
  else
    sysprof_text_writer_puts (writer, "true");
}

static bool
is_option_set (const SelectionOption *option, const void *member)
{
  switch (option->kind)
    {
    case SELECTION_LIST:
      return *(char ***) member != NULL && **(char ***) member != NULL;
    case SELECTION_TEXT:
      return *(char **) member != NULL;
    case SELECTION_SWITCH:
    default:
      return *(gboolean *) member;
    }
}

/* Writes what is selected, and --no-inlines, which is applied when a capture is loaded. */
static void
write_selection (TextWriter *writer, const Selection *selection)
{
  const char *separator = "";

  for (const SelectionOption *option = sysprof_selection_options; option->name; option++)
    {
      const void *member = (const char *) selection + option->offset;

      if (!is_option_set (option, member))
        continue;
      sysprof_text_writer_puts (writer, separator);
      write_option (writer, option, member);
      separator = ", ";
    }
  if (selection->no_inlines)
    sysprof_text_writer_printf (writer, "%s\"no-inlines\": true", separator);
}

static void
write_stack (TextWriter *writer, const StackText *stack)
{
  sysprof_text_writer_puts (writer, "[");
  for (uint32_t i = 0; i < stack->n; i++)
    {
      const StackEntry *entry = stack->entries[i];

      sysprof_text_writer_puts (writer, i ? ", {\"symbol\": " : "{\"symbol\": ");
      sysprof_text_writer_json (writer, entry->symbol);
      sysprof_text_writer_puts (writer, ", \"binary\": ");
      sysprof_text_writer_json (writer, entry->binary);
      sysprof_text_writer_printf (writer, ", \"kind\": \"%s\"",
                                  sysprof_symbol_kind_to_string ((SymbolKind) entry->kind));
      if (entry->line != 0)
        {
          sysprof_text_writer_puts (writer, ", \"file\": ");
          sysprof_text_writer_json (writer, entry->file);
          sysprof_text_writer_printf (writer, ", \"line\": %u", entry->line);
        }
      sysprof_text_writer_puts (writer, entry->is_inlined ? ", \"inlined\": true}" : "}");
    }
  sysprof_text_writer_puts (writer, "]");
}

static void
write_real (TextWriter *writer, double value)
{
  char buffer[G_ASCII_DTOSTR_BUF_SIZE];

  sysprof_text_writer_puts (writer,
                            isfinite (value) ? sysprof_format_real (value, buffer) : "null");
}

static void
write_graph (TextWriter *writer, const GraphValues *graph)
{
  sysprof_text_writer_puts (writer, "[");
  for (uint32_t i = 0; i < graph->n; i++)
    {
      if (i > 0)
        sysprof_text_writer_puts (writer, ", ");
      write_real (writer, graph->values[i]);
    }
  sysprof_text_writer_puts (writer, "]");
}

/* Values are arrays, as in the selection of the report, because options may be repeated. */
static void
write_options (TextWriter *writer, const char *const *texts)
{
  sysprof_text_writer_puts (writer, "{");
  for (size_t i = 0; texts[i] != NULL; i += 2)
    {
      sysprof_text_writer_puts (writer, i > 0 ? ", " : "");
      write_key (writer, texts[i]);
      if (texts[i + 1][0] == '\0')
        sysprof_text_writer_puts (writer, "true");
      else
        write_texts (writer, (const char *const[]){ texts[i + 1], NULL });
    }
  sysprof_text_writer_puts (writer, "}");
}

static void
write_cell (TextWriter *writer, const Column *column, Cell cell)
{
  if (sysprof_cell_is_none (column, cell))
    {
      sysprof_text_writer_puts (writer, "null");
      return;
    }
  switch (column->kind)
    {
    case COLUMN_TEXT:
      sysprof_text_writer_json (writer, cell.text);
      break;
    case COLUMN_TEXTS:
      write_texts (writer, cell.texts);
      break;
    case COLUMN_OPTIONS:
      write_options (writer, cell.texts);
      break;
    case COLUMN_STACK:
      write_stack (writer, cell.stack);
      break;
    case COLUMN_COUNT:
      sysprof_text_writer_printf (writer, "%" G_GUINT64_FORMAT, cell.count);
      break;
    case COLUMN_DURATION:
    case COLUMN_TIME:
    case COLUMN_BYTES:
    case COLUMN_NUMBER:
      sysprof_text_writer_printf (writer, "%" G_GINT64_FORMAT, cell.number);
      break;
    case COLUMN_BOOL:
      sysprof_text_writer_puts (writer, cell.flag ? "true" : "false");
      break;
    case COLUMN_REAL:
      write_real (writer, cell.real);
      break;
    case COLUMN_QUANTITY:
      write_real (writer, cell.quantity->value);
      break;
    case COLUMN_GRAPH:
      write_graph (writer, cell.graph);
      break;
    }
}

static bool
is_missing (const Column *column, Cell cell)
{
  return column->may_miss &&
         (column->kind == COLUMN_TEXT      ? cell.text[0] == 0
          : column->kind == COLUMN_OPTIONS ? cell.texts[0] == NULL
          : column->kind == COLUMN_BOOL    ? !cell.flag
                                           : sysprof_cell_is_none (column, cell));
}

static void
write_cells (TextWriter *writer, const Rows *rows, uint32_t row)
{
  const char *separator = "";

  for (uint32_t i = 0; i < rows->n_columns; i++)
    {
      const Column *column = &rows->columns[i];
      Cell cell = sysprof_rows_cells (rows, row)[i];

      if (is_missing (column, cell))
        continue;
      sysprof_text_writer_puts (writer, separator);
      write_key (writer, column->name);
      write_cell (writer, column, cell);
      separator = ", ";
    }
}

static void
write_flat (TextWriter *writer, const Rows *rows)
{
  for (uint32_t row = 0; row < rows->n_rows && sysprof_text_writer_is_open (writer); row++)
    {
      sysprof_text_writer_puts (writer, row ? ",\n    {" : "\n    {");
      write_cells (writer, rows, row);
      sysprof_text_writer_puts (writer, "}");
    }
}

/* Replaces rows that are too deep by the number of their samples. */
static void
write_deeper (TextWriter *writer, const Rows *rows, const RowTree *tree, uint32_t at)
{
  int total = sysprof_rows_column (rows, "total");
  uint64_t n = 0;

  for (uint32_t child = tree->first_child[at]; child != 0 && total >= 0;
       child = tree->next_sibling[child])
    n += sysprof_rows_cells (rows, child - 1)[total].count;
  sysprof_text_writer_printf (writer, ", \"deeper\": %" G_GUINT64_FORMAT "}", n);
}

/* Not recursive, because rows may be deeper than the stack allows. */
static void
write_nested (TextWriter *writer, const Rows *rows)
{
  RowTree tree;
  uint32_t at;

  sysprof_row_tree_init (&tree, rows);
  at = tree.first_child[0];
  while (at && sysprof_text_writer_is_open (writer))
    {
      bool is_deepest = tree.depth[at] >= MOST_DEPTH && tree.first_child[at] != 0;

      sysprof_text_writer_puts (writer, "\n{");
      write_cells (writer, rows, at - 1);
      if (is_deepest)
        write_deeper (writer, rows, &tree, at);
      else
        sysprof_text_writer_puts (writer, ", \"children\": [");
      if (!is_deepest && tree.first_child[at])
        {
          at = tree.first_child[at];
          continue;
        }
      while (at)
        {
          if (!is_deepest)
            sysprof_text_writer_puts (writer, "]}");
          is_deepest = false;
          if (tree.next_sibling[at])
            {
              sysprof_text_writer_puts (writer, ",");
              at = tree.next_sibling[at];
              break;
            }
          at = tree.parent[at];
        }
    }
  sysprof_row_tree_clear (&tree);
}

static void
write_rows (TextWriter *writer, const char *key, const Rows *rows)
{
  sysprof_text_writer_puts (writer, ",\n  ");
  write_key (writer, key);
  sysprof_text_writer_puts (writer, "[");
  if (rows->parent)
    write_nested (writer, rows);
  else
    write_flat (writer, rows);
  sysprof_text_writer_puts (writer, "]");
}

static void
write_section (const View *view, const ViewRequest *request, const Rows *rows, void *data)
{
  write_rows (data, view->name, rows);
}

static void
write_beside (TextWriter *writer, const ViewRequest *request)
{
  Beside beside;

  if (!sysprof_find_beside (request, &beside))
    return;
  sysprof_text_writer_puts (writer, ",\n  \"beside\": {\"share\": ");
  write_real (writer, beside.percent / 100);
  sysprof_text_writer_printf (writer, ", \"processes\": %u", beside.n_processes);
  if (beside.most != NULL)
    {
      sysprof_text_writer_puts (writer, ", \"most\": ");
      sysprof_text_writer_json (writer, beside.most);
    }
  sysprof_text_writer_puts (writer, "}");
}

static bool
render_json (const View *view,
             const ViewRequest *request,
             const Rows *rows,
             GOutputStream *stream,
             GError **error)
{
  bool is_filled = true;
  TextWriter writer;

  sysprof_text_writer_init (&writer, stream);
  sysprof_text_writer_printf (
      &writer,
      "{\"format\": \"sysprof-report\", \"version\": 1, \"view\": \"%s\",\n"
      "  \"capture\": ",
      view->name);
  write_capture (&writer, request);
  sysprof_text_writer_puts (&writer, ",\n  \"selection\": {");
  if (request->selection)
    write_selection (&writer, request->selection);
  sysprof_text_writer_printf (
      &writer,
      "},\n  \"weight\": {\"name\": \"%s\", \"unit\": \"%s\", \"total\": %" G_GUINT64_FORMAT
      "}",
      rows->weight_name, rows->weight_unit, rows->total);
  if (view->sections)
    write_beside (&writer, request);
  if (view->sections)
    is_filled = sysprof_for_each_section (view, request, true, write_section, &writer, error);
  else
    write_rows (&writer, "rows", rows);
  sysprof_text_writer_puts (&writer, "}\n");
  return sysprof_text_writer_finish (&writer, is_filled ? error : NULL) && is_filled;
}

const RenderFormatRow sysprof_json_format = {
  .name = "json",
  .suffix = ".json",
  .render = render_json,
};
