// SPDX-License-Identifier: GPL-3.0-or-later

/* Opens files at paths that a capture names, below the roots of the processes that saw them.
 * Only the opener child opens them, because opening may block forever. */

#include "symbolize/file-locator.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/openat2.h>
#include <linux/securebits.h>
#include <stdio.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_KNOWN_ROOTS 256 /* limit, because each one is a descriptor */
#define MOST_TRANSLATING 16  /* processes per file whose view of files is considered */

/* Values of ProcessRoots.of_process. */
enum
{
  ROOT_UNKNOWN,
  ROOT_OURS,
  FIRST_ROOT,
};

/* --- roots --- */

static bool
is_same_namespace (int32_t pid)
{
  g_autofree char *path = g_strdup_printf ("/proc/%d/ns/mnt", pid);
  struct stat own, other;

  return stat ("/proc/self/ns/mnt", &own) == 0 && stat (path, &other) == 0 &&
         own.st_dev == other.st_dev && own.st_ino == other.st_ino;
}

static bool
is_same_directory (int fd, const char *path)
{
  struct stat own, other;

  return stat (path, &own) == 0 && fstat (fd, &other) == 0 && own.st_dev == other.st_dev &&
         own.st_ino == other.st_ino;
}

typedef struct
{
  int fd;
  dev_t device;
  ino_t inode;
  char *path; /* NULL = "/", or unknown */
} KnownRoot;

static char *
read_path_of (int fd)
{
  g_autofree char *link = g_strdup_printf ("/proc/self/fd/%d", fd);
  g_autofree char *path = g_file_read_link (link, NULL);

  return path != NULL && path[0] == '/' && path[1] != 0 ? g_steal_pointer (&path) : NULL;
}

static void
add_root (GArray *roots, int fd, const struct stat *info)
{
  KnownRoot root = { fd, info->st_dev, info->st_ino, read_path_of (fd) };

  g_array_append_val (roots, root);
}

static uint16_t
find_root_of_process (ProcessRoots *self, int32_t pid)
{
  g_autofree char *path = g_strdup_printf ("/proc/%d/root", pid);
  autofd fd = open (path, O_PATH | O_DIRECTORY | O_CLOEXEC);
  struct stat info;

  if (fd < 0 || (is_same_namespace (pid) && is_same_directory (fd, "/")) ||
      fstat (fd, &info) != 0)
    return ROOT_OURS;

  for (guint i = 0; i < self->roots->len; i++)
    {
      const KnownRoot *known = &g_array_index (self->roots, KnownRoot, i);

      if (known->device == info.st_dev && known->inode == info.st_ino)
        return (uint16_t) (FIRST_ROOT + i);
    }

  if (self->roots->len == MOST_KNOWN_ROOTS)
    return ROOT_OURS;
  add_root (self->roots, sysprof_steal_fd (&fd), &info);
  return (uint16_t) (FIRST_ROOT + self->roots->len - 1);
}

void
sysprof_process_roots_init (ProcessRoots *self, const Symbolization *symbolization)
{
  const char *sysroot = symbolization->options->sysroot;

  self->of_process = g_new0 (uint16_t, symbolization->store->processes.n + 1);
  self->roots = g_array_new (FALSE, FALSE, sizeof (KnownRoot));
  if (sysroot != NULL)
    {
      autofd fd = open (sysroot, O_PATH | O_DIRECTORY | O_CLOEXEC);
      struct stat info;

      if (fd >= 0 && fstat (fd, &info) == 0)
        add_root (self->roots, sysprof_steal_fd (&fd), &info);
    }
}

void
sysprof_process_roots_clear (ProcessRoots *self)
{
  for (guint i = 0; i < self->roots->len; i++)
    {
      (void) close (g_array_index (self->roots, KnownRoot, i).fd); /* nothing was written */
      g_free (g_array_index (self->roots, KnownRoot, i).path);
    }
  g_array_unref (self->roots);
  g_free (self->of_process);
  *self = (ProcessRoots){ 0 };
}

static bool
has_root (const FileRoots *self, int fd)
{
  for (unsigned i = 0; i < self->n; i++)
    if (self->fd[i] == fd)
      return true;
  return false;
}

void
sysprof_file_roots_find (FileRoots *self,
                         ProcessRoots *roots,
                         const Symbolization *symbolization,
                         const FileBatch *batch)
{
  const Store *store = symbolization->store;

  *self = (FileRoots){ 0 };
  if (symbolization->options->sysroot != NULL)
    {
      if (roots->roots->len > 0)
        self->fd[self->n++] = g_array_index (roots->roots, KnownRoot, 0).fd;
      return;
    }

  for (uint32_t i = 0;
       i < batch->n_items && symbolization->is_this_boot && self->n < MOST_ROOTS - 1; i++)
    {
      ProcessId process = store->addresses.process[batch->items[i].address];
      uint16_t *root = &roots->of_process[process];
      const KnownRoot *known;

      if (*root == ROOT_UNKNOWN)
        *root = store->processes.row[process].has_exit
                    ? ROOT_OURS
                    : find_root_of_process (roots, store->processes.row[process].pid);
      if (*root == ROOT_OURS)
        continue;

      known = &g_array_index (roots->roots, KnownRoot, *root - FIRST_ROOT);
      if (!has_root (self, known->fd))
        {
          self->path[self->n] = known->path;
          self->fd[self->n++] = known->fd;
        }
    }
  self->fd[self->n++] = -1;
}

