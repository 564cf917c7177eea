// SPDX-License-Identifier: GPL-3.0-or-later

/* Pending samples, and the code that finishes them. The total size of all samples is limited;
 * more are refused. */

#include "record/unwinder/unfinished.h"

#include "record/unwinder/hand-over.h"

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
} Unfinished;

struct UnfinishedSamples
{
  HandOver to_walk; /* of Unfinished */
  HandOver done;
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
  g_free (((Unfinished *) data)->walked);
  g_free (data);
}

UnfinishedSamples *
sysprof_unfinished_samples_new (void)
{
  UnfinishedSamples *self = g_new0 (UnfinishedSamples, 1);

  sysprof_hand_over_init (&self->to_walk);
  sysprof_hand_over_init (&self->done);
  g_queue_init (&self->waiting);
  return self;
}

void
sysprof_unfinished_samples_free (UnfinishedSamples *self)
{
  if (self == NULL)
    return;

  g_queue_clear_full (&self->waiting, free_unfinished);
  sysprof_hand_over_clear (&self->to_walk, free_unfinished);
  sysprof_hand_over_clear (&self->done, free_unfinished);
  g_free (self);
}

/* --- threads that add samples, and the pump --- */

bool
sysprof_unfinished_samples_add (UnfinishedSamples *self, const WalkedSample *sample)
{
  size_t rest_words = (sizeof *sample->rest + sample->rest->size + 7) / 8;
  size_t n_words = sample->n_kernel + sample->n_user + rest_words;
  size_t size = sizeof (Unfinished) + n_words * sizeof (uint64_t);
  Unfinished *unfinished;
  uint64_t *kernel, *user;
  WalkRest *rest;

  if (atomic_load_explicit (&self->n_bytes, memory_order_relaxed) + size > MOST_BYTES)
    {
      atomic_fetch_add_explicit (&self->n_refused, 1, memory_order_relaxed);
      return false;
    }

  unfinished = g_malloc (size);
  kernel = unfinished->words;
  user = kernel + sample->n_kernel;
  rest = (WalkRest *) (void *) (user + sample->n_user);
  memcpy (kernel, sample->kernel, sample->n_kernel * sizeof *kernel);
  memcpy (user, sample->user, sample->n_user * sizeof *user);
  *rest = *sample->rest;
  memcpy (rest + 1, sample->stack, rest->size);
  unfinished->sample = *sample;
  unfinished->sample.kernel = kernel;
  unfinished->sample.user = user;
  unfinished->sample.rest = rest;
  unfinished->sample.stack = (const uint8_t *) (rest + 1);
  unfinished->size = size;
  unfinished->walked = NULL;

  atomic_fetch_add_explicit (&self->n_taken, 1, memory_order_relaxed);
  atomic_fetch_add_explicit (&self->n_bytes, size, memory_order_relaxed);
  sysprof_hand_over_push (&self->to_walk, unfinished, false);
  return true;
}

void
sysprof_unfinished_samples_write (UnfinishedSamples *self, PerfDecoder *decoder)
{
  Unfinished *done;

  while ((done = sysprof_hand_over_try (&self->done)) != NULL)
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
walk (UnfinishedSamples *self,
      Unfinished *unfinished,
      const UnwindMemory *memory,
      uint32_t walk_as)
{
  WalkedSample *sample = &unfinished->sample;

  sysprof_walked_sample_finish (sample, walk_as, memory, self->addresses);
  if (sysprof_walk_reason_is_whole (sample->reason))
    self->n_finished++;
  unfinished->walked = g_memdup2 (self->addresses, sample->n_user * sizeof *self->addresses);
  sample->user = unfinished->walked;
}

static int64_t
age_of (const Unfinished *unfinished)
{
  struct timespec now;

  clock_gettime (CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C (1000000000) + now.tv_nsec - unfinished->sample.time;
}

/* FALSE: the sample stays pending. */
static bool
try_to_walk (UnfinishedSamples *self,
             Unfinished *unfinished,
             CodeProcesses *processes,
             const UnwindMemory *memory,
             UnfinishedPatience patience,
             int64_t told_until)
{
  uint32_t walk_as;

  /* Events before the sample may not have been received yet. */
  if (unfinished->sample.time >= told_until && patience != UNFINISHED_WALK_ALL)
    return false;

  switch (sysprof_code_processes_ask (processes, unfinished->sample.pid,
                                      unfinished->sample.time, &walk_as))
    {
    case CODE_READY:
      walk (self, unfinished, memory, walk_as);
      return true;
    case CODE_PENDING:
      if (patience != UNFINISHED_WALK_ALL && age_of (unfinished) < PATIENCE_NSEC)
        return false;
      walk (self, unfinished, memory, walk_as);
      return true;
    case CODE_UNHEARD_OF:
      return patience == UNFINISHED_WALK_ALL ||
             (patience == UNFINISHED_BE_PATIENT && age_of (unfinished) >= UNHEARD_OF_NSEC);
    default:
      return true;
    }
}

bool
sysprof_unfinished_samples_walk (UnfinishedSamples *self,
                                 CodeProcesses *processes,
                                 const UnwindMemory *memory,
                                 UnfinishedPatience patience,
                                 int64_t told_until)
{
  Unfinished *unfinished;
  guint n;

  while ((unfinished = sysprof_hand_over_try (&self->to_walk)) != NULL)
    g_queue_push_tail (&self->waiting, unfinished);

  n = self->waiting.length;
  for (guint i = 0; i < n; i++)
    {
      unfinished = g_queue_pop_head (&self->waiting);
      if (try_to_walk (self, unfinished, processes, memory, patience, told_until))
        sysprof_hand_over_push (&self->done, unfinished, false);
      else
        g_queue_push_tail (&self->waiting, unfinished);
    }
  return self->waiting.length > 0;
}

UnfinishedStatus
sysprof_unfinished_samples_get_status (const UnfinishedSamples *self)
{
  return (UnfinishedStatus){
    .n_taken = atomic_load_explicit (&self->n_taken, memory_order_relaxed),
    .n_finished = self->n_finished,
    .n_refused = atomic_load_explicit (&self->n_refused, memory_order_relaxed),
  };
}
