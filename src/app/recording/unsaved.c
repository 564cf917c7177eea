// SPDX-License-Identifier: GPL-3.0-or-later

/* Recordings that have no name yet. */

#include "app/recording/unsaved.h"

#include "app/recording/recorder.h"
#include "app/widgets/button.h"
#include "util/util.h"

#include <fcntl.h>
#include <glib/gi18n.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MODE  0640
#define LEAST_SIZE 1024 /* bytes; a capture with only a header has nothing to show */

static char *
dup_folder (void)
{
  return g_build_filename (g_get_user_data_dir (), "org.gnome.Sysprof", "unsaved", NULL);
}

char *
app_unsaved_dup_path (void)
{
  g_autofree char *folder = dup_folder ();
  g_autofree char *name = app_profiler_dup_name ();

  (void) g_mkdir_with_parents (folder, 0700); /* recording reports what fails */
  return g_build_filename (folder, name, NULL);
}

char *
app_unsaved_dup_path_for (GFile *target, GError **error)
{
  g_autofree char *path = app_unsaved_dup_path ();
  g_autofree char *beside = g_strconcat (g_file_peek_path (target), ".part-XXXXXX", NULL);
  autofd fd = g_mkstemp_full (beside, O_RDWR | O_CLOEXEC, FILE_MODE);

  if (fd < 0)
    sysprof_set_error_errno (error, _ ("Cannot write a recording to “%s”"),
                             g_file_peek_path (target));
  else if (symlink (beside, path) == 0)
    return g_steal_pointer (&path);
  else
    {
      sysprof_set_error_errno (error, _ ("Cannot write to “%s”"), path);
      (void) unlink (beside);
    }
  return NULL;
}

bool
app_unsaved_move (GFile *file, GFile *target, GError **error)
{
  const char *link = g_file_peek_path (file);
  g_autofree char *beside = g_file_read_link (link, error);

  if (beside == NULL)
    return false;
  if (rename (beside, g_file_peek_path (target)) != 0)
    {
      sysprof_set_error_errno (error, _ ("Cannot rename “%s” to “%s”"), beside,
                               g_file_peek_path (target));
      return false;
    }
  (void) unlink (link);
  return true;
}

bool
app_unsaved_contains (GFile *file)
{
  g_autofree char *folder = dup_folder ();
  g_autoptr (GFile) parent = g_file_get_parent (file);
  g_autoptr (GFile) unsaved = g_file_new_for_path (folder);

  return parent != NULL && g_file_equal (parent, unsaved);
}

int
app_unsaved_lock (GFile *file)
{
  const char *path = g_file_peek_path (file);
  autofd fd = -1;

  if (path == NULL || !app_unsaved_contains (file))
    return -1;
  fd = open (path, O_RDONLY | O_CLOEXEC);
  return fd >= 0 && flock (fd, LOCK_EX | LOCK_NB) == 0 ? sysprof_steal_fd (&fd) : -1;
}

void
app_unsaved_delete (GFile *file)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *beside = g_file_read_link (g_file_peek_path (file), NULL);

  if (beside != NULL)
    (void) unlink (beside);
  if (!g_file_delete (file, NULL, &error))
    g_message ("Cannot discard the recording: %s", error->message);
}

static int
compare_newest_first (gconstpointer a, gconstpointer b)
{
  /* Names have the time. */
  return strcmp (g_file_peek_path (*(GFile *const *) b),
                 g_file_peek_path (*(GFile *const *) a));
}

/* Those that nobody has locked, newest first. Deletes those without content. *(full)* */
static GPtrArray *
list_files (void)
{
  g_autofree char *folder = dup_folder ();
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  GPtrArray *files = g_ptr_array_new_with_free_func (g_object_unref);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);
      g_autoptr (GFile) file = g_file_new_for_path (path);
      autofd fd = app_unsaved_lock (file);
      struct stat status;

      if (fd < 0 || fstat (fd, &status) < 0)
        continue;
      if (status.st_size < LEAST_SIZE)
        app_unsaved_delete (file);
      else
        g_ptr_array_add (files, g_steal_pointer (&file));
    }
  g_ptr_array_sort (files, compare_newest_first);
  return files;
}

