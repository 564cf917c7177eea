// SPDX-License-Identifier: GPL-3.0-or-later

/* What views of samples share: folding the selected stacks, the focus, and the columns of
 * functions. */

#include "views/sample-rows.h"

#include "text/text.h"

#include <assert.h>
#include <string.h>

#define MAX_SUGGESTION 80 /* columns */

const Column sysprof_function_columns[] = {
  [FUNCTION_SYMBOL] = { "symbol", "FUNCTION", COLUMN_TEXT, .is_long = true,
                        .is_function = true },
  [FUNCTION_BINARY] = { "binary", "BINARY", COLUMN_TEXT },
  [FUNCTION_KIND] = { "kind", "KIND", COLUMN_TEXT, .json_only = true },
  [FUNCTION_SELF] = { "self", "SELF", COLUMN_COUNT, .share = true },
  [FUNCTION_TOTAL] = { "total", "TOTAL", COLUMN_COUNT, .share = true },
  [FUNCTION_CATEGORY] = { "category", "CATEGORY", COLUMN_TEXT, .json_only = true },
  [FUNCTION_FILE] = { "file", "FILE", COLUMN_TEXT, .json_only = true, .may_miss = true },
  [FUNCTION_LINE] = { "line", "LINE", COLUMN_NUMBER, .json_only = true, .may_miss = true },
  [FUNCTION_INLINED] = { "inlined", "INLINED", COLUMN_BOOL, .json_only = true,
                         .may_miss = true },
};
static_assert (G_N_ELEMENTS (sysprof_function_columns) == N_FUNCTION_COLUMNS,
               "one row per column");

void
sysprof_request_fold (const ViewRequest *request, bool by_thread, StackWeights *weights)
{
  *weights = (StackWeights){ 0 };
  sysprof_stack_weights_fold (weights, request->store, request->symbols, request->filter,
                              by_thread);
}

/* Formats for people show these weights as durations; formats for programs keep whole
 * nanoseconds. */
static void
show_durations (Rows *rows)
{
  Column *columns = sysprof_arena_alloc (&rows->arena, rows->n_columns * sizeof *columns);

  for (uint32_t i = 0; i < rows->n_columns; i++)
    {
      columns[i] = rows->columns[i];
      if (columns[i].kind != COLUMN_COUNT || !(columns[i].share || columns[i].is_weight))
        continue;
      columns[i].kind = COLUMN_DURATION;
      if (columns[i].title_of_time != NULL)
        columns[i].title = columns[i].title_of_time;
      for (uint32_t row = 0; row < rows->n_rows; row++)
        {
          Cell *cell = &rows->cells[(size_t) row * rows->n_columns + i];

          cell->number = (int64_t) MIN (cell->count, INT64_MAX);
        }
    }
  rows->columns = columns;
}

void
sysprof_rows_name_weight (Rows *rows, const Store *store, const SampleFilter *filter)
{
  if (filter != NULL && filter->weight_name != NULL)
    {
      rows->weight_name = filter->weight_name;
      rows->weight_unit = filter->weight_unit;
      if (!sysprof_filter_is_of_samples (filter, store))
        {
          rows->is_event_list = true;
          rows->n_available = filter->events->n;
          rows->noun = "waits";
        }
      if (g_str_equal (rows->weight_unit, "ns"))
        show_durations (rows);
      return;
    }
  if (filter == NULL || filter->events != &store->allocations)
    return;
  rows->is_event_list = true;
  rows->n_available = store->allocations.n;
  rows->noun = "allocations";
  rows->weight_name = filter->weigh_one ? "allocations" : "bytes";
  rows->weight_unit = filter->weigh_one ? "count" : "bytes";
}

Shape
sysprof_request_shape (const ViewRequest *request)
{
  Shape shape = request->shape ? *request->shape : (Shape){ 0 };

  shape.no_hooks =
      sysprof_filter_events (request->filter, request->store) == &request->store->allocations;
  return shape;
}

bool
sysprof_request_is_whole (const ViewRequest *request)
{
  return sysprof_filter_is_whole (request->filter);
}

/* The function name as a user types it: without arguments, namespace and class. */
static const char *
find_bare_name (const char *name, size_t *size)
{
  const char *end = name + strcspn (name, "(<[");
  const char *begin = name;

  for (const char *at = name; at < end; at++)
    if (at[0] == ':' && at[1] == ':')
      begin = at + 2;
  *size = begin < end ? (size_t) (end - begin) : 0;
  return begin;
}

/* Returns "" or a question to append to a message. *(full)* */
static char *
dup_similar_function (const SymbolTable *symbols, const char *wanted)
{
  Closest closest = sysprof_closest_to (wanted);
  g_autofree char *line = NULL, *cut = NULL;

  for (SymbolId i = 1; i < symbols->n && sysprof_is_wanted_at (i); i++)
    {
      const char *name = sysprof_symbol_name (symbols, i);
      size_t size;
      const char *bare = find_bare_name (name, &size);

      sysprof_closest_offer (&closest, bare, size, name);
    }
  if (!closest.best)
    return g_strdup ("");
  line = sysprof_dup_one_line (closest.best);
  cut = sysprof_dup_ellipsized (line, MAX_SUGGESTION);
  return g_strdup_printf (" Did you mean '%s'?", cut);
}