const char *
sysprof_file_roots_find_rest (const FileRoots *self, unsigned n, const char *path)
{
  const char *rest = self->path[n] != NULL && g_str_has_prefix (path, self->path[n])
                         ? path + strlen (self->path[n])
                         : NULL;

  return rest != NULL && rest[0] == '/' ? rest : NULL;
}

/* --- translated paths --- */

static void
take_new_paths (GPtrArray *paths, GPtrArray *more)
{
  for (guint i = 0; i < more->len; i++)
    if (!g_ptr_array_find_with_equal_func (paths, more->pdata[i], g_str_equal, NULL))
      g_ptr_array_add (paths, g_strdup (more->pdata[i]));
}

GPtrArray *
sysprof_list_translations (CaptureMounts *mounts,
                           const Store *store,
                           const FileBatch *batch,
                           const char *path,
                           bool *is_ours)
{
  GPtrArray *paths = g_ptr_array_new_with_free_func (g_free);
  bool is_identified = sysprof_file_batch_is_identified (batch), is_known = false;
  ProcessId asked[MOST_TRANSLATING];
  unsigned n = 0;

  for (uint32_t i = 0; i < batch->n_items && n < MOST_TRANSLATING; i++)
    {
      ProcessId process = store->addresses.process[batch->items[i].address];
      g_autoptr (GPtrArray) more = NULL;
      bool is_asked = false, is_known_here;

      for (unsigned j = 0; j < n && !is_asked; j++)
        is_asked = asked[j] == process;
      if (is_asked)
        continue;

      asked[n++] = process;
      more = sysprof_capture_mounts_translate (mounts, process, path, is_identified,
                                               &is_known_here);
      is_known |= is_known_here;
      take_new_paths (paths, more);
    }

  /* If the capture records nothing about the processes, they are assumed to see this machine's
   * files. Otherwise the file found must be comparable with the recorded one. */
  *is_ours = (paths->len == 0 && (is_identified || !is_known)) ||
             g_ptr_array_find_with_equal_func (paths, path, g_str_equal, NULL);
  return paths;
}

/* --- opening --- */

/* Below a root, absolute symbolic links are resolved below it. Anything but a regular file
 * counts as missing. */
static int
open_regular_file (int root, const char *path)
{
  struct stat info;
  int fd = root < 0 ? sysprof_regular_file_open (AT_FDCWD, path, 0, &info)
                    : sysprof_regular_file_open (
                          root, path, RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS, &info);

  if (fd < 0 && errno == ENOTSUP)
    errno = ENOENT;
  return fd;
}

typedef enum
{
  WANTS_FILE,
  WANTS_ELF_FILE,
  WANTS_PATH, /* its path without symbolic links, as the contents of a file */
  WANTS_TEXT, /* a copy of its contents */
} Wanted;

typedef struct
{
  Wanted wanted;
  uint32_t reader;
  char path[PATH_MAX];
} Request;

static bool
is_elf (int fd)
{
  char magic[SELFMAG];

  return pread (fd, magic, sizeof magic, 0) == sizeof magic &&
         memcmp (magic, ELFMAG, sizeof magic) == 0;
}

/* Opens the path with O_PATH only, which has no side effects. */
static int
write_real_path (const char *of, struct stat *info)
{
  autofd fd = open (of, O_PATH | O_CLOEXEC);
  autofd text = memfd_create ("path", MFD_CLOEXEC);
  char link[64], path[PATH_MAX];
  ssize_t length;

  if (fd < 0 || fstat (fd, info) != 0 || !S_ISREG (info->st_mode))
    return -1;
  (void) snprintf (link, sizeof link, "/proc/self/fd/%d", fd);
  length = readlink (link, path, sizeof path);
  if (text < 0 || length < 0 || !sysprof_write_all (text, path, (size_t) length))
    return -1;
  return sysprof_steal_fd (&text);
}

/* Takes ownership of the descriptor. If the file grows meanwhile, the copy ends at its previous
 * size. */
static int
copy_text_of (int taken, struct stat *info)
{
  autofd fd = taken;
  autofd text = memfd_create ("text", MFD_CLOEXEC);
  char bytes[0x4000];
  off_t size = 0;
  ssize_t n = 0;

  if (text < 0 || fstat (fd, info) != 0)
    return -1;
  if (info->st_size > MOST_SOURCE_SIZE)
    {
      errno = EFBIG;
      return -1;
    }
  while (size < info->st_size &&
         (n = read (fd, bytes, (size_t) MIN ((off_t) sizeof bytes, info->st_size - size))) > 0)
    {
      if (!sysprof_write_all (text, bytes, (size_t) n))
        return -1;
      size += n;
    }
  if (n < 0)
    return -1;
  info->st_size = size;
  return sysprof_steal_fd (&text);
}