/* --- the group of the greeter --- */

static GFile *
file_of (gpointer row)
{
  return g_object_get_data (row, "file");
}

static void
open_row (AdwActionRow *row, gpointer data)
{
  GApplication *application = g_application_get_default ();
  GtkRoot *greeter = gtk_widget_get_root (GTK_WIDGET (row));
  GFile *file = g_object_ref (file_of (row));

  g_application_open (application, &file, 1, "");
  gtk_window_destroy (GTK_WINDOW (greeter));
  g_object_unref (file);
}

static void
discard_row (GtkButton *button, GtkWidget *row)
{
  GtkWidget *group = gtk_widget_get_ancestor (row, ADW_TYPE_PREFERENCES_GROUP);
  GtkWidget *list = gtk_widget_get_parent (row);

  app_unsaved_delete (file_of (row));
  adw_preferences_group_remove (ADW_PREFERENCES_GROUP (group), row);
  gtk_widget_set_visible (group, gtk_widget_get_first_child (list) != NULL);
}

static void
ask_before_discard (GtkButton *button, GtkWidget *row)
{
  GtkWidget *dialog =
      adw_message_dialog_new (GTK_WINDOW (gtk_widget_get_root (row)), _ ("Discard Recording?"),
                              _ ("The recording was never saved. It cannot be restored."));

  adw_message_dialog_add_responses (ADW_MESSAGE_DIALOG (dialog), "cancel", _ ("_Cancel"),
                                    "discard", _ ("_Discard"), NULL);
  adw_message_dialog_set_response_appearance (ADW_MESSAGE_DIALOG (dialog), "discard",
                                              ADW_RESPONSE_DESTRUCTIVE);
  g_signal_connect_object (dialog, "response::discard", G_CALLBACK (discard_row), row, 0);
  app_button_present_dialog (dialog);
}

static GtkWidget *
make_row (GFile *file)
{
  GtkWidget *row = adw_action_row_new ();
  GtkWidget *button = gtk_button_new_from_icon_name ("user-trash-symbolic");
  g_autofree char *name = g_file_get_basename (file);
  g_autofree char *title = g_markup_escape_text (name, -1);
  struct stat status = { 0 };

  if (stat (g_file_peek_path (file), &status) == 0)
    {
      g_autofree char *size = g_format_size ((guint64) status.st_size);

      adw_action_row_set_subtitle (ADW_ACTION_ROW (row), size);
    }
  g_object_set_data_full (G_OBJECT (row), "file", g_object_ref (file), g_object_unref);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), title);
  gtk_list_box_row_set_activatable (GTK_LIST_BOX_ROW (row), TRUE);
  gtk_widget_set_valign (button, GTK_ALIGN_CENTER);
  gtk_button_set_has_frame (GTK_BUTTON (button), FALSE);
  gtk_widget_set_tooltip_text (button, _ ("Discard"));
  gtk_accessible_update_property (GTK_ACCESSIBLE (button), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Discard"), -1);
  adw_action_row_add_suffix (ADW_ACTION_ROW (row), button);
  adw_action_row_add_suffix (ADW_ACTION_ROW (row),
                             gtk_image_new_from_icon_name ("go-next-symbolic"));
  g_signal_connect (row, "activated", G_CALLBACK (open_row), NULL);
  g_signal_connect (button, "clicked", G_CALLBACK (ask_before_discard), row);
  return row;
}

GtkWidget *
app_unsaved_group_new (void)
{
  GtkWidget *group = adw_preferences_group_new ();
  g_autoptr (GPtrArray) files = list_files ();

  adw_preferences_group_set_title (ADW_PREFERENCES_GROUP (group), _ ("Unsaved Recordings"));
  adw_preferences_group_set_description (
      ADW_PREFERENCES_GROUP (group),
      _ ("They were not saved when the application ended. Open one to save it."));
  for (guint i = 0; i < files->len; i++)
    adw_preferences_group_add (ADW_PREFERENCES_GROUP (group), make_row (files->pdata[i]));
  gtk_widget_set_visible (group, files->len > 0);
  return group;
}
