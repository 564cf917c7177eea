// SPDX-License-Identifier: BSD-2-Clause

/* The writing side of a ring of frames in memory that the recorder made and reads.
 *
 *     page 0      head u32, tail u32, offset of the body u32, size of the body u32,
 *                 number of dropped frames u32
 *     body        frames; mapped twice in a row, so that each frame is contiguous
 *
 * head is where the recorder reads, tail where we write; empty when equal, never completely
 * full. One thread writes (*owned*), the recorder reads: its partner of our release store to
 * tail, and of our acquire load of head, is in another process.
 */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct
{
  uint8_t *memory; /* [memory_size] header, body, body again; NULL = not open */
  size_t memory_size;
  uint8_t *body;
  uint32_t size; /* bytes of the body */
  uint32_t tail; /* local: the recorder reads the copy in shared memory */
} Ring;

/* Maps the ring behind `fd` (borrowed). False if it is not one. */
bool sysprof_ring_open (Ring *self, int fd);
void sysprof_ring_close (Ring *self);

/* Longest frame that will ever fit. */
size_t sysprof_ring_get_longest (const Ring *self);

/* Room for a frame of at most `len` bytes (a multiple of 8), NULL if the recorder has not read
 * enough yet. */
uint8_t *sysprof_ring_reserve (Ring *self, size_t len);
/* Shows the frame there, of `len` bytes, to the recorder. */
void sysprof_ring_commit (Ring *self, size_t len);

/* Reports to the recorder that a frame did not fit. */
void sysprof_ring_count_dropped (Ring *self);

/* Tells the recorder that nothing will follow: a frame of its own type, for which room was always kept. */
void sysprof_ring_end (Ring *self);
