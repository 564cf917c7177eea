// SPDX-License-Identifier: GPL-3.0-or-later

/* Threads by ID and stacks by hash, with the numbers under which they were written. Memory is
 * bounded: stacks by a limit, threads because exited ones are forgotten. */

#include "waits/wait-log.h"

#include "capture/capture.h"

#include <glib.h>
#include <linux/perf_event.h>
#include <string.h>

#define FIRST_SLOTS    1024
#define MOST_STACKS    (4u << 20)
#define MOST_ADDRESSES (WAITS_MOST_KERNEL + WAITS_MOST_USER + 3)
#define MOST_COMM      16

/* A thread under the name that it had for some time. */
typedef struct Name Name;
struct Name
{
  Name *before; /* the previous name */
  uint64_t since;
  uint64_t ran;
  uint32_t number;
  uint32_t n_flushed; /* flushes since a later name exists */
};

typedef struct
{
  Name *name;         /* the latest one */
  uint32_t n_flushed; /* flushes since the thread exited */
  bool has_ended;
} KnownThread;

typedef struct
{
  uint64_t hash; /* 0 = free */
  uint32_t number;
  bool is_unfinished; /* the stack was truncated, because a table or mapping was missing */
} KnownStack;

struct WaitLog
{
  WaitStream stream;
  WaitMarkerFunc marker;
  void *data;
  GHashTable *threads; /* tid → KnownThread */
  uint32_t n_threads;
  KnownStack *stack; /* [n_slots], a power of two, at most half of them used */
  uint32_t n_slots;
  uint32_t n_stacks;
  uint64_t n_lost;
  WaitLogStatus status;
  uint64_t address[MOST_ADDRESSES];
};

static void
free_thread (gpointer data)
{
  KnownThread *thread = data;

  while (thread->name != NULL)
    {
      Name *before = thread->name->before;

      g_free (thread->name);
      thread->name = before;
    }
  g_free (thread);
}

WaitLog *
sysprof_wait_log_new (WaitStreamFunc func, WaitMarkerFunc marker, void *data)
{
  WaitLog *self = g_new0 (WaitLog, 1);

  sysprof_wait_stream_init (&self->stream, func, data);
  self->marker = marker;
  self->data = data;
  self->threads = g_hash_table_new_full (NULL, NULL, NULL, free_thread);
  self->n_slots = FIRST_SLOTS;
  self->stack = g_new0 (KnownStack, FIRST_SLOTS);
  return self;
}

void
sysprof_wait_log_free (WaitLog *self)
{
  if (self == NULL)
    return;

  g_hash_table_unref (self->threads);
  g_free (self->stack);
  g_free (self);
}

/* --- threads --- */

static void
tell_run (WaitLog *self, Name *name)
{
  if (name->ran > 0)
    sysprof_wait_stream_add_run (&self->stream, name->number, name->ran);
  name->ran = 0;
}

/* Rings are read one after the other, so names do not arrive in the order of time. */
static KnownThread *
add_thread (WaitLog *self, uint32_t tid, uint32_t pid, const char *comm, uint64_t since)
{
  KnownThread *thread = g_hash_table_lookup (self->threads, GUINT_TO_POINTER (tid));
  Name *name = g_new0 (Name, 1), **at;

  if (thread == NULL)
    {
      thread = g_new0 (KnownThread, 1);
      g_hash_table_insert (self->threads, GUINT_TO_POINTER (tid), thread);
    }
  at = &thread->name;
  while (*at != NULL && (*at)->since > since)
    at = &(*at)->before;
  name->before = *at;
  name->since = since;
  name->number = self->n_threads++;
  if (*at == thread->name)
    thread->has_ended = false;
  *at = name;
  sysprof_wait_stream_add_thread (&self->stream, tid, pid, comm);
  return thread;
}

/* Finds the name that thread ID had at `time`. */
static Name *
find_name (WaitLog *self, uint32_t tid, uint64_t time, KnownThread **of)
{
  KnownThread *thread = g_hash_table_lookup (self->threads, GUINT_TO_POINTER (tid));
  Name *name;

  if (thread == NULL)
    thread = add_thread (self, tid, tid, "", 0); /* the record with its name was lost */
  if (of != NULL)
    *of = thread;
  name = thread->name;
  while (name->since > time && name->before != NULL)
    name = name->before;
  return name;
}

