// SPDX-License-Identifier: GPL-3.0-or-later

/* The greeter. A recording that cannot start leaves it open, with the reason in an info bar,
 * and everything that was typed. */

#include <stdbool.h>

#include "app/recording/greeter.h"

#include "app/main/recent.h"
#include "app/main/shortcuts.h"
#include "app/recording/greeter-rows.h"
#include "app/recording/pad.h"
#include "app/recording/recorder.h"
#include "app/recording/unsaved.h"
#include "app/widgets/button.h"
#include "app/widgets/info-bar.h"
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
  GtkWidget *picker;
  GtkWidget *record_button;
  SysprofRecording *recording; /* that is starting */
  GFile *file;
  GFile *target; /* the name it gets; NULL = none yet */
  bool has_command;
  guint timer;
};

G_DEFINE_FINAL_TYPE (AppGreeter, app_greeter, ADW_TYPE_APPLICATION_WINDOW)

/* --- starting --- */

static void
show_failure (AppGreeter *self, const char *message)
{
  app_info_bar_show (self->info_bar, GTK_MESSAGE_ERROR, message);
  gtk_widget_set_sensitive (self->content, TRUE);
  g_clear_handle_id (&self->timer, g_source_remove);
  g_clear_object (&self->recording);
  if (self->file != NULL) /* nothing is in it yet */
    app_unsaved_delete (self->file);
  g_clear_object (&self->file);
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
  if (status.duration == 0 ||
      (self->has_command && sysprof_recording_get_subprocess (self->recording) == NULL))
    return G_SOURCE_CONTINUE;
  self->timer = 0;
  pad = app_pad_new (gtk_window_get_application (GTK_WINDOW (self)), self->recording,
                     self->file, self->target, self->settings);
  g_clear_object (&self->recording);
  gtk_window_present (GTK_WINDOW (pad));
  gtk_window_destroy (GTK_WINDOW (self));
  return G_SOURCE_REMOVE;
}

/* Ends a recording without a window. */
static void
abandon (AppGreeter *self)
{
  sysprof_recording_skip_augment (self->recording);
  sysprof_recording_stop_async (self->recording, NULL, NULL, NULL);
  g_clear_object (&self->recording);
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
  if (gtk_window_get_application (GTK_WINDOW (self)) == NULL) /* closed meanwhile */
    {
      abandon (self);
      return;
    }
  sysprof_recording_wait_async (self->recording, NULL, on_ended, g_object_ref (self));
  self->timer = g_timeout_add (START_MSEC, look_whether_it_runs, self);
}

static void
start (AppGreeter *self, GFile *target)
{
  g_autofree char *path = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GArray) pids = g_array_new (FALSE, FALSE, sizeof (int));
  g_autoptr (SysprofProfiler) profiler = NULL;

  if (!app_process_picker_get_pids (self->picker, pids))
    {
      show_failure (self, _ ("No process is chosen. Choose at least one, or switch on “Profile "
                             "my Entire System”."));
      return;
    }
  app_settings_set_pids (self->settings, pids);
  profiler = app_profiler_new (self->settings, &error);
  app_settings_save (self->settings);
  if (profiler == NULL)
    {
      show_failure (self, error->message);
      return;
    }
  path = target != NULL ? app_unsaved_dup_path_for (target, &error) : app_unsaved_dup_path ();
  if (path == NULL)
    {
      show_failure (self, error->message);
      return;
    }
  self->file = g_file_new_for_path (path);
  g_set_object (&self->target, target);
  self->has_command = sysprof_profiler_get_spawnable (profiler) != NULL;
  app_info_bar_show (self->info_bar, GTK_MESSAGE_ERROR, NULL);
  gtk_widget_set_sensitive (self->content, FALSE);
  sysprof_profiler_record_to_path_async (profiler, path, NULL, on_started, g_object_ref (self));
}

static void
record_to_memory (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  start (data, NULL);
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
    start (self, file);
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
  GtkWidget *page = NULL, *group = NULL, *row, *last = NULL;
  size_t n_pages = 0;

  for (const Setting *setting = app_settings; setting->key != NULL; setting++)
    {
      if (setting->page != NULL)
        {
          page = adw_preferences_page_new ();
          if (n_pages == 0)
            adw_preferences_page_add (ADW_PREFERENCES_PAGE (page),
                                      ADW_PREFERENCES_GROUP (app_unsaved_group_new ()));
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
      row = app_setting_row_new (setting, self->settings);
      adw_preferences_group_add (ADW_PREFERENCES_GROUP (group), row);
      if (setting->is_unfolded)
        g_object_bind_property (adw_action_row_get_activatable_widget (ADW_ACTION_ROW (last)),
                                "active", row, "visible", G_BINDING_SYNC_CREATE);
      last = row;
      /* The picker belongs to the first page. */
      if (n_pages == 1 && setting[1].page != NULL)
        {
          self->picker = app_process_picker_new (self->settings);
          adw_preferences_page_add (ADW_PREFERENCES_PAGE (page),
                                    ADW_PREFERENCES_GROUP (self->picker));
        }
    }
}

/* Recordings that were opened before, newest first. */
static GtkWidget *
make_recent_button (void)
{
  g_autoptr (GMenu) menu = app_recent_menu_new ();
  GtkWidget *button = gtk_menu_button_new ();

  gtk_menu_button_set_menu_model (GTK_MENU_BUTTON (button), G_MENU_MODEL (menu));
  gtk_menu_button_set_direction (GTK_MENU_BUTTON (button), GTK_ARROW_UP);
  gtk_widget_set_tooltip_text (button, _ ("Recent Recordings"));
  gtk_accessible_update_property (GTK_ACCESSIBLE (button), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Recent Recordings"), -1);
  gtk_widget_set_sensitive (button, g_menu_model_get_n_items (G_MENU_MODEL (menu)) > 0);
  return button;
}

static GtkWidget *
make_buttons (AppGreeter *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12);
  GtkWidget *button;
  GtkWidget *open = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 0);

  gtk_widget_add_css_class (open, "linked");
  button = app_button_new (_ ("_Open File…"), "app.open");
  gtk_widget_set_hexpand (button, TRUE);
  gtk_box_append (GTK_BOX (open), button);
  gtk_box_append (GTK_BOX (open), make_recent_button ());
  self->record_button = app_button_new (_ ("_Record to Memory"), "win.record-to-memory");
  gtk_widget_add_css_class (self->record_button, "suggested-action");
  gtk_box_set_homogeneous (GTK_BOX (box), TRUE);
  gtk_widget_add_css_class (box, "greeter-buttons");
  gtk_box_append (GTK_BOX (box), open);
  gtk_box_append (GTK_BOX (box), app_button_new (_ ("Record to _File…"), "win.record-to-file"));
  gtk_box_append (GTK_BOX (box), self->record_button);
  return box;
}

