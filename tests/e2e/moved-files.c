// SPDX-License-Identifier: GPL-3.0-or-later

/* Computes in a library whose file is not any more, when somebody looks, where it was mapped from.
 *
 *   moved-files LIBRARY kept|deleted|replaced|memory SECONDS
 *
 * LIBRARY is a copy that is ours. */

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

static void
copy (const char *path, int to)
{
  int from = open (path, O_RDONLY | O_CLOEXEC);
  struct stat info;

  if (from < 0 || fstat (from, &info) != 0 || to < 0 ||
      sendfile (to, from, NULL, (size_t) info.st_size) != info.st_size)
    {
      perror (path);
      exit (1);
    }
  close (from);
}

/* By a file of other bytes, as an update does. */
static void
replace (const char *path)
{
  char fresh[4096];
  int fd;

  (void) snprintf (fresh, sizeof fresh, "%s.new", path);
  fd = open (fresh, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
  copy ("/proc/self/exe", fd);
  close (fd);
  if (rename (fresh, path) != 0)
    exit (1);
}

int
main (int argc, char **argv)
{
  char path[64];
  const char *library;
  int (*spin) (double);
  void *handle;

  if (argc != 4)
    return 2;

  library = argv[1];
  if (strcmp (argv[2], "memory") == 0)
    {
      int fd = memfd_create ("library", 0);

      copy (library, fd);
      (void) snprintf (path, sizeof path, "/proc/self/fd/%d", fd);
      library = path;
    }
  handle = dlopen (library, RTLD_NOW);
  if (handle == NULL)
    {
      (void) fprintf (stderr, "%s\n", dlerror ());
      return 1;
    }
  if (strcmp (argv[2], "deleted") == 0)
    (void) unlink (argv[1]);
  else if (strcmp (argv[2], "replaced") == 0)
    replace (argv[1]);

  *(void **) &spin = dlsym (handle, "moved_spin");
  (void) printf ("pid %d\n", (int) getpid ());
  (void) fflush (stdout);
  (void) spin (atof (argv[3]));
  return 0;
}
