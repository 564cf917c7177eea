// SPDX-License-Identifier: GPL-3.0-or-later

#include "util/temporary.h"

#include <fcntl.h>
#include <glib.h>
#include <glib/gstdio.h>

int
sysprof_open_temporary (void)
{
  int fd = open (g_get_tmp_dir (), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

  /* Not every file system has those. */
  if (fd < 0)
    {
      g_autofree char *path = g_build_filename (g_get_tmp_dir (), "sysprof-XXXXXX", NULL);

      fd = g_mkstemp_full (path, O_RDWR | O_CLOEXEC, 0600);
      if (fd >= 0)
        (void) g_unlink (path); /* the name is of no use to anybody */
    }
  return fd;
}
