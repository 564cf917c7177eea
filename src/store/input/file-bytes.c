// SPDX-License-Identifier: GPL-3.0-or-later

/* The bytes of a file, decompressed if necessary. See file-bytes.h. */

#include "store/file-bytes.h"

#include "store/input/mapped-file.h"
#include "util/util.h"

#include <sys/mman.h>
#include <sys/stat.h>

#define FIRST_ROOM ((size_t) 1 << 20)
#define READ_STEP  ((size_t) 16 << 20) /* bytes between two checks for cancellation */
#define KEPT_BEHIND \
  ((size_t) 4 << 20) /* bytes: frames are nearly, but not quite, in order of time */

bool
sysprof_file_bytes_reserve (FileBytes *self,
                            size_t more,
                            const char *name,
                            size_t limit,
                            GError **error)
{
  size_t needed, room;
  void *bytes;

  if (more > limit || self->size > limit - more)
    {
      g_set_error (error, SYSPROF_ERROR, SYSPROF_ERROR_NO_SPACE,
                   "Cannot open '%s': it has more than the %zu MiB that can be held here. "
                   "Record for a shorter time, or cut it where there is more memory.",
                   name, limit >> 20);
      return false;
    }

  needed = self->size + more;
  if (needed <= self->reserved)
    return true;

  room = MAX (MAX (needed, FIRST_ROOM), MIN (self->reserved * 2, limit));
  if (self->bytes == NULL)
    bytes = mmap (NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  else
    bytes = mremap (self->bytes, self->reserved, room, MREMAP_MAYMOVE);

  if (bytes == MAP_FAILED)
    {
      sysprof_set_error_errno (error, "Cannot hold '%s' of %zu bytes in memory", name, room);
      return false;
    }

  /* Fewer, larger pages: half the time of the first touch. Only a wish. */
  (void) madvise (bytes, room, MADV_HUGEPAGE);
  self->bytes = bytes;
  self->reserved = room;
  return true;
}

void
sysprof_file_bytes_clear (FileBytes *self)
{
  if (self->is_mapped)
    sysprof_mapped_file_unmap (self->bytes, self->size);
  else if (self->bytes != NULL)
    (void) munmap (self->bytes, self->reserved); /* cannot fail for what mmap gave */
  *self = (FileBytes){ 0 };
}

bool
sysprof_file_bytes_were_cut (const FileBytes *self)
{
  return self->is_mapped && sysprof_mapped_file_was_cut (self->bytes);
}

void
sysprof_file_bytes_leave_behind (const FileBytes *self, size_t at, size_t *done)
{
  size_t begin = (*done + KEPT_BEHIND - 1) / KEPT_BEHIND * KEPT_BEHIND;
  size_t end = at < KEPT_BEHIND ? 0 : (at - KEPT_BEHIND) / KEPT_BEHIND * KEPT_BEHIND;

  if (!self->is_mapped || begin >= end || end > self->size)
    return;

  /* Only a wish. From the first byte on: what is far behind may have been looked at again, and
   * brought its neighbours along. */
  (void) madvise (self->bytes, end, MADV_DONTNEED);
  *done = end;
}

void
sysprof_file_bytes_leave (const FileBytes *self)
{
  if (self->is_mapped)
    (void) madvise (self->bytes, self->size, MADV_DONTNEED); /* only a wish */
}

static bool
map_whole (FileBytes *self, int fd, const struct stat *info)
{
  if (!S_ISREG (info->st_mode) || info->st_size <= 0 ||
      (uint64_t) info->st_size > FILE_BYTES_MOST)
    return false;

  self->bytes = sysprof_mapped_file_map (fd, (size_t) info->st_size);
  if (self->bytes == NULL)
    return false;

  self->size = (size_t) info->st_size;
  self->is_mapped = true;
  self->fd = fd;
  return true;
}

/* Waits until there are bytes, the other side has closed, or the caller is canceled. */
static void
wait_for_bytes (int fd, GCancellable *cancellable)
{
  GPollFD fds[2] = { { .fd = fd, .events = G_IO_IN } };
  guint n = 1;

  if (cancellable == NULL)
    return;

  n += g_cancellable_make_pollfd (cancellable, &fds[1]);
  (void) g_poll (fds, n, -1); /* what fails here, the read tells */
  if (n > 1)
    g_cancellable_release_fd (cancellable);
}

/* A pipe, or what cannot be mapped. */
static bool
read_to_end (FileBytes *self,
             int fd,
             bool can_seek,
             const char *name,
             size_t limit,
             const Progress *progress,
             GError **error)
{
  for (;;)
    {
      size_t room;
      ssize_t got;

      if (!can_seek)
        wait_for_bytes (fd, progress->cancellable);
      if (sysprof_progress_set_error_if_cancelled (progress, error) ||
          !sysprof_file_bytes_reserve (self, 1, name, limit, error))
        return false;

      room = MIN (self->reserved - self->size, READ_STEP);
      got = can_seek ? pread (fd, self->bytes + self->size, room, (off_t) self->size)
                     : read (fd, self->bytes + self->size, room);
      if (got == 0)
        return true;
      if (got > 0)
        self->size += (size_t) got;
      else if (errno != EINTR)
        {
          sysprof_set_error_errno (error, "Cannot read '%s'", name);
          return false;
        }
    }
}

bool
sysprof_file_bytes_read (FileBytes *self,
                         int fd,
                         const char *name,
                         size_t limit,
                         const uint8_t *magic,
                         size_t n_magic,
                         Progress *progress,
                         GError **error)
{
  FileBytes bytes = { 0 };
  struct stat info;
  bool can_seek;

  if (fstat (fd, &info) < 0)
    {
      sysprof_set_error_errno (error, "Cannot read '%s'", name);
      return false;
    }

  can_seek = lseek (fd, 0, SEEK_CUR) >= 0 && !S_ISDIR (info.st_mode);
  if ((!map_whole (&bytes, fd, &info) &&
       !read_to_end (&bytes, fd, can_seek, name, limit, progress, error)) ||
      !sysprof_file_bytes_unpack (&bytes, name, limit, magic, n_magic, progress, error))
    {
      sysprof_file_bytes_clear (&bytes);
      return false;
    }

  *self = bytes;
  return true;
}