bool
sysprof_request_needs_focus (const ViewRequest *request, const char *view, GError **error)
{
  Shape shape = sysprof_request_shape (request);
  g_autofree char *suggestion = NULL;
  uint32_t n_matches = 0;

  if (!shape.focus)
    {
      g_set_error (
          error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
          "%s: name the function with --focus SYMBOL; the view 'functions' lists them.", view);
      return false;
    }
  g_free (sysprof_focus_match (request->symbols, shape.focus, &n_matches));
  if (n_matches > 0)
    return true;
  suggestion = dup_similar_function (request->symbols, shape.focus);
  g_set_error (
      error, SYSPROF_ERROR, SYSPROF_ERROR_FAILED,
      "--focus %s: no function of this capture has that in its name.%s The view 'functions' lists them.",
      shape.focus, suggestion);
  return false;
}

bool *
sysprof_request_find_processes (const ViewRequest *request)
{
  const SampleFilter *filter = request->filter;
  uint32_t n = request->store->processes.n;
  bool is_narrowed = filter != NULL && filter->has_processes;
  bool *is_in = g_new (bool, MAX (n, 1));

  memset (is_in, !is_narrowed, MAX (n, 1));
  for (uint32_t i = 0; is_narrowed && i < filter->n_processes; i++)
    if (filter->processes[i] < n)
      is_in[filter->processes[i]] = true;
  return is_in;
}

ProcessId *
sysprof_processes_of_stacks (const Store *store)
{
  const StackTree *stacks = &store->stacks;
  ProcessId *process = g_new0 (ProcessId, MAX (stacks->n, 1));

  for (StackId i = 0; i < stacks->n && sysprof_is_wanted_at (i); i++)
    process[i] = stacks->depth[i] == 0 ? i : process[stacks->parent[i]];
  return process;
}

int64_t
sysprof_request_offset (const ViewRequest *request, int64_t time)
{
  return sysprof_time_between (request->store->begin, time);
}

static void
set_function (Rows *rows, Cell *cells, const ViewRequest *request, SymbolId symbol)
{
  const SymbolTable *symbols = request->symbols;
  const Symbol *row = &symbols->row[symbol];

  cells[FUNCTION_SYMBOL].text = sysprof_symbol_name (symbols, symbol);
  cells[FUNCTION_FILE].text = sysprof_intern_get (&symbols->strings, row->file);
  cells[FUNCTION_LINE].number = row->line != 0 ? row->line : NO_NUMBER;
  cells[FUNCTION_INLINED].flag = row->is_inlined;
  if (request->shape && sysprof_shape_collapses (request->shape, symbols, symbol))
    {
      g_autofree char *label =
          g_strdup_printf ("[%s]", sysprof_symbol_binary (symbols, symbol));

      cells[FUNCTION_FILE].text = "";
      cells[FUNCTION_LINE].number = NO_NUMBER;
      cells[FUNCTION_INLINED].flag = false;
      cells[FUNCTION_SYMBOL].text = sysprof_rows_dup (rows, label);
    }
  cells[FUNCTION_BINARY].text = sysprof_symbol_binary (symbols, symbol);
  cells[FUNCTION_KIND].text = sysprof_symbol_kind_to_string ((SymbolKind) row->kind);
}

void
sysprof_rows_add_functions (Rows *rows, const ViewRequest *request, const FunctionTable *table)
{
  g_autofree uint8_t *found = sysprof_shown_categories_new (request->symbols, request->shape);

  for (uint32_t i = 0; i < table->n && sysprof_is_wanted_at (i); i++)
    {
      /* a function has many callers, so it inherits no category */
      uint8_t inherited = CATEGORY_NONE;
      SymbolId symbol = table->row[i].symbol;
      SymbolKind kind = (SymbolKind) request->symbols->row[symbol].kind;
      Cell *cells;

      if (kind == SYMBOL_MARKER)
        continue;
      cells = sysprof_rows_add (rows);
      set_function (rows, cells, request, symbol);
      cells[FUNCTION_SELF].count = table->row[i].self;
      cells[FUNCTION_TOTAL].count = table->row[i].total;
      cells[FUNCTION_CATEGORY].text =
          sysprof_category_to_string (sysprof_category_enter (found[symbol], kind, &inherited));
    }
}

void
sysprof_rows_set_node (Rows *rows,
                       Cell *cells,
                       const ViewRequest *request,
                       const CallTree *tree,
                       CallNodeId node,
                       const uint8_t *category)
{
  cells[FUNCTION_LINE].number = NO_NUMBER;
  if (tree->symbol[node])
    set_function (rows, cells, request, tree->symbol[node]);
  else
    {
      g_autofree char *label =
          sysprof_call_tree_dup_label (tree, request->store, request->symbols, node);

      cells[FUNCTION_SYMBOL].text = sysprof_rows_dup (rows, label);
    }
  cells[FUNCTION_KIND].text = sysprof_symbol_kind_to_string ((SymbolKind) tree->kind[node]);
  cells[FUNCTION_SELF].count = tree->self[node];
  cells[FUNCTION_TOTAL].count = tree->total[node];
  cells[FUNCTION_CATEGORY].text = sysprof_category_to_string ((Category) category[node]);
}
