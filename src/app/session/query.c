// SPDX-License-Identifier: GPL-3.0-or-later

/* Work on other threads: the newest request wins. */

#include "app/session/query.h"

#define DIM_AFTER_MSEC 200

struct AppQuery
{
  GtkWidget *owner; /* borrowed: it owns the query */
  QueryDone *done;
  GCancellable *cancellable; /* of the newest request; NULL = none runs */
  guint dim_timeout;
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
  gtk_widget_add_css_class (self->owner, "waiting");
  return G_SOURCE_REMOVE;
}

static void
undim (AppQuery *self)
{
  g_clear_handle_id (&self->dim_timeout, g_source_remove);
  gtk_widget_remove_css_class (self->owner, "waiting");
}

AppQuery *
app_query_new (GtkWidget *owner, QueryDone *done)
{
  AppQuery *self = g_new0 (AppQuery, 1);

  self->owner = owner;
  self->done = done;
  return self;
}

void
app_query_cancel (AppQuery *self)
{
  if (self->cancellable != NULL)
    g_cancellable_cancel (self->cancellable);
  g_clear_object (&self->cancellable);
  undim (self);
}

bool
app_query_is_running (const AppQuery *self)
{
  return self->cancellable != NULL;
}

void
app_query_free (AppQuery *self)
{
  /* The owner may be in its finalizer: removing a class would take a reference to it. */
  g_clear_handle_id (&self->dim_timeout, g_source_remove);
  if (self->cancellable != NULL)
    g_cancellable_cancel (self->cancellable);
  g_clear_object (&self->cancellable);
  g_free (self);
}

static void
run (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Request *request = data;
  GError *error = NULL;
  gpointer result;

  if (g_task_return_error_if_cancelled (task))
    return;
  result = request->kind->run (request->session, request->focus, request->input, cancellable,
                               &error);
  if (error != NULL)
    g_task_return_error (task, error);
  else
    g_task_return_pointer (task, result, request->kind->free_result);
}

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
  request->query->done (request->query->owner, value, error);
}

void
app_query_run (AppQuery *self, const QueryKind *kind, AppSession *session, gpointer input)
{
  g_autoptr (GTask) task = NULL;
  Request *request = g_new0 (Request, 1);

  app_query_cancel (self);
  self->cancellable = g_cancellable_new ();
  *request = (Request){ kind, g_object_ref (session),
                        app_focus_ref (app_session_get_focus (session)), input, self };
  task = g_task_new (NULL, self->cancellable, finish, NULL);
  g_task_set_check_cancellable (task, FALSE);
  g_task_set_task_data (task, request, request_free);
  self->dim_timeout = g_timeout_add (DIM_AFTER_MSEC, dim, self);
  g_task_run_in_thread (task, run);
}
