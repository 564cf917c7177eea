// SPDX-License-Identifier: GPL-3.0-or-later

/* Reads a perf ring in place. It must never trust record sizes, because a corrupt ring could
 * otherwise make it read past the end. */

#include "perf/ring.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Bytes to read before data_tail is advanced. */
#define GIVE_BACK_SIZE (64 * 1024)
/* Bytes to prefetch ahead, because records that another CPU has written are in none of this
 * CPU's caches. */
#define FETCH_AHEAD 1024
#define CACHE_LINE  64

bool
sysprof_perf_ring_map (PerfRing *self, int fd, size_t size)
{
  size_t page_size = (size_t) sysconf (_SC_PAGESIZE);

  for (; size >= page_size; size /= 2)
    {
      void *mapped = mmap (NULL, page_size + size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

      if (mapped != MAP_FAILED)
        {
          *self = (PerfRing){ mapped, (uint8_t *) mapped + page_size, size };
          return true;
        }

      /* Larger than kernel.perf_event_mlock_kb allows, or not enough contiguous memory. */
      if (errno != EPERM && errno != ENOMEM)
        return false;
    }
  return false;
}

void
sysprof_perf_ring_unmap (PerfRing *self)
{
  if (self->page != NULL)
    (void) munmap (self->page, (size_t) (self->data - (uint8_t *) self->page) + self->size);
  *self = (PerfRing){ 0 };
}

/* Returns the record at `at` in one piece. */
static const struct perf_event_header *
get_whole (const PerfRing *self, uint64_t at, size_t size, uint8_t *scratch)
{
  size_t offset = at & (self->size - 1);
  size_t until_end = self->size - offset;

  if (size <= until_end)
    return (const void *) (self->data + offset);

  memcpy (scratch, self->data + offset, until_end);
  memcpy (scratch + until_end, self->data, size - until_end);
  return (const void *) scratch;
}

static inline void
fetch_ahead (const PerfRing *self, uint64_t at, size_t size)
{
  for (size_t offset = 0; offset < size; offset += CACHE_LINE)
    __builtin_prefetch (self->data + ((at + FETCH_AHEAD + offset) & (self->size - 1)));
}

size_t
sysprof_perf_ring_get_fill (const PerfRing *self)
{
  /* Relaxed: the result is only an estimate. */
  return (size_t) (__atomic_load_n (&self->page->data_head, __ATOMIC_RELAXED) -
                   self->page->data_tail);
}

bool
sysprof_perf_ring_drain (PerfRing *self, uint8_t *scratch, PerfRecordFunc func, void *data)
{
  /* Pairs with the kernel's barrier between the records and data_head. */
  uint64_t head = __atomic_load_n (&self->page->data_head, __ATOMIC_ACQUIRE);
  uint64_t tail = self->page->data_tail; /* only this thread writes it */
  uint64_t given_back = tail;
  bool makes_sense = (tail & 7) == 0 && head - tail <= self->size;

  while (makes_sense && tail != head)
    {
      uint64_t left = head - tail;
      /* Records are 8-aligned, so that a header is never split. */
      const struct perf_event_header *header =
          (const void *) (self->data + (tail & (self->size - 1)));
      size_t size = left >= sizeof *header ? header->size : 0;

      if (size < sizeof *header || (size & 7) != 0 || size > left)
        {
          makes_sense = false;
          break;
        }

      fetch_ahead (self, tail, size < FETCH_AHEAD ? size : FETCH_AHEAD);
      func (get_whole (self, tail, size, scratch), data);
      tail += size;

      if (tail - given_back >= GIVE_BACK_SIZE)
        {
          /* Pairs with the kernel's read of data_tail before it writes: this thread's reads are
           * complete. */
          __atomic_store_n (&self->page->data_tail, tail, __ATOMIC_RELEASE);
          given_back = tail;
        }
    }

  __atomic_store_n (&self->page->data_tail, head, __ATOMIC_RELEASE);
  return makes_sense;
}
