// SPDX-License-Identifier: GPL-3.0-or-later

/* Arrays that are filled completely and freed with g_free().
 *
 * Large ones use huge pages: the kernel then clears 2 MiB at once instead of taking a fault for
 * each 4 KiB, which was a fifth of the time to open a capture. Only complete huge pages are
 * requested, so that no more memory is used than is filled. */

#pragma once

#include <glib.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define LARGE_PAGE ((size_t) 2 << 20) /* bytes: the size of a huge page on most machines */

/* Requests huge pages for the part of the range that consists of complete ones. */
static inline void
sysprof_large_wish (void *begin, size_t size)
{
  uintptr_t from = (uintptr_t) begin, to = from + size;

  from = (from + LARGE_PAGE - 1) & ~(uintptr_t) (LARGE_PAGE - 1);
  to &= ~(uintptr_t) (LARGE_PAGE - 1);
  if (from < to)
    (void) madvise ((void *) from, to - from, MADV_HUGEPAGE); /* only an optimization */
}

/* The memory is not cleared. */
static inline void *
sysprof_large_new (size_t n, size_t item_size)
{
  void *array;
  size_t size;

  if (__builtin_mul_overflow (n, item_size, &size))
    g_error ("cannot allocate %zu times %zu bytes", n, item_size); /* like GLib */
  if (size < LARGE_PAGE)
    return g_malloc (size);
  if (posix_memalign (&array, LARGE_PAGE, size) != 0)
    g_error ("cannot allocate %zu bytes", size);

  sysprof_large_wish (array, size);
  return array;
}

/* The memory is cleared, and so every page is touched. */
static inline void *
sysprof_large_new0 (size_t n, size_t item_size)
{
  return memset (sysprof_large_new (n, item_size), 0, n * item_size);
}

/* Arrays that grow. Large ones are moved by remapping their pages, so that nothing is copied.
 * Grows from `n` to `new_n` items; the new items are not cleared. Free with
 * sysprof_growing_free() and the same number of items. */
static inline void *
sysprof_growing_renew (void *array, size_t n, size_t new_n, size_t item_size)
{
  size_t size = n * item_size, new_size;
  void *larger;

  if (__builtin_mul_overflow (new_n, item_size, &new_size))
    g_error ("cannot allocate %zu times %zu bytes", new_n, item_size); /* like GLib */
  if (new_size < LARGE_PAGE)
    return g_realloc (array, new_size);

  larger = size < LARGE_PAGE ? mmap (NULL, new_size, PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                             : mremap (array, size, new_size, MREMAP_MAYMOVE);
  if (larger == MAP_FAILED)
    g_error ("cannot allocate %zu bytes", new_size);
  if (size > 0 && size < LARGE_PAGE)
    memcpy (larger, array, size);
  if (size < LARGE_PAGE)
    g_free (array);
  return larger;
}

/* Requests huge pages for all of it: the kernel can only remap a range that has the same advice
 * everywhere. */
static inline void
sysprof_growing_wish (void *array, size_t n, size_t item_size)
{
  if (n * item_size >= LARGE_PAGE)
    (void) madvise (array, n * item_size, MADV_HUGEPAGE); /* only an optimization */
}

static inline void
sysprof_growing_free (void *array, size_t n, size_t item_size)
{
  if (n * item_size < LARGE_PAGE)
    g_free (array);
  else
    (void) munmap (array, n * item_size); /* cannot fail for a range from mmap() */
}

/* Copies the `n` items to an array from sysprof_large_new(), and frees the growing one of
 * `capacity` items. */
static inline void *
sysprof_growing_finish (void *array, size_t n, size_t capacity, size_t item_size)
{
  void *exact = sysprof_large_new (n, item_size);

  if (n > 0)
    memcpy (exact, array, n * item_size);
  sysprof_growing_free (array, capacity, item_size);
  return exact;
}

/* For memory that grows and therefore should not use huge pages: allocates the pages of the
 * range at once, instead of with a fault for each. */
static inline void
sysprof_large_fault_in (void *begin, size_t size)
{
#ifdef MADV_POPULATE_WRITE
  uintptr_t page = 4096, from = (uintptr_t) begin, to = from + size;

  /* Complete pages only: the rest of the first and last page may belong to others. */
  from = (from + page - 1) & ~(page - 1);
  to &= ~(page - 1);
  if (from < to)
    (void) madvise ((void *) from, to - from, MADV_POPULATE_WRITE); /* only an optimization */
#endif
}
