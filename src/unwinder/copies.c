// SPDX-License-Identifier: GPL-3.0-or-later

/* Workers that unwind stack copies, and the batches that carry samples to them. `lock` protects
 * the processes and tables: workers hold it shared for one sample, the unwinder's thread
 * exclusively while it changes them. */

#include "unwinder/copies.h"

#include "unwinder/work-queue.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#define BATCH_SIZE   (256u * 1024) /* bytes: room for at least three samples */
#define MOST_BATCHES 96u
#define MOST_WORKERS 4
#define RESULTS_SIZE (32 * 1024) /* initial size, bytes */

/* *Owned* by one thread at a time. */
typedef struct
{
  size_t size; /* in use */
  uint8_t bytes[BATCH_SIZE] __attribute__ ((aligned (8)));
} Batch;

/* A sample of variable size. In a batch, `words` contains the kernel's addresses and the stack
 * copy. In results, it contains the kernel's and the user's addresses. Pointers in `sample` are
 * valid only after the reader has set them. */
typedef struct
{
  WalkedSample sample;
  WalkRest rest; /* in batches only */
  size_t size;   /* bytes, of the header and `words` */
  uint64_t words[];
} CopiedSample;

typedef struct
{
  CopiedSamples *samples;
  GThread *thread;
  uint64_t addresses[WALK_MOST_ADDRESSES];
  uint64_t n_handed_on;
  int64_t cpu_nsec;
} Worker;

struct CopiedSamples
{
  const CodeProcesses *processes; /* guarded by `lock` */
  const UnwindMemory *memory;     /* the same */
  PendingSamples *pending;
  int wake_fd;
  pthread_rwlock_t lock;
  WorkQueue free_batches;
  WorkQueue sent;
  WorkQueue to_walk; /* of Batch; an empty one ends a worker */
  WorkQueue results; /* of GByteArray */
  Worker *workers[MOST_WORKERS];
  unsigned n_workers;

  /* Owned by the pump's thread. */
  Batch *filling; /* NULL = none */
  unsigned n_batches;
  uint64_t n_taken;
  uint64_t n_refused;

  /* Owned by the unwinder's thread. */
  GQueue held;
};

/* --- the pump --- */

static Batch *
take_free_batch (CopiedSamples *self)
{
  Batch *batch = sysprof_work_queue_try (&self->free_batches);

  if (batch == NULL && self->n_batches < MOST_BATCHES)
    {
      batch = g_malloc (sizeof *batch);
      self->n_batches++;
    }
  if (batch != NULL)
    batch->size = 0;
  return batch;
}

void
sysprof_copied_samples_send (CopiedSamples *self)
{
  const uint64_t one = 1;

  if (self->filling == NULL)
    return;
  sysprof_work_queue_push (&self->sent, g_steal_pointer (&self->filling), false);
  (void) !write (self->wake_fd, &one, sizeof one); /* full: already signaled */
}

bool
sysprof_copied_samples_add (CopiedSamples *self, const WalkedSample *sample)
{
  size_t kernel_size = sample->n_kernel * sizeof (uint64_t);
  size_t size = sizeof (CopiedSample) + kernel_size + ((sample->rest->size + 7u) & ~7u);
  CopiedSample *copied;

  if (self->filling != NULL && BATCH_SIZE - self->filling->size < size)
    sysprof_copied_samples_send (self);
  if (self->filling == NULL)
    self->filling = take_free_batch (self);
  if (self->filling == NULL || BATCH_SIZE - self->filling->size < size)
    {
      self->n_refused++;
      return false;
    }

  copied = (CopiedSample *) (void *) (self->filling->bytes + self->filling->size);
  copied->sample = *sample;
  copied->rest = *sample->rest;
  copied->size = size;
  if (kernel_size > 0)
    memcpy (copied->words, sample->kernel, kernel_size);
  if (sample->rest->size > 0)
    memcpy (copied->words + sample->n_kernel, sample->stack, sample->rest->size);
  self->filling->size += size;
  self->n_taken++;
  return true;
}

