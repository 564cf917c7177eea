// SPDX-License-Identifier: GPL-3.0-or-later

/* Fills the rows of a view for a focus. */

#include "app/session/row-query.h"

#include "render/render.h"
#include "views/tracks/tracks.h"

#include <glib/gi18n.h>
#include <string.h>

RowResult *
app_row_result_ref (RowResult *self)
{
  g_atomic_ref_count_inc (&self->n_references);
  return self;
}

static void
free_rows (gpointer data)
{
  sysprof_rows_clear (data);
  g_free (data);
}

void
app_row_result_unref (RowResult *self)
{
  if (!g_atomic_ref_count_dec (&self->n_references))
    return;
  app_free_elsewhere (g_memdup2 (&self->rows, sizeof self->rows), free_rows);
  sysprof_chosen_weights_clear (&self->weights);
  sysprof_resolved_selection_clear (&self->resolved);
  g_free (self->is_on_path);
  g_free (self->is_of_heap);
  g_strfreev (self->times);
  g_free (self->processes[0]);
  g_free (self->search);
  app_focus_unref (self->focus);
  g_object_unref (self->session);
  g_free (self);
}

RowQuery *
app_row_query_new (const RowQuery *query)
{
  RowQuery *copy = g_memdup2 (query, sizeof *query);

  copy->root = g_strdup (query->root);
  copy->search = g_strdup (query->search);
  copy->path.process = g_strdup (query->path.process);
  copy->path.functions = (const char *const *) g_strdupv ((char **) query->path.functions);
  copy->path.binaries = (const char *const *) g_strdupv ((char **) query->path.binaries);
  return copy;
}

static void
row_query_free (gpointer data)
{
  RowQuery *self = data;

  g_free ((char *) self->root);
  g_free ((char *) self->search);
  app_stack_path_clear (&self->path);
  g_free (self);
}

/* Keeps the counters of one track. */
static void
keep_track (Rows *rows, const char *track)
{
  int column = sysprof_rows_column (rows, "category");
  g_autofree uint32_t *order = g_new (uint32_t, MAX (rows->n_rows, 1));
  uint32_t n = 0;

  for (uint32_t i = 0; i < rows->n_rows; i++)
    if (sysprof_counter_is_in_track (track, sysprof_rows_cells (rows, i)[column].text))
      order[n++] = i;
  sysprof_rows_permute (rows, order, n);
  rows->total = n;
}

/* A view, one of the application, or one that is only a part of another one, such as
 * "findings". */
static const View *
find_view (const char *name)
{
  static const View *const own[] = { &sysprof_counter_values_view, &sysprof_heap_sizes_view,
                                     &sysprof_stack_events_view };
  const View *view = sysprof_view_find (name);

  for (size_t i = 0; view == NULL && i < G_N_ELEMENTS (own); i++)
    if (g_str_equal (own[i]->name, name))
      view = own[i];

  for (const View *const *at = sysprof_view_list (); view == NULL && *at != NULL; at++)
    for (const ViewSection *part = (*at)->sections; part != NULL && part->view; part++)
      if (g_str_equal (part->view->name, name))
        view = part->view;
  return view;
}

static void
prepare (RowResult *self, const RowQuery *query)
{
  const char *root = query->root;

  self->query = *query;
  self->query.root = self->query.search = NULL;
  self->search = g_strdup (query->search);
  self->query.path = (StackPath){ 0 };
  self->view = find_view (query->view);
  self->selection = self->focus->selection;
  if (root != NULL)
    self->selection.focus = root[0] != '\0' ? (char *) root : NULL;
  if (query->ignores_shape)
    self->selection.focus = NULL;
  if (!query->ignores_time)
    self->times = app_focus_dup_times (self->focus);
  self->selection.times = self->times;
  if (query->pid == 0)
    return;
  self->processes[0] = g_strdup_printf ("%d", query->pid);
  self->selection.processes = self->processes;
}

static bool
fill (RowResult *self, const StackPath *stack_path, GCancellable *cancellable, GError **error)
{
  const Store *store = app_session_get_store (self->session);
  const SymbolTable *symbols = app_session_get_symbols (self->session);
  const char *path = app_session_get_path (self->session);
  Weight weight = self->query.weight == WEIGHT_DEFAULT ? self->focus->weight
                  : self->query.weight == WEIGHT_BYTES ? self->focus->heap_weight
                                                       : self->query.weight;
  WeightChoice choice = { weight, self->focus->event, path };

  if (!sysprof_selection_resolve (&self->selection, store, &self->resolved, error) ||
      !sysprof_weigh (&choice, store, symbols, &self->resolved.filter, &self->weights, error))
    return false;
  if (self->query.heap != HEAP_ALL)
    {
      HeapQuery wanted = self->query.heap == HEAP_LEAKS ? HEAP_LIVE : HEAP_TEMPORARY;

      self->is_of_heap = sysprof_heap_ask (store, wanted, INT64_MAX);
      self->resolved.filter.event_is_in = self->is_of_heap;
    }
  self->request = (ViewRequest){
    .store = (Store *) store,
    .symbols = symbols,
    .filter = &self->resolved.filter,
    .shape = &self->resolved.shape,
    .selection = &self->selection,
    .path = path,
    .symbolize = app_session_get_symbolize (self->session),
    .switches = self->query.switches,
    .search = self->search,
    .hides_options = true,
    .recorded_by = self->query.missing != NULL ? _ (self->query.missing) : NULL,
    .limit = self->query.sort == NULL ? self->query.limit : 0,
    .left_heavy = self->focus->selection.left_heavy,
    .cancellable = cancellable,
  };
  if (stack_path != NULL)
    {
      self->is_on_path = sysprof_stack_path_find (stack_path, &self->request);
      self->resolved.filter.event_is_in = self->is_on_path;
    }
  return sysprof_view_fill (self->view, &self->request, &self->rows, error);
}

