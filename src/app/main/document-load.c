// SPDX-License-Identifier: GPL-3.0-or-later

/* Loading of documents. */

#include "app/main/document-load.h"

#include "app/recording/settings.h"
#include "import/import.h"
#include "util/util.h"

#include <string.h>

typedef struct
{
  char *path;
  AppLoadProgress *progress;
  gpointer data;
  SysprofDocumentLoader *loader;
} Load;

static void
load_free (gpointer data)
{
  Load *self = data;

  g_free (self->path);
  g_clear_object (&self->loader);
  g_free (self);
}

/* Recognizes the format, which may mean to convert the file. */
static void
open_file (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Load *self = data;
  GError *error = NULL;
  ImportReport import;
  autofd fd = sysprof_import_open (self->path, &import, cancellable, &error);
  SysprofDocumentLoader *loader = NULL;

  if (fd >= 0 && import.format == NULL)
    loader = sysprof_document_loader_new (self->path);
  else if (fd >= 0)
    loader = sysprof_document_loader_new_for_fd (fd, &error);
  if (loader == NULL)
    g_task_return_error (task, error);
  else
    {
      sysprof_document_loader_set_name (loader, self->path);
      g_task_return_pointer (task, loader, g_object_unref);
    }
}

static void
on_progress (SysprofDocumentLoader *loader, GParamSpec *spec, GTask *task)
{
  Load *self = g_task_get_task_data (task);
  g_autofree char *message = NULL;
  double fraction;

  g_object_get (loader, "fraction", &fraction, "message", &message, NULL);
  if (self->progress != NULL && !g_cancellable_is_cancelled (g_task_get_cancellable (task)))
    self->progress (fraction, message, self->data);
}

static void
on_loaded (GObject *object, GAsyncResult *result, gpointer data)
{
  g_autoptr (GTask) task = data;
  GError *error = NULL;
  SysprofDocument *document =
      sysprof_document_loader_load_finish (SYSPROF_DOCUMENT_LOADER (object), result, &error);

  g_signal_handlers_disconnect_by_func (object, on_progress, task);
  if (document != NULL)
    g_task_return_pointer (task, document, g_object_unref);
  else
    g_task_return_error (task, error);
}

static void
on_opened (GObject *object, GAsyncResult *result, gpointer data)
{
  GTask *task = data;
  Load *self = g_task_get_task_data (task);
  g_autoptr (JsonObject) settings = app_settings_load ();
  g_auto (GStrv) debug_dirs = app_settings_dup_list (settings, "debugdirs");
  const SymbolizeOptions options = { .with_lines = true,
                                     .debug_dirs = (const char *const *) debug_dirs };
  GError *error = NULL;

  self->loader = g_task_propagate_pointer (G_TASK (result), &error);
  if (self->loader == NULL)
    {
      g_task_return_error (task, error);
      g_object_unref (task);
      return;
    }
  sysprof_document_loader_set_symbolize_options (self->loader, &options);
  g_signal_connect (self->loader, "notify::fraction", G_CALLBACK (on_progress), task);
  sysprof_document_loader_load_async (self->loader, g_task_get_cancellable (task), on_loaded,
                                      task);
}

void
app_document_load_async (GFile *file,
                         GCancellable *cancellable,
                         AppLoadProgress *progress,
                         gpointer data,
                         GAsyncReadyCallback callback,
                         gpointer user_data)
{
  GTask *task = g_task_new (NULL, cancellable, callback, user_data);
  g_autoptr (GTask) opening = NULL;
  Load *self = g_new0 (Load, 1);

  *self = (Load){ .path = g_file_get_path (file), .progress = progress, .data = data };
  g_task_set_task_data (task, self, load_free);
  if (self->path == NULL)
    {
      g_task_return_new_error (task, SYSPROF_ERROR, SYSPROF_ERROR_FAILED,
                               "The file is not on this machine. Copy it here first.");
      g_object_unref (task);
      return;
    }
  opening = g_task_new (NULL, cancellable, on_opened, task);
  g_task_set_task_data (opening, self, NULL);
  g_task_run_in_thread (opening, open_file);
}

SysprofDocument *
app_document_load_finish (GAsyncResult *result, GError **error)
{
  return g_task_propagate_pointer (G_TASK (result), error);
}
