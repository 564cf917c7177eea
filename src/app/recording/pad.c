// SPDX-License-Identifier: GPL-3.0-or-later

/* The recording pad. Once a second it shows elapsed time, samples, size and losses. */

#include <stdbool.h>

#include "app/recording/pad.h"

#include "app/main/window.h"
#include "app/recording/live-view.h"
#include "app/recording/unsaved.h"
#include "app/widgets/button.h"
#include "record/record.h"
#include "text/text.h"

#include <glib/gi18n.h>
#include <unistd.h>

#define WIDTH       300 /* px */
#define HEIGHT      200
#define LIVE_WIDTH  640
#define LIVE_HEIGHT 400
#define MINUTE      60 /* s */

#define MOST_LINES 3 /* of messages; the tooltip and the capture window have all */

struct _AppPad
{
  AdwApplicationWindow parent_instance;
  SysprofRecording *recording;
  GFile *file;
  GFile *target; /* its name at the end; NULL = none yet */
  JsonObject *settings;
  int lock; /* of an unsaved recording; -1 = none */
  bool is_stopping;
  guint timer;
  GtkWidget *time;
  GtkWidget *caption;
  GtkWidget *size;
  GtkWidget *losses;
  GtkWidget *failures; /* of instruments */
  GtkWidget *button;
  GtkWidget *live_button; /* GtkToggleButton */
  GtkWidget *live;        /* NULL = not shown */
};

G_DEFINE_FINAL_TYPE (AppPad, app_pad, ADW_TYPE_APPLICATION_WINDOW)

/* The messages of instruments, with reasons and remedies; NULL if there are none. *(full)* */
static char *
dup_failures (AppPad *self, guint *n_failures)
{
  g_autoptr (GListModel) list = sysprof_recording_list_diagnostics (self->recording);
  g_autoptr (GString) text = g_string_new (NULL);

  *n_failures = g_list_model_get_n_items (list);
  for (guint i = 0; i < *n_failures; i++)
    {
      g_autoptr (SysprofDiagnostic) diagnostic = g_list_model_get_item (list, i);

      g_string_append_printf (text, "%s%s", i > 0 ? "\n" : "",
                              sysprof_diagnostic_get_message (diagnostic));
    }
  return text->len > 0 ? g_string_free (g_steal_pointer (&text), FALSE) : NULL;
}

static void
show_failures (AppPad *self)
{
  guint n;
  g_autofree char *text = dup_failures (self, &n);

  gtk_label_set_text (GTK_LABEL (self->failures), text != NULL ? text : "");
  gtk_widget_set_tooltip_text (self->failures, text);
  gtk_widget_set_visible (self->failures, text != NULL);
}

static gboolean
update (gpointer data)
{
  AppPad *self = data;
  RecordingStatus status;
  char events[SYSPROF_GROUPED_SIZE], samples[SYSPROF_GROUPED_SIZE], lost[SYSPROF_GROUPED_SIZE];
  g_autofree char *time = NULL, *bytes = NULL, *size = NULL, *caption = NULL, *losses = NULL;
  int seconds;

  sysprof_recording_get_status (self->recording, &status);
  seconds = (int) (status.duration / 1000000000);
  time = g_strdup_printf ("%02d:%02d", seconds / MINUTE, seconds % MINUTE);
  bytes = g_format_size (status.size);
  size =
      g_strdup_printf (ngettext ("%s sample, %s", "%s samples, %s", (gulong) status.n_samples),
                       sysprof_format_grouped (status.n_samples, samples), bytes);
  caption = g_strdup_printf (ngettext ("%s event", "%s events", (gulong) status.n_frames),
                             sysprof_format_grouped (status.n_frames, events));
  losses = g_strdup_printf (
      ngettext ("%s sample lost", "%s samples lost", (gulong) status.n_lost_samples),
      sysprof_format_grouped (status.n_lost_samples, lost));
  gtk_label_set_text (GTK_LABEL (self->time), time);
  gtk_label_set_text (GTK_LABEL (self->caption),
                      self->is_stopping ? _ ("Adding symbols…") : caption);
  gtk_label_set_text (GTK_LABEL (self->size), size);
  gtk_label_set_text (GTK_LABEL (self->losses), losses);
  gtk_widget_set_visible (self->losses, status.n_lost_samples > 0);
  show_failures (self);
  return G_SOURCE_CONTINUE;
}

