// SPDX-License-Identifier: GPL-3.0-or-later

/* Embedded files, and the window that shows one: its text, or its bytes if it is no text. */

#include "app/panes/panes.h"
#include "app/widgets/button.h"
#include "app/widgets/table.h"

#include <adwaita.h>
#include <glib/gi18n.h>
#include <string.h>

#define WIDTH      800 /* px */
#define HEIGHT     600
#define MOST_TEXT  (8u << 20) /* bytes; more is cut */
#define MOST_HEX   (1u << 18)
#define HEX_COLUMN 16
#define PACKED     ".gz"

/* --- text --- */

/* Text has no bytes of value 0 and is UTF-8, but for a character that was cut. */
static bool
is_text (const char *data, size_t size)
{
  const char *end;

  return memchr (data, 0, size) == NULL &&
         (g_utf8_validate (data, (gssize) size, &end) || size - (size_t) (end - data) < 4);
}

/* Lines of an offset, 16 bytes and their letters. *(full)* */
static char *
dup_hex (const uint8_t *data, size_t size)
{
  GString *text = g_string_sized_new (size * 5);

  for (size_t line = 0; line < size; line += HEX_COLUMN)
    {
      g_string_append_printf (text, "%08zx ", line);
      for (size_t i = line; i < line + HEX_COLUMN; i++)
        if (i < size)
          g_string_append_printf (text, " %02x", data[i]);
        else
          g_string_append (text, "   ");
      g_string_append (text, "  ");
      for (size_t i = line; i < MIN (line + HEX_COLUMN, size); i++)
        g_string_append_c (text, g_ascii_isprint (data[i]) ? (char) data[i] : '.');
      g_string_append_c (text, '\n');
    }
  return g_string_free (text, FALSE);
}

static char *
dup_text (GBytes *bytes)
{
  size_t size, shown;
  const char *data = g_bytes_get_data (bytes, &size);
  g_autofree char *text = NULL;

  shown = MIN (size, MOST_TEXT);
  if (data == NULL)
    return g_strdup ("");
  if (is_text (data, shown))
    text = g_utf8_make_valid (data, (gssize) shown);
  else
    {
      shown = MIN (size, MOST_HEX);
      text = dup_hex ((const uint8_t *) data, shown);
    }
  if (shown == size)
    return g_steal_pointer (&text);
  return g_strdup_printf (_ ("%s\n(%zu more bytes: save the file to see them)\n"), text,
                          size - shown);
}

/* --- window --- */

static void
on_save_response (GtkNativeDialog *dialog, int response, GBytes *bytes)
{
  if (response == GTK_RESPONSE_ACCEPT)
    {
      g_autoptr (GFile) file = gtk_file_chooser_get_file (GTK_FILE_CHOOSER (dialog));
      GtkWindow *window = gtk_native_dialog_get_transient_for (dialog);
      AdwToastOverlay *toasts = g_object_get_data (G_OBJECT (window), "toasts");
      g_autoptr (GError) error = NULL;
      size_t size;
      const char *data = g_bytes_get_data (bytes, &size);
      bool is_saved = g_file_replace_contents (file, data, size, NULL, FALSE,
                                               G_FILE_CREATE_NONE, NULL, NULL, &error);

      adw_toast_overlay_add_toast (
          toasts, adw_toast_new (is_saved ? _ ("File saved") : error->message));
    }
  g_object_unref (dialog);
}

static void
on_save (GtkButton *button, GBytes *bytes)
{
  GtkWindow *window = GTK_WINDOW (gtk_widget_get_root (GTK_WIDGET (button)));
  GtkFileChooserNative *dialog = gtk_file_chooser_native_new (
      _ ("Save File"), window, GTK_FILE_CHOOSER_ACTION_SAVE, NULL, NULL);
  g_autofree char *name = g_path_get_basename (gtk_window_get_title (window));

  gtk_file_chooser_set_current_name (GTK_FILE_CHOOSER (dialog), name);
  gtk_native_dialog_set_modal (GTK_NATIVE_DIALOG (dialog), TRUE);
  g_signal_connect_data (dialog, "response", G_CALLBACK (on_save_response), g_bytes_ref (bytes),
                         (GClosureNotify) (GCallback) g_bytes_unref, 0);
  gtk_native_dialog_show (GTK_NATIVE_DIALOG (dialog));
}

