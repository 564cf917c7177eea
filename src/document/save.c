// SPDX-License-Identifier: GPL-3.0-or-later

/* What can be written of a document: its capture, and the names it was given. */

#include "document/objects.h"

static void
end_work (GTask *task, GParamSpec *pspec, SysprofDocument *document)
{
  sysprof_document_end_work (document);
}

static void
run (SysprofDocument *self, GTask *task, GTaskThreadFunc func)
{
  sysprof_document_begin_work (self);
  g_signal_connect_object (task, "notify::completed", G_CALLBACK (end_work), self, 0);
  g_task_run_in_thread (task, func);
}

static void
save (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  SysprofDocument *self = source;
  GError *error = NULL;

  if (g_file_replace_contents (data, (const char *) self->store->bytes, self->store->size, NULL,
                               FALSE, G_FILE_CREATE_NONE, NULL, cancellable, &error))
    g_task_return_boolean (task, TRUE);
  else
    {
      g_autofree char *name = g_file_get_parse_name (data);

      g_prefix_error (&error, "Cannot save the capture as '%s': ", name);
      g_task_return_error (task, error);
    }
}

void
sysprof_document_save_async (SysprofDocument *self,
                             GFile *file,
                             GCancellable *cancellable,
                             GAsyncReadyCallback callback,
                             gpointer user_data)
{
  g_autoptr (GTask) task = NULL;

  g_return_if_fail (SYSPROF_IS_DOCUMENT (self));
  g_return_if_fail (G_IS_FILE (file));

  task = g_task_new (self, cancellable, callback, user_data);
  g_task_set_source_tag (task, sysprof_document_save_async);
  g_task_set_task_data (task, g_object_ref (file), g_object_unref);
  run (self, task, save);
}

gboolean
sysprof_document_save_finish (SysprofDocument *self, GAsyncResult *result, GError **error)
{
  g_return_val_if_fail (g_task_is_valid (result, self), FALSE);

  return g_task_propagate_boolean (G_TASK (result), error);
}

static void
serialize (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  SysprofDocument *self = source;

  g_task_return_pointer (task, sysprof_symbol_table_pack (self->symbols, self->store),
                         (GDestroyNotify) g_bytes_unref);
}

void
sysprof_document_serialize_symbols_async (SysprofDocument *self,
                                          GCancellable *cancellable,
                                          GAsyncReadyCallback callback,
                                          gpointer user_data)
{
  g_autoptr (GTask) task = NULL;

  g_return_if_fail (SYSPROF_IS_DOCUMENT (self));

  task = g_task_new (self, cancellable, callback, user_data);
  g_task_set_source_tag (task, sysprof_document_serialize_symbols_async);
  run (self, task, serialize);
}

GBytes *
sysprof_document_serialize_symbols_finish (SysprofDocument *self,
                                           GAsyncResult *result,
                                           GError **error)
{
  g_return_val_if_fail (g_task_is_valid (result, self), NULL);

  return g_task_propagate_pointer (G_TASK (result), error);
}
