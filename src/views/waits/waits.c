// SPDX-License-Identifier: GPL-3.0-or-later

/* Waits: time off the CPU by cause. --details tells threads, stacks and wakers apart, which is
 * done here. --by-thread shows the time of each thread, --by-lock contended locks, and
 * --critical-path what delayed a thread. */

#include "views/stack-texts.h"
#include "views/waits/groups.h"

enum
{
  PROCESS,
  PID,
  THREAD,
  TID,
  REASON,
  WAKER,
  WAKER_STACK,
  COUNT,
  TIME,
  MAX_,
  IDLE,
  ERROR_,
  STACK,
  N_COLUMNS,
};

static const Column columns[] = {
  [PROCESS] = { "process", "PROCESS", COLUMN_TEXT },
  [PID] = { "pid", "PID", COLUMN_NUMBER, .extra = 1 },
  [THREAD] = { "thread", "THREAD", COLUMN_TEXT, .extra = 3 },
  [TID] = { "tid", "TID", COLUMN_NUMBER },
  [REASON] = { "reason", "REASON", COLUMN_TEXT },
  [WAKER] = { "waker", "WAKER", COLUMN_TEXT, .extra = 1 },
  [WAKER_STACK] = { "waker-stack", "STACK OF THE WAKER", COLUMN_STACK, .json_only = true },
  [COUNT] = { "count", "COUNT", COLUMN_COUNT },
  [TIME] = { "time", "TIME", COLUMN_DURATION },
  [MAX_] = { "max", "MAX", COLUMN_DURATION, .extra = 2 },
  [IDLE] = { "idle", "IDLE", COLUMN_BOOL },
  [ERROR_] = { "error", "ERROR", COLUMN_DURATION, .json_only = true },
  [STACK] = { "stack", "STACK (innermost first)", COLUMN_STACK, .is_long = true },
};

/* Parts of a group's key; its longest wait gives the others. */
enum
{
  KEY_REASON, /* OffCpuReason, or RUNNABLE */
  KEY_IDLE,
  KEY_CALL,
};

#define RUNNABLE N_OFF_CPU_REASONS

static void
add_wait (const SelectedWaits *self, WaitGroups *groups, uint32_t wait)
{
  const Waits *waits = &self->request->store->waits;
  const Wait *row = &waits->row[wait];
  bool is_preempted = row->reason == OFF_CPU_PREEMPTED;
  int64_t runnable = sysprof_selected_wait_runnable (self, wait);
  uint32_t waker = row->waker != 0 ? 2 + self->first_thread[row->waker - 1]
                                   : (row->flags & OFF_CPU_BY_INTERRUPT) != 0;
  WaitKey key = {
    { row->reason, self->is_idle[wait] != 0, row->reason == OFF_CPU_SYSCALL ? row->syscall : 0,
      self->first_thread[row->thread], waits->events.stack[wait], waker, row->waker_stack }
  };

  (void) sysprof_wait_groups_add (groups, &key, row, wait,
                                  is_preempted ? runnable
                                               : sysprof_selected_wait_waiting (self, wait));
  if (is_preempted || runnable == 0)
    return;
  key.part[KEY_REASON] = RUNNABLE;
  key.part[KEY_IDLE] = false; /* it was runnable, so not idle */
  key.part[KEY_CALL] = 0;
  (void) sysprof_wait_groups_add (groups, &key, row, wait, runnable);
}

/* Idle waits last, then by descending time. */
static int
compare_groups (const void *left, const void *right, void *data)
{
  const WaitGroup *a = left, *b = right;

  if (a->key.part[KEY_IDLE] != b->key.part[KEY_IDLE])
    return a->key.part[KEY_IDLE] ? 1 : -1;
  if (a->time != b->time)
    return a->time < b->time ? 1 : -1;
  return (a->wait > b->wait) - (a->wait < b->wait);
}

