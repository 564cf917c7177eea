// SPDX-License-Identifier: GPL-3.0-or-later

/* Ends the recording when all processes and threads that the user has named have exited. */

#include "record/clock.h"
#include "record/sampling/sampler-private.h"
#include "util/util.h"

#include <sys/syscall.h>
#include <unistd.h>

#define GONE_INTERVAL (100 * NSEC_PER_MSEC)

/* A process or thread that the user has named. */
typedef struct
{
  pid_t id;
  int fd; /* pidfd; -1 = none (a thread), so it is checked in /proc */
} WatchedTask;

static void
check_all_gone (SysprofSampler *self, RecordingContext *context)
{
  for (guint i = self->watched->len; i > 0; i--)
    {
      WatchedTask *task = &g_array_index (self->watched, WatchedTask, i - 1);

      if (task->fd < 0 && !sysprof_tasks_is_there (context->privilege, task->id))
        g_array_remove_index_fast (self->watched, i - 1);
    }

  /* The pump watches a spawned command itself. */
  if (self->watched->len == 0 && context->spawnable == NULL)
    sysprof_pump_request_stop (context->pump);
}

static void
task_ended (RecordingContext *context, int fd, void *data)
{
  SysprofSampler *self = data;

  sysprof_pump_unwatch_fd (context->pump, fd);
  for (guint i = 0; i < self->watched->len; i++)
    if (g_array_index (self->watched, WatchedTask, i).fd == fd)
      {
        g_array_remove_index_fast (self->watched, i);
        break;
      }
  (void) close (fd);
  check_all_gone (self, context);
}

static void
gone_tick (RecordingContext *context, int64_t now, void *data)
{
  check_all_gone (data, context);
}

void
sysprof_sampler_watch_tasks (SysprofSampler *self, RecordingContext *context)
{
  if (self->request.watched == NULL)
    return;

  self->watched = g_array_new (false, false, sizeof (WatchedTask));
  for (guint i = 0; i < self->request.watched->len; i++)
    {
      pid_t id = g_array_index (self->request.watched, pid_t, i);
      WatchedTask task = { id, (int) syscall (SYS_pidfd_open, id, 0) };

      g_array_append_val (self->watched, task);
      if (task.fd >= 0)
        sysprof_pump_watch_fd (context->pump, task.fd, task_ended, self);
    }
  sysprof_pump_add_tick (context->pump, GONE_INTERVAL, gone_tick, self);
}

void
sysprof_sampler_forget_tasks (SysprofSampler *self)
{
  for (guint i = 0; self->watched != NULL && i < self->watched->len; i++)
    sysprof_autofd_close (&g_array_index (self->watched, WatchedTask, i).fd);
  g_clear_pointer (&self->watched, g_array_unref);
}
