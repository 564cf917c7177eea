// SPDX-License-Identifier: GPL-3.0-or-later

/* A perf ring buffer, in which the kernel stores the records of one CPU. *Owned* by the pump
 * thread; the kernel writes the other end.
 *
 *          data_tail              data_head
 *              │                      │
 *     ─────────▼──────────────────────▼───────────
 *      free    │ records, not yet read │   free
 *     ────────────────────────────────────────────
 *
 * Both values only grow; positions in the ring are modulo its size. */

#pragma once

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PERF_RECORD_MAX 65536 /* a record's size has 16 bits */

typedef struct
{
  struct perf_event_mmap_page *page;
  uint8_t *data; /* [size] after the page */
  size_t size;   /* a power of two */
} PerfRing;

/* `record` is complete and contiguous, 8-aligned, and record->size bytes long, which is at
 * least the size of its header. */
typedef void (*PerfRecordFunc) (const struct perf_event_header *record, void *data);

/* Maps the ring of event `fd` with `size` bytes. If the kernel refuses, it tries half of that,
 * a quarter and so on. FALSE with errno. */
bool sysprof_perf_ring_map (PerfRing *self, int fd, size_t size);
void sysprof_perf_ring_unmap (PerfRing *self);

/* Bytes of unread records. */
size_t sysprof_perf_ring_get_fill (const PerfRing *self);

/* Calls `func` for each unread record, and frees its room in the ring. `scratch` has
 * PERF_RECORD_MAX bytes and is 8-aligned; records that wrap around the ring's end are assembled
 * there. FALSE: the ring's content is invalid, and all unread records are skipped. */
bool
sysprof_perf_ring_drain (PerfRing *self, uint8_t *scratch, PerfRecordFunc func, void *data);
