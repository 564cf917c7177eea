// SPDX-License-Identifier: GPL-3.0-or-later

/* What can be written of a document: its capture, and the names it was given. */

#include "document/objects.h"

#include <fcntl.h>
#include <gio/gfiledescriptorbased.h>

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
  sysprof_run_in_thread (task, func);
}

#define PIECE ((gsize) 1 << 20) /* bytes between two looks at whether it is still wanted */

/* Has what was written until now reach the disk, so that little of it is left to wait for when the file is closed. */
static void
flush_until (GOutputStream *stream, gsize size)
{
  if (G_IS_FILE_DESCRIPTOR_BASED (stream))
    (void) sync_file_range (g_file_descriptor_based_get_fd (G_FILE_DESCRIPTOR_BASED (stream)),
                            0, (off64_t) size,
                            SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE); /* a wish */
}

/* An incomplete file must not replace the earlier one. */
static bool
replace (GFile *file,
         const uint8_t *bytes,
         gsize size,
         GCancellable *cancellable,
         GError **error)
{
  bool is_new = !g_file_query_exists (file, NULL);
  g_autoptr (GFileOutputStream) stream =
      g_file_replace (file, NULL, FALSE, G_FILE_CREATE_NONE, cancellable, error);
  g_autoptr (GCancellable) abandoned = g_cancellable_new ();
  bool is_done = stream != NULL;

  if (stream == NULL)
    return false;
  for (gsize at = 0; at < size && is_done; at += PIECE)
    {
      is_done = g_output_stream_write_all (G_OUTPUT_STREAM (stream), bytes + at,
                                           MIN (PIECE, size - at), NULL, cancellable, error);
      flush_until (G_OUTPUT_STREAM (stream), at);
    }
  /* Closing looks at who wants it both before and after the file has its name: what is said must be what happened. */
  if (is_done && !g_cancellable_set_error_if_cancelled (cancellable, error))
    return g_output_stream_close (G_OUTPUT_STREAM (stream), NULL, error);

  /* A canceled close keeps an earlier file, but also a part of a new one. */
  g_cancellable_cancel (abandoned);
  (void) g_output_stream_close (G_OUTPUT_STREAM (stream), abandoned, NULL);
  if (is_new)
    (void) g_file_delete (file, NULL, NULL);
  return false;
}

static void
save (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  SysprofDocument *self = source;
  GError *error = NULL;

  if (replace (data, self->store->bytes, self->store->size, cancellable, &error))
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
  g_task_set_check_cancellable (task, FALSE); /* once it is saved, it is saved */
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
  /* the remaining work changes nothing that others see */
  g_task_set_return_on_cancel (task, TRUE);
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