static gpointer
run (AppSession *session,
     const Focus *focus,
     gconstpointer input,
     GCancellable *cancellable,
     GError **error)
{
  const RowQuery *query = input;
  g_autoptr (RowResult) self = g_new0 (RowResult, 1);

  g_atomic_ref_count_init (&self->n_references);
  self->session = g_object_ref (session);
  self->focus = app_focus_ref (focus);
  prepare (self, query);
  if (!fill (self, query->has_path ? &query->path : NULL, cancellable, error))
    return NULL;
  if (query->track != NULL)
    keep_track (&self->rows, query->track);
  if (query->sort != NULL && !sysprof_rows_sort (&self->rows, query->sort, error))
    return NULL;
  if (query->sort != NULL && query->limit > 0)
    self->rows.n_rows = MIN (self->rows.n_rows, query->limit);
  self->request.cancellable = NULL;
  return g_steal_pointer (&self);
}

const QueryKind app_row_query_kind = {
  .run = run,
  .free_input = row_query_free,
  .free_result = (GDestroyNotify) app_row_result_unref,
};

char *
app_row_result_dup_cell (const RowResult *self, uint32_t row, const char *name)
{
  int column = sysprof_rows_column (&self->rows, name);

  return column < 0 ? NULL
                    : sysprof_dup_cell (&self->rows.columns[column],
                                        sysprof_rows_cells (&self->rows, row)[column]);
}

int64_t
app_row_result_get_number (const RowResult *self,
                           uint32_t row,
                           const char *name,
                           int64_t otherwise)
{
  int column = sysprof_rows_column (&self->rows, name);
  int64_t number;

  if (column < 0)
    return otherwise;
  number = sysprof_rows_cells (&self->rows, row)[column].number;
  return number == NO_NUMBER ? otherwise : number;
}

static const char *
find_text (const RowResult *self, uint32_t row, const char *name)
{
  int column = sysprof_rows_column (&self->rows, name);

  return column >= 0 ? sysprof_rows_cells (&self->rows, row)[column].text : "";
}

/* The number in "NAME (TID)"; -1 if there is none. */
static int32_t
find_tid (const char *label)
{
  const char *number = strrchr (label, '(');

  return number != NULL ? (int32_t) g_ascii_strtoll (number + 1, NULL, 10) : -1;
}

bool
app_row_result_get_path (const RowResult *self, uint32_t row, StackPath *path)
{
  const uint32_t *parent = self->rows.parent;
  g_autoptr (GPtrArray) functions = g_ptr_array_new ();
  g_autoptr (GPtrArray) binaries = g_ptr_array_new ();

  *path = (StackPath){ .tid = -1 };
  if (sysprof_rows_column (&self->rows, "symbol") < 0)
    return false;
  path->is_anchored = parent != NULL && self->selection.focus == NULL;
  for (uint32_t at = row + 1; at != 0; at = parent != NULL ? parent[at - 1] : 0)
    {
      const char *name = find_text (self, at - 1, "symbol");
      const char *kind = find_text (self, at - 1, "kind");

      if (g_str_equal (kind, "process"))
        path->process = g_strdup (name);
      else if (g_str_equal (kind, "thread"))
        path->tid = find_tid (name);
      else if (!g_str_equal (kind, "root"))
        {
          g_ptr_array_insert (functions, 0, g_strdup (name));
          g_ptr_array_insert (binaries, 0, g_strdup (find_text (self, at - 1, "binary")));
        }
    }
  g_ptr_array_add (functions, NULL);
  g_ptr_array_add (binaries, NULL);
  path->binaries = (const char *const *) g_ptr_array_steal (binaries, NULL);
  path->functions = (const char *const *) g_ptr_array_steal (functions, NULL);
  return true;
}

void
app_stack_path_clear (StackPath *path)
{
  g_strfreev ((char **) path->functions);
  g_strfreev ((char **) path->binaries);
  g_free ((char *) path->process);
  *path = (StackPath){ 0 };
}
