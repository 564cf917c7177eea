// SPDX-License-Identifier: GPL-3.0-or-later

/* Pending samples, and the code that finishes them. The total size of all samples is limited;
 * more are refused. */

#include "unwinder/pending-samples.h"

#include "unwinder/work-queue.h"

#include <stdatomic.h>
#include <string.h>
#include <time.h>

#define MOST_BYTES (64u << 20) /* of pending samples */
#define PATIENCE_NSEC \
  INT64_C (10000000000) /* for a table; on a busy machine large tables take seconds */
#define UNHEARD_OF_NSEC INT64_C (200000000) /* for a process that is unknown */

/* *Owned* by one thread at a time. */
typedef struct
{
  WalkedSample sample; /* points into `words` */
  size_t size;         /* bytes of all this, without `walked` */
  uint64_t *walked;    /* addresses that sample.user points to after unwinding; NULL = none */
  uint64_t words[];
} PendingSample;

struct PendingSamples
{
  WorkQueue to_walk; /* of PendingSample */
  WorkQueue done;
  atomic_size_t n_bytes; /* in both queues and in `waiting`; relaxed: only a limit */

  /* Owned by the unwinder's thread. */
  GQueue waiting;
  uint64_t addresses[WALK_MOST_ADDRESSES];

  uint64_t n_finished;           /* owned by the unwinder's thread */
  atomic_uint_least64_t n_taken; /* relaxed: only statistics */
  atomic_uint_least64_t n_refused;
};

static void
free_unfinished (void *data)
{
  g_free (((PendingSample *) data)->walked);
  g_free (data);
}

PendingSamples *
sysprof_pending_samples_new (void)
{
  PendingSamples *self = g_new0 (PendingSamples, 1);

  sysprof_work_queue_init (&self->to_walk);
  sysprof_work_queue_init (&self->done);
  g_queue_init (&self->waiting);
  return self;
}

void
sysprof_pending_samples_free (PendingSamples *self)
{
  if (self == NULL)
    return;

  g_queue_clear_full (&self->waiting, free_unfinished);
  sysprof_work_queue_clear (&self->to_walk, free_unfinished);
  sysprof_work_queue_clear (&self->done, free_unfinished);
  g_free (self);
}

/* --- threads that add samples, and the pump --- */

bool
sysprof_pending_samples_add (PendingSamples *self, const WalkedSample *sample)
{
  size_t rest_words = (sizeof *sample->rest + sample->rest->size + 7) / 8;
  size_t n_words = sample->n_kernel + sample->n_user + rest_words;
  size_t size = sizeof (PendingSample) + n_words * sizeof (uint64_t);
  PendingSample *pending;
  uint64_t *kernel, *user;
  WalkRest *rest;

  if (atomic_load_explicit (&self->n_bytes, memory_order_relaxed) + size > MOST_BYTES)
    {
      atomic_fetch_add_explicit (&self->n_refused, 1, memory_order_relaxed);
      return false;
    }

  pending = g_malloc (size);
  kernel = pending->words;
  user = kernel + sample->n_kernel;
  rest = (WalkRest *) (void *) (user + sample->n_user);
  memcpy (kernel, sample->kernel, sample->n_kernel * sizeof *kernel);
  memcpy (user, sample->user, sample->n_user * sizeof *user);
  *rest = *sample->rest;
  memcpy (rest + 1, sample->stack, rest->size);
  pending->sample = *sample;
  pending->sample.kernel = kernel;
  pending->sample.user = user;
  pending->sample.rest = rest;
  pending->sample.stack = (const uint8_t *) (rest + 1);
  pending->size = size;
  pending->walked = NULL;

  atomic_fetch_add_explicit (&self->n_taken, 1, memory_order_relaxed);
  atomic_fetch_add_explicit (&self->n_bytes, size, memory_order_relaxed);
  sysprof_work_queue_push (&self->to_walk, pending, false);
  return true;
}

void
sysprof_pending_samples_write (PendingSamples *self, PerfDecoder *decoder)
{
  PendingSample *done;

  while ((done = sysprof_work_queue_try (&self->done)) != NULL)
    {
      sysprof_perf_decoder_write (decoder, &done->sample);
      atomic_fetch_sub_explicit (&self->n_bytes, done->size, memory_order_relaxed);
      free_unfinished (done);
    }
}

/* --- the unwinder --- */

