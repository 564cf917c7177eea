// SPDX-License-Identifier: GPL-3.0-or-later

/* Work on other threads: the newest request wins. */

#include "app/session/query.h"

#define DIM_AFTER_MSEC  200
#define WAITING_OPACITY 0.55
#define PAUSE_MSEC      120 /* requests that follow more quickly are of one gesture */

struct AppQuery
{
  GtkWidget *owner; /* borrowed: it owns the query */
  QueryDone *done;
  GCancellable *cancellable; /* of the newest request; NULL = none runs */
  guint dim_timeout;
  guint start_timeout;
  gint64 asked_at;
  /* The newest request, until it starts; NULL = none. */
  const QueryKind *kind;
  AppSession *session;
  gpointer input;
};

typedef struct
{
  const QueryKind *kind;
  AppSession *session;
  const Focus *focus;
  gpointer input;
  AppQuery *query; /* only valid if the request was not canceled */
} Request;

static void
request_free (gpointer data)
{
  Request *self = data;

  if (self->kind->free_input != NULL)
    self->kind->free_input (self->input);
  app_focus_unref (self->focus);
  g_object_unref (self->session);
  g_free (self);
}

static gboolean
dim (gpointer data)
{
  AppQuery *self = data;

  self->dim_timeout = 0;
  gtk_widget_set_opacity (self->owner, WAITING_OPACITY); /* a class would restyle all rows */
  return G_SOURCE_REMOVE;
}

static void
undim (AppQuery *self)
{
  g_clear_handle_id (&self->dim_timeout, g_source_remove);
  gtk_widget_set_opacity (self->owner, 1);
}

/* Frees the request that has not started. */
static void
forget (AppQuery *self)
{
  if (self->kind != NULL && self->kind->free_input != NULL)
    self->kind->free_input (self->input);
  self->kind = NULL;
  g_clear_object (&self->session);
}

static void
stop (AppQuery *self)
{
  if (self->cancellable != NULL)
    g_cancellable_cancel (self->cancellable);
  g_clear_object (&self->cancellable);
}

void
app_query_cancel (AppQuery *self)
{
  g_clear_handle_id (&self->start_timeout, g_source_remove);
  stop (self);
  forget (self);
  undim (self);
}

void
app_query_free (AppQuery *self)
{
  /* The owner may be in its finalizer: a change of it would take a reference. */
  g_clear_handle_id (&self->dim_timeout, g_source_remove);
  g_clear_handle_id (&self->start_timeout, g_source_remove);
  g_signal_handlers_disconnect_by_data (self->owner, self);
  stop (self);
  forget (self);
  g_free (self);
}

static gpointer
fill (const Request *self, GCancellable *cancellable, GError **error)
{
  const Selection *selection = &self->focus->selection;
  ResolvedSelection resolved = { 0 };
  ViewRequest request = {
    .store = (Store *) app_session_get_store (self->session),
    .symbols = app_session_get_symbols (self->session),
    .filter = &resolved.filter,
    .shape = &resolved.shape,
    .selection = selection,
    .path = app_session_get_path (self->session),
    .symbolize = app_session_get_symbolize (self->session),
    .cancellable = cancellable,
  };
  gpointer result = NULL;

  if (sysprof_selection_resolve (selection, request.store, &resolved, error))
    result = self->kind->fill (&request, self->input, error);
  sysprof_resolved_selection_clear (&resolved);
  if (result == NULL && *error == NULL)
    (void) g_cancellable_set_error_if_cancelled (cancellable, error);
  return result;
}

static void
run (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Request *request = data;
  GError *error = NULL;
  gpointer result;

  if (g_task_return_error_if_cancelled (task))
    return;
  result = request->kind->fill != NULL
               ? fill (request, cancellable, &error)
               : request->kind->run (request->session, request->focus, request->input,
                                     cancellable, &error);
  if (error != NULL)
    g_task_return_error (task, error);
  else
    g_task_return_pointer (task, result, request->kind->free_result);
}

static void start (AppQuery *self);

static void
finish (GObject *source, GAsyncResult *result, gpointer data)
{
  GTask *task = G_TASK (result);
  Request *request = g_task_get_task_data (task);
  GCancellable *cancellable = g_task_get_cancellable (task);
  g_autoptr (GError) error = NULL;
  gpointer value;

  if (g_cancellable_is_cancelled (cancellable))
    return; /* the task frees its result */
  value = g_task_propagate_pointer (task, &error);
  undim (request->query);
  g_clear_object (&request->query->cancellable);
  start (request->query);
  request->query->done (request->query->owner, value, error);
}

/* Starts the newest request, unless it has to wait. */
static void
start (AppQuery *self)
{
  g_autoptr (GTask) task = NULL;
  Request *request;

  if (self->kind == NULL || self->cancellable != NULL || self->start_timeout != 0 ||
      !gtk_widget_get_mapped (self->owner))
    return;
  self->cancellable = g_cancellable_new ();
  request = g_new0 (Request, 1);
  *request =
      (Request){ self->kind, self->session,
                 app_focus_ref (app_session_get_focus (self->session)), self->input, self };
  self->kind = NULL;
  self->session = NULL;
  task = g_task_new (NULL, self->cancellable, finish, NULL);
  g_task_set_check_cancellable (task, FALSE);
  g_task_set_task_data (task, request, request_free);
  if (self->dim_timeout == 0)
    self->dim_timeout = g_timeout_add (DIM_AFTER_MSEC, dim, self);
  g_task_run_in_thread (task, run);
}

static gboolean
on_pause (gpointer data)
{
  AppQuery *self = data;

  self->start_timeout = 0;
  start (self);
  return G_SOURCE_REMOVE;
}

void
app_query_run (AppQuery *self, const QueryKind *kind, AppSession *session, gpointer input)
{
  gint64 now = g_get_monotonic_time ();
  bool is_gesture = now - self->asked_at < PAUSE_MSEC * G_TIME_SPAN_MILLISECOND;

  forget (self);
  if (!kind->follows_gestures)
    {
      g_clear_handle_id (&self->start_timeout, g_source_remove);
      stop (self);
    }
  self->asked_at = now;
  self->kind = kind;
  self->session = g_object_ref (session);
  self->input = input;
  if (is_gesture && self->start_timeout == 0)
    self->start_timeout = g_timeout_add (PAUSE_MSEC, on_pause, self);
  start (self);
}

typedef struct
{
  gpointer data;
  GDestroyNotify free;
} Garbage;

static void
free_garbage (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  const Garbage *self = data;

  self->free (self->data);
  g_task_return_boolean (task, TRUE);
}

void
app_free_elsewhere (gpointer data, GDestroyNotify free)
{
  g_autoptr (GTask) task = g_task_new (NULL, NULL, NULL, NULL);
  Garbage garbage = { data, free };

  g_task_set_task_data (task, g_memdup2 (&garbage, sizeof garbage), g_free);
  g_task_run_in_thread (task, free_garbage);
}

AppQuery *
app_query_new (GtkWidget *owner, QueryDone *done)
{
  AppQuery *self = g_new0 (AppQuery, 1);

  self->owner = owner;
  self->done = done;
  g_signal_connect_swapped (owner, "map", G_CALLBACK (start), self);
  return self;
}