/* Shows what was recorded, and what failed. */
static void
open_window (AppPad *self)
{
  guint n;
  g_autofree char *failures = dup_failures (self, &n);
  AppWindow *window = app_window_new (gtk_window_get_application (GTK_WINDOW (self)));

  if (self->lock >= 0) /* the window takes it */
    close (self->lock);
  self->lock = -1;
  app_window_open (window, self->file);
  app_window_set_settings (window, self->settings);
  if (failures != NULL)
    app_window_show_note (window, failures);
  gtk_window_present (GTK_WINDOW (window));
}

static void
show_failure (AppPad *self, const GError *error, bool is_kept)
{
  GtkApplication *application = gtk_window_get_application (GTK_WINDOW (self));
  g_autofree char *text =
      is_kept ? g_strdup_printf ("%s\n\n%s", error->message,
                                 _ ("The recording until then is kept. A window shows it."))
              : g_strdup (error->message);
  GtkWidget *dialog =
      adw_message_dialog_new (is_kept ? gtk_application_get_active_window (application) : NULL,
                              _ ("Recording Failed"), text);

  adw_message_dialog_add_response (ADW_MESSAGE_DIALOG (dialog), "close", _ ("_Close"));
  gtk_window_set_application (GTK_WINDOW (dialog), application);
  app_button_present_dialog (dialog);
}

static void
on_finished (GObject *object, GAsyncResult *result, gpointer data)
{
  g_autoptr (AppPad) self = data;
  g_autoptr (GError) error = NULL;
  RecordingStatus status;
  bool is_kept;

  sysprof_recording_get_status (self->recording, &status);
  is_kept = sysprof_recording_wait_finish (SYSPROF_RECORDING (object), result, &error) ||
            status.n_frames > 0;
  /* One that failed does not replace a file. */
  if (error == NULL && self->target != NULL &&
      app_unsaved_move (self->file, self->target, &error))
    {
      g_autofree char *uri = g_file_get_uri (self->target);

      g_set_object (&self->file, self->target);
      gtk_recent_manager_add_item (gtk_recent_manager_get_default (), uri);
    }
  if (is_kept)
    open_window (self);
  if (error != NULL)
    show_failure (self, error, is_kept);
  gtk_window_destroy (GTK_WINDOW (self));
}

static void
on_stopping (GObject *object, GAsyncResult *result, gpointer data)
{
  g_autoptr (GError) error = NULL;

  /* on_finished() reports the error of the recording. */
  (void) sysprof_recording_stop_finish (SYSPROF_RECORDING (object), result, &error);
}

static void
toggle_live (AppPad *self)
{
  GtkWidget *box = gtk_widget_get_parent (self->button);

  if (self->live != NULL)
    gtk_box_remove (GTK_BOX (box), self->live);
  self->live = NULL;
  if (gtk_toggle_button_get_active (GTK_TOGGLE_BUTTON (self->live_button)))
    {
      self->live = app_live_view_new (self->recording);
      gtk_widget_set_size_request (self->live, LIVE_WIDTH, LIVE_HEIGHT);
      gtk_box_append (GTK_BOX (box), self->live);
    }
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
  gtk_toggle_button_set_active (GTK_TOGGLE_BUTTON (self->live_button), FALSE);
  gtk_widget_set_visible (self->live_button, FALSE);
  app_button_set_title (self->button, _ ("_Skip Symbols"));
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
  g_clear_object (&self->target);
  g_clear_pointer (&self->settings, json_object_unref);
  if (self->lock >= 0)
    close (self->lock);
  self->lock = -1;
  G_OBJECT_CLASS (app_pad_parent_class)->dispose (object);
}

