// SPDX-License-Identifier: GPL-3.0-or-later

/* The command line that runs a program outside of the Flatpak sandbox. See record.h. */

#include "record/host-command.h"

#include "record/record.h"
#include "util/util.h"

#include <string.h>

#define FLATPAK_INFO "/.flatpak-info" /* exists in Flatpak sandboxes only */

bool
sysprof_runs_on_host (const char *program)
{
  return g_file_test (FLATPAK_INFO, G_FILE_TEST_EXISTS) &&
         strcmp (program, "flatpak-spawn") != 0;
}

static bool
has_word (const char *const *words, const char *word)
{
  return words != NULL && g_strv_contains (words, word);
}

char **
sysprof_host_command_dup_argv (const char *const *argv,
                               const char *const *environment,
                               const char *cwd,
                               const GArray *fds)
{
  g_autoptr (GPtrArray) words = g_ptr_array_new ();
  g_auto (GStrv) own = g_get_environ ();
  const char *directory = g_getenv ("SYSPROF_LIBEXECDIR");
  bool inherits = false;

  g_ptr_array_add (words, g_build_filename (directory != NULL ? directory : SYSPROF_LIBEXECDIR,
                                            "sysprof-host-command", NULL));
  if (cwd != NULL)
    g_ptr_array_add (words, g_strdup_printf ("--cwd=%s", cwd));
  for (size_t i = 0; environment != NULL && environment[i] != NULL; i++)
    if (has_word ((const char *const *) own, environment[i]))
      inherits = true; /* and the host has its own */
    else
      g_ptr_array_add (words, g_strdup_printf ("--env=%s", environment[i]));
  if (!inherits)
    g_ptr_array_add (words, g_strdup ("--clear-env"));
  for (guint i = 0; i < fds->len; i++)
    if (g_array_index (fds, int, i) > 2)
      g_ptr_array_add (words, g_strdup_printf ("--fd=%d", g_array_index (fds, int, i)));
  g_ptr_array_add (words, g_strdup ("--"));
  for (; *argv != NULL; argv++)
    g_ptr_array_add (words, g_strdup (*argv));
  g_ptr_array_add (words, NULL);
  return (char **) g_ptr_array_free (g_steal_pointer (&words), FALSE);
}
