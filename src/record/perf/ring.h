// SPDX-License-Identifier: GPL-3.0-or-later

/* The ring that the kernel writes the records of one CPU to. *Owned* by the pump thread; the kernel is the other side.
 *
 *          data_tail              data_head
 *              │                      │
 *     ─────────▼──────────────────────▼───────────
 *      free    │ records, not yet read │   free
 *     ────────────────────────────────────────────
 *
 * Both only grow; positions in the ring are modulo its size. */

#pragma once

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PERF_RECORD_MAX 65536 /* a record's size has 16 bits */

typedef struct
{
  struct perf_event_mmap_page *page;
  uint8_t *data; /* [size] behind the page */
  size_t size;   /* a power of two */
} PerfRing;

/* `record` is whole, 8-aligned, and record->size bytes long, at least those of its header. */
typedef void (*PerfRecordFunc) (const struct perf_event_header *record, void *data);

/* Maps the ring of event `fd`, `size` bytes or, where the kernel grants less, the half, the quarter … FALSE with errno. */
bool sysprof_perf_ring_map (PerfRing *self, int fd, size_t size);
void sysprof_perf_ring_unmap (PerfRing *self);

/* Bytes of records that are there now. */
size_t sysprof_perf_ring_get_fill (const PerfRing *self);

/* Calls `func` for each record that is there now, and gives their room back to the kernel. `scratch` has PERF_RECORD_MAX
 * bytes and is 8-aligned: records that are split by the ring's end are made whole there. FALSE when what is there makes
 * no sense: all of it is skipped then. */
bool
sysprof_perf_ring_drain (PerfRing *self, uint8_t *scratch, PerfRecordFunc func, void *data);
