// SPDX-License-Identifier: GPL-3.0-or-later

/* Reads the frames of one ring. It must never use a shared number twice. See ring-reader.h. */

#include "rings/ring-reader.h"

#include "capture/capture.h"

#include <string.h>

#define END_TYPE 0xFF /* the last frame of a ring */

_Static_assert(RING_FRAME_MAX == SYSPROF_CAPTURE_FRAME_MAX, "");

static uint32_t *
get_number (const RingReader *self, unsigned at)
{
  return (uint32_t *) (void *) (self->header + at); /* the header is aligned to a page */
}

void
sysprof_ring_reader_init (RingReader *self,
                          uint8_t *header,
                          const uint8_t *body,
                          uint32_t offset,
                          uint32_t size)
{
  *self = (RingReader){ .header = header, .body = body, .size = size };
  memset (header, 0, RING_HEADER_SIZE);
  *get_number (self, RING_OFFSET_AT) = offset;
  *get_number (self, RING_SIZE_AT) = size;
}

void
sysprof_ring_reader_look (RingReader *self)
{
  /* Acquire: pairs with the writer's release, which follows the bytes of its frames. */
  uint32_t tail = __atomic_load_n (get_number (self, RING_TAIL_AT), __ATOMIC_ACQUIRE);

  if (tail >= self->size || tail % SYSPROF_CAPTURE_ALIGN != 0)
    self->is_broken = true;
  self->available = self->is_broken ? 0
                    : tail >= self->head
                        ? tail - self->head
                        : (uint32_t) ((uint64_t) tail + self->size - self->head);
}

int64_t
sysprof_ring_reader_peek_time (const RingReader *self)
{
  int64_t time;

  if (self->available < sizeof (SysprofCaptureFrame))
    return INT64_MIN;

  memcpy (&time, self->body + self->head + offsetof (SysprofCaptureFrame, time), sizeof time);
  return time;
}

static RingStatus
break_off (RingReader *self)
{
  self->is_broken = true;
  self->available = 0;
  return RING_BROKEN;
}

static void
step (RingReader *self, uint32_t length)
{
  uint64_t head = (uint64_t) self->head + length;

  self->head = (uint32_t) (head >= self->size ? head - self->size : head);
  self->available -= length;
}

/* The copy of the frame may be inconsistent, but it does not change any more. */
static uint32_t
copy_frame (const RingReader *self, uint8_t *frame)
{
  const uint8_t *shared = self->body + self->head;
  uint16_t length;

  if (self->available < sizeof (SysprofCaptureFrame))
    return 0;

  length = __atomic_load_n ((const uint16_t *) (const void *) shared, __ATOMIC_RELAXED);
  if (length < sizeof (SysprofCaptureFrame) || length % SYSPROF_CAPTURE_ALIGN != 0 ||
      length > self->available)
    return 0;

  memcpy (frame, shared, length);
  memcpy (frame, &length, sizeof length);
  return length;
}

RingStatus
sysprof_ring_reader_take (RingReader *self, uint8_t frame[RING_FRAME_MAX])
{
  const SysprofCaptureFrame *header = (const SysprofCaptureFrame *) (const void *) frame;

  while (!self->is_broken && self->available > 0)
    {
      uint32_t length = copy_frame (self, frame);

      if (length == 0)
        return break_off (self);
      if (header->type == END_TYPE)
        return RING_ENDED;
      if (!sysprof_capture_frame_type_is_known (header->type))
        return break_off (self);

      step (self, length);
      if (sysprof_capture_frame_validate (frame, length, false))
        {
          sysprof_capture_frame_end_texts (frame);
          return RING_FRAME;
        }
      self->n_invalid++;
    }

  return self->is_broken ? RING_BROKEN : RING_EMPTY;
}

void
sysprof_ring_reader_release (RingReader *self)
{
  /* Release: the frames were copied before. Pairs with the writer's acquire. */
  __atomic_store_n (get_number (self, RING_HEAD_AT), self->head, __ATOMIC_RELEASE);
}

uint32_t
sysprof_ring_reader_count_dropped (RingReader *self)
{
  uint32_t n = __atomic_load_n (get_number (self, RING_N_DROPPED_AT), __ATOMIC_RELAXED);
  uint32_t growth = n - self->n_dropped;

  /* It only grows, so half of the range is not a count. */
  if (growth > INT32_MAX)
    return 0;

  self->n_dropped = n;
  return growth;
}
