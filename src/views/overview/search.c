// SPDX-License-Identifier: GPL-3.0-or-later

/* Finds everything with a name that contains the search terms. */

#include "views/event-rows.h"

enum
{
  KIND,
  COUNT,
  NAME,
  WHERE,
  SYMBOL_KIND,
  FILE_NAME,
  LINE,
  INLINED,
  N_COLUMNS,
};

static const Column columns[] = {
  [KIND] = { "kind", "KIND", COLUMN_TEXT },
  [COUNT] = { "count", "COUNT", COLUMN_COUNT },
  [NAME] = { "name", "NAME", COLUMN_TEXT },
  [WHERE] = { "where", "IN", COLUMN_TEXT, .is_long = true, .has_location = true },
  [SYMBOL_KIND] = { "symbol-kind", "KIND", COLUMN_TEXT, .json_only = true, .may_miss = true },
  [FILE_NAME] = { "file", "FILE", COLUMN_TEXT, .json_only = true, .may_miss = true },
  [LINE] = { "line", "LINE", COLUMN_NUMBER, .json_only = true, .may_miss = true },
  [INLINED] = { "inlined", "INLINED", COLUMN_BOOL, .json_only = true, .may_miss = true },
};

/* Source location and inlining, which only functions have. */
static void
set_function (const ViewRequest *request, const Found *found, Cell *cells)
{
  const SymbolTable *symbols = request->symbols;
  const Symbol *symbol = found->kind == FOUND_SYMBOL ? &symbols->row[found->id] : NULL;

  cells[SYMBOL_KIND].text =
      symbol != NULL ? sysprof_symbol_kind_to_string ((SymbolKind) symbol->kind) : "";
  cells[FILE_NAME].text =
      symbol != NULL ? sysprof_intern_get (&symbols->strings, symbol->file) : "";
  cells[LINE].number = symbol != NULL && symbol->line != 0 ? symbol->line : NO_NUMBER;
  cells[INLINED].flag = symbol != NULL && symbol->is_inlined;
}

static bool
fill_search (const ViewRequest *request, Rows *rows, GError **error)
{
  g_autoptr (TextQuery) query =
      sysprof_text_query_new (request->search != NULL ? request->search : "");
  g_autoptr (CaptureSearch) search = NULL;
  g_autofree Found *found = NULL;
  uint32_t n_found;

  if (sysprof_text_query_is_empty (query))
    {
      g_set_error_literal (error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED,
                           "search: no search terms. Add --search 'TERM…'.");
      return false;
    }

  search = sysprof_capture_search_new (request->store, (SymbolTable *) request->symbols,
                                       request->filter, g_cancellable_get_current ());
  if (search == NULL)
    return !g_cancellable_set_error_if_cancelled (g_cancellable_get_current (), error);
  found = sysprof_capture_search_find (search, query, UINT32_MAX, &n_found,
                                       g_cancellable_get_current ());
  sysprof_rows_init_events (rows, columns, N_COLUMNS, "names", n_found,
                            sysprof_capture_search_count (search));
  for (uint32_t i = 0; i < n_found && sysprof_is_wanted_at (i); i++)
    {
      Cell *cells = sysprof_rows_add (rows);

      cells[KIND].text = sysprof_found_kind_to_string (found[i].kind);
      cells[COUNT].count = found[i].count;
      cells[NAME].text = sysprof_rows_dup (rows, found[i].name);
      cells[WHERE].text = sysprof_rows_dup (rows, found[i].where);
      set_function (request, &found[i], cells);
    }
  return true;
}

const View sysprof_search_view = {
  .name = "search",
  .title = "Search",
  .summary = "functions, processes, files ... by name (--search), best first",
  .options = OPTIONS_SAMPLES,
  .fill = fill_search,
  .searches = true,
};
