// SPDX-License-Identifier: GPL-3.0-or-later

/* Rows to the clipboard and to files. */

#include "app/widgets/table-copy.h"

#include <adwaita.h>
#include <glib/gi18n.h>
#include <string.h>

/* The text of some rows. *(full)* */
static char *
dup_rows (RowResult *result, const uint32_t *row, RenderFormat format, GError **error)
{
  g_autoptr (GOutputStream) stream = g_memory_output_stream_new_resizable ();
  Rows rows = result->rows;
  size_t size = sizeof (Cell) * rows.n_columns;
  bool is_done;

  if (row != NULL)
    {
      rows.cells = g_memdup2 (sysprof_rows_cells (&result->rows, *row), size);
      rows.n_rows = 1;
      rows.parent = NULL;
      rows.note = NULL;
    }
  is_done = sysprof_render (format, result->view, &result->request, &rows, stream, error) &&
            g_output_stream_write_all (stream, "", 1, NULL, NULL, error) &&
            g_output_stream_close (stream, NULL, error);
  if (row != NULL)
    g_free (rows.cells);
  return is_done ? g_memory_output_stream_steal_data (G_MEMORY_OUTPUT_STREAM (stream)) : NULL;
}

static void
show_toast (GtkWidget *widget, const char *text)
{
  GtkWidget *overlay = gtk_widget_get_ancestor (widget, ADW_TYPE_TOAST_OVERLAY);

  if (overlay != NULL)
    adw_toast_overlay_add_toast (ADW_TOAST_OVERLAY (overlay), adw_toast_new (text));
}

void
app_table_copy_rows (GtkWidget *widget,
                     RowResult *result,
                     const uint32_t *row,
                     RenderFormat format)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *text = dup_rows (result, row, format, &error);

  if (text != NULL)
    gdk_clipboard_set_text (gtk_widget_get_clipboard (widget), text);
  show_toast (widget, text == NULL ? error->message
                      : row        ? _ ("Row copied")
                                   : _ ("Table copied"));
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

static bool
write_rows (RowResult *result, GFile *file, GError **error)
{
  const char *path = g_file_peek_path (file);
  g_autoptr (GFileOutputStream) stream =
      g_file_replace (file, NULL, FALSE, G_FILE_CREATE_NONE, NULL, error);

  return stream != NULL &&
         sysprof_render (find_format (path), result->view, &result->request, &result->rows,
                         G_OUTPUT_STREAM (stream), error) &&
         g_output_stream_close (G_OUTPUT_STREAM (stream), NULL, error);
}

typedef struct
{
  GtkWidget *widget;
  RowResult *result;
} Export;

static void
on_response (GtkNativeDialog *dialog, int response, Export *export)
{
  g_autoptr (GError) error = NULL;

  if (response == GTK_RESPONSE_ACCEPT)
    {
      g_autoptr (GFile) file = gtk_file_chooser_get_file (GTK_FILE_CHOOSER (dialog));

      show_toast (export->widget,
                  write_rows (export->result, file, &error) ? _ ("Exported") : error->message);
    }
  app_row_result_unref (export->result);
  g_object_unref (export->widget);
  g_free (export);
  g_object_unref (dialog);
}

void
app_table_export_rows (GtkWidget *widget, RowResult *result)
{
  GtkFileChooserNative *dialog =
      gtk_file_chooser_native_new (_ ("Export"), GTK_WINDOW (gtk_widget_get_root (widget)),
                                   GTK_FILE_CHOOSER_ACTION_SAVE, NULL, NULL);
  Export *export = g_new0 (Export, 1);
  g_autofree char *name = g_strdup_printf (
      "%s.%s", result->view->name, result->view->layout == LAYOUT_FLAME ? "html" : "csv");

  *export = (Export){ g_object_ref (widget), app_row_result_ref (result) };
  gtk_file_chooser_set_current_name (GTK_FILE_CHOOSER (dialog), name);
  g_signal_connect (dialog, "response", G_CALLBACK (on_response), export);
  gtk_native_dialog_show (GTK_NATIVE_DIALOG (dialog));
}
