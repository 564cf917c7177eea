// SPDX-License-Identifier: GPL-3.0-or-later

/* Publishes the mappings of processes when they have changed, when a sample needs them, or when
 * a deadline is due. A stack from before a process's last exec is unwound with the mappings of
 * the program that it executed before, which are published under a pid of their own. */

#include "unwinder/processes-private.h"

#include <errno.h>
#include <signal.h>

#define FORMER_PROGRAM UINT32_C (0x7fffffff) /* a pid that no process has */
/* Until a process that found no room is tried again. */
#define RETRY_USEC (1 * G_TIME_SPAN_SECOND)

/* Sets `waits` if a table for one of the mappings is being built. FALSE: there is no room. */
static bool
publish_mappings (CodeProcesses *self,
                  uint32_t pid,
                  const GArray *mappings,
                  int64_t now,
                  bool *waits)
{
  GArray *scratch = self->scratch;

  *waits = false;
  g_array_set_size (scratch, mappings->len);
  for (guint i = 0; i < mappings->len; i++)
    {
      const CodeMapping *mapping = &g_array_index (mappings, CodeMapping, i);
      UnwindProcessMapping *published = &g_array_index (scratch, UnwindProcessMapping, i);

      published->start = mapping->start;
      published->end = mapping->end;
      sysprof_code_file_describe (mapping->file, mapping->offset, published);
      *waits |= published->is_pending;
    }

  /* Without room the process is not published, and the unwinder reports it as unknown. */
  return sysprof_unwind_publisher_set_process (
      self->publisher, pid, (const UnwindProcessMapping *) (void *) scratch->data, scratch->len,
      now);
}

/* If there is no room, the process stays marked as changed. */
static void
publish (CodeProcesses *self, CodeProcess *process, int64_t now)
{
  if (now < process->retry_usec)
    return;

  process->is_waiting = false;
  process->is_changed = !process->is_inherited &&
                        !publish_mappings (self, (uint32_t) process->pid, process->mappings,
                                           now, &process->is_waiting);
  process->retry_usec = process->is_changed ? now + RETRY_USEC : 0;
  process->n_tables_came = self->n_tables_came;
}

/* Publishes, under FORMER_PROGRAM, the program that the process executed at `time`. */
static CodeState
publish_former (CodeProcesses *self,
                const CodeProcess *process,
                int64_t time,
                uint32_t *walk_as)
{
  const Former *former;
  unsigned i = 0;
  bool is_published;

  while (i < N_FORMER && process->former[i].mappings != NULL &&
         time < process->former[i].executed_nsec)
    i++;
  if (i == N_FORMER || process->former[i].mappings == NULL)
    return CODE_GONE;

  *walk_as = FORMER_PROGRAM;
  former = &process->former[i];
  if (self->former != former->mappings || self->former_pid != process->pid ||
      self->former_executed_nsec != former->executed_nsec ||
      (self->is_former_waiting && self->former_n_tables_came != self->n_tables_came))
    {
      is_published = publish_mappings (self, FORMER_PROGRAM, former->mappings,
                                       g_get_monotonic_time (), &self->is_former_waiting);
      self->former = is_published ? former->mappings : NULL;
      self->former_pid = process->pid;
      self->former_executed_nsec = former->executed_nsec;
      self->former_n_tables_came = self->n_tables_came;
    }
  return self->is_former_waiting ? CODE_PENDING : CODE_READY;
}

CodeState
sysprof_code_processes_ask (CodeProcesses *self, int32_t pid, int64_t time, uint32_t *walk_as)
{
  CodeProcess *process = sysprof_code_processes_recall (self, pid, 0);

  *walk_as = (uint32_t) pid;
  if (process == NULL)
    return CODE_UNHEARD_OF;
  if (time < process->executed_nsec)
    return publish_former (self, process, time, walk_as);

  if (process->is_inherited)
    {
      process->is_inherited = false;
      sysprof_code_processes_set_changed (self, process);
    }
  if (process->is_changed ||
      (process->is_waiting && self->on_demand && process->n_tables_came != self->n_tables_came))
    {
      publish (self, process, g_get_monotonic_time ());
      if (!process->is_changed)
        (void) g_ptr_array_remove_fast (self->changed, process); /* only if it is listed */
    }
  return process->is_waiting ? CODE_PENDING : CODE_READY;
}

CodeState
sysprof_code_processes_look (const CodeProcesses *self, int32_t pid, int64_t time)
{
  const CodeProcess *process = sysprof_code_processes_find (self, pid);

  if (process == NULL)
    return CODE_UNHEARD_OF;
  if (time < process->executed_nsec)
    return CODE_GONE;
  return process->is_inherited || process->is_changed ? CODE_PENDING : CODE_READY;
}

static void
pass_deadline (CodeProcesses *self, const Deadline *deadline, int64_t now)
{
  CodeProcess *process = sysprof_code_processes_find (self, deadline->pid);

  if (process == NULL || process->deadline_usec != deadline->at_usec)
    return;

  process->deadline_usec = 0;
  if (process->has_ended)
    {
      /* The main thread has exited; other threads may still run. */
      if (kill (process->pid, 0) != 0 && errno == ESRCH)
        sysprof_code_processes_forget_one (self, process, now);
      else
        sysprof_code_processes_set_deadline (&self->lingering, process, LINGER_USEC);
    }
  else if (process->is_inherited)
    {
      process->is_inherited = false;
      sysprof_code_processes_set_changed (self, process);
    }
}

/* Returns when the next deadline is due. */
static int64_t
pass_deadlines (CodeProcesses *self, GQueue *queue, int64_t now)
{
  Deadline *first;

  while ((first = g_queue_peek_head (queue)) != NULL && first->at_usec <= now)
    {
      (void) g_queue_pop_head (queue);
      pass_deadline (self, first, now);
      g_free (first);
    }
  return first != NULL ? first->at_usec : INT64_MAX;
}

static void
find_waiting (CodeProcesses *self)
{
  GHashTableIter iter;
  void *value;

  g_hash_table_iter_init (&iter, self->by_pid);
  while (g_hash_table_iter_next (&iter, NULL, &value))
    if (((CodeProcess *) value)->is_waiting)
      sysprof_code_processes_set_changed (self, value);
}

int64_t
sysprof_code_processes_publish (CodeProcesses *self, bool tables_came, int64_t now)
{
  int64_t next = pass_deadlines (self, &self->inheriting, now), other;
  guint n_left = 0;

  g_hash_table_remove_all (self->unheard_of);
  self->n_tables_came += tables_came;
  other = pass_deadlines (self, &self->lingering, now);
  next = MIN (next, other);
  if (tables_came && !self->on_demand)
    find_waiting (self);
  for (guint i = 0; i < self->changed->len; i++)
    {
      CodeProcess *process = g_ptr_array_index (self->changed, i);

      publish (self, process, now);
      if (process->is_changed)
        g_ptr_array_index (self->changed, n_left++) = process;
    }
  g_ptr_array_set_size (self->changed, (int) n_left);
  return next == INT64_MAX ? -1 : MAX (next - now, 0);
}
