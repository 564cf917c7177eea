// SPDX-License-Identifier: GPL-3.0-or-later

#include "store/file-bytes.h"

#include "util/util.h"

#include <sys/mman.h>
#include <sys/stat.h>

#define FIRST_ROOM   ((size_t) 1 << 20)
#define READ_GRAIN   ((size_t) 8 << 20) /* bytes: below it a thread costs more than it saves */
#define READ_AT_ONCE ((size_t) 4 << 20) /* bytes between two looks at the cancellable */

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
      g_autofree char *most = g_format_size_full (limit, G_FORMAT_SIZE_IEC_UNITS);

      g_set_error (error, SYSPROF_ERROR, SYSPROF_ERROR_NO_SPACE,
                   "Cannot open '%s': unpacked it has more than the %s that can be held here. "
                   "Record for a shorter time, or cut it where there is more memory.",
                   name, most);
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
  if (self->bytes != NULL)
    (void) munmap (self->bytes, self->reserved); /* cannot fail for what mmap gave */
  *self = (FileBytes){ 0 };
}

typedef struct
{
  int fd;
  uint8_t *bytes;
  GCancellable *cancellable;
  size_t first_short; /* guarded by atomic minimum: end of what was read without a gap */
  int error;          /* atomic: errno of whoever failed */
} ParallelRead;

static void
read_range (size_t begin, size_t end, unsigned worker, void *data)
{
  ParallelRead *self = data;

  while (begin < end)
    {
      ssize_t got =
          pread (self->fd, self->bytes + begin, MIN (end - begin, READ_AT_ONCE), (off_t) begin);

      if (got < 0 && errno == EINTR)
        continue;
      if (got < 0)
        __atomic_store_n (&self->error, errno, __ATOMIC_RELAXED); /* read after the join */
      if (got <= 0 || g_cancellable_is_cancelled (self->cancellable))
        break;
      begin += (size_t) got;
    }

  if (begin < end)
    {
      size_t before = __atomic_load_n (&self->first_short, __ATOMIC_RELAXED);

      while (begin < before &&
             !__atomic_compare_exchange_n (&self->first_short, &before, begin, true,
                                           __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
    }
}

/* The part whose size is known. A file that shrinks meanwhile gives a shorter capture. */
static bool
read_at_once (FileBytes *self,
              int fd,
              size_t size,
              const char *name,
              size_t limit,
              GCancellable *cancellable,
              GError **error)
{
  ParallelRead job = { .fd = fd, .cancellable = cancellable, .first_short = size };

  if (!sysprof_file_bytes_reserve (self, size, name, limit, error))
    return false;

  job.bytes = self->bytes;
  sysprof_parallel_ranges (size, READ_GRAIN, read_range, &job);
  if (job.error != 0)
    {
      errno = job.error;
      sysprof_set_error_errno (error, "Cannot read '%s'", name);
      return false;
    }

  self->size = job.first_short;
  return true;
}

/* The part whose size is not known: a pipe, or what was appended since. */
static bool
read_to_end (FileBytes *self,
             int fd,
             bool can_seek,
             const char *name,
             size_t limit,
             GCancellable *cancellable,
             GError **error)
{
  for (;;)
    {
      ssize_t got;

      if (g_cancellable_set_error_if_cancelled (cancellable, error) ||
          !sysprof_file_bytes_reserve (self, 1, name, limit, error))
        return false;

      got = can_seek ? pread (fd, self->bytes + self->size, self->reserved - self->size,
                              (off_t) self->size)
                     : read (fd, self->bytes + self->size, self->reserved - self->size);
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
                         GCancellable *cancellable,
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
  if ((S_ISREG (info.st_mode) && info.st_size > 0 &&
       !read_at_once (&bytes, fd, (size_t) info.st_size, name, limit, cancellable, error)) ||
      (!S_ISREG (info.st_mode) &&
       !read_to_end (&bytes, fd, can_seek, name, limit, cancellable, error)) ||
      g_cancellable_set_error_if_cancelled (cancellable, error) ||
      !sysprof_file_bytes_unpack (&bytes, name, limit, error))
    {
      sysprof_file_bytes_clear (&bytes);
      return false;
    }

  *self = bytes;
  return true;
}