static GtkWidget *
make_header (GtkWidget *stack, GtkWidget **squeezer)
{
  GtkWidget *bar = adw_header_bar_new ();
  GtkWidget *switcher = adw_view_switcher_new ();
  GtkWidget *button = gtk_menu_button_new ();
  g_autoptr (GMenu) menu = g_menu_new ();

  adw_view_switcher_set_stack (ADW_VIEW_SWITCHER (switcher), ADW_VIEW_STACK (stack));
  *squeezer = adw_squeezer_new ();
  adw_squeezer_add (ADW_SQUEEZER (*squeezer), switcher);
  adw_squeezer_add (ADW_SQUEEZER (*squeezer), adw_window_title_new ("Sysprof", NULL));
  adw_header_bar_set_title_widget (ADW_HEADER_BAR (bar), *squeezer);
  g_menu_append (menu, _ ("_Keyboard Shortcuts"), "win.show-help-overlay");
  g_menu_append (menu, _ ("_Help"), "app.help");
  g_menu_append (menu, _ ("_About Sysprof"), "app.about");
  gtk_menu_button_set_icon_name (GTK_MENU_BUTTON (button), "open-menu-symbolic");
  gtk_menu_button_set_menu_model (GTK_MENU_BUTTON (button), G_MENU_MODEL (menu));
  gtk_menu_button_set_primary (GTK_MENU_BUTTON (button), TRUE);
  gtk_widget_set_tooltip_text (button, _ ("Main Menu"));
  gtk_accessible_update_property (GTK_ACCESSIBLE (button), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Main Menu"), -1);
  adw_header_bar_pack_end (ADW_HEADER_BAR (bar), button);
  return bar;
}

static gboolean
is_title (GBinding *binding, const GValue *from, GValue *to, gpointer data)
{
  g_value_set_boolean (to, ADW_IS_WINDOW_TITLE (g_value_get_object (from)));
  return TRUE;
}

/* The pages are at the bottom of windows whose header has no room for them. */
static GtkWidget *
make_bottom_switcher (GtkWidget *stack, GtkWidget *squeezer)
{
  GtkWidget *bar = adw_view_switcher_bar_new ();

  adw_view_switcher_bar_set_stack (ADW_VIEW_SWITCHER_BAR (bar), ADW_VIEW_STACK (stack));
  g_object_bind_property_full (squeezer, "visible-child", bar, "reveal", G_BINDING_SYNC_CREATE,
                               is_title, NULL, NULL, NULL);
  return bar;
}

/* --- life --- */

static void
app_greeter_dispose (GObject *object)
{
  AppGreeter *self = APP_GREETER (object);

  g_clear_handle_id (&self->timer, g_source_remove);
  if (self->recording != NULL)
    abandon (self);
  g_clear_object (&self->file);
  g_clear_object (&self->target);
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
  g_autoptr (GtkShortcutsWindow) shortcuts = app_shortcuts_window_new ();

  g_action_map_add_action_entries (G_ACTION_MAP (self), entries, G_N_ELEMENTS (entries), self);
  gtk_application_window_set_help_overlay (GTK_APPLICATION_WINDOW (self), shortcuts);
  gtk_window_set_default_size (GTK_WINDOW (self), WIDTH, HEIGHT);
  gtk_window_set_title (GTK_WINDOW (self), "Sysprof");
}

GtkWidget *
app_greeter_new (GtkApplication *application, JsonObject *settings)
{
  AppGreeter *self = g_object_new (APP_TYPE_GREETER, "application", application, NULL);
  GtkWidget *stack = adw_view_stack_new ();
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  GtkWidget *squeezer;

  self->settings = settings != NULL ? app_settings_copy (settings) : app_settings_load ();
  self->content = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  self->info_bar = app_info_bar_new ();
  gtk_widget_set_vexpand (self->content, TRUE);
  gtk_widget_set_vexpand (stack, TRUE);
  add_pages (self, ADW_VIEW_STACK (stack));
  gtk_box_append (GTK_BOX (box), make_header (stack, &squeezer));
  gtk_box_append (GTK_BOX (box), self->info_bar);
  gtk_box_append (GTK_BOX (self->content), stack);
  gtk_box_append (GTK_BOX (self->content), make_buttons (self));
  gtk_box_append (GTK_BOX (self->content), make_bottom_switcher (stack, squeezer));
  gtk_box_append (GTK_BOX (box), self->content);
  adw_application_window_set_content (ADW_APPLICATION_WINDOW (self), box);
  gtk_window_set_focus (GTK_WINDOW (self), self->record_button);
  return GTK_WIDGET (self);
}