void
sysprof_copied_samples_write (CopiedSamples *self, PerfDecoder *decoder)
{
  GByteArray *results;

  while ((results = sysprof_work_queue_try (&self->results)) != NULL)
    {
      for (size_t at = 0; at < results->len;)
        {
          CopiedSample *walked = (CopiedSample *) (void *) (results->data + at);

          walked->sample.kernel = walked->words;
          walked->sample.user = walked->words + walked->sample.n_kernel;
          sysprof_perf_decoder_write (decoder, &walked->sample);
          at += walked->size;
        }
      g_byte_array_unref (results);
    }
}

/* --- workers --- */

static void
add_result (GByteArray *results, const WalkedSample *sample)
{
  size_t kernel_size = sample->n_kernel * sizeof (uint64_t);
  size_t user_size = sample->n_user * sizeof (uint64_t);
  CopiedSample walked = { .sample = *sample, .size = sizeof walked + kernel_size + user_size };

  g_byte_array_append (results, (const uint8_t *) &walked, sizeof walked);
  g_byte_array_append (results, (const uint8_t *) sample->kernel, (guint) kernel_size);
  g_byte_array_append (results, (const uint8_t *) sample->user, (guint) user_size);
}

/* FALSE: the sample must wait for a process or a table. */
static bool
walk (Worker *worker, WalkedSample *sample)
{
  CopiedSamples *self = worker->samples;
  CodeState state;

  (void) pthread_rwlock_rdlock (&self->lock);
  state = sysprof_code_processes_look (self->processes, sample->pid, sample->time);
  if (state == CODE_READY)
    sysprof_walked_sample_finish (sample, (uint32_t) sample->pid, self->memory,
                                  worker->addresses);
  else
    sample->reason = WALK_NO_PROCESS;
  (void) pthread_rwlock_unlock (&self->lock);

  return state == CODE_READY && sample->reason != WALK_NO_TABLE;
}

static void
walk_sample (Worker *worker, CopiedSample *copied, GByteArray *results)
{
  WalkedSample sample = copied->sample;

  sample.kernel = copied->words;
  sample.stack = (const uint8_t *) (copied->words + sample.n_kernel);
  sample.rest = &copied->rest;
  sample.user = &copied->rest.ip;
  if (walk (worker, &sample))
    {
      add_result (results, &sample);
      return;
    }

  /* A pending sample is unwound from the start. If there are too many of them, write the
   * addresses that were found. */
  copied->sample.reason = sample.reason;
  copied->sample.kernel = sample.kernel;
  copied->sample.stack = sample.stack;
  copied->sample.rest = &copied->rest;
  copied->sample.user = &copied->rest.ip;
  if (sysprof_pending_samples_add (worker->samples->pending, &copied->sample))
    worker->n_handed_on++;
  else
    add_result (results, &sample);
}

static void *
run_worker (void *data)
{
  Worker *worker = data;
  CopiedSamples *self = worker->samples;
  const uint64_t one = 1;
  struct timespec cpu;
  Batch *batch;

  while ((batch = sysprof_work_queue_wait (&self->to_walk))->size > 0)
    {
      GByteArray *results = g_byte_array_sized_new (RESULTS_SIZE);
      uint64_t n_handed_on = worker->n_handed_on;

      for (size_t at = 0; at < batch->size;)
        {
          CopiedSample *copied = (CopiedSample *) (void *) (batch->bytes + at);

          walk_sample (worker, copied, results);
          at += copied->size;
        }
      sysprof_work_queue_push (&self->free_batches, batch, false);
      sysprof_work_queue_push (&self->results, results, false);
      if (worker->n_handed_on > n_handed_on)
        (void) !write (self->wake_fd, &one, sizeof one);
    }

  sysprof_work_queue_push (&self->free_batches, batch, false);
  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &cpu);
  worker->cpu_nsec = cpu.tv_sec * INT64_C (1000000000) + cpu.tv_nsec;
  return NULL;
}

/* --- the unwinder --- */

