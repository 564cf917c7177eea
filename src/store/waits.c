// SPDX-License-Identifier: GPL-3.0-or-later

/* Off-CPU times: docs/format.md.
 *
 * The data are one stream of entries, each of which may refer to earlier ones. They are
 * untrusted: reading ends at the first invalid entry, and the entries before it are kept. Each
 * byte is read once, and the size of an entry bounds the memory that it takes. */

#include "store/builder.h"

#include "capture/capture.h"

#include <string.h>

#define ENTRIES_BETWEEN 0x400 /* between two checks for cancellation */
#define MOST_WORDS      8000  /* of a stack: a sample holds no more */
#define MOST_NAME       64    /* bytes */

static const char magic[] = { 'w', 'a', 'i', 't', 's', 0, 1, 0 };

enum
{
  ENTRY_THREAD = 1,
  ENTRY_STACK,
  ENTRY_WAIT,
  ENTRY_SAMPLED,
  ENTRY_LOST,
  ENTRY_RUN,
};

typedef struct
{
  Builder *builder;
  const uint8_t *at;
  const uint8_t *end;
  bool is_bad;       /* sticks: the entry cannot be, or is cut */
  bool ran_out;      /* for it is longer than what is left */
  bool is_cut_short; /* those of another capture come next */

  int64_t last_begin;
  uint16_t stands_for; /* of the waits from here on */

  GArray *threads; /* WaitThread */
  GArray *words;   /* uint64_t */
  GArray *begins;  /* size_t, of each stack, and the end of the last */
  GArray *found;   /* ReadWait */
  GArray *locks;   /* WaitLock, `wait` in the order of the stream */
} Reading;

/* A wait before it is sorted into the columns. */
typedef struct
{
  Wait row;
  int64_t begin;
  int64_t duration;
  uint32_t stack;       /* 1 + number, 0 = unknown */
  uint32_t waker_stack; /* the same */
  uint32_t order;       /* in the stream */
  int16_t cpu;
} ReadWait;

/* --- numbers --- */

static uint8_t
read_byte (Reading *self)
{
  if (self->is_bad || self->at == self->end)
    {
      self->is_bad = true;
      return 0;
    }
  return *self->at++;
}

static uint64_t
read_unsigned (Reading *self)
{
  uint64_t value = 0;

  for (unsigned shift = 0; shift < 64; shift += 7)
    {
      uint8_t byte = read_byte (self);

      /* Of the tenth byte one bit has room. */
      self->is_bad |= shift == 63 && byte > 1;
      value |= (uint64_t) (byte & 0x7f) << shift;
      if (byte < 0x80)
        return self->is_bad ? 0 : value;
    }

  self->is_bad = true;
  return 0;
}

static int64_t
read_signed (Reading *self)
{
  uint64_t value = read_unsigned (self);

  return (int64_t) (value >> 1) ^ -(int64_t) (value & 1);
}

/* At most `most`. */
static uint64_t
read_up_to (Reading *self, uint64_t most)
{
  uint64_t value = read_unsigned (self);

  self->is_bad |= value > most;
  return self->is_bad ? 0 : value;
}

/* --- entries --- */

static void
read_thread (Reading *self)
{
  WaitThread thread = { 0 };
  uint64_t size;

  thread.tid = (int32_t) read_up_to (self, INT32_MAX);
  thread.pid = (int32_t) read_up_to (self, INT32_MAX);
  size = read_unsigned (self);
  self->ran_out = size > (uint64_t) (self->end - self->at);
  self->is_bad |= self->ran_out;
  if (self->is_bad)
    return;

  thread.comm = sysprof_intern_bytes (&self->builder->store->strings, (const char *) self->at,
                                      strnlen ((const char *) self->at, MIN (size, MOST_NAME)));
  self->at += size;
  g_array_append_val (self->threads, thread);
}

