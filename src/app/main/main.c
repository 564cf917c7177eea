// SPDX-License-Identifier: GPL-3.0-or-later

/* sysprof: starts the application.
 *
 * Without a graphics device GTK would draw with OpenGL on the CPU, which takes twelve times as
 * long as cairo for each frame and five times as long until the first one. Therefore choose
 * cairo, unless the user chose a renderer. */

#include "app/app.h"
#include "app/main/application.h"
#include "util/util.h"

#include <glib/gi18n.h>
#include <locale.h>
#include <malloc.h>
#include <stdlib.h>

#define RENDER_NODES    "/dev/dri"
#define MOST_ARENAS     2
#define TABLE_THRESHOLD (2 << 20) /* bytes */

static bool
has_render_node (void)
{
  g_autoptr (GDir) folder = g_dir_open (RENDER_NODES, 0, NULL);
  const char *name;

  while (folder != NULL && (name = g_dir_read_name (folder)) != NULL)
    if (g_str_has_prefix (name, "renderD"))
      return true;
  return false;
}

static void
choose_renderer (void)
{
  if (has_render_node () || g_getenv ("GSK_RENDERER") != NULL || g_getenv ("GDK_DEBUG") != NULL)
    return;
  (void) g_setenv ("GSK_RENDERER", "cairo", TRUE);
  (void) g_setenv ("GDK_DEBUG", "gl-disable", TRUE);
}

int
app_main (int argc, char **argv)
{
  g_autoptr (AppApplication) application = NULL;

  return g_application_run (G_APPLICATION (application = app_application_new ()), argc, argv);
}

int
main (int argc, char **argv)
{
  const char *locale_dir =
      g_getenv ("SYSPROF_LOCALE_DIR"); /* of a build that is not installed */

#ifdef M_ARENA_MAX
  (void) mallopt (M_MMAP_THRESHOLD, TABLE_THRESHOLD);
  (void) mallopt (M_ARENA_MAX, MOST_ARENAS);
#endif
  setlocale (LC_ALL, "");
  bindtextdomain (GETTEXT_PACKAGE, locale_dir != NULL ? locale_dir : APP_LOCALE_DIR);
  bind_textdomain_codeset (GETTEXT_PACKAGE, "UTF-8");
  textdomain (GETTEXT_PACKAGE);
  sysprof_temporary_files_remove_on_signals ();
  choose_renderer ();
  return app_main (argc, argv);
}