void
sysprof_copied_samples_hold (CopiedSamples *self)
{
  Batch *batch;

  while ((batch = sysprof_work_queue_try (&self->sent)) != NULL)
    g_queue_push_tail (&self->held, batch);
  (void) pthread_rwlock_wrlock (&self->lock);
}

void
sysprof_copied_samples_go_on (CopiedSamples *self)
{
  Batch *batch;

  (void) pthread_rwlock_unlock (&self->lock);
  while ((batch = g_queue_pop_head (&self->held)) != NULL)
    sysprof_work_queue_push (&self->to_walk, batch, false);
}

void
sysprof_copied_samples_finish (CopiedSamples *self)
{
  for (unsigned i = 0; i < self->n_workers; i++)
    if (self->workers[i]->thread != NULL)
      sysprof_work_queue_push (&self->to_walk, g_malloc0 (sizeof (Batch)), false);
  for (unsigned i = 0; i < self->n_workers; i++)
    if (self->workers[i]->thread != NULL)
      g_thread_join (g_steal_pointer (&self->workers[i]->thread));
}

/* --- construction and destruction --- */

static void
init_lock (pthread_rwlock_t *lock)
{
  pthread_rwlockattr_t attributes;

  /* Prefer the writer: with many readers, the unwinder's thread might never get the lock. */
  (void) pthread_rwlockattr_init (&attributes);
  (void) pthread_rwlockattr_setkind_np (&attributes,
                                        PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
  (void) pthread_rwlock_init (lock, &attributes);
  (void) pthread_rwlockattr_destroy (&attributes);
}

CopiedSamples *
sysprof_copied_samples_new (const CodeProcesses *processes,
                            const UnwindMemory *memory,
                            PendingSamples *pending,
                            int wake_fd,
                            GError **error)
{
  CopiedSamples *self = g_new0 (CopiedSamples, 1);
  unsigned n;

  self->processes = processes;
  self->memory = memory;
  self->pending = pending;
  self->wake_fd = wake_fd;
  init_lock (&self->lock);
  sysprof_work_queue_init (&self->free_batches);
  sysprof_work_queue_init (&self->sent);
  sysprof_work_queue_init (&self->to_walk);
  sysprof_work_queue_init (&self->results);
  g_queue_init (&self->held);
  n = CLAMP (g_get_num_processors (), 1, MOST_WORKERS);
  /* One is enough. */
  for (unsigned i = 0; i < n && self->n_workers == i; i++)
    {
      Worker *worker = g_new0 (Worker, 1);

      worker->samples = self;
      worker->thread =
          g_thread_try_new ("sysprof-walk", run_worker, worker, i == 0 ? error : NULL);
      if (worker->thread != NULL)
        self->workers[self->n_workers++] = worker;
      else
        g_free (worker);
    }
  if (self->n_workers > 0)
    return self;
  sysprof_copied_samples_free (self);
  return NULL;
}

void
sysprof_copied_samples_free (CopiedSamples *self)
{
  if (self == NULL)
    return;

  sysprof_copied_samples_finish (self);
  for (unsigned i = 0; i < self->n_workers; i++)
    g_free (self->workers[i]);
  g_free (self->filling);
  sysprof_work_queue_clear (&self->free_batches, g_free);
  sysprof_work_queue_clear (&self->sent, g_free);
  sysprof_work_queue_clear (&self->to_walk, g_free);
  sysprof_work_queue_clear (&self->results, (GDestroyNotify) g_byte_array_unref);
  g_queue_clear_full (&self->held, g_free);
  (void) pthread_rwlock_destroy (&self->lock);
  g_free (self);
}

CopiedStatus
sysprof_copied_samples_get_status (const CopiedSamples *self)
{
  CopiedStatus status = { .n_taken = self->n_taken, .n_refused = self->n_refused };

  for (unsigned i = 0; i < self->n_workers; i++)
    {
      status.n_handed_on += self->workers[i]->n_handed_on;
      status.cpu_nsec += self->workers[i]->cpu_nsec;
    }
  return status;
}