static void
take_thread (WaitLog *self, const WaitsThread *record)
{
  char comm[MOST_COMM + 1] = "";

  memcpy (comm, record->comm, MOST_COMM);
  (void) add_thread (self, record->head.tid, record->pid, comm, record->time);
}

/* --- stacks --- */

static KnownStack *
find_slot (const WaitLog *self, uint64_t hash)
{
  uint32_t at = (uint32_t) (hash ^ hash >> 32) & (self->n_slots - 1);

  while (self->stack[at].hash != 0 && self->stack[at].hash != hash)
    at = (at + 1) & (self->n_slots - 1);
  return &self->stack[at];
}

static void
grow (WaitLog *self)
{
  g_autofree KnownStack *old = self->stack;
  uint32_t n_old = self->n_slots;

  self->n_slots = 2 * n_old;
  self->stack = g_new0 (KnownStack, self->n_slots);
  for (uint32_t i = 0; i < n_old; i++)
    if (old[i].hash != 0)
      *find_slot (self, old[i].hash) = old[i];
}

static uint8_t
how_it_was_found (const WaitsStack *record)
{
  uint8_t first = (record->used & WALK_USED_FP_FIRST) != 0 ? CAPTURE_FOUND_BY_FP_FIRST : 0;

  if (record->n_user == 0)
    return CAPTURE_FOUND_NONE;
  if ((record->used & WALK_USED_COMPAT) != 0)
    return CAPTURE_FOUND_BY_FRAME_POINTERS;
  return first |
         ((record->used & WALK_USED_FP) != 0 ? CAPTURE_FOUND_BY_BOTH : CAPTURE_FOUND_BY_TABLES);
}

/* Writes the stack in the same form as in a sample. */
static void
take_stack (WaitLog *self, const WaitsStack *record)
{
  KnownStack *slot = find_slot (self, record->hash);
  WalkReason reason = record->reason < WALK_REASONS ? record->reason : WALK_FAULT;
  uint64_t marker;
  size_t n = 0;

  if (record->hash == 0 || slot->hash != 0)
    return;
  if (self->n_stacks >= MOST_STACKS)
    {
      self->status.n_refused++;
      return;
    }
  if (record->n_kernel > WAITS_MOST_KERNEL || record->n_user > WAITS_MOST_USER)
    return;

  marker = sysprof_walk_reason_is_whole (reason) ? 0 : self->marker (reason, self->data);
  if (record->n_kernel > 0)
    self->address[n++] = (uint64_t) PERF_CONTEXT_KERNEL;
  memcpy (self->address + n, record->address, record->n_kernel * sizeof (uint64_t));
  n += record->n_kernel;
  if (record->n_user > 0 || marker != 0)
    self->address[n++] = (uint64_t) PERF_CONTEXT_USER;
  memcpy (self->address + n, record->address + record->n_kernel,
          record->n_user * sizeof (uint64_t));
  n += record->n_user;
  if (marker != 0)
    self->address[n++] = marker;
  sysprof_wait_stream_add_stack (&self->stream, (uint8_t) reason, how_it_was_found (record),
                                 self->address, n);

  *slot = (KnownStack){ record->hash, self->n_stacks++,
                        reason == WALK_NO_PROCESS || reason == WALK_NO_TABLE };
  if (2 * self->n_stacks > self->n_slots)
    grow (self);
}

/* Returns the stack's number plus 1; 0 = none. */
static uint32_t
number_of_stack (WaitLog *self, uint64_t hash)
{
  const KnownStack *slot = find_slot (self, hash);

  if (hash == 0)
    return 0;
  if (slot->hash == 0)
    {
      self->status.n_nameless++;
      return 0;
    }
  return slot->number + 1;
}

static bool
is_unfinished (const WaitLog *self, uint64_t hash)
{
  return hash != 0 && find_slot (self, hash)->is_unfinished;
}

/* --- waits --- */

