// SPDX-License-Identifier: GPL-3.0-or-later

/* The embedded file of waits, as it is written: docs/format.md. Entries are put into chunks, which go to whoever writes them.
 * *Owned* by one thread. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WAIT_STREAM_FILE  "__waits__"
#define WAIT_STREAM_CHUNK 16000 /* bytes: readers of version 3.46 take frames of 16384 */

/* Takes a chunk. */
typedef void (*WaitStreamFunc) (const uint8_t *bytes, size_t size, bool is_last, void *data);

typedef struct
{
  WaitStreamFunc func;
  void *data;
  int64_t begin; /* of the wait before */
  size_t used;
  uint8_t chunk[WAIT_STREAM_CHUNK];
} WaitStream;

/* Begins it. */
void sysprof_wait_stream_init (WaitStream *self, WaitStreamFunc func, void *data);

typedef struct
{
  int64_t begin; /* ns */
  uint64_t duration;
  uint64_t runnable; /* of it */
  uint32_t thread;   /* number, in the order in which threads were added */
  uint8_t reason;    /* WaitReason */
  uint8_t flags;     /* WAIT_… */
  int32_t call;      /* -1 = none */
  uint32_t stack;    /* number + 1; 0 = none */
  uint32_t waker;    /* number + 1 of a thread; 0 = not known */
  uint32_t waker_stack;
  uint64_t lock; /* with WAIT_HAS_LOCK */
  uint32_t holder;
  uint32_t cpu;
} StreamedWait;

void
sysprof_wait_stream_add_thread (WaitStream *self, uint32_t tid, uint32_t pid, const char *comm);
void sysprof_wait_stream_add_stack (WaitStream *self,
                                    uint8_t reason,
                                    uint8_t how,
                                    const uint64_t *addresses,
                                    size_t n);
void sysprof_wait_stream_add_wait (WaitStream *self, const StreamedWait *wait);
/* From now on one of `n` short waits stands for all of them. */
void sysprof_wait_stream_add_sampled (WaitStream *self, uint64_t n);
/* So much is missing of what was before `time` (ns). */
void sysprof_wait_stream_add_lost (WaitStream *self, uint64_t count, int64_t time);
/* Ran so long since the last time that this was said. */
void sysprof_wait_stream_add_run (WaitStream *self, uint32_t thread, uint64_t nsec);

/* Hands on what there is; at the end, even if that is nothing. */
void sysprof_wait_stream_flush (WaitStream *self, bool is_last);
