// SPDX-License-Identifier: BSD-2-Clause

/* The writing side of a ring of frames in shared memory. See ring.h. */

#include "capture/ring.h"

#include "capture/byte-order.h"

#include <sysprof-capture.h>

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define END_TYPE 0xFF
#define END_SIZE sizeof (SysprofCaptureFrame)

typedef struct
{
  uint32_t head;
  uint32_t tail;
  uint32_t offset;
  uint32_t size;
  uint32_t n_dropped;
} Header;

static Header *
get_header (const Ring *self)
{
  return (Header *) (void *) self->memory; /* the start of a page */
}

static bool
map_twice (Ring *self, int fd, size_t page_size, size_t body_size)
{
  uint8_t *memory;
  void *again;

  self->memory_size = page_size + 2 * body_size;
  memory = mmap (NULL, self->memory_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED)
    return false;

  again = mmap (memory + page_size + body_size, body_size, PROT_READ | PROT_WRITE,
                MAP_SHARED | MAP_FIXED, fd, (off_t) page_size);
  if (again == MAP_FAILED)
    {
      (void) munmap (memory, self->memory_size); /* our own mapping */
      return false;
    }
  self->memory = memory;
  self->body = memory + page_size;
  self->size = (uint32_t) body_size;

  return true;
}

bool
sysprof_ring_open (Ring *self, int fd)
{
  size_t page_size = sysprof_getpagesize ();
  struct stat info;
  size_t file_size;
  Header *header;

  memset (self, 0, sizeof *self);
  if (fstat (fd, &info) < 0 || info.st_size < 0)
    return false;

  file_size = (size_t) info.st_size;
  if (file_size < 2 * page_size || file_size % page_size != 0 ||
      file_size - page_size > (size_t) INT32_MAX - page_size)
    return false;
  if (!map_twice (self, fd, page_size, file_size - page_size))
    return false;

  header = get_header (self);
  self->tail = __atomic_load_n (&header->tail, __ATOMIC_RELAXED);
  if (header->offset != page_size || header->size != self->size || self->tail >= self->size ||
      self->tail % SYSPROF_CAPTURE_ALIGN != 0)
    {
      sysprof_ring_close (self);
      return false;
    }

  return true;
}

void
sysprof_ring_close (Ring *self)
{
  if (self->memory != NULL)
    (void) munmap (self->memory, self->memory_size); /* our own mapping */
  memset (self, 0, sizeof *self);
}

size_t
sysprof_ring_get_longest (const Ring *self)
{
  /* tail must not reach head, and the end must fit behind. */
  return self->size - END_SIZE - SYSPROF_CAPTURE_ALIGN;
}

/* Bytes from tail on that may be written. The recorder's head is only believed as far as it
 * makes sense. */
static size_t
get_room (const Ring *self)
{
  uint32_t head = __atomic_load_n (&get_header (self)->head, __ATOMIC_ACQUIRE);

  if (head >= self->size)
    return 0;
  if (head > self->tail)
    return head - self->tail - 1;
  return (size_t) self->size - self->tail + head - 1;
}

uint8_t *
sysprof_ring_reserve (Ring *self, size_t len)
{
  if (len > SIZE_MAX - END_SIZE || len + END_SIZE > get_room (self))
    return NULL;

  return self->body + self->tail;
}

void
sysprof_ring_commit (Ring *self, size_t len)
{
  uint32_t tail = self->tail + (uint32_t) len;

  if (tail >= self->size)
    tail -= self->size;
  self->tail = tail;
  __atomic_store_n (&get_header (self)->tail, tail, __ATOMIC_RELEASE);
}

void
sysprof_ring_count_dropped (Ring *self)
{
  uint32_t *n_dropped = &get_header (self)->n_dropped;

  /* There is one writer, so this needs no atomic addition. */
  __atomic_store_n (n_dropped, __atomic_load_n (n_dropped, __ATOMIC_RELAXED) + 1,
                    __ATOMIC_RELAXED);
}

void
sysprof_ring_end (Ring *self)
{
  SysprofCaptureFrame end = {
    .len = END_SIZE,
    .cpu = -1,
    .pid = -1,
    .time = SYSPROF_CAPTURE_CURRENT_TIME,
    .type = END_TYPE,
  };

  if (get_room (self) < END_SIZE)
    return;

  memcpy (self->body + self->tail, &end, sizeof end);
  sysprof_ring_commit (self, sizeof end);
}
