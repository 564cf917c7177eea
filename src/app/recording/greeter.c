// SPDX-License-Identifier: GPL-3.0-or-later

/* The greeter. A recording that cannot start leaves it open, with the reason in an info bar,
 * and everything that was typed. */

#include <stdbool.h>

#include "app/recording/greeter.h"

#include "app/recording/greeter-rows.h"
#include "app/recording/pad.h"
#include "app/recording/recorder.h"
#include "record/record.h"

#include <glib/gi18n.h>
#include <string.h>

#define WIDTH      800 /* px */
#define HEIGHT     600
#define START_MSEC 50 /* between two looks whether the recording runs */

struct _AppGreeter
{
  AdwApplicationWindow parent_instance;
  JsonObject *settings;
  GtkWidget *content;
  GtkWidget *info_bar;
  GtkWidget *info_label;
  GtkWidget *picker;
  GtkWidget *record_button;
  SysprofRecording *recording; /* that is starting */
  GFile *file;
  bool is_named;
  guint timer;
};

G_DEFINE_FINAL_TYPE (AppGreeter, app_greeter, ADW_TYPE_APPLICATION_WINDOW)

/* --- starting --- */

static void
show_failure (AppGreeter *self, const char *message)
{
  gtk_label_set_text (GTK_LABEL (self->info_label), message);
  gtk_info_bar_set_revealed (GTK_INFO_BAR (self->info_bar), TRUE);
  gtk_widget_set_sensitive (self->content, TRUE);
  g_clear_handle_id (&self->timer, g_source_remove);
  g_clear_object (&self->recording);
}

/* The error and the diagnostics of a failed recording. *(full)* */
static char *
dup_diagnostics (SysprofRecording *recording, const char *message)
{
  g_autoptr (GListModel) list = sysprof_recording_list_diagnostics (recording);
  GString *text = g_string_new (message);

  for (guint i = 0; i < g_list_model_get_n_items (list); i++)
    {
      g_autoptr (SysprofDiagnostic) diagnostic = g_list_model_get_item (list, i);

      if (strstr (text->str, sysprof_diagnostic_get_message (diagnostic)) == NULL)
        g_string_append_printf (text, "\n%s", sysprof_diagnostic_get_message (diagnostic));
    }
  return g_string_free (text, FALSE);
}

static void
on_ended (GObject *object, GAsyncResult *result, gpointer data)
{
  g_autoptr (AppGreeter) self = data;
  g_autoptr (GError) error = NULL;
  g_autofree char *text = NULL;

  if (sysprof_recording_wait_finish (SYSPROF_RECORDING (object), result, &error) ||
      self->recording != SYSPROF_RECORDING (object))
    return;
  text = dup_diagnostics (SYSPROF_RECORDING (object), error->message);
  show_failure (self, text);
}

static gboolean
look_whether_it_runs (gpointer data)
{
  AppGreeter *self = data;
  RecordingStatus status;
  GtkWidget *pad;

  sysprof_recording_get_status (self->recording, &status);
  if (status.duration == 0)
    return G_SOURCE_CONTINUE;
  self->timer = 0;
  pad = app_pad_new (gtk_window_get_application (GTK_WINDOW (self)), self->recording,
                     self->file, self->is_named);
  g_clear_object (&self->recording);
  gtk_window_present (GTK_WINDOW (pad));
  gtk_window_destroy (GTK_WINDOW (self));
  return G_SOURCE_REMOVE;
}

static void
on_started (GObject *object, GAsyncResult *result, gpointer data)
{
  g_autoptr (AppGreeter) self = data;
  g_autoptr (GError) error = NULL;

  self->recording = sysprof_profiler_record_finish (SYSPROF_PROFILER (object), result, &error);
  if (self->recording == NULL)
    {
      show_failure (self, error->message);
      return;
    }
  sysprof_recording_wait_async (self->recording, NULL, on_ended, g_object_ref (self));
  self->timer = g_timeout_add (START_MSEC, look_whether_it_runs, self);
}

static void
start (AppGreeter *self, GFile *file, bool is_named)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GArray) pids = app_process_picker_get_pids (self->picker);
  g_autoptr (SysprofProfiler) profiler =
      app_profiler_new (self->settings, (const int *) pids->data, pids->len, &error);

  app_settings_save (self->settings);
  if (profiler == NULL)
    {
      show_failure (self, error->message);
      return;
    }
  g_set_object (&self->file, file);
  self->is_named = is_named;
  gtk_info_bar_set_revealed (GTK_INFO_BAR (self->info_bar), FALSE);
  gtk_widget_set_sensitive (self->content, FALSE);
  sysprof_profiler_record_to_path_async (profiler, g_file_peek_path (file), NULL, on_started,
                                         g_object_ref (self));
}