void
sysprof_walked_sample_finish (WalkedSample *sample,
                              uint32_t walk_as,
                              const UnwindMemory *memory,
                              uint64_t *addresses)
{
  const WalkRest *rest = sample->rest;
  UnwindStart start = {
    .ip = rest->ip,
    .sp = rest->sp,
    .fp = rest->fp,
    .lr = rest->lr,
    .is_arm64 = UNWIND_IS_ARM64,
    .has_lost_sp = (rest->flags & WALK_REST_HAS_LOST_SP) != 0,
    .code_mask = sysprof_walk_code_mask (),
    .is_exact = (rest->flags & WALK_REST_IS_EXACT) != 0,
    .registers = (rest->flags & WALK_REST_HAS_REGISTERS) != 0 ? rest->registers : NULL,
  };
  UnwindStack stack = { rest->sp, sample->stack, rest->size };
  size_t n_before = sample->n_user - 1; /* the last one is where unwinding continues */
  UnwindWalk walked;

  memcpy (addresses, sample->user, n_before * sizeof *addresses);
  walked = sysprof_unwind_walk (memory, walk_as, &start, &stack, addresses + n_before,
                                WALK_MOST_ADDRESSES - n_before);
  /* The copy can end before the stack does. */
  sample->reason = walked.reason == WALK_FAULT && sample->is_cut ? WALK_DEPTH : walked.reason;
  sample->n_user = n_before + walked.n;
  sample->user = addresses;
  if ((sample->used & WALK_USED_DOUBT) != 0 && sysprof_walk_reason_is_whole (walked.reason))
    sample->reason = WALK_TABLE_FAILED;
  sample->used |= walked.used;
  sample->is_from_copy = true;
}

static void
walk (PendingSamples *self,
      PendingSample *pending,
      const UnwindMemory *memory,
      uint32_t walk_as)
{
  WalkedSample *sample = &pending->sample;

  sysprof_walked_sample_finish (sample, walk_as, memory, self->addresses);
  if (sysprof_walk_reason_is_whole (sample->reason))
    self->n_finished++;
  pending->walked = g_memdup2 (self->addresses, sample->n_user * sizeof *self->addresses);
  sample->user = pending->walked;
}

static int64_t
age_of (const PendingSample *pending)
{
  struct timespec now;

  clock_gettime (CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C (1000000000) + now.tv_nsec - pending->sample.time;
}

/* FALSE: the sample stays pending. */
static bool
try_to_walk (PendingSamples *self,
             PendingSample *pending,
             CodeProcesses *processes,
             const UnwindMemory *memory,
             PendingPatience patience,
             int64_t events_until)
{
  uint32_t walk_as;

  /* Events before the sample may not have been received yet. */
  if (pending->sample.time >= events_until && patience != PENDING_WALK_ALL)
    return false;

  switch (sysprof_code_processes_ask (processes, pending->sample.pid, pending->sample.time,
                                      &walk_as))
    {
    case CODE_READY:
      walk (self, pending, memory, walk_as);
      return true;
    case CODE_PENDING:
      if (patience != PENDING_WALK_ALL && age_of (pending) < PATIENCE_NSEC)
        return false;
      walk (self, pending, memory, walk_as);
      return true;
    case CODE_UNHEARD_OF:
      return patience == PENDING_WALK_ALL ||
             (patience == PENDING_BE_PATIENT && age_of (pending) >= UNHEARD_OF_NSEC);
    default:
      return true;
    }
}

bool
sysprof_pending_samples_walk (PendingSamples *self,
                              CodeProcesses *processes,
                              const UnwindMemory *memory,
                              PendingPatience patience,
                              int64_t events_until)
{
  PendingSample *pending;
  guint n;

  while ((pending = sysprof_work_queue_try (&self->to_walk)) != NULL)
    g_queue_push_tail (&self->waiting, pending);

  n = self->waiting.length;
  for (guint i = 0; i < n; i++)
    {
      pending = g_queue_pop_head (&self->waiting);
      if (try_to_walk (self, pending, processes, memory, patience, events_until))
        sysprof_work_queue_push (&self->done, pending, false);
      else
        g_queue_push_tail (&self->waiting, pending);
    }
  return self->waiting.length > 0;
}

PendingStatus
sysprof_pending_samples_get_status (const PendingSamples *self)
{
  return (PendingStatus){
    .n_taken = atomic_load_explicit (&self->n_taken, memory_order_relaxed),
    .n_finished = self->n_finished,
    .n_refused = atomic_load_explicit (&self->n_refused, memory_order_relaxed),
  };
}
