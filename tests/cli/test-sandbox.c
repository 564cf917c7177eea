// SPDX-License-Identifier: GPL-3.0-or-later

/* Whether a sandbox of Flatpak sees the host's files, by what Flatpak writes into it. */

#include "cli/sandbox.h"

#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>

static char *
warning_for (const char *text)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = NULL;
  char *warning;
  int fd = g_file_open_tmp ("flatpak-info-XXXXXX", &path, &error);

  g_assert_no_error (error);
  g_close (fd, NULL);
  g_file_set_contents (path, text, -1, &error);
  g_assert_no_error (error);
  warning = sysprof_cli_dup_sandbox_warning (path);
  (void) g_unlink (path); /* in the folder for temporary files */
  return warning;
}

static void
test_names_the_way_out (void)
{
  static const char *const narrow[] = {
    "[Application]\nname=org.example.App\n",
    "[Application]\nname=org.example.App\n[Context]\nfilesystems=home;xdg-run/app;\n",
    "[Application]\nname=org.example.App\n[Context]\nfilesystems=host-etc;/host;\n",
    "[Application]\nname=org.example.App\n[Context]\nfilesystems=host;!host;\n",
  };

  for (size_t i = 0; i < G_N_ELEMENTS (narrow); i++)
    {
      g_autofree char *warning = warning_for (narrow[i]);

      g_assert_nonnull (warning);
      g_assert_nonnull (strstr (warning, "--filesystem=host org.example.App"));
      g_assert_null (strchr (warning, '\n'));
    }
}

static void
test_is_silent_where_the_host_is_seen (void)
{
  static const char *const wide[] = {
    "[Application]\nname=org.example.App\n[Context]\nfilesystems=host;\n",
    "[Application]\nname=org.example.App\n[Context]\nfilesystems=home;host:ro;\n",
  };

  for (size_t i = 0; i < G_N_ELEMENTS (wide); i++)
    g_assert_null (warning_for (wide[i]));
  g_assert_null (sysprof_cli_dup_sandbox_warning ("/nonexistent/.flatpak-info"));
  g_assert_null (warning_for ("no key file"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cli/sandbox/names-the-way-out", test_names_the_way_out);
  g_test_add_func ("/cli/sandbox/silent-where-the-host-is-seen",
                   test_is_silent_where_the_host_is_seen);
  return g_test_run ();
}