static void
add_row (SelectedWaits *self, StackTexts *texts, const WaitGroup *group)
{
  static const StackText none = { 0 };
  const Store *store = self->request->store;
  const Wait *wait = &store->waits.row[group->wait];
  const WaitThread *thread = &store->waits.threads[wait->thread];
  Cell *cells = sysprof_rows_add (self->rows);

  cells[PROCESS].text =
      sysprof_store_string (store, store->processes.row[thread->process].comm);
  cells[PID].number = thread->pid;
  cells[THREAD].text = sysprof_store_string (store, thread->comm);
  cells[TID].number = thread->tid;
  cells[REASON].text = group->key.part[KEY_REASON] == RUNNABLE
                           ? "runnable"
                           : sysprof_selected_waits_reason (self, group->wait);
  cells[WAKER].text = sysprof_selected_waits_waker (self, group->wait);
  cells[WAKER_STACK].stack =
      wait->waker_stack != 0 ? sysprof_stack_texts_get (texts, wait->waker_stack) : &none;
  cells[COUNT].count = group->count;
  cells[TIME].number = group->time;
  cells[MAX_].number = group->max;
  cells[IDLE].flag = group->key.part[KEY_IDLE] != 0;
  cells[ERROR_].number = sysprof_wait_group_error (group);
  cells[STACK].stack = sysprof_stack_texts_get (texts, store->waits.events.stack[group->wait]);
}

static void
fill_groups (SelectedWaits *self)
{
  StackTexts texts;
  WaitGroups groups;
  uint64_t total = 0;

  sysprof_wait_groups_init (&groups);
  for (uint32_t i = 0; i < self->n && sysprof_is_wanted_at (i); i++)
    add_wait (self, &groups, self->found[i]);
  (void) sysprof_sort_if_wanted (groups.groups->data, groups.groups->len, sizeof (WaitGroup),
                                 compare_groups, NULL);
  sysprof_rows_init (self->rows, columns, N_COLUMNS, 0);
  sysprof_stack_texts_init (&texts, self->request, self->rows);
  for (uint32_t i = 0; i < groups.groups->len && sysprof_is_wanted_at (i); i++)
    {
      const WaitGroup *group = sysprof_wait_groups_get (&groups, i);

      add_row (self, &texts, group);
      total += (uint64_t) group->time;
    }
  sysprof_selected_waits_name_rows (self, total);
  sysprof_stack_texts_clear (&texts);
  sysprof_wait_groups_clear (&groups);
}

static bool
fill_waits (const ViewRequest *request, Rows *rows, GError **error)
{
  SelectedWaits self;
  bool is_done = true;

  sysprof_selected_waits_init (&self, request, rows);
  if (sysprof_request_has (request, "critical-path"))
    is_done = sysprof_waits_fill_path (&self, error);
  else if (sysprof_request_has (request, "by-lock"))
    sysprof_waits_fill_by_lock (&self);
  else if (sysprof_request_has (request, "by-thread"))
    sysprof_waits_fill_by_thread (&self);
  else if (sysprof_request_has (request, "details"))
    fill_groups (&self);
  else
    sysprof_waits_fill_by_cause (&self);
  sysprof_selected_waits_clear (&self);
  return is_done;
}

static const ViewSwitch switches[] = {
  { "details", "Show each thread, stack and waker in rows of its own" },
  { "by-thread", "Show running, runnable and waiting time of each thread" },
  { "by-lock", "Show contended locks by name, with the functions that wait and hold" },
  { "critical-path", "Show which waits delayed the selected thread, from waker to waker" },
  { NULL },
};

const View sysprof_waits_view = {
  .name = "waits",
  .title = "Waits",
  .summary = "time off the CPU by cause",
  .switches = switches,
  .recorded_by = "Switch on “Record Waits”, or give sysprof-cli --off-cpu.",
  .options = OPTIONS_EVENTS | OPTIONS_FUNCTIONS | OPTIONS_STACKS,
  .fill = fill_waits,
};
