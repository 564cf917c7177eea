// SPDX-License-Identifier: GPL-3.0-or-later

/* Finds views, and applies the steps that all views share: search, sort, cut. It must not
 * know any view by name. */

#include "views/sample-rows.h"
#include "views/views.h"

#include <string.h>

extern const View *const sysprof_view_table[]; /* generated from the list in meson.build */

const View *const *
sysprof_view_list (void)
{
  return sysprof_view_table;
}

const View *
sysprof_view_find (const char *name)
{
  for (const View *const *view = sysprof_view_table; *view; view++)
    if (strcmp ((*view)->name, name) == 0)
      return *view;
  return NULL;
}

bool
sysprof_request_has (const ViewRequest *request, const char *name)
{
  return request->switches && g_strv_contains (request->switches, name);
}

/* sysprof_is_wanted() looks at the current cancellable of the thread. */
void
sysprof_request_begin (const ViewRequest *request)
{
  if (request->cancellable != NULL)
    g_cancellable_push_current (request->cancellable);
}

void
sysprof_request_end (const ViewRequest *request)
{
  if (request->cancellable != NULL)
    g_cancellable_pop_current (request->cancellable);
}

static bool
fill (const View *view, const ViewRequest *request, Rows *rows, GError **error)
{
  const View *source;

  if (!view->fill (request, rows, error))
    return false;
  if (request->search != NULL && !view->searches)
    sysprof_rows_search (rows, request->search);
  if (!rows->is_event_list)
    sysprof_rows_name_weight (rows, request->store, request->filter);
  /* With --weight, events of another view are summed. */
  source = rows->noun ? sysprof_view_find (rows->noun) : NULL;
  rows->recorded_by = source ? source->recorded_by : view->recorded_by;
  if (request->sort && !sysprof_rows_sort (rows, request->sort, error))
    return false;
  /* A drawing computes its widths from all rows, and shows light ones as well. */
  if (view->layout == LAYOUT_TABLE || request->limit || request->depth)
    sysprof_rows_cut (rows, request->limit, request->depth,
                      view->layout == LAYOUT_TABLE ? request->min_percent : 0);
  return true;
}

bool
sysprof_view_fill (const View *view, const ViewRequest *request, Rows *rows, GError **error)
{
  g_autoptr (GError) reason = NULL;
  bool is_filled;

  *rows = (Rows){ 0 };
  sysprof_request_begin (request);
  is_filled = fill (view, request, rows, &reason);
  /* An error because of incomplete rows does not matter if the request was canceled. */
  if (!sysprof_is_wanted ())
    {
      g_clear_error (&reason);
      (void) g_cancellable_set_error_if_cancelled (g_cancellable_get_current (), &reason);
      is_filled = false;
    }
  sysprof_request_end (request);

  if (!is_filled)
    {
      sysprof_rows_clear (rows);
      g_propagate_error (error, g_steal_pointer (&reason));
    }
  return is_filled;
}
