// SPDX-License-Identifier: GPL-3.0-or-later

/* The live view of the recording pad. Another thread reads what was written to the disk, and
 * loads it as a small capture. Each capture has a session and widgets of its own, which replace
 * the ones before. */

#include <stdbool.h>

#include "app/recording/live-view.h"

#include "app/charts/flame.h"
#include "app/charts/timeline.h"
#include "document/document.h"
#include "live/live.h"
#include "record/record.h"
#include "util/util.h"

#include <glib/gi18n.h>
#include <unistd.h>

#define WINDOW     (5 * G_GINT64_CONSTANT (1000000000)) /* ns */
#define LEAST_SPAN (G_GINT64_CONSTANT (500000000))      /* ns: less has too few samples */
#define INTERVAL   1                                    /* s */

typedef struct
{
  GtkWidget *stack; /* NULL: the view was closed */
  guint timer;
  bool is_busy; /* a thread uses what is below */
  int fd;
  LiveWindow *window;
  FileBudget budget;
  GBytes *symbols; /* found for the window before; NULL = none */
  GBytes *unnamed;
} Live;

static void
live_clear (gpointer data)
{
  Live *self = data;

  if (self->fd >= 0)
    close (self->fd);
  sysprof_live_window_free (self->window);
  g_clear_pointer (&self->symbols, g_bytes_unref);
  g_clear_pointer (&self->unnamed, g_bytes_unref);
}

static void
live_unref (gpointer data)
{
  g_rc_box_release_full (data, live_clear);
}

/* --- on the thread --- */

static SysprofDocument *
load_window (Live *self, GCancellable *cancellable, GError **error)
{
  g_autoptr (SysprofDocumentLoader) loader = NULL;
  const SymbolizeOptions names = { .use_sandbox = geteuid () == 0,
                                   .budget = &self->budget,
                                   .no_cache = true };
  SysprofDocument *document;
  autofd fd = -1;

  if (!sysprof_live_window_read (self->window, self->fd, error))
    return NULL;
  if (sysprof_live_window_get_span (self->window) < LEAST_SPAN)
    return NULL;
  fd = sysprof_live_window_make_capture (self->window, SYSPROF_CAPTURE_CURRENT_TIME,
                                         self->symbols, self->unnamed, error);
  if (fd < 0 || (loader = sysprof_document_loader_new_for_fd (fd, error)) == NULL)
    return NULL;
  sysprof_document_loader_set_symbolize_options (loader, &names);
  document = sysprof_document_loader_load (loader, cancellable, error);
  if (document != NULL)
    {
      const Store *store = sysprof_document_get_store (document);
      const SymbolTable *symbols = sysprof_document_get_symbols (document);

      g_clear_pointer (&self->symbols, g_bytes_unref);
      g_clear_pointer (&self->unnamed, g_bytes_unref);
      self->symbols = sysprof_symbol_table_pack (symbols, store);
      self->unnamed = sysprof_symbol_table_pack_unnamed (symbols, store);
    }
  return document;
}

static void
load (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  g_autoptr (GError) error = NULL;
  SysprofDocument *document = load_window (data, cancellable, &error);

  if (error != NULL)
    g_task_return_error (task, g_steal_pointer (&error));
  else
    g_task_return_pointer (task, document, g_object_unref);
}

/* --- on the main thread --- */

static void
show (Live *self, SysprofDocument *document)
{
  static const char *const tracks[] = { "categories", "counters:cpu", NULL };
  const RowQuery query = { .view = "flame" };
  g_autoptr (AppSession) session = app_session_new (document, _ ("the last seconds"));
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  GtkWidget *timeline = app_timeline_new (session);
  GtkWidget *flame = app_flame_new (session, &query);
  GtkWidget *last = gtk_stack_get_visible_child (GTK_STACK (self->stack));

  app_timeline_set_tracks (APP_TIMELINE (timeline), tracks);
  gtk_widget_set_vexpand (flame, TRUE);
  gtk_box_append (GTK_BOX (box), timeline);
  gtk_box_append (GTK_BOX (box), flame);
  gtk_stack_add_child (GTK_STACK (self->stack), box);
  gtk_stack_set_visible_child (GTK_STACK (self->stack), box);
  gtk_stack_remove (GTK_STACK (self->stack), last);
}

static void
on_loaded (GObject *object, GAsyncResult *result, gpointer data)
{
  Live *self = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (SysprofDocument) document = g_task_propagate_pointer (G_TASK (result), &error);

  self->is_busy = false;
  if (self->stack == NULL)
    return;
  if (document != NULL)
    show (self, document);
  else if (error != NULL)
    gtk_widget_set_tooltip_text (self->stack, error->message);
}

static gboolean
update (gpointer data)
{
  Live *self = data;
  g_autoptr (GTask) task = NULL;

  if (self->is_busy)
    return G_SOURCE_CONTINUE;
  self->is_busy = true;
  task = g_task_new (NULL, NULL, on_loaded, self);
  g_task_set_task_data (task, g_rc_box_acquire (self), live_unref);
  g_task_run_in_thread (task, load);
  return G_SOURCE_CONTINUE;
}

static void
on_destroy (GtkWidget *stack, Live *self)
{
  g_clear_handle_id (&self->timer, g_source_remove);
  self->stack = NULL;
}

GtkWidget *
app_live_view_new (SysprofRecording *recording)
{
  Live *self = g_rc_box_new0 (Live);
  GtkWidget *waiting = gtk_label_new (_ ("Waiting for samples…"));

  self->stack = gtk_stack_new ();
  self->fd = sysprof_recording_dup_written_fd (recording);
  self->window = sysprof_live_window_new (WINDOW, sysprof_live_is_process);
  self->timer = g_timeout_add_seconds (INTERVAL, update, self);
  gtk_widget_add_css_class (waiting, "dim-label");
  gtk_stack_add_child (GTK_STACK (self->stack), waiting);
  g_object_set_data_full (G_OBJECT (self->stack), "live", self, live_unref);
  g_signal_connect (self->stack, "destroy", G_CALLBACK (on_destroy), self);
  return self->stack;
}
