// SPDX-License-Identifier: GPL-3.0-or-later

/* Fills tracks for a focus. The selected time does not filter them. */

#include "app/charts/track-query.h"

static gpointer
run (AppSession *session,
     const Focus *focus,
     gconstpointer input,
     GCancellable *cancellable,
     GError **error)
{
  ResolvedSelection resolved = { 0 };
  ViewRequest request = {
    .store = (Store *) app_session_get_store (session),
    .symbols = app_session_get_symbols (session),
    .filter = &resolved.filter,
    .shape = &resolved.shape,
    .cancellable = cancellable,
  };
  TrackSet *set = NULL;

  if (sysprof_selection_resolve (&focus->selection, request.store, &resolved, error))
    set = sysprof_tracks_new (input, &request);
  sysprof_resolved_selection_clear (&resolved);
  if (set == NULL && error != NULL && *error == NULL)
    (void) g_cancellable_set_error_if_cancelled (cancellable, error);
  return set;
}

const QueryKind app_track_query_kind = {
  .run = run,
  .free_input = g_free,
  .free_result = (GDestroyNotify) sysprof_tracks_free,
};