static void
read_stack (Reading *self)
{
  uint64_t n = read_up_to (self, MOST_WORDS), word = 0;
  size_t end;

  (void) read_byte (self); /* why it ends there, which its last address says, too */
  (void) read_byte (self);
  for (uint64_t i = 0; i < n && !self->is_bad; i++)
    {
      uint64_t stored = word += (uint64_t) read_signed (self);

      if (self->builder->store->is_swapped)
        stored = __builtin_bswap64 (stored);
      g_array_append_val (self->words, stored);
    }

  end = g_array_index (self->begins, size_t, self->begins->len - 1) + n;
  if (self->is_bad)
    g_array_set_size (self->words, (guint) (end - n));
  else
    g_array_append_val (self->begins, end);
}

static void
read_lock (Reading *self)
{
  WaitLock lock = { .wait = self->found->len };

  lock.address = read_unsigned (self);
  lock.holder = (int32_t) read_up_to (self, INT32_MAX);
  if (!self->is_bad)
    g_array_append_val (self->locks, lock);
}

static void
read_wait (Reading *self)
{
  ReadWait found = { .order = self->found->len };
  Wait *row = &found.row;
  uint32_t n_stacks = self->begins->len - 1;
  guint n_locks = self->locks->len;
  int64_t end, cpu;

  self->is_bad |= __builtin_add_overflow (self->last_begin, read_signed (self), &found.begin);
  found.duration = (int64_t) read_up_to (self, INT64_MAX);
  self->is_bad |= __builtin_add_overflow (found.begin, found.duration, &end);
  row->runnable = (int64_t) read_up_to (self, (uint64_t) found.duration);
  row->thread = (uint32_t) read_up_to (self, UINT32_MAX);
  row->reason = read_byte (self);
  row->syscall = (uint32_t) read_up_to (self, UINT32_MAX);
  row->flags = read_byte (self);
  found.stack = (uint32_t) read_up_to (self, n_stacks);
  row->waker = (uint32_t) read_up_to (self, self->threads->len);
  found.waker_stack = (uint32_t) read_up_to (self, n_stacks);
  if ((row->flags & OFF_CPU_HAS_LOCK) != 0)
    read_lock (self);
  cpu = read_signed (self);
  found.cpu = (int16_t) cpu;
  self->is_bad |= row->reason == 0 || row->reason >= N_OFF_CPU_REASONS || found.cpu != cpu ||
                  row->thread >= self->threads->len;
  if (self->is_bad || self->found->len == UINT32_MAX)
    {
      self->is_bad = true;
      g_array_set_size (self->locks, n_locks);
      return;
    }

  if (row->reason == OFF_CPU_PREEMPTED)
    row->runnable = found.duration;
  row->stands_for = self->stands_for;
  self->last_begin = found.begin;
  g_array_append_val (self->found, found);
}

static void
read_run (Reading *self)
{
  uint64_t number = read_unsigned (self);
  int64_t run = (int64_t) read_up_to (self, INT64_MAX);
  WaitThread *thread;

  self->is_bad |= number >= self->threads->len;
  if (self->is_bad)
    return;

  thread = &g_array_index (self->threads, WaitThread, number);
  thread->has_run = true;
  thread->run = sysprof_time_sum (thread->run, run);
}

static void
read_sampled (Reading *self)
{
  uint64_t stands_for = read_up_to (self, UINT16_MAX);

  if (!self->is_bad)
    self->stands_for = (uint16_t) MAX (stands_for, 1);
}

static void
read_lost (Reading *self)
{
  uint64_t n = read_unsigned (self);
  uint64_t *n_lost = &self->builder->store->waits.n_lost;

  (void) read_signed (self); /* until when: what is missing is missing anywhere before */
  if (!self->is_bad && __builtin_add_overflow (*n_lost, n, n_lost))
    *n_lost = UINT64_MAX;
}

static void
read_entry (Reading *self)
{
  switch (read_byte (self))
    {
    case ENTRY_THREAD:
      read_thread (self);
      break;
    case ENTRY_STACK:
      read_stack (self);
      break;
    case ENTRY_WAIT:
      read_wait (self);
      break;
    case ENTRY_SAMPLED:
      read_sampled (self);
      break;
    case ENTRY_LOST:
      read_lost (self);
      break;
    case ENTRY_RUN:
      read_run (self);
      break;
    default: /* of a later version */
      self->is_bad = true;
      break;
    }
}

