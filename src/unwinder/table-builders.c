// SPDX-License-Identifier: GPL-3.0-or-later

/* Each builder owns one worker process and runs one job after another. The workers start before
 * the threads, because no other thread may hold the allocator's lock during fork(). */

#include "unwinder/table-builders.h"

#include "unwinder/priority.h"
#include "unwinder/work-queue.h"

#include <stdatomic.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define MOST_BUILDERS 4

struct TableBuilders
{
  WorkQueue to_build; /* of TableJob */
  WorkQueue done;
  GThread *builders[MOST_BUILDERS];
  UnwindWorker workers[MOST_BUILDERS]; /* one per builder */
  atomic_uint n_taken;                 /* workers taken by builders */
  unsigned n_builders;
  int wake_fd;
  int stop_fd; /* readable when no builder may wait for its worker any more */
};

static void *
build_tables (void *data)
{
  TableBuilders *self = data;
  UnwindWorker *worker =
      &self->workers[atomic_fetch_add_explicit (&self->n_taken, 1, memory_order_relaxed)];
  const uint64_t one = 1;
  TableJob *job;

  sysprof_raise_priority ();
  while ((job = sysprof_work_queue_wait (&self->to_build))->file != NULL)
    {
      int64_t begin = g_get_monotonic_time ();

      job->status = sysprof_unwind_worker_build (worker, job->envelope, job->debug_envelope,
                                                 &job->info, &job->table);
      job->nsec = (g_get_monotonic_time () - begin) * 1000;
      sysprof_work_queue_push (&self->done, job, false);
      (void) !write (self->wake_fd, &one, sizeof one); /* full: already signaled */
    }

  g_free (job);
  sysprof_unwind_worker_clear (worker);
  return NULL;
}

static bool
start_builders (TableBuilders *self, GError **error)
{
  unsigned n = CLAMP (g_get_num_processors (), 1, MOST_BUILDERS);

  for (unsigned i = 0; i < n; i++)
    {
      self->workers[i] = (UnwindWorker) UNWIND_WORKER_INIT;
      self->workers[i].has_stop_fd = self->stop_fd >= 0;
      self->workers[i].stop_fd = self->stop_fd;
      /* On failure it starts with the first table. */
      (void) sysprof_unwind_worker_start (&self->workers[i]);
    }
  /* One is enough. */
  while (self->n_builders < n)
    {
      GThread *builder = g_thread_try_new ("sysprof-tables", build_tables, self,
                                           self->n_builders == 0 ? error : NULL);

      if (builder == NULL)
        break;
      self->builders[self->n_builders++] = builder;
    }
  for (unsigned i = self->n_builders; i < n; i++)
    sysprof_unwind_worker_clear (&self->workers[i]);
  return self->n_builders > 0;
}

TableBuilders *
sysprof_table_builders_new (int wake_fd, GError **error)
{
  TableBuilders *self = g_new0 (TableBuilders, 1);

  sysprof_work_queue_init (&self->to_build);
  sysprof_work_queue_init (&self->done);
  self->wake_fd = wake_fd;
  self->stop_fd = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (start_builders (self, error))
    return self;
  sysprof_table_builders_free (self, NULL);
  return NULL;
}

void
sysprof_table_builders_queue (TableBuilders *self, const TableJob *job, bool soon)
{
  sysprof_work_queue_push (&self->to_build, g_memdup2 (job, sizeof *job), soon);
}

TableJob *
sysprof_table_builders_collect (TableBuilders *self)
{
  return sysprof_work_queue_try (&self->done);
}

static void
drop_jobs (WorkQueue *queue, void (*drop) (TableJob *job))
{
  TableJob *job;

  while ((job = sysprof_work_queue_try (queue)) != NULL)
    {
      drop (job);
      sysprof_autofd_close (&job->envelope);
      sysprof_autofd_close (&job->debug_envelope);
      sysprof_unwind_table_clear (&job->table);
      g_free (job);
    }
}

void
sysprof_table_builders_free (TableBuilders *self, void (*drop) (TableJob *job))
{
  const TableJob end = { .envelope = -1, .debug_envelope = -1 };
  const uint64_t one = 1;

  if (self == NULL)
    return;

  drop_jobs (&self->to_build, drop);
  for (unsigned i = 0; i < self->n_builders; i++)
    sysprof_table_builders_queue (self, &end, false);
  /* On failure the builders finish their jobs first. */
  (void) !write (self->stop_fd, &one, sizeof one);
  for (unsigned i = 0; i < self->n_builders; i++)
    g_thread_join (self->builders[i]);
  drop_jobs (&self->done, drop);

  sysprof_work_queue_clear (&self->to_build, NULL);
  sysprof_work_queue_clear (&self->done, NULL);
  sysprof_autofd_close (&self->stop_fd);
  g_free (self);
}