static void
show_file (GtkWindow *parent, const char *name, GBytes *bytes)
{
  GtkWidget *window = adw_window_new (), *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  GtkWidget *header = adw_header_bar_new (), *view = gtk_text_view_new ();
  GtkWidget *save = app_button_new (_ ("_Save…"), NULL);
  GtkWidget *scroller = gtk_scrolled_window_new (), *toasts = adw_toast_overlay_new ();
  g_autofree char *title = g_utf8_make_valid (name, -1);
  g_autofree char *text = dup_text (bytes);
  GtkEventController *keys = gtk_shortcut_controller_new ();

  gtk_window_set_title (GTK_WINDOW (window), title);
  gtk_window_set_transient_for (GTK_WINDOW (window), parent);
  gtk_window_set_destroy_with_parent (GTK_WINDOW (window), TRUE);
  gtk_window_set_default_size (GTK_WINDOW (window), WIDTH, HEIGHT);
  gtk_text_buffer_set_text (gtk_text_view_get_buffer (GTK_TEXT_VIEW (view)), text, -1);
  gtk_text_view_set_editable (GTK_TEXT_VIEW (view), FALSE);
  gtk_text_view_set_monospace (GTK_TEXT_VIEW (view), TRUE);
  gtk_text_view_set_left_margin (GTK_TEXT_VIEW (view), 8);
  gtk_accessible_update_property (GTK_ACCESSIBLE (view), GTK_ACCESSIBLE_PROPERTY_LABEL, title,
                                  -1);
  g_signal_connect_data (save, "clicked", G_CALLBACK (on_save), g_bytes_ref (bytes),
                         (GClosureNotify) (GCallback) g_bytes_unref, 0);
  adw_header_bar_pack_end (ADW_HEADER_BAR (header), save);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scroller), view);
  gtk_widget_set_vexpand (scroller, TRUE);
  adw_toast_overlay_set_child (ADW_TOAST_OVERLAY (toasts), scroller);
  g_object_set_data (G_OBJECT (window), "toasts", toasts);
  gtk_box_append (GTK_BOX (box), header);
  gtk_box_append (GTK_BOX (box), toasts);
  adw_window_set_content (ADW_WINDOW (window), box);
  gtk_shortcut_controller_add_shortcut (
      GTK_SHORTCUT_CONTROLLER (keys),
      gtk_shortcut_new (gtk_shortcut_trigger_parse_string ("Escape|<Control>w"),
                        gtk_named_action_new ("window.close")));
  gtk_widget_add_controller (window, keys);
  gtk_window_present (GTK_WINDOW (window));
}

/* --- list --- */

typedef struct
{
  AppSession *session;
  AppQuery *query;
} Files;

typedef struct
{
  char *name;
  GBytes *bytes;
} OpenedFile;

static void
opened_file_free (gpointer data)
{
  OpenedFile *self = data;

  g_clear_pointer (&self->bytes, g_bytes_unref);
  g_free (self->name);
  g_free (self);
}

static gpointer
read_file (AppSession *session,
           const Focus *focus,
           gconstpointer input,
           GCancellable *cancellable,
           GError **error)
{
  const Store *store = app_session_get_store (session);
  OpenedFile *file = g_new0 (OpenedFile, 1);

  file->name = g_strdup (input);
  file->bytes = sysprof_store_read_file_cancellable (store, input, cancellable, error);
  if (file->bytes != NULL)
    return file;
  if (error != NULL && *error == NULL)
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND, _ ("The recording lacks “%s”."),
                 file->name);
  opened_file_free (file);
  return NULL;
}

static const QueryKind read_kind = { .run = read_file,
                                     .free_input = g_free,
                                     .free_result = opened_file_free };

static void
on_read (GtkWidget *table, gpointer data, const GError *error)
{
  GtkWidget *overlay = gtk_widget_get_ancestor (table, ADW_TYPE_TOAST_OVERLAY);
  OpenedFile *file = data;

  if (error != NULL)
    {
      if (overlay != NULL)
        adw_toast_overlay_add_toast (ADW_TOAST_OVERLAY (overlay),
                                     adw_toast_new (error->message));
      return;
    }
  show_file (GTK_WINDOW (gtk_widget_get_root (table)), file->name, file->bytes);
  opened_file_free (file);
}

static void
on_activated (AppTable *table, guint row, Files *self)
{
  char *name = app_row_result_dup_cell (app_table_get_result (table), row, "name");

  /* The store unpacks a file that is read without its suffix. */
  if (g_str_has_suffix (name, PACKED))
    name[strlen (name) - strlen (PACKED)] = '\0';
  app_query_run (self->query, &read_kind, self->session, name);
}

static void
files_free (gpointer data)
{
  Files *self = data;

  app_query_free (self->query);
  g_free (self);
}

GtkWidget *
app_files_new (AppSession *session, const SectionView *view)
{
  Files *self = g_new0 (Files, 1);
  GtkWidget *table = app_table_new (session, &view->query, _ (view->title));

  self->session = session;
  self->query = app_query_new (table, on_read);
  app_table_set_columns (APP_TABLE (table), view->columns);
  app_table_set_titles (APP_TABLE (table), view->titles);
  app_table_show_filter (APP_TABLE (table), _ (view->filter));
  g_signal_connect (table, "activated", G_CALLBACK (on_activated), self);
  g_object_set_data_full (G_OBJECT (table), "files", self, files_free);
  return table;
}
