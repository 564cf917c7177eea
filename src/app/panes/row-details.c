// SPDX-License-Identifier: GPL-3.0-or-later

/* Panels beside tables, with text that can be selected: the D-Bus message of the chosen row and
 * its reply, printed whole, or all cells of the row. */

#include "app/panes/panes.h"
#include "app/widgets/naming.h"
#include "app/widgets/table-cells.h"
#include "text/text.h"

#include <glib/gi18n.h>

#define MARGIN 10 /* px */

typedef struct
{
  AppSession *session;
  GtkWidget *text; /* GtkTextView */
} RowDetails;

static void
details_free (gpointer data)
{
  RowDetails *self = data;

  g_signal_handlers_disconnect_by_data (self->session, self);
  g_free (self);
}

/* The message of a row: its number in the store, or -1. */
static int64_t
find_message (const Store *store, int64_t time, int64_t serial)
{
  for (uint32_t i = 0; i < store->n_dbus; i++)
    {
      DBusHeader header;

      if (sysprof_time_between (store->begin, store->dbus[i].time) != time)
        continue;
      if (!sysprof_store_read_dbus_header (store, i, &header) || header.serial == serial)
        return i;
    }
  return -1;
}

static char *
dup_message (const Store *store, uint32_t i)
{
  const DBusMessage *stored = &store->dbus[i];
  g_autoptr (GError) error = NULL;
  g_autoptr (GDBusMessage) message = NULL;
  g_autofree char *printed = NULL;

  if (stored->is_too_large)
    return g_strdup (_ ("This message was too large to record.\n"));
  message =
      g_dbus_message_new_from_blob ((guchar *) store->bytes + stored->offset, stored->size,
                                    G_DBUS_CAPABILITY_FLAGS_UNIX_FD_PASSING, &error);
  if (message == NULL)
    return g_strdup_printf (_ ("This message cannot be read: %s\n"), error->message);
  printed = g_dbus_message_print (message, 0);
  return g_utf8_make_valid (printed, -1);
}

static void
append_messages (GString *text, const Store *store, const RowResult *result, guint row)
{
  g_autofree uint32_t *partner = sysprof_dbus_find_replies (store);
  int64_t message = find_message (store, app_row_result_get_number (result, row, "time", -1),
                                  app_row_result_get_number (result, row, "serial", 0));

  for (int64_t i = message; i >= 0; i = i == message ? (int64_t) partner[i] - 1 : -1)
    {
      g_autofree char *printed = dup_message (store, (uint32_t) i);

      g_string_append_printf (text, "%s%s", i == message ? "" : _ ("\nReply\n\n"), printed);
    }
}

static void
append_cells (GString *text, const RowResult *result, guint row)
{
  g_autoptr (GArray) shown = app_columns_choose (&result->rows, NULL, NULL);

  for (guint i = 0; i < shown->len; i++)
    {
      const ShownColumn *column = &g_array_index (shown, ShownColumn, i);
      g_autofree char *cell = app_row_dup_text (result, row, column->column);

      if (cell[0] != '\0')
        g_string_append_printf (text, "%s%s\n%s\n", text->len > 0 ? "\n" : "", column->title,
                                cell);
    }
}

static void
on_chosen (AppSession *session, RowResult *result, guint row, RowDetails *self)
{
  GString *text = g_string_new (NULL);

  if (!g_str_equal (result->view->name, "dbus"))
    append_cells (text, result, row);
  else if (sysprof_rows_column (&result->rows, "serial") >= 0)
    append_messages (text, app_session_get_store (session), result, row);
  gtk_text_buffer_set_text (gtk_text_view_get_buffer (GTK_TEXT_VIEW (self->text)), text->str,
                            -1);
  g_string_free (text, TRUE);
}

static GtkWidget *
make_details (AppSession *session, const char *name, const char *placeholder)
{
  RowDetails *self = g_new0 (RowDetails, 1);
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  GtkWidget *title = gtk_label_new (name);
  GtkWidget *scroller = gtk_scrolled_window_new ();

  self->session = session;
  self->text = gtk_text_view_new ();
  gtk_text_view_set_editable (GTK_TEXT_VIEW (self->text), FALSE);
  gtk_text_view_set_cursor_visible (GTK_TEXT_VIEW (self->text), FALSE);
  gtk_text_view_set_monospace (GTK_TEXT_VIEW (self->text), TRUE);
  gtk_text_view_set_left_margin (GTK_TEXT_VIEW (self->text), MARGIN);
  gtk_text_view_set_right_margin (GTK_TEXT_VIEW (self->text), MARGIN);
  gtk_text_view_set_wrap_mode (GTK_TEXT_VIEW (self->text), GTK_WRAP_WORD_CHAR);
  gtk_text_buffer_set_text (gtk_text_view_get_buffer (GTK_TEXT_VIEW (self->text)), placeholder,
                            -1);
  app_set_name (self->text, name);
  gtk_label_set_xalign (GTK_LABEL (title), 0);
  gtk_widget_add_css_class (title, "heading");
  gtk_widget_add_css_class (title, "details-heading");
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scroller), self->text);
  gtk_widget_set_vexpand (scroller, TRUE);
  gtk_box_append (GTK_BOX (box), title);
  gtk_box_append (GTK_BOX (box), scroller);
  g_object_set_data_full (G_OBJECT (box), "details", self, details_free);
  g_signal_connect (session, "chosen", G_CALLBACK (on_chosen), self);
  return box;
}

GtkWidget *
app_message_details_new (AppSession *session)
{
  return make_details (session, _ ("Message"), _ ("Choose a message to read it here."));
}

GtkWidget *
app_row_details_new (AppSession *session)
{
  return make_details (session, _ ("Details"), _ ("Choose a row to read it here."));
}
