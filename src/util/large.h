// SPDX-License-Identifier: GPL-3.0-or-later

/* Arrays that are filled to their end and freed whole, with g_free().
 *
 * Large ones ask for huge pages: the kernel then clears 2 MiB at once instead of taking a fault for each 4 KiB, which
 * was a fifth of the time it takes to open a capture. Only whole huge pages are asked for, so that no more memory is
 * taken than is filled. */

#pragma once

#include <glib.h>
#include <stdlib.h>
#include <sys/mman.h>

#define LARGE_PAGE  ((size_t) 2 << 20) /* bytes: a huge page of most machines */
#define LARGE_LEAST (2 * LARGE_PAGE)

/* Not cleared. */
static inline void *
sysprof_large_new (size_t n, size_t item_size)
{
  void *array;
  size_t size;

  if (__builtin_mul_overflow (n, item_size, &size))
    g_error ("cannot allocate %zu times %zu bytes", n, item_size); /* as GLib does */
  if (size < LARGE_LEAST)
    return g_malloc (size);
  if (posix_memalign (&array, LARGE_PAGE, size) != 0)
    g_error ("cannot allocate %zu bytes", size);

  (void) madvise (array, size / LARGE_PAGE * LARGE_PAGE, MADV_HUGEPAGE); /* a wish */
  return array;
}
