// SPDX-License-Identifier: GPL-3.0-or-later

/* The application. */

#include "app/main/application.h"

#include "app/main/frame-marks.h"
#include "app/main/shortcuts.h"
#include "app/main/window.h"
#include "app/recording/greeter.h"
#include "app/recording/unsaved.h"
#include "app/widgets/button.h"

#include <glib-unix.h>
#include <glib/gi18n.h>
#include <signal.h>
#include <sysprof.h>

struct _AppApplication
{
  AdwApplication parent_instance;
};

G_DEFINE_FINAL_TYPE (AppApplication, app_application, ADW_TYPE_APPLICATION)

static void
app_application_activate (GApplication *application)
{
  GtkWindow *window = gtk_application_get_active_window (GTK_APPLICATION (application));

  if (window == NULL)
    window = GTK_WINDOW (app_greeter_new (GTK_APPLICATION (application), NULL));
  gtk_window_present (window);
}

/* The window that shows a file already; NULL if there is none. */
static AppWindow *
find_window (GtkApplication *application, GFile *file)
{
  for (GList *at = gtk_application_get_windows (application); at != NULL; at = at->next)
    if (APP_IS_WINDOW (at->data) && app_window_get_file (at->data) != NULL &&
        g_file_equal (app_window_get_file (at->data), file))
      return at->data;
  return NULL;
}

static void
open_file (GtkApplication *application, GFile *file)
{
  AppWindow *window = find_window (application, file);
  g_autofree char *uri = g_file_get_uri (file);

  if (window == NULL)
    {
      window = app_window_new (application);
      app_window_open (window, file);
      if (!app_unsaved_contains (file))
        gtk_recent_manager_add_item (gtk_recent_manager_get_default (), uri);
    }
  gtk_window_present (GTK_WINDOW (window));
}

static void
app_application_open (GApplication *application, GFile **files, int n_files, const char *hint)
{
  for (int i = 0; i < n_files; i++)
    open_file (GTK_APPLICATION (application), files[i]);
}

static void
on_file_chosen (GtkNativeDialog *dialog, int response, GtkApplication *application)
{
  if (response == GTK_RESPONSE_ACCEPT)
    {
      g_autoptr (GFile) file = gtk_file_chooser_get_file (GTK_FILE_CHOOSER (dialog));
      GtkWindow *window = gtk_native_dialog_get_transient_for (dialog);

      open_file (application, file);
      if (APP_IS_GREETER (window))
        gtk_window_destroy (window);
    }
  g_object_unref (dialog);
}

static void
choose_file (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  GtkFileChooserNative *dialog = gtk_file_chooser_native_new (
      _ ("Open Recording"), gtk_application_get_active_window (data),
      GTK_FILE_CHOOSER_ACTION_OPEN, NULL, NULL);
  g_autoptr (GtkFileFilter) captures = gtk_file_filter_new ();
  g_autoptr (GtkFileFilter) all = gtk_file_filter_new ();

  gtk_file_filter_set_name (captures, _ ("Recordings"));
  gtk_file_filter_add_pattern (captures, "*.syscap*");
  gtk_file_filter_set_name (all, _ ("All Files"));
  gtk_file_filter_add_pattern (all, "*");
  gtk_file_chooser_add_filter (GTK_FILE_CHOOSER (dialog), captures);
  gtk_file_chooser_add_filter (GTK_FILE_CHOOSER (dialog), all);
  g_signal_connect_object (dialog, "response", G_CALLBACK (on_file_chosen), data, 0);
  gtk_native_dialog_show (GTK_NATIVE_DIALOG (dialog));
}

static void
new_recording (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  GList *at = gtk_application_get_windows (data);

  while (at != NULL && !APP_IS_GREETER (at->data))
    at = at->next;
  gtk_window_present (at != NULL ? at->data : GTK_WINDOW (app_greeter_new (data, NULL)));
}

static void
on_help_shown (GObject *object, GAsyncResult *result, gpointer data)
{
  GtkWindow *window = GTK_WINDOW (object);
  g_autoptr (GError) error = NULL;
  g_autofree char *text = NULL;
  GtkWidget *dialog;

  if (gtk_show_uri_full_finish (window, result, &error))
    return;
  text = g_strdup_printf (
      _ ("%s\n\nInstall Yelp, the help browser, or read “man sysprof” in a terminal."),
      error->message);
  dialog = adw_message_dialog_new (window, _ ("Help Cannot Be Shown"), text);
  adw_message_dialog_add_response (ADW_MESSAGE_DIALOG (dialog), "close", _ ("_Close"));
  app_button_present_dialog (dialog);
}

static void
help (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  gtk_show_uri_full (gtk_application_get_active_window (data), "help:sysprof", GDK_CURRENT_TIME,
                     NULL, on_help_shown, NULL);
}

