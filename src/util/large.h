// SPDX-License-Identifier: GPL-3.0-or-later

/* Arrays that are filled to their end and freed whole, with g_free().
 *
 * Large ones ask for huge pages: the kernel then clears 2 MiB at once instead of taking a fault for each 4 KiB, which
 * was a fifth of the time it takes to open a capture. Only whole huge pages are asked for, so that no more memory is
 * taken than is filled. */

#pragma once

#include <glib.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define LARGE_PAGE ((size_t) 2 << 20) /* bytes: a huge page of most machines */

/* Not cleared. */
static inline void *
sysprof_large_new (size_t n, size_t item_size)
{
  void *array;
  size_t size;

  if (__builtin_mul_overflow (n, item_size, &size))
    g_error ("cannot allocate %zu times %zu bytes", n, item_size); /* as GLib does */
  if (size < LARGE_PAGE)
    return g_malloc (size);
  if (posix_memalign (&array, LARGE_PAGE, size) != 0)
    g_error ("cannot allocate %zu bytes", size);

  (void) madvise (array, size / LARGE_PAGE * LARGE_PAGE, MADV_HUGEPAGE); /* a wish */
  return array;
}

/* Cleared, and so touched as a whole. */
static inline void *
sysprof_large_new0 (size_t n, size_t item_size)
{
  return memset (sysprof_large_new (n, item_size), 0, n * item_size);
}

/* For what grows and so should not take huge pages: takes the pages of the range, which is about to be filled, at once
 * instead of with a fault for each. */
static inline void
sysprof_large_fault_in (void *begin, size_t size)
{
#ifdef MADV_POPULATE_WRITE
  uintptr_t page = 4096, from = (uintptr_t) begin, to = from + size;

  /* Whole pages only: what lies beside may be another's. */
  from = (from + page - 1) & ~(page - 1);
  to &= ~(page - 1);
  if (from < to)
    (void) madvise ((void *) from, to - from, MADV_POPULATE_WRITE); /* a wish */
#endif
}
