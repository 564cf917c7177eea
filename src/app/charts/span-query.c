// SPDX-License-Identifier: GPL-3.0-or-later

/* Fills charts of spans for a focus. */

#include "app/charts/span-query.h"

static gpointer
run (AppSession *session,
     const Focus *focus,
     gconstpointer input,
     GCancellable *cancellable,
     GError **error)
{
  const SpanQuery *query = input;
  ResolvedSelection resolved = { 0 };
  ViewRequest request = {
    .store = (Store *) app_session_get_store (session),
    .symbols = app_session_get_symbols (session),
    .filter = &resolved.filter,
    .shape = &resolved.shape,
    .cancellable = cancellable,
  };
  SpanChart *chart = NULL;

  if (sysprof_selection_resolve (&focus->selection, request.store, &resolved, error))
    chart = sysprof_span_chart_new (query->name, query->begin, query->end, &request);
  sysprof_resolved_selection_clear (&resolved);
  if (chart == NULL && error != NULL && *error == NULL)
    (void) g_cancellable_set_error_if_cancelled (cancellable, error);
  return chart;
}

const QueryKind app_span_query_kind = {
  .run = run,
  .free_input = g_free,
  .free_result = (GDestroyNotify) sysprof_span_chart_free,
};
