// SPDX-License-Identifier: BSD-2-Clause

/* The collector of a thread, shared by collector-thread.c, which makes it, and collector.c,
 * which fills its frames. */

#pragma once

#include "capture/ring.h"

#include <sysprof-capture.h>

typedef enum
{
  STATE_UNKNOWN,
  STATE_OFF, /* for good */
  STATE_ON,
} State;

/* *Owned* by its thread. */
typedef struct
{
  Ring ring;
  uint32_t generation; /* of the process that it was made in */
  int32_t pid;
  int32_t tid;
  bool is_busy;   /* in a call of this thread, which this one interrupts */
  bool is_unread; /* the ring was full for so long that waiting is no use */
  size_t size;    /* bytes of this and of `frame` */
  /* [SYSPROF_CAPTURE_FRAME_MAX] without a ring: the frame until it is appended to the trace
   * file */
  uint8_t frame[];
} Collector;

/* State; atomic. Declared hidden, so that position-independent code reads it directly. */
extern int sysprof_collector_state __attribute__ ((visibility ("hidden")));

/* The collector of this thread, marked as busy; NULL if there is nothing to be done. */
Collector *sysprof_collector_get (void);

size_t sysprof_collector_get_longest (const Collector *self);
/* Room for a frame. A full ring is given some time to be read, once: then frames are dropped
 * until there is room again. */
uint8_t *sysprof_collector_reserve (Collector *self, size_t len);
/* Completes the frame, whose length is `len`. */
void sysprof_collector_commit (Collector *self, uint8_t *frame, size_t len);

/* The same, for one frame. Inlined and expected to be off, so that the compiler saves registers
 * only after this check. */
static inline __attribute__ ((always_inline)) Collector *
sysprof_collector_enter (void)
{
  int state = __atomic_load_n (&sysprof_collector_state, __ATOMIC_RELAXED);

  if (__builtin_expect (state == STATE_OFF, 1))
    return NULL;

  return sysprof_collector_get ();
}

static inline void
sysprof_collector_leave (Collector *self)
{
  __atomic_signal_fence (__ATOMIC_SEQ_CST);
  self->is_busy = false;
}