/* --- columns --- */

static int
compare_found (const void *a, const void *b, void *data)
{
  const ReadWait *left = a, *right = b;

  if (left->begin != right->begin)
    return left->begin < right->begin ? -1 : 1;
  return (left->order > right->order) - (left->order < right->order);
}

static int
compare_locks (const void *a, const void *b, void *data)
{
  const WaitLock *left = a, *right = b;

  return (left->wait > right->wait) - (left->wait < right->wait);
}

static void
set_events (StackEvents *events, uint32_t n)
{
  events->time = sysprof_large_new (n, sizeof *events->time);
  events->pid = sysprof_large_new (n, sizeof *events->pid);
  events->tid = sysprof_large_new (n, sizeof *events->tid);
  events->cpu = sysprof_large_new (n, sizeof *events->cpu);
  events->weight = sysprof_large_new (n, sizeof *events->weight);
  events->stack = sysprof_large_new0 (MAX (n, 1), sizeof *events->stack);
  events->process = sysprof_large_new0 (MAX (n, 1), sizeof *events->process);
  events->n = n;
}

/* In the order of time. */
static void
fill_columns (Reading *self)
{
  Builder *builder = self->builder;
  Store *store = builder->store;
  Waits *waits = &store->waits;
  WaitStacks *stacks = &builder->wait_stacks;
  StackEvents *events = &waits->events;
  g_autofree uint32_t *place = NULL;
  uint32_t n = self->found->len;

  if (!sysprof_progress_sort (builder->progress, self->found->data, n, sizeof (ReadWait),
                              compare_found, NULL))
    return;

  set_events (events, n);
  waits->row = sysprof_large_new (n, sizeof *waits->row);
  stacks->of_wait = sysprof_large_new (n, sizeof *stacks->of_wait);
  stacks->of_waker = sysprof_large_new (n, sizeof *stacks->of_waker);
  place = g_new (uint32_t, MAX (n, 1));
  for (uint32_t i = 0; i < n; i++)
    {
      const ReadWait *found = &g_array_index (self->found, ReadWait, i);
      const WaitThread *thread = &waits->threads[found->row.thread];

      waits->row[i] = found->row;
      events->time[i] = found->begin;
      events->weight[i] = found->duration;
      events->pid[i] = thread->pid;
      events->tid[i] = thread->tid;
      events->cpu[i] = found->cpu;
      stacks->of_wait[i] = found->stack;
      stacks->of_waker[i] = found->waker_stack;
      place[found->order] = i;
      /* Where nothing else was recorded, the recording ends with the last of them. */
      store->end = MAX (store->end, found->begin + found->duration);
    }

  for (uint32_t i = 0; i < waits->n_locks; i++)
    waits->locks[i].wait = place[waits->locks[i].wait];
  (void) sysprof_progress_sort (builder->progress, waits->locks, waits->n_locks,
                                sizeof *waits->locks, compare_locks,
                                NULL); /* the caller sees it */
}

static void
keep_stacks (Reading *self)
{
  Builder *builder = self->builder;
  WaitStacks *stacks = &builder->wait_stacks;

  stacks->n = self->begins->len - 1;
  stacks->words = (uint64_t *) g_array_free (g_steal_pointer (&self->words), FALSE);
  stacks->begin = (size_t *) g_array_free (g_steal_pointer (&self->begins), FALSE);
  stacks->digests = g_new (StackDigest, MAX (stacks->n, 1));
  for (uint32_t i = 0; i < stacks->n; i++)
    stacks->digests[i] = sysprof_stack_digest (
        builder->key, (const uint8_t *) (stacks->words + stacks->begin[i]),
        (uint32_t) (stacks->begin[i + 1] - stacks->begin[i]));
}

static void
keep (Reading *self)
{
  Waits *waits = &self->builder->store->waits;

  keep_stacks (self);
  waits->n_threads = self->threads->len;
  waits->threads = (WaitThread *) g_array_free (g_steal_pointer (&self->threads), FALSE);
  waits->n_locks = self->locks->len;
  waits->locks = (WaitLock *) g_array_free (g_steal_pointer (&self->locks), FALSE);
  fill_columns (self);
}

