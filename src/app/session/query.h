// SPDX-License-Identifier: GPL-3.0-or-later

/* AppQuery: runs the work of one widget on other threads. A newer request cancels an older one,
 * and only the result of the newest is delivered, on the main thread. While a gesture makes one
 * request after the other, the newest waits for a pause. It also waits until its widget is
 * mapped. While a request takes longer than 200 ms, the widget is dimmed and keeps its old
 * picture. This is the only way in which widgets call views.
 *
 *   static const QueryKind kind = { .fill = fill, .free_result = free_result };
 *
 *   self->query = app_query_new (GTK_WIDGET (self), on_result);
 *   app_query_run (self->query, &kind, session, input);
 *  */

#pragma once

#include "app/session/session.h"
#include "views/views.h"

/* On any thread, one of `run` and `fill`: the result, or NULL with `error`. *(full)* */
typedef struct
{
  gpointer (*run) (AppSession *session,
                   const Focus *focus,
                   gconstpointer input,
                   GCancellable *cancellable,
                   GError **error);
  /* The request has the selection of the focus. NULL without error if it was canceled. */
  gpointer (*fill) (const ViewRequest *request, gconstpointer input, GError **error);
  GDestroyNotify free_input;
  GDestroyNotify free_result;
  /* A gesture does not cancel requests: some of them run while it lasts. */
  bool follows_gestures;
} QueryKind;

/* Takes the ownership of `result`, which is NULL if `error` is set. */
typedef void QueryDone (GtkWidget *owner, gpointer result, const GError *error);

typedef struct AppQuery AppQuery;

/* Frees large data on another thread, since to unmap it takes long. */
void app_free_elsewhere (gpointer data, GDestroyNotify free);

AppQuery *app_query_new (GtkWidget *owner, QueryDone *done);
/* Cancels what runs. */
void app_query_free (AppQuery *self);
/* Takes the ownership of `input`. */
void app_query_run (AppQuery *self, const QueryKind *kind, AppSession *session, gpointer input);
void app_query_cancel (AppQuery *self);
