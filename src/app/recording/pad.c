// SPDX-License-Identifier: GPL-3.0-or-later

/* The recording pad. Once a second it shows elapsed time, samples, size and losses. */

#include <stdbool.h>

#include "app/recording/pad.h"

#include "app/main/window.h"
#include "record/record.h"
#include "text/text.h"

#include <glib/gi18n.h>

#define WIDTH  300 /* px */
#define HEIGHT 200
#define MINUTE 60 /* s */

struct _AppPad
{
  AdwApplicationWindow parent_instance;
  SysprofRecording *recording;
  GFile *file;
  bool is_named;
  bool is_stopping;
  guint timer;
  GtkWidget *time;
  GtkWidget *caption;
  GtkWidget *losses;
  GtkWidget *button;
};

G_DEFINE_FINAL_TYPE (AppPad, app_pad, ADW_TYPE_APPLICATION_WINDOW)

static gboolean
update (gpointer data)
{
  AppPad *self = data;
  RecordingStatus status;
  char samples[SYSPROF_GROUPED_SIZE], lost[SYSPROF_GROUPED_SIZE];
  g_autofree char *time = NULL, *size = NULL, *caption = NULL, *losses = NULL;
  int seconds;

  sysprof_recording_get_status (self->recording, &status);
  seconds = (int) (status.duration / 1000000000);
  time = g_strdup_printf ("%02d:%02d", seconds / MINUTE, seconds % MINUTE);
  size = g_format_size (status.size);
  if (status.is_stopped)
    caption = g_strdup (_ ("Adding symbols…"));
  else
    caption = g_strdup_printf (_ ("%s samples, %s"),
                               sysprof_format_grouped (status.n_samples, samples), size);
  losses = g_strdup_printf (_ ("%s samples lost"),
                            sysprof_format_grouped (status.n_lost_samples, lost));
  gtk_label_set_text (GTK_LABEL (self->time), time);
  gtk_label_set_text (GTK_LABEL (self->caption), caption);
  gtk_label_set_text (GTK_LABEL (self->losses), losses);
  gtk_widget_set_visible (self->losses, status.n_lost_samples > 0);
  return G_SOURCE_CONTINUE;
}

static void
show_failure (AppPad *self, const GError *error)
{
  GtkWidget *dialog = adw_message_dialog_new (NULL, _ ("Recording Failed"), error->message);

  adw_message_dialog_add_response (ADW_MESSAGE_DIALOG (dialog), "close", _ ("_Close"));
  gtk_window_set_application (GTK_WINDOW (dialog),
                              gtk_window_get_application (GTK_WINDOW (self)));
  gtk_window_present (GTK_WINDOW (dialog));
}

static void
on_finished (GObject *object, GAsyncResult *result, gpointer data)
{
  g_autoptr (AppPad) self = data;
  g_autoptr (GError) error = NULL;
  GtkApplication *application = gtk_window_get_application (GTK_WINDOW (self));

  if (sysprof_recording_wait_finish (SYSPROF_RECORDING (object), result, &error))
    {
      AppWindow *window = app_window_new (application);

      app_window_open (window, self->file, self->is_named ? NULL : _ ("Unsaved Recording"));
      gtk_window_present (GTK_WINDOW (window));
    }
  else
    show_failure (self, error);
  gtk_window_destroy (GTK_WINDOW (self));
}

static void
on_stopping (GObject *object, GAsyncResult *result, gpointer data)
{
  g_autoptr (GError) error = NULL;

  /* on_finished() reports the error of the recording. */
  (void) sysprof_recording_stop_finish (SYSPROF_RECORDING (object), result, &error);
}

/* The first time stops, the second time skips the symbols. */
static void
stop (AppPad *self)
{
  if (self->is_stopping)
    {
      sysprof_recording_skip_augment (self->recording);
      gtk_widget_set_sensitive (self->button, FALSE);
      return;
    }
  self->is_stopping = true;
  gtk_button_set_label (GTK_BUTTON (self->button), _ ("_Skip Symbols"));
  gtk_widget_remove_css_class (self->button, "destructive-action");
  gtk_label_set_text (GTK_LABEL (self->caption), _ ("Adding symbols…"));
  sysprof_recording_stop_async (self->recording, NULL, on_stopping, NULL);
}

static gboolean
app_pad_close_request (GtkWindow *window)
{
  if (!APP_PAD (window)->is_stopping)
    stop (APP_PAD (window));
  return TRUE;
}

static void
app_pad_dispose (GObject *object)
{
  AppPad *self = APP_PAD (object);

  g_clear_handle_id (&self->timer, g_source_remove);
  g_clear_object (&self->recording);
  g_clear_object (&self->file);
  G_OBJECT_CLASS (app_pad_parent_class)->dispose (object);
}

static void
app_pad_class_init (AppPadClass *class)
{
  G_OBJECT_CLASS (class)->dispose = app_pad_dispose;
  GTK_WINDOW_CLASS (class)->close_request = app_pad_close_request;
}

static void
app_pad_init (AppPad *self)
{
  GtkWidget *handle = gtk_window_handle_new ();
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 6);

  self->time = gtk_label_new ("00:00");
  gtk_widget_add_css_class (self->time, "pad-time");
  gtk_widget_add_css_class (self->time, "numeric");
  gtk_widget_set_vexpand (self->time, TRUE);
  self->caption = gtk_label_new (NULL);
  gtk_widget_add_css_class (self->caption, "dim-label");
  gtk_widget_add_css_class (self->caption, "numeric");
  self->losses = gtk_label_new (NULL);
  gtk_widget_add_css_class (self->losses, "warning");
  self->button = gtk_button_new_with_mnemonic (_ ("_Stop Recording"));
  gtk_widget_add_css_class (self->button, "destructive-action");
  gtk_widget_set_halign (self->button, GTK_ALIGN_CENTER);
  gtk_widget_set_margin_top (self->button, 12);
  g_signal_connect_swapped (self->button, "clicked", G_CALLBACK (stop), self);
  gtk_widget_add_css_class (box, "pad");
  gtk_box_append (GTK_BOX (box), self->time);
  gtk_box_append (GTK_BOX (box), self->caption);
  gtk_box_append (GTK_BOX (box), self->losses);
  gtk_box_append (GTK_BOX (box), self->button);
  gtk_window_handle_set_child (GTK_WINDOW_HANDLE (handle), box);
  adw_application_window_set_content (ADW_APPLICATION_WINDOW (self), handle);
  gtk_window_set_default_size (GTK_WINDOW (self), WIDTH, HEIGHT);
  gtk_window_set_resizable (GTK_WINDOW (self), FALSE);
  gtk_window_set_title (GTK_WINDOW (self), _ ("Recording"));
}

GtkWidget *
app_pad_new (GtkApplication *application,
             SysprofRecording *recording,
             GFile *file,
             bool is_named)
{
  AppPad *self = g_object_new (APP_TYPE_PAD, "application", application, NULL);

  self->recording = g_object_ref (recording);
  self->file = g_object_ref (file);
  self->is_named = is_named;
  self->timer = g_timeout_add_seconds (1, update, self);
  (void) update (self);
  sysprof_recording_wait_async (recording, NULL, on_finished, g_object_ref (self));
  return GTK_WIDGET (self);
}