static void
app_pad_class_init (AppPadClass *class)
{
  G_OBJECT_CLASS (class)->dispose = app_pad_dispose;
  GTK_WINDOW_CLASS (class)->close_request = app_pad_close_request;
}

static GtkWidget *
add_label (GtkWidget *box, const char *class)
{
  GtkWidget *label = gtk_label_new (NULL);

  gtk_widget_add_css_class (label, class);
  gtk_widget_add_css_class (label, "numeric");
  gtk_label_set_wrap (GTK_LABEL (label), TRUE);
  gtk_label_set_justify (GTK_LABEL (label), GTK_JUSTIFY_CENTER);
  gtk_box_append (GTK_BOX (box), label);
  return label;
}

static void
app_pad_init (AppPad *self)
{
  GtkWidget *handle = gtk_window_handle_new ();
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 6);

  self->lock = -1;
  self->time = add_label (box, "pad-time");
  gtk_widget_set_vexpand (self->time, TRUE);
  self->caption = add_label (box, "dim-label");
  self->size = add_label (box, "dim-label");
  self->losses = add_label (box, "warning");
  self->failures = add_label (box, "warning");
  gtk_label_set_lines (GTK_LABEL (self->failures), MOST_LINES);
  gtk_label_set_ellipsize (GTK_LABEL (self->failures), PANGO_ELLIPSIZE_END);
  gtk_label_set_max_width_chars (GTK_LABEL (self->failures), 1); /* the width of the window */
  self->button = app_button_new (_ ("_Stop Recording"), NULL);
  gtk_widget_add_css_class (self->button, "destructive-action");
  gtk_widget_set_halign (self->button, GTK_ALIGN_CENTER);
  gtk_widget_set_margin_top (self->button, 12);
  g_signal_connect_swapped (self->button, "clicked", G_CALLBACK (stop), self);
  gtk_widget_add_css_class (box, "pad");
  gtk_box_append (GTK_BOX (box), self->button);
  self->live_button = gtk_toggle_button_new_with_label (_ ("Last Seconds"));
  gtk_widget_set_tooltip_text (self->live_button,
                               _ ("Shows what runs now. That costs time of one CPU."));
  gtk_widget_add_css_class (self->live_button, "flat");
  gtk_widget_set_halign (self->live_button, GTK_ALIGN_CENTER);
  g_signal_connect_swapped (self->live_button, "toggled", G_CALLBACK (toggle_live), self);
  gtk_box_append (GTK_BOX (box), self->live_button);
  gtk_window_handle_set_child (GTK_WINDOW_HANDLE (handle), box);
  adw_application_window_set_content (ADW_APPLICATION_WINDOW (self), handle);
  gtk_window_set_default_size (GTK_WINDOW (self), WIDTH, HEIGHT);
  gtk_window_set_resizable (GTK_WINDOW (self), FALSE);
  gtk_window_set_title (GTK_WINDOW (self), _ ("Recording"));
  gtk_window_set_focus (GTK_WINDOW (self), self->button);
}

GtkWidget *
app_pad_new (GtkApplication *application,
             SysprofRecording *recording,
             GFile *file,
             GFile *target,
             JsonObject *settings)
{
  AppPad *self = g_object_new (APP_TYPE_PAD, "application", application, NULL);

  self->recording = g_object_ref (recording);
  self->file = g_object_ref (file);
  g_set_object (&self->target, target);
  self->lock = app_unsaved_lock (file);
  self->settings = json_object_ref (settings);
  self->timer = g_timeout_add_seconds (1, update, self);
  (void) update (self);
  sysprof_recording_wait_async (recording, NULL, on_finished, g_object_ref (self));
  return GTK_WIDGET (self);
}
