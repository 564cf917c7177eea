// SPDX-License-Identifier: GPL-3.0-or-later

/* The encoder of the embedded file of waits. The byte layout must stay as docs/format.md
 * describes it. */

#include "waits/wait-stream.h"

#include "bpf/bpf.h"

#include <string.h>

#define MOST_NUMBER 10 /* bytes of one encoded number */

enum
{
  ENTRY_THREAD = 1,
  ENTRY_STACK,
  ENTRY_WAIT,
  ENTRY_SAMPLED, /* is read, but not written */
  ENTRY_LOST,
  ENTRY_RUN,
};

static void
put_bytes (WaitStream *self, const void *bytes, size_t size)
{
  const uint8_t *at = bytes;

  while (size > 0)
    {
      size_t left = sizeof self->chunk - self->used;
      size_t n = size < left ? size : left;

      memcpy (self->chunk + self->used, at, n);
      self->used += n;
      at += n;
      size -= n;
      if (self->used == sizeof self->chunk)
        sysprof_wait_stream_flush (self, false);
    }
}

/* Part of an entry, assembled before it is added to the chunk. */
typedef struct
{
  uint8_t *at;
  uint8_t bytes[16 * MOST_NUMBER];
} Piece;

static inline void
put_byte (Piece *piece, uint8_t byte)
{
  *piece->at++ = byte;
}

static inline void
put_number (Piece *piece, uint64_t number)
{
  for (; number > 127; number >>= 7)
    *piece->at++ = (uint8_t) number | 128;
  *piece->at++ = (uint8_t) number;
}

static inline void
put_signed (Piece *piece, int64_t number)
{
  put_number (piece, (uint64_t) number << 1 ^ (uint64_t) (number >> 63));
}

static inline void
begin_piece (Piece *piece)
{
  piece->at = piece->bytes;
}

static inline void
end_piece (WaitStream *self, Piece *piece)
{
  put_bytes (self, piece->bytes, (size_t) (piece->at - piece->bytes));
}

void
sysprof_wait_stream_init (WaitStream *self, WaitStreamFunc func, void *data)
{
  static const uint8_t magic[8] = { 'w', 'a', 'i', 't', 's', 0, 1, 0 };

  self->func = func;
  self->data = data;
  self->begin = 0;
  self->used = 0;
  put_bytes (self, magic, sizeof magic);
}

void
sysprof_wait_stream_add_thread (WaitStream *self, uint32_t tid, uint32_t pid, const char *comm)
{
  size_t size = strlen (comm);
  Piece piece;

  begin_piece (&piece);
  put_byte (&piece, ENTRY_THREAD);
  put_number (&piece, tid);
  put_number (&piece, pid);
  put_number (&piece, size);
  end_piece (self, &piece);
  put_bytes (self, comm, size);
}

void
sysprof_wait_stream_add_stack (WaitStream *self,
                               uint8_t reason,
                               uint8_t how,
                               const uint64_t *addresses,
                               size_t n)
{
  uint64_t before = 0;
  Piece piece;

  begin_piece (&piece);
  put_byte (&piece, ENTRY_STACK);
  put_number (&piece, n);
  put_byte (&piece, reason);
  put_byte (&piece, how);
  end_piece (self, &piece);
  for (size_t i = 0; i < n; i++)
    {
      begin_piece (&piece);
      put_signed (&piece, (int64_t) (addresses[i] - before));
      end_piece (self, &piece);
      before = addresses[i];
    }
}

void
sysprof_wait_stream_add_wait (WaitStream *self, const StreamedWait *wait)
{
  Piece piece;

  begin_piece (&piece);
  put_byte (&piece, ENTRY_WAIT);
  put_signed (&piece, wait->begin - self->begin);
  put_number (&piece, wait->duration);
  put_number (&piece, wait->runnable);
  put_number (&piece, wait->thread);
  put_byte (&piece, wait->reason);
  put_number (&piece, (uint64_t) ((int64_t) wait->call + 1));
  put_byte (&piece, wait->flags);
  put_number (&piece, wait->stack);
  put_number (&piece, wait->waker);
  put_number (&piece, wait->waker_stack);
  if ((wait->flags & WAIT_HAS_LOCK) != 0)
    {
      put_number (&piece, wait->lock);
      put_number (&piece, wait->holder);
    }
  put_signed (&piece, (int64_t) wait->cpu);
  end_piece (self, &piece);
  self->begin = wait->begin;
}

static void
add_numbers (WaitStream *self, uint8_t kind, uint64_t first, uint64_t second)
{
  Piece piece;

  begin_piece (&piece);
  put_byte (&piece, kind);
  put_number (&piece, first);
  put_number (&piece, second);
  end_piece (self, &piece);
}

void
sysprof_wait_stream_add_lost (WaitStream *self, uint64_t count, int64_t time)
{
  Piece piece;

  begin_piece (&piece);
  put_byte (&piece, ENTRY_LOST);
  put_number (&piece, count);
  put_signed (&piece, time);
  end_piece (self, &piece);
}

void
sysprof_wait_stream_add_run (WaitStream *self, uint32_t thread, uint64_t nsec)
{
  add_numbers (self, ENTRY_RUN, thread, nsec);
}

void
sysprof_wait_stream_flush (WaitStream *self, bool is_last)
{
  if (self->used > 0 || is_last)
    self->func (self->chunk, self->used, is_last, self->data);
  self->used = 0;
}