static void
take_wait (WaitLog *self, const WaitsWait *record)
{
  KnownThread *thread;
  Name *name = find_name (self, record->head.tid, record->end, &thread);
  uint64_t woken = MAX (record->woken, record->begin);
  StreamedWait wait = {
    .begin = (int64_t) record->begin,
    .duration = record->end > record->begin ? record->end - record->begin : 0,
    .runnable = record->woken != 0 && record->end > woken ? record->end - woken : 0,
    .thread = name->number,
    .reason = record->reason,
    .flags = record->flags,
    .call = record->call >= 0 ? record->call : -1,
    .stack = number_of_stack (self, record->stack),
    .waker = record->waker != 0
                 ? find_name (self, record->waker, record->woken, NULL)->number + 1
                 : 0,
    .waker_stack = number_of_stack (self, record->waker_stack),
    .lock = record->lock,
    .holder = record->holder,
    .cpu = record->cpu,
  };

  name->ran += record->ran;
  if (name == thread->name)
    thread->has_ended = false;
  sysprof_wait_stream_add_wait (&self->stream, &wait);
  self->status.n_waits++;
  self->status.n_unfinished += is_unfinished (self, record->stack);
}

static void
take_ran (WaitLog *self, const WaitsRan *record)
{
  KnownThread *thread;
  Name *name = find_name (self, record->head.tid, record->time, &thread);

  name->ran += record->ran;
  tell_run (self, name);
  if (name != thread->name)
    return; /* the thread ID has been reused */
  thread->has_ended = true;
  thread->n_flushed = 0;
}

void
sysprof_wait_log_take (WaitLog *self, const WaitsHead *record)
{
  switch ((WaitsRecordKind) record->kind)
    {
    case WAITS_THREAD:
      take_thread (self, (const WaitsThread *) (const void *) record);
      break;
    case WAITS_STACK:
      take_stack (self, (const WaitsStack *) (const void *) record);
      break;
    case WAITS_WAIT:
      take_wait (self, (const WaitsWait *) (const void *) record);
      break;
    case WAITS_RAN:
      take_ran (self, (const WaitsRan *) (const void *) record);
      break;
    default:
      break;
    }
}

uint64_t
sysprof_wait_log_set_lost (WaitLog *self, uint64_t n, int64_t time)
{
  uint64_t more = n > self->n_lost ? n - self->n_lost : 0;

  if (more > 0)
    sysprof_wait_stream_add_lost (&self->stream, more, time);
  self->n_lost += more;
  return more;
}

/* Forgets names and threads after two flushes. By then all waits of the older name have been
 * read, and a thread that has exited cannot wake others any more. */
static gboolean
is_forgotten (gpointer tid, gpointer data, gpointer user_data)
{
  WaitLog *self = user_data;
  KnownThread *thread = data;
  Name **at = &thread->name->before;

  while (*at != NULL)
    {
      Name *name = *at;

      if (++name->n_flushed < 2)
        {
          at = &name->before;
          continue;
        }
      tell_run (self, name);
      *at = name->before;
      g_free (name);
    }
  if (!thread->has_ended || ++thread->n_flushed <= 2)
    return FALSE;
  for (Name *name = thread->name; name != NULL; name = name->before)
    tell_run (self, name);
  return TRUE;
}

void
sysprof_wait_log_flush (WaitLog *self)
{
  g_hash_table_foreach_remove (self->threads, is_forgotten, self);
  sysprof_wait_stream_flush (&self->stream, false);
}

void
sysprof_wait_log_finish (WaitLog *self)
{
  GHashTableIter iter;
  gpointer thread;

  g_hash_table_iter_init (&iter, self->threads);
  while (g_hash_table_iter_next (&iter, NULL, &thread))
    for (Name *name = ((KnownThread *) thread)->name; name != NULL; name = name->before)
      tell_run (self, name);
  sysprof_wait_stream_flush (&self->stream, true);
}

WaitLogStatus
sysprof_wait_log_get_status (const WaitLog *self)
{
  WaitLogStatus status = self->status;

  status.n_stacks = self->n_stacks;
  return status;
}
