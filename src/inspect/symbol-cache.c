// SPDX-License-Identifier: GPL-3.0-or-later

/* Stores cache entries in a directory of the user. As root it must never follow another user's
 * links or write into another user's directory. */

#include "inspect/symbol-cache.h"

#include "util/util.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define TEMPORARY_PREFIX "new-"
#define TEMPORARY_SEC    3600 /* age after which no writer is still using the file */
#define USED_SEC         3600 /* precision of the recorded time of last use */

struct SymbolCache
{
  char *path;
  int fd;         /* -1 = not opened yet */
  bool has_grown; /* an entry was stored */
  bool is_unfit;  /* a problem was reported; it is only reported once */
};

/* --- the directory --- */

static void
complain (SymbolCache *self, const char *what, int number)
{
  if (!self->is_unfit)
    g_debug ("Cannot cache symbols in '%s': %s%s%s. They are read from their files each time.",
             self->path, what, number != 0 ? ": " : "", number != 0 ? g_strerror (number) : "");
  self->is_unfit = true;
}

static bool
is_own (const struct stat *info)
{
  return info->st_uid == geteuid () && (info->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/* If this process runs as root, other users must not be able to redirect its writes with
 * links. */
static bool
is_led_to_by_own (const char *path)
{
  g_autofree char *part = g_strdup (path);
  struct stat info;
  char *end = part;

  if (geteuid () != 0)
    return true;

  while ((end = strchr (end + 1, '/')) != NULL)
    {
      *end = 0;
      if (lstat (part, &info) == 0 && info.st_uid != 0)
        return false;
      *end = '/';
    }
  return path[0] == '/';
}

static bool
open_directory (SymbolCache *self)
{
  struct stat info;
  autofd fd = -1;

  if (self->fd >= 0 || self->is_unfit)
    return self->fd >= 0;
  if (!is_led_to_by_own (self->path))
    {
      complain (self, "another user owns a directory or link in the path", 0);
      return false;
    }

  fd = open (self->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0)
    {
      if (errno != ENOENT)
        complain (self, "it cannot be opened", errno);
      return false;
    }
  if (fstat (fd, &info) != 0 || !is_own (&info))
    {
      complain (self, "another user owns it, or other users can write to it", 0);
      return false;
    }
  self->fd = sysprof_steal_fd (&fd);
  return true;
}

/* A process with another user's HOME (some ways to become root keep it) must not create files
 * there. */
static bool
may_be_made (const char *path)
{
  g_autofree char *directory = g_path_get_dirname (path);
  struct stat info;

  while (stat (directory, &info) != 0 && errno == ENOENT && strchr (directory, '/') != NULL &&
         strcmp (directory, "/") != 0)
    {
      char *parent = g_path_get_dirname (directory);

      g_free (directory);
      directory = parent;
    }
  return stat (directory, &info) == 0 && info.st_uid == geteuid ();
}

static bool
make_directory (SymbolCache *self)
{
  if (open_directory (self) || self->is_unfit)
    return !self->is_unfit;

  if (!may_be_made (self->path))
    complain (self, "another user owns the parent directory", 0);
  else if (g_mkdir_with_parents (self->path, 0700) != 0)
    complain (self, "it cannot be created", errno);
  return open_directory (self);
}

SymbolCache *
sysprof_symbol_cache_new (void)
{
  const char *given = g_getenv (SYMBOL_CACHE_VARIABLE);
  SymbolCache *self;

  /* If the process has privileges that its user does not have, the environment must not decide
   * which files are written. */
  if (getauxval (AT_SECURE) != 0 || (given != NULL && given[0] != '/'))
    return NULL;

  self = g_new0 (SymbolCache, 1);
  self->fd = -1;
  self->path = given != NULL
                   ? g_strdup (given)
                   : g_build_filename (g_get_user_cache_dir (), "sysprof", "symbols", NULL);
  return self;
}

void
sysprof_symbol_cache_free (SymbolCache *self)
{
  if (self == NULL)
    return;
  if (self->has_grown)
    sysprof_symbol_cache_trim (self, SYMBOL_CACHE_MOST_BYTES);
  if (self->fd >= 0)
    (void) close (self->fd); /* the directory was only read */
  g_free (self->path);
  g_free (self);
}

/* --- entries --- */

static char *
name_entry (const FileIdentity *file, bool is_for_lines, bool is_by_address)
{
  return g_strdup_printf ("%" G_GINT64_MODIFIER "x-%" G_GINT64_MODIFIER "x.%s%s", file->device,
                          file->inode, is_by_address ? "kernel-" : "",
                          is_for_lines ? "lines" : "names");
}

/* Returns NULL if there is no such file, or it belongs to another user. */
static GByteArray *
read_file (int directory, const char *name)
{
  autofd fd = openat (directory, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
  g_autoptr (GByteArray) bytes = NULL;
  struct stat info;
  size_t size = 0;

  if (fd < 0 || fstat (fd, &info) != 0 || !S_ISREG (info.st_mode) || !is_own (&info) ||
      info.st_size > CACHE_ENTRY_MOST_BYTES)
    return NULL;

  bytes = g_byte_array_new ();
  g_byte_array_set_size (bytes, (guint) info.st_size);
  while (size < bytes->len)
    {
      ssize_t n = read (fd, bytes->data + size, bytes->len - size);

      if (n < 0 && errno == EINTR)
        continue;
      if (n <= 0)
        return NULL;
      size += (size_t) n;
    }

  /* The modification time of an entry is the time of its last use. */
  if (time (NULL) - info.st_mtime > USED_SEC)
    (void) futimens (fd, NULL); /* if this fails, the entry is only removed earlier */
  return g_steal_pointer (&bytes);
}

CacheEntry *
sysprof_symbol_cache_load (SymbolCache *self,
                           const FileIdentity *file,
                           bool is_for_lines,
                           bool is_by_address)
{
  g_autofree char *name = name_entry (file, is_for_lines, is_by_address);
  g_autoptr (GByteArray) bytes = NULL;
  g_autoptr (CacheEntry) entry = NULL;

  if (!open_directory (self))
    return NULL;
  bytes = read_file (self->fd, name);
  if (bytes == NULL)
    return NULL;

  entry = sysprof_cache_entry_parse (bytes->data, bytes->len, is_for_lines);
  if (entry == NULL || entry->is_by_address != is_by_address ||
      memcmp (&entry->file, file, sizeof *file) != 0)
    return NULL;
  return g_steal_pointer (&entry);
}

/* On failure returns FALSE and sets errno. */
static bool
write_file (int directory, const char *temporary, const char *name, const GByteArray *bytes)
{
  autofd fd =
      openat (directory, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  int number;

  if (fd < 0)
    return false;
  if (sysprof_write_all (fd, bytes->data, bytes->len) &&
      renameat (directory, temporary, directory, name) == 0)
    return true;

  number = errno;
  (void) unlinkat (directory, temporary, 0); /* if this fails, trimming removes it later */
  errno = number;
  return false;
}

void
sysprof_symbol_cache_store (SymbolCache *self, const CacheEntry *entry)
{
  g_autofree char *name = NULL, *temporary = NULL;
  g_autoptr (GByteArray) bytes = NULL;

  if (!make_directory (self))
    return;

  name = name_entry (&entry->file, entry->is_for_lines, entry->is_by_address);
  temporary = g_strdup_printf (TEMPORARY_PREFIX "%d-%08x", (int) getpid (), g_random_int ());
  bytes = sysprof_cache_entry_pack (entry);
  if (write_file (self->fd, temporary, name, bytes))
    self->has_grown = true;
  else
    complain (self, "it cannot be written to", errno);
}

/* --- trimming --- */

typedef struct
{
  char *name;
  int64_t used_sec;
  uint64_t bytes;
} KeptEntry;

static void
clear_kept_entry (void *entry)
{
  g_free (((KeptEntry *) entry)->name);
}

static int
compare_use (const void *a, const void *b)
{
  const KeptEntry *left = a, *right = b;

  return left->used_sec < right->used_sec ? -1 : left->used_sec > right->used_sec;
}

/* Adds an entry to `kept`, or removes a temporary file that a writer left behind. */
static void
look_at (SymbolCache *self, const char *name, GArray *kept)
{
  KeptEntry entry = { 0 };
  struct stat info;

  if (fstatat (self->fd, name, &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG (info.st_mode))
    return;

  if (g_str_has_prefix (name, TEMPORARY_PREFIX))
    {
      if (time (NULL) - info.st_mtime > TEMPORARY_SEC)
        (void) unlinkat (self->fd, name, 0); /* if this fails, it is tried again next time */
      return;
    }
  if (!g_str_has_suffix (name, ".names") && !g_str_has_suffix (name, ".lines"))
    return;
  entry.name = g_strdup (name);
  entry.used_sec = info.st_mtime;
  entry.bytes = (uint64_t) info.st_size;
  g_array_append_val (kept, entry);
}

void
sysprof_symbol_cache_trim (SymbolCache *self, uint64_t most_bytes)
{
  g_autoptr (GArray) kept = g_array_new (FALSE, FALSE, sizeof (KeptEntry));
  const struct dirent *next;
  uint64_t bytes = 0;
  DIR *directory;
  int fd;

  if (!open_directory (self))
    return;
  fd = openat (self->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  directory = fd >= 0 ? fdopendir (fd) : NULL;
  if (directory == NULL)
    {
      if (fd >= 0)
        (void) close (fd); /* the directory was only read */
      return;
    }

  g_array_set_clear_func (kept, clear_kept_entry);
  while ((next = readdir (directory)) != NULL)
    look_at (self, next->d_name, kept);
  (void) closedir (directory); /* likewise */

  for (guint i = 0; i < kept->len; i++)
    bytes += g_array_index (kept, KeptEntry, i).bytes;
  g_array_sort (kept, compare_use);
  for (guint i = 0; i < kept->len && bytes > most_bytes; i++)
    {
      const KeptEntry *oldest = &g_array_index (kept, KeptEntry, i);

      if (unlinkat (self->fd, oldest->name, 0) == 0 || errno == ENOENT)
        bytes -= oldest->bytes;
    }
}
