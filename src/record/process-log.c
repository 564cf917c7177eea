// SPDX-License-Identifier: GPL-3.0-or-later

#include "record/process-log.h"

#include <glib.h>

void
sysprof_process_log_clear (ProcessLog *self)
{
  g_free (self->only);
  *self = (ProcessLog){ 0 };
}

void
sysprof_process_log_set_only (ProcessLog *self, const int32_t *pids, unsigned n_pids)
{
  g_free (self->only);
  self->only = g_memdup2 (pids, n_pids * sizeof *pids);
  self->n_only = n_pids;
}

static StartedProcess *
get_nth (ProcessLog *self, unsigned i)
{
  return &self->started[(self->first + i) % PROCESS_LOG_SIZE];
}

void
sysprof_process_log_started (ProcessLog *self, int32_t pid, int64_t time)
{
  if (self->n_started == PROCESS_LOG_SIZE)
    {
      self->first = (self->first + 1) % PROCESS_LOG_SIZE;
      self->n_started--;
    }

  *get_nth (self, self->n_started++) = (StartedProcess){ pid, time };
}

void
sysprof_process_log_ended (ProcessLog *self, int32_t pid)
{
  for (unsigned i = self->n_started; i > 0; i--)
    if (get_nth (self, i - 1)->pid == pid)
      get_nth (self, i - 1)->pid = 0;

  while (self->n_started > 0 && get_nth (self, self->n_started - 1)->pid == 0)
    self->n_started--;
}

bool
sysprof_process_log_take (ProcessLog *self, StartedProcess *process)
{
  while (self->n_started > 0)
    {
      *process = *get_nth (self, 0);
      self->first = (self->first + 1) % PROCESS_LOG_SIZE;
      self->n_started--;
      if (process->pid != 0)
        return true;
    }
  return false;
}