static void
record_to_memory (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  g_autofree char *path = app_profiler_dup_unsaved_path ();
  g_autoptr (GFile) file = g_file_new_for_path (path);

  start (data, file, false);
}

static void
on_file_chosen (GtkNativeDialog *dialog, int response, AppGreeter *self)
{
  g_autoptr (GFile) file = NULL;

  if (response == GTK_RESPONSE_ACCEPT)
    file = gtk_file_chooser_get_file (GTK_FILE_CHOOSER (dialog));
  if (file != NULL && g_file_peek_path (file) == NULL)
    show_failure (self, _ ("Recordings can only be written to files of this machine."));
  else if (file != NULL)
    start (self, file, true);
  g_object_unref (dialog);
}

static void
record_to_file (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  GtkFileChooserNative *dialog = gtk_file_chooser_native_new (
      _ ("Record to File"), GTK_WINDOW (data), GTK_FILE_CHOOSER_ACTION_SAVE, NULL, NULL);
  g_autofree char *name = app_profiler_dup_name ();

  gtk_file_chooser_set_current_name (GTK_FILE_CHOOSER (dialog), name);
  g_signal_connect_object (dialog, "response", G_CALLBACK (on_file_chosen), data, 0);
  gtk_native_dialog_show (GTK_NATIVE_DIALOG (dialog));
}

/* --- pages --- */

static const char *const page_icons[] = {
  "preferences-system-time-symbolic",
  "application-x-executable-symbolic",
  "power-profile-performance-symbolic",
  "mail-send-receive-symbolic",
  "video-display-symbolic",
  "computer-symbolic",
};

static void
add_pages (AppGreeter *self, AdwViewStack *stack)
{
  GtkWidget *page = NULL, *group = NULL;
  size_t n_pages = 0;

  for (const Setting *setting = app_settings; setting->key != NULL; setting++)
    {
      if (setting->page != NULL)
        {
          page = adw_preferences_page_new ();
          adw_view_stack_page_set_icon_name (
              adw_view_stack_add_titled (stack, page, setting->page, _ (setting->page)),
              page_icons[n_pages++]);
        }
      if (setting->group != NULL)
        {
          group = adw_preferences_group_new ();
          adw_preferences_group_set_title (ADW_PREFERENCES_GROUP (group), _ (setting->group));
          adw_preferences_page_add (ADW_PREFERENCES_PAGE (page), ADW_PREFERENCES_GROUP (group));
        }
      adw_preferences_group_add (ADW_PREFERENCES_GROUP (group),
                                 app_setting_row_new (setting, self->settings));
      /* The picker belongs to the first page. */
      if (n_pages == 1 && setting[1].page != NULL)
        {
          self->picker = app_process_picker_new ();
          adw_preferences_page_add (ADW_PREFERENCES_PAGE (page),
                                    ADW_PREFERENCES_GROUP (self->picker));
        }
    }
}

static GtkWidget *
make_buttons (AppGreeter *self)
{
  static const struct
  {
    const char *title;
    const char *action;
  } buttons[] = {
    { N_ ("_Open File…"), "app.open" },
    { N_ ("Record to _File…"), "win.record-to-file" },
    { N_ ("_Record to Memory"), "win.record-to-memory" },
  };
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12);

  gtk_box_set_homogeneous (GTK_BOX (box), TRUE);
  gtk_widget_add_css_class (box, "greeter-buttons");
  for (size_t i = 0; i < G_N_ELEMENTS (buttons); i++)
    {
      self->record_button = gtk_button_new_with_mnemonic (_ (buttons[i].title));
      gtk_actionable_set_action_name (GTK_ACTIONABLE (self->record_button), buttons[i].action);
      gtk_box_append (GTK_BOX (box), self->record_button);
    }
  gtk_widget_add_css_class (self->record_button, "suggested-action");
  return box;
}

