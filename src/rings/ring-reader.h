// SPDX-License-Identifier: GPL-3.0-or-later

/* Reads the frames of one ring. The memory is shared with a program that may write anything
 * there at any time: each number is read once, checked, and then used from a local variable;
 * each frame is copied before it is checked.
 *
 *     header      u32 head      position of the reader, for the writer's information
 *                 u32 tail      position of the writer
 *                 u32 offset    bytes before the body = page size
 *                 u32 size      bytes of the body
 *                 u32 n_dropped frames that did not fit, if the writer counts them
 *     body        frames
 *     body        the same memory again, so that each frame is contiguous
 *
 * *Owned* by one thread. */

#pragma once

#include <stdbool.h>
#include <stdint.h>

#define RING_FRAME_MAX 65528 /* bytes of a frame */

/* Offsets of the header's numbers. */
enum
{
  RING_HEAD_AT = 0,
  RING_TAIL_AT = 4,
  RING_OFFSET_AT = 8,
  RING_SIZE_AT = 12,
  RING_N_DROPPED_AT = 16,
  RING_HEADER_SIZE = 20,
};

typedef enum
{
  RING_FRAME,
  RING_EMPTY,
  RING_ENDED,  /* the writer has finished */
  RING_BROKEN, /* the contents make no sense: read no more */
} RingStatus;

typedef struct
{
  uint8_t *header;     /* shared */
  const uint8_t *body; /* [2 * size] shared */
  uint32_t size;       /* bytes of the body, a multiple of 8 */
  uint32_t head;       /* the copy in shared memory is never read */
  uint32_t available;  /* bytes from head to the tail that was last looked at */
  uint32_t n_dropped;  /* frames that the writer has dropped, as last read */
  bool is_broken;
  uint64_t n_invalid; /* frames whose contents contradict their lengths; skipped */
} RingReader;

/* Writes the header; the ring is empty. */
void sysprof_ring_reader_init (RingReader *self,
                               uint8_t *header,
                               const uint8_t *body,
                               uint32_t offset,
                               uint32_t size);

/* Looks at the position of the writer. The frames before it can then be taken. */
void sysprof_ring_reader_look (RingReader *self);

/* The time of the next frame, not checked. INT64_MIN if there is something else. */
int64_t sysprof_ring_reader_peek_time (const RingReader *self);

/* Copies the next valid frame to `frame`, which is aligned to 8 bytes. Its type is known and
 * its texts end with NUL. */
RingStatus sysprof_ring_reader_take (RingReader *self, uint8_t frame[RING_FRAME_MAX]);

/* Lets the writer overwrite the frames that were taken. */
void sysprof_ring_reader_release (RingReader *self);

/* Frames that the writer has dropped since the last call. */
uint32_t sysprof_ring_reader_count_dropped (RingReader *self);
