// SPDX-License-Identifier: GPL-3.0-or-later

/* Writes the embedded file `__waits__` of docs/format.md, as far as tests need it. */

#pragma once

#include "capture/capture.h"

#include <glib.h>
#include <string.h>

static inline GByteArray *
waits_new (void)
{
  GByteArray *self = g_byte_array_new ();

  g_byte_array_append (self, (const uint8_t *) "waits\0\1", 8);
  return self;
}

static inline void
waits_add (GByteArray *self, uint64_t number)
{
  do
    {
      uint8_t byte = (uint8_t) ((number & 0x7f) | (number >= 0x80 ? 0x80 : 0));

      g_byte_array_append (self, &byte, 1);
    }
  while ((number >>= 7) != 0);
}

static inline void
waits_add_signed (GByteArray *self, int64_t number)
{
  waits_add (self, number < 0 ? (uint64_t) (-number) * 2 - 1 : (uint64_t) number * 2);
}

static inline void
waits_add_thread (GByteArray *self, int32_t tid, int32_t pid, const char *comm)
{
  waits_add (self, 1);
  waits_add (self, (uint64_t) tid);
  waits_add (self, (uint64_t) pid);
  waits_add (self, strlen (comm));
  g_byte_array_append (self, (const uint8_t *) comm, (guint) strlen (comm));
}

static inline void
waits_add_stack (GByteArray *self, const uint64_t *addresses, unsigned n)
{
  uint64_t last = 0;

  waits_add (self, 2);
  waits_add (self, n);
  waits_add (self, 0);
  waits_add (self, 0);
  for (unsigned i = 0; i < n; last = addresses[i++])
    waits_add_signed (self, (int64_t) (addresses[i] - last));
}

/* In a futex at that address. Threads and stacks are numbers from 0; -1 = none. */
static inline void
waits_add_wait (GByteArray *self,
                int64_t after,
                uint64_t duration,
                unsigned thread,
                int stack,
                int waker,
                int waker_stack,
                uint64_t lock)
{
  waits_add (self, 3);
  waits_add_signed (self, after);
  waits_add (self, duration);
  waits_add (self, duration / 4);
  waits_add (self, thread);
  waits_add (self, 4); /* futex */
  waits_add (self, 203);
  waits_add (self, 2); /* with a lock */
  waits_add (self, (uint64_t) (stack + 1));
  waits_add (self, (uint64_t) (waker + 1));
  waits_add (self, (uint64_t) (waker_stack + 1));
  waits_add (self, lock);
  waits_add (self, 0);
  waits_add_signed (self, 1);
}

/* Frees it. */
static inline void
waits_write (GByteArray *self, SysprofCaptureWriter *writer, int64_t time)
{
  for (unsigned at = 0; at < self->len; at += 4096)
    g_assert_true (sysprof_capture_writer_add_file (writer, time, -1, -1, "__waits__",
                                                    at + 4096 >= self->len, self->data + at,
                                                    MIN (self->len - at, 4096)));
  g_byte_array_unref (self);
}
