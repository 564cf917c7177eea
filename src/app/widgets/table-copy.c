// SPDX-License-Identifier: GPL-3.0-or-later

/* Rows to the clipboard and to files, rendered on another thread. */

#include "app/widgets/table-copy.h"

#include <adwaita.h>
#include <glib/gi18n.h>
#include <string.h>

typedef struct
{
  GtkWidget *widget;
  RowResult *result;
  uint32_t row; /* the only one, if is_row */
  bool is_row;
  RenderFormat format;
  GFile *file; /* NULL = to the clipboard */
} Output;

static void
output_free (gpointer data)
{
  Output *self = data;

  app_row_result_unref (self->result);
  g_object_unref (self->widget);
  g_clear_object (&self->file);
  g_free (self);
}

static bool
write_rows (const Output *self, GOutputStream *stream, GError **error)
{
  RowResult *result = self->result;
  Rows rows = result->rows;

  if (self->is_row)
    {
      rows.cells = (Cell *) sysprof_rows_cells (&result->rows, self->row);
      rows.n_rows = 1;
      rows.parent = NULL;
      rows.note = NULL;
    }
  return sysprof_render (self->format, result->view, &result->request, &rows, stream, error) &&
         (self->file != NULL || g_output_stream_write_all (stream, "", 1, NULL, NULL, error)) &&
         g_output_stream_close (stream, NULL, error);
}

static void
run (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  const Output *self = data;
  GError *error = NULL;
  g_autoptr (GOutputStream) stream = NULL;

  if (self->file == NULL)
    stream = g_memory_output_stream_new_resizable ();
  else
    stream = G_OUTPUT_STREAM (
        g_file_replace (self->file, NULL, FALSE, G_FILE_CREATE_NONE, NULL, &error));
  if (stream == NULL || !write_rows (self, stream, &error))
    g_task_return_error (task, error);
  else
    g_task_return_pointer (task,
                           self->file != NULL ? NULL
                                              : g_memory_output_stream_steal_data (
                                                    G_MEMORY_OUTPUT_STREAM (stream)),
                           g_free);
}

static void
finish (GObject *source, GAsyncResult *result, gpointer data)
{
  const Output *self = g_task_get_task_data (G_TASK (result));
  GtkWidget *overlay = gtk_widget_get_ancestor (self->widget, ADW_TYPE_TOAST_OVERLAY);
  g_autoptr (GError) error = NULL;
  g_autofree char *text = g_task_propagate_pointer (G_TASK (result), &error);

  if (text != NULL)
    gdk_clipboard_set_text (gtk_widget_get_clipboard (self->widget), text);
  if (overlay != NULL)
    adw_toast_overlay_add_toast (ADW_TOAST_OVERLAY (overlay),
                                 adw_toast_new (error != NULL        ? error->message
                                                : self->file != NULL ? _ ("Exported")
                                                : self->is_row       ? _ ("Row copied")
                                                                     : _ ("Table copied")));
}

/* Takes the ownership of `output`. */
static void
start (Output *output)
{
  g_autoptr (GTask) task = g_task_new (NULL, NULL, finish, NULL);

  g_task_set_task_data (task, output, output_free);
  g_task_run_in_thread (task, run);
}

void
app_table_copy_rows (GtkWidget *widget,
                     RowResult *result,
                     const uint32_t *row,
                     RenderFormat format)
{
  Output *output = g_new0 (Output, 1);

  *output = (Output){ .widget = g_object_ref (widget),
                      .result = app_row_result_ref (result),
                      .row = row != NULL ? *row : 0,
                      .is_row = row != NULL,
                      .format = format };
  start (output);
}

/* By the suffix of a path; text for unknown ones. */
static RenderFormat
find_format (const char *path)
{
  for (int i = 0; i < N_RENDER_FORMATS; i++)
    if (g_str_has_suffix (path, sysprof_render_format (i)->suffix))
      return i;
  return RENDER_TEXT;
}

static void
on_response (GtkNativeDialog *dialog, int response, Output *output)
{
  if (response == GTK_RESPONSE_ACCEPT)
    {
      output->file = gtk_file_chooser_get_file (GTK_FILE_CHOOSER (dialog));
      output->format = find_format (g_file_peek_path (output->file));
      start (output);
    }
  else
    output_free (output);
  g_object_unref (dialog);
}

void
app_table_export_rows (GtkWidget *widget, RowResult *result)
{
  GtkFileChooserNative *dialog =
      gtk_file_chooser_native_new (_ ("Export"), GTK_WINDOW (gtk_widget_get_root (widget)),
                                   GTK_FILE_CHOOSER_ACTION_SAVE, NULL, NULL);
  Output *output = g_new0 (Output, 1);
  g_autofree char *name = g_strdup_printf (
      "%s.%s", result->view->name, result->view->layout == LAYOUT_FLAME ? "html" : "csv");

  *output = (Output){ .widget = g_object_ref (widget), .result = app_row_result_ref (result) };
  gtk_file_chooser_set_current_name (GTK_FILE_CHOOSER (dialog), name);
  g_signal_connect (dialog, "response", G_CALLBACK (on_response), output);
  gtk_native_dialog_show (GTK_NATIVE_DIALOG (dialog));
}
