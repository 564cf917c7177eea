// SPDX-License-Identifier: GPL-3.0-or-later

/* Writes the embedded file of waits, see docs/format.md. Entries are collected in chunks, which
 * a callback writes to the capture. *Owned* by one thread. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WAIT_STREAM_FILE  "__waits__"
#define WAIT_STREAM_CHUNK 16000 /* bytes: Sysprof 3.46 reads frames up to 16384 bytes */

/* Takes one chunk. */
typedef void (*WaitStreamFunc) (const uint8_t *bytes, size_t size, bool is_last, void *data);

typedef struct
{
  WaitStreamFunc func;
  void *data;
  int64_t begin; /* of the previous wait */
  size_t used;
  uint8_t chunk[WAIT_STREAM_CHUNK];
} WaitStream;

/* Initializes the stream and writes the file's magic number. */
void sysprof_wait_stream_init (WaitStream *self, WaitStreamFunc func, void *data);

typedef struct
{
  int64_t begin; /* ns */
  uint64_t duration;
  uint64_t runnable; /* the last part of `duration`, in which the thread was runnable */
  uint32_t thread;   /* number of the thread, in the order in which threads were added */
  uint8_t reason;    /* WaitReason */
  uint8_t flags;     /* WAIT_… */
  int32_t call;      /* -1 = none */
  uint32_t stack;    /* number of the stack plus 1; 0 = none */
  uint32_t waker;    /* number of the thread plus 1; 0 = unknown */
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
/* `count` records are missing before `time` (ns). */
void sysprof_wait_stream_add_lost (WaitStream *self, uint64_t count, int64_t time);
/* Adds the CPU time of a thread since the last such entry. */
void sysprof_wait_stream_add_run (WaitStream *self, uint32_t thread, uint64_t nsec);

/* Passes the current chunk to the callback. The last chunk is passed even if it is empty. */
void sysprof_wait_stream_flush (WaitStream *self, bool is_last);
