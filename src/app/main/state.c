// SPDX-License-Identifier: GPL-3.0-or-later

/* The key file $XDG_CONFIG_HOME/org.gnome.Sysprof/windows. */

#include "app/main/state.h"

/* Main thread only. */
static GKeyFile *state;

static char *
dup_path (void)
{
  return g_build_filename (g_get_user_config_dir (), "org.gnome.Sysprof", "windows", NULL);
}

static GKeyFile *
get_state (void)
{
  if (state == NULL)
    {
      g_autofree char *path = dup_path ();

      state = g_key_file_new ();
      (void) g_key_file_load_from_file (state, path, G_KEY_FILE_NONE, NULL);
    }
  return state;
}

int
app_state_get (const char *group, const char *key, int fallback)
{
  g_autoptr (GError) error = NULL;
  int value = g_key_file_get_integer (get_state (), group, key, &error);

  return error == NULL ? value : fallback;
}

void
app_state_set (const char *group, const char *key, int value)
{
  g_key_file_set_integer (get_state (), group, key, value);
}

void
app_state_save (void)
{
  g_autofree char *path = dup_path ();
  g_autofree char *folder = g_path_get_dirname (path);
  g_autoptr (GError) error = NULL;

  (void) g_mkdir_with_parents (folder, 0700);
  if (!g_key_file_save_to_file (get_state (), path, &error))
    g_message ("Cannot remember the windows in '%s': %s", path, error->message);
}