static void
about (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  adw_show_about_window (gtk_application_get_active_window (data), "application-name",
                         "Sysprof", "application-icon", APP_ID, "version", SYSPROF_VERSION_S,
                         "license-type", GTK_LICENSE_GPL_3_0, "comments",
                         _ ("See what your system spends its time on"), NULL);
}

static void
end_windows (GtkApplication *application, void (*end) (GtkWindow *window))
{
  GList *windows = g_list_copy_deep (gtk_application_get_windows (application),
                                     (GCopyFunc) (void (*) (void)) g_object_ref, NULL);

  for (GList *at = windows; at != NULL; at = at->next)
    end (at->data);
  g_list_free_full (windows, g_object_unref);
}

static void
quit (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  end_windows (data, gtk_window_close); /* each may ask, and a recording stops first */
}

/* Ends without a question: the greeter offers unsaved recordings again. The next one kills. */
static gboolean
on_signal (gpointer data)
{
  end_windows (data, gtk_window_destroy);
  return G_SOURCE_REMOVE;
}

static void
open_uri (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  g_autoptr (GFile) file = g_file_new_for_uri (g_variant_get_string (parameter, NULL));
  GtkWindow *window = gtk_application_get_active_window (data);

  open_file (data, file);
  if (APP_IS_GREETER (window))
    gtk_window_destroy (window);
}

/* --- windows --- */

static gboolean
on_drop (GtkDropTarget *target, const GValue *value, double x, double y, gpointer data)
{
  const GSList *files = gdk_file_list_get_files (g_value_get_boxed (value));

  for (const GSList *at = files; at != NULL; at = at->next)
    open_file (data, at->data);
  return TRUE;
}

static void
on_window_added (GtkApplication *application, GtkWindow *window)
{
  GtkDropTarget *target = gtk_drop_target_new (GDK_TYPE_FILE_LIST, GDK_ACTION_COPY);

  g_signal_connect_object (target, "drop", G_CALLBACK (on_drop), application, 0);
  gtk_widget_add_controller (GTK_WIDGET (window), GTK_EVENT_CONTROLLER (target));
  app_frame_marks_follow (window);
}

static void
app_application_startup (GApplication *application)
{
  static const GActionEntry entries[] = {
    { "open", choose_file }, { "new-recording", new_recording },
    { "help", help },        { "about", about },
    { "quit", quit },        { "open-uri", open_uri, "s" },
  };
  static const int signals[] = { SIGHUP, SIGINT, SIGTERM };
  g_autoptr (GtkCssProvider) css = gtk_css_provider_new ();

  G_APPLICATION_CLASS (app_application_parent_class)->startup (application);
  g_action_map_add_action_entries (G_ACTION_MAP (application), entries, G_N_ELEMENTS (entries),
                                   application);
  app_shortcuts_set_accels (GTK_APPLICATION (application));
  gtk_css_provider_load_from_resource (css, "/org/gnome/Sysprof/style.css");
  gtk_style_context_add_provider_for_display (gdk_display_get_default (),
                                              GTK_STYLE_PROVIDER (css),
                                              GTK_STYLE_PROVIDER_PRIORITY_APPLICATION);
  gtk_window_set_default_icon_name (APP_ID);
  g_signal_connect (application, "window-added", G_CALLBACK (on_window_added), NULL);
  for (size_t i = 0; i < G_N_ELEMENTS (signals); i++)
    (void) g_unix_signal_add (signals[i], on_signal, application);
}

static int
app_application_handle_local_options (GApplication *application, GVariantDict *options)
{
  if (!g_variant_dict_contains (options, "version"))
    return -1; /* continues */
  g_print ("Sysprof %s\n", SYSPROF_VERSION_S);
  return 0;
}

static void
app_application_class_init (AppApplicationClass *class)
{
  GApplicationClass *application_class = G_APPLICATION_CLASS (class);

  application_class->activate = app_application_activate;
  application_class->open = app_application_open;
  application_class->handle_local_options = app_application_handle_local_options;
  application_class->startup = app_application_startup;
}

static void
app_application_init (AppApplication *self)
{
}

AppApplication *
app_application_new (void)
{
  AppApplication *self = g_object_new (APP_TYPE_APPLICATION, "application-id", APP_ID, "flags",
                                       G_APPLICATION_HANDLES_OPEN, "resource-base-path",
                                       "/org/gnome/Sysprof", NULL);

  g_application_set_option_context_parameter_string (G_APPLICATION (self), _ ("[FILE…]"));
  g_application_set_option_context_summary (
      G_APPLICATION (self), _ ("Record what programs do, and look at recordings."));
  g_application_add_main_option (G_APPLICATION (self), "version", 0, 0, G_OPTION_ARG_NONE,
                                 _ ("Show the version"), NULL);
  return self;
}