static GtkWidget *
make_info_bar (AppGreeter *self)
{
  self->info_bar = gtk_info_bar_new ();
  self->info_label = gtk_label_new (NULL);
  gtk_label_set_wrap (GTK_LABEL (self->info_label), TRUE);
  gtk_label_set_selectable (GTK_LABEL (self->info_label), TRUE);
  gtk_label_set_xalign (GTK_LABEL (self->info_label), 0);
  gtk_info_bar_add_child (GTK_INFO_BAR (self->info_bar), self->info_label);
  gtk_info_bar_set_message_type (GTK_INFO_BAR (self->info_bar), GTK_MESSAGE_ERROR);
  gtk_info_bar_set_show_close_button (GTK_INFO_BAR (self->info_bar), TRUE);
  g_signal_connect_swapped (self->info_bar, "response", G_CALLBACK (gtk_info_bar_set_revealed),
                            self->info_bar);
  gtk_info_bar_set_revealed (GTK_INFO_BAR (self->info_bar), FALSE);
  return self->info_bar;
}

static GtkWidget *
make_header (GtkWidget *stack)
{
  GtkWidget *bar = adw_header_bar_new ();
  GtkWidget *switcher = adw_view_switcher_new ();
  GtkWidget *button = gtk_menu_button_new ();
  g_autoptr (GMenu) menu = g_menu_new ();

  adw_view_switcher_title_set_stack (ADW_VIEW_SWITCHER_TITLE (switcher),
                                     ADW_VIEW_STACK (stack));
  adw_view_switcher_title_set_title (ADW_VIEW_SWITCHER_TITLE (switcher), "Sysprof");
  adw_header_bar_set_title_widget (ADW_HEADER_BAR (bar), switcher);
  g_menu_append (menu, _ ("_Keyboard Shortcuts"), "win.show-help-overlay");
  g_menu_append (menu, _ ("_Help"), "app.help");
  g_menu_append (menu, _ ("_About Sysprof"), "app.about");
  gtk_menu_button_set_icon_name (GTK_MENU_BUTTON (button), "open-menu-symbolic");
  gtk_menu_button_set_menu_model (GTK_MENU_BUTTON (button), G_MENU_MODEL (menu));
  gtk_widget_set_tooltip_text (button, _ ("Main Menu"));
  gtk_accessible_update_property (GTK_ACCESSIBLE (button), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Main Menu"), -1);
  adw_header_bar_pack_end (ADW_HEADER_BAR (bar), button);
  return bar;
}

/* --- life --- */

static void
app_greeter_dispose (GObject *object)
{
  AppGreeter *self = APP_GREETER (object);

  g_clear_handle_id (&self->timer, g_source_remove);
  g_clear_object (&self->recording);
  g_clear_object (&self->file);
  G_OBJECT_CLASS (app_greeter_parent_class)->dispose (object);
}

static void
app_greeter_finalize (GObject *object)
{
  json_object_unref (APP_GREETER (object)->settings);
  G_OBJECT_CLASS (app_greeter_parent_class)->finalize (object);
}

static void
app_greeter_class_init (AppGreeterClass *class)
{
  G_OBJECT_CLASS (class)->dispose = app_greeter_dispose;
  G_OBJECT_CLASS (class)->finalize = app_greeter_finalize;
  gtk_widget_class_add_binding_action (GTK_WIDGET_CLASS (class), GDK_KEY_Escape, 0,
                                       "window.close", NULL);
}

static void
app_greeter_init (AppGreeter *self)
{
  static const GActionEntry entries[] = {
    { "record-to-memory", record_to_memory },
    { "record-to-file", record_to_file },
  };
  GtkWidget *stack = adw_view_stack_new ();

  self->settings = app_settings_load ();
  self->content = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  g_action_map_add_action_entries (G_ACTION_MAP (self), entries, G_N_ELEMENTS (entries), self);
  gtk_widget_set_vexpand (stack, TRUE);
  add_pages (self, ADW_VIEW_STACK (stack));
  gtk_box_append (GTK_BOX (self->content), make_header (stack));
  gtk_box_append (GTK_BOX (self->content), make_info_bar (self));
  gtk_box_append (GTK_BOX (self->content), stack);
  gtk_box_append (GTK_BOX (self->content), make_buttons (self));
  adw_application_window_set_content (ADW_APPLICATION_WINDOW (self), self->content);
  gtk_window_set_default_size (GTK_WINDOW (self), WIDTH, HEIGHT);
  gtk_window_set_title (GTK_WINDOW (self), "Sysprof");
  gtk_window_set_focus (GTK_WINDOW (self), self->record_button);
}

GtkWidget *
app_greeter_new (GtkApplication *application)
{
  return g_object_new (APP_TYPE_GREETER, "application", application, NULL);
}