/* Takes on the file access rights of an account. The kernel drops the capabilities that override
 * file permissions when the file system user ID is no longer 0, and restores them with it. */
static bool
use_rights_of (uint32_t user, uint32_t group)
{
  (void) setfsgid (group);
  (void) setfsuid (user);
  return (uint32_t) setfsuid (UINT32_MAX) == user &&
         (uint32_t) setfsgid (UINT32_MAX) == group &&
         (prctl (PR_GET_SECUREBITS) & SECBIT_NO_SETUID_FIXUP) == 0;
}

static int
open_for_reader (int root, const Request *request)
{
  int fd = -1, error = EPERM;

  if (request->reader == READER_OURSELVES)
    return open_regular_file (root, request->path);

  if (setgroups (0, NULL) == 0 && use_rights_of (request->reader, READER_NOBODY))
    {
      fd = open_regular_file (root, request->path);
      error = errno;
    }
  if (!use_rights_of (geteuid (), getegid ()))
    _exit (1);
  errno = error;
  return fd;
}

/* Runs in the opener, below the root. */
static int
open_asked_file (const void *data, int root, struct stat *info)
{
  const Request *request = data;
  autofd fd = -1;

  if (request->wanted == WANTS_PATH)
    return write_real_path (request->path, info);
  fd = open_for_reader (root, request);
  if (fd >= 0 && request->wanted == WANTS_TEXT)
    return copy_text_of (sysprof_steal_fd (&fd), info);
  if (fd >= 0 && request->wanted == WANTS_ELF_FILE && !is_elf (fd))
    {
      errno = ENOEXEC;
      return -1;
    }
  return fd >= 0 && fstat (fd, info) == 0 ? sysprof_steal_fd (&fd) : -1;
}

static void
serve (int socket)
{
  Request request;

  sysprof_opener_serve (socket, &request, sizeof request, open_asked_file);
}

static int
ask (Opener *opener,
     uint32_t reader,
     int root,
     const char *path,
     Wanted wanted,
     struct stat *info)
{
  g_autofree char *directory = g_path_get_dirname (path);
  Request request = { .wanted = wanted, .reader = reader };

  if (g_strlcpy (request.path, path, sizeof request.path) < sizeof request.path)
    return sysprof_opener_ask (opener, serve,
                               (uint64_t) (root + 1) << 32 | g_str_hash (directory), &request,
                               sizeof request, root, info);
  errno = ENAMETOOLONG;
  return -1;
}

int
sysprof_open_regular_file (Opener *opener, int root, const char *path, struct stat *info)
{
  return ask (opener, READER_OURSELVES, root, path, WANTS_FILE, info);
}

int
sysprof_open_debug_file (Opener *opener,
                         uint32_t reader,
                         int root,
                         const char *path,
                         struct stat *info)
{
  return ask (opener, reader, root, path, WANTS_FILE, info);
}

int
sysprof_open_elf_file (Opener *opener,
                       uint32_t reader,
                       int root,
                       const char *path,
                       struct stat *info)
{
  return ask (opener, reader, root, path, WANTS_ELF_FILE, info);
}

int
sysprof_copy_text_file (Opener *opener,
                        uint32_t reader,
                        int root,
                        const char *path,
                        struct stat *info)
{
  return ask (opener, reader, root, path, WANTS_TEXT, info);
}

static char *
find_real_file (Opener *opener, const char *path, struct stat *info)
{
  autofd envelope = ask (opener, READER_OURSELVES, -1, path, WANTS_PATH, info);
  autofd text = envelope >= 0 ? sysprof_envelope_open (envelope) : -1;
  char real[PATH_MAX];
  ssize_t length = text >= 0 ? pread (text, real, sizeof real, 0) : -1;

  return length > 0 && real[0] == '/' ? g_strndup (real, (gsize) length) : NULL;
}

char *
sysprof_find_real_path (Opener *opener, const char *path)
{
  struct stat info;

  return find_real_file (opener, path, &info);
}

/* Another user may have prepared the path of a file that is found through symbolic links, or only
 * below the root directory of a process. Paths that such a file names are opened as nobody. */
uint32_t
sysprof_find_reader (Opener *opener, int root, const char *path, const struct stat *info)
{
  g_autofree char *real = NULL;
  struct stat found;

  if (geteuid () != 0)
    return READER_OURSELVES;
  real = root < 0 ? find_real_file (opener, path, &found) : NULL;
  if (real == NULL || strcmp (real, path) != 0 || found.st_dev != info->st_dev ||
      found.st_ino != info->st_ino)
    return READER_NOBODY;
  return found.st_uid != 0 ? found.st_uid : READER_OURSELVES;
}