static void
note_damage (Builder *self, size_t at, size_t size, const char *what)
{
  g_string_append_printf (
      self->damage, "%sAt byte %zu of its waits %s; the %zu bytes from there on are left out.",
      self->damage->len > 0 ? " " : "", at, what, size - at);
}

static void
read_entries (Reading *self, const uint8_t *begin)
{
  size_t size = (size_t) (self->end - begin);

  for (uint64_t i = 0; self->at < self->end; i++)
    {
      const uint8_t *entry = self->at;

      if (i % ENTRIES_BETWEEN == 0 &&
          !sysprof_progress_at (self->builder->progress, (uint64_t) (entry - begin), size))
        return;
      /* So many bytes an array of GLib's may have; 32 bits are its numbers. */
      if (self->words->len > UINT32_MAX / sizeof (uint64_t) - MOST_WORDS ||
          self->found->len > UINT32_MAX / sizeof (ReadWait) - 1)
        self->is_bad = true;
      else
        read_entry (self);
      if (self->is_bad)
        {
          bool is_cut = self->ran_out || self->at == self->end;

          if (self->is_cut_short && is_cut)
            return;
          note_damage (self->builder, (size_t) (entry - begin), size,
                       is_cut ? "they were cut" : "is nothing that this version understands");
          return;
        }
    }
}

/* Programs that know nothing of waits join captures, too. Returns how much is of the first
 * one. */
static size_t
find_other_waits (Builder *self, const uint8_t *data, size_t size)
{
  const EmbeddedFile *file = sysprof_builder_find_file (self, CAPTURE_WAITS_FILE);
  const uint8_t *other = memmem (data + 1, size - 1, magic, sizeof magic);

  if (other != NULL)
    {
      sysprof_builder_note_mixed (
          self,
          "The off-CPU times of several captures are interleaved: only the first %zu of %zu bytes are "
          "used, which are those of the first capture. Open each capture separately, or join them "
          "with 'sysprof-cli --merge', which keeps those of the first.",
          (size_t) (other - data), size);
      return (size_t) (other - data);
    }
  if (file != NULL && file->is_repeated)
    sysprof_builder_note_mixed (
        self, "Off-CPU times are those of the first of the joined captures. Open each capture "
              "separately to see all of them.");
  return size;
}

void
sysprof_builder_read_waits (Builder *self)
{
  g_autoptr (GBytes) bytes = sysprof_store_read_file_cancellable (
      self->store, CAPTURE_WAITS_FILE, self->progress->cancellable, NULL); /* may be absent */
  size_t size, zero = 0, own;
  const uint8_t *data;
  Reading reading;

  if (bytes == NULL)
    return;

  data = g_bytes_get_data (bytes, &size);
  if (size < sizeof magic || memcmp (data, magic, sizeof magic) != 0)
    {
      note_damage (self, 0, size,
                   size < sizeof magic ? "they were cut"
                                       : "is nothing that this version understands");
      return;
    }

  own = find_other_waits (self, data, size);
  self->store->waits.is_recorded = true;
  self->wait_stacks.size = size;
  reading = (Reading){ .builder = self,
                       .at = data + sizeof magic,
                       .end = data + own,
                       .is_cut_short = own < size,
                       .stands_for = 1,
                       .threads = g_array_new (FALSE, FALSE, sizeof (WaitThread)),
                       .words = g_array_new (FALSE, FALSE, sizeof (uint64_t)),
                       .begins = g_array_new (FALSE, FALSE, sizeof (size_t)),
                       .found = g_array_new (FALSE, FALSE, sizeof (ReadWait)),
                       .locks = g_array_new (FALSE, FALSE, sizeof (WaitLock)) };
  g_array_append_val (reading.begins, zero);
  read_entries (&reading, data);
  keep (&reading);
  g_array_unref (reading.found);
}

void
sysprof_wait_stacks_clear (WaitStacks *self)
{
  g_free (self->words);
  g_free (self->begin);
  g_free (self->digests);
  g_free (self->of_wait);
  g_free (self->of_waker);
  *self = (WaitStacks){ 0 };
}
