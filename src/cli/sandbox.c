// SPDX-License-Identifier: GPL-3.0-or-later

/* Inside a Flatpak sandbox, host programs are readable only with the permission for the host's
 * files. Without it, functions have no names, and this message explains why.
 *
 * Source: flatpak-metadata(5), the group [Context]. */

#include "cli/sandbox.h"

#include <glib.h>

/* Matches "host", "host:ro" and the like, unless a later "!host" revokes it. */
static gboolean
sees_host (char **filesystems)
{
  gboolean sees = FALSE;

  for (size_t i = 0; filesystems != NULL && filesystems[i] != NULL; i++)
    {
      g_auto (GStrv) parts = g_strsplit (filesystems[i], ":", 2);

      if (g_strcmp0 (parts[0], "host") == 0)
        sees = TRUE;
      else if (g_strcmp0 (parts[0], "!host") == 0)
        sees = FALSE;
    }
  return sees;
}

char *
sysprof_cli_dup_sandbox_warning (const char *info)
{
  g_autoptr (GKeyFile) metadata = g_key_file_new ();
  g_auto (GStrv) filesystems = NULL;
  g_autofree char *name = NULL;

  if (!g_key_file_load_from_file (metadata, info, G_KEY_FILE_NONE, NULL))
    return NULL;

  filesystems = g_key_file_get_string_list (metadata, "Context", "filesystems", NULL, NULL);
  if (sees_host (filesystems))
    return NULL;

  name = g_key_file_get_string (metadata, "Application", "name", NULL);
  return g_strdup_printf (
      "This Flatpak sandbox cannot read the programs of the host, so their functions will "
      "have no names. Start it with 'flatpak run --filesystem=host %s'.",
      name != NULL ? name : "APPLICATION");
}
