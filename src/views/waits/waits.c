// SPDX-License-Identifier: GPL-3.0-or-later

/* Waits: time off the CPU by cause. --details tells threads, stacks and wakers apart, which is
 * done here. --by-thread shows the time of each thread, --by-lock contended locks, and
 * --critical-path what delayed a thread. */

#include "views/stack-texts.h"
#include "views/waits/selected-waits.h"

#include <math.h>
#include <string.h>

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

/* A group of waits that look the same in a row. */
typedef struct
{
  uint32_t thread; /* see SelectedWaits.first_thread */
  uint32_t waker;  /* 1 + index of the waker; 0 = none */
  StackId waker_stack;
  StackId stack;
  uint32_t syscall;
  uint8_t reason; /* OffCpuReason, or RUNNABLE */
  bool is_idle;
  bool by_interrupt;
} Key;

#define RUNNABLE N_OFF_CPU_REASONS

typedef struct
{
  Key key;
  uint32_t wait; /* an example */
  uint64_t count;
  int64_t time;
  int64_t max;
  double variance; /* ns², because some waits represent several */
} Group;

/* Hash table with open addressing, at most half full. */
typedef struct
{
  GArray *groups;   /* Group */
  uint32_t *slots;  /* [n_slots] 1 + index; 0 = free */
  uint32_t n_slots; /* a power of two */
} Groups;

static void
groups_init (Groups *self)
{
  self->groups = g_array_new (FALSE, FALSE, sizeof (Group));
  self->n_slots = 1024;
  self->slots = g_new0 (uint32_t, self->n_slots);
}

static void
groups_clear (Groups *self)
{
  g_array_unref (self->groups);
  g_free (self->slots);
}

static uint64_t
hash_key (const Key *key)
{
  const uint32_t parts[] = { key->thread,
                             key->waker,
                             key->waker_stack,
                             key->stack,
                             key->syscall,
                             (uint32_t) key->reason << 2 | (uint32_t) key->is_idle << 1 |
                                 (uint32_t) key->by_interrupt };
  uint64_t hash = 0;

  for (size_t i = 0; i < G_N_ELEMENTS (parts); i++)
    {
      hash = (hash ^ parts[i]) * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);
      hash ^= hash >> 32;
    }
  return hash;
}

static bool
is_same (const Key *a, const Key *b)
{
  return a->thread == b->thread && a->waker == b->waker && a->waker_stack == b->waker_stack &&
         a->stack == b->stack && a->syscall == b->syscall && a->reason == b->reason &&
         a->is_idle == b->is_idle && a->by_interrupt == b->by_interrupt;
}

static uint32_t *
find_slot (const Groups *self, const Key *key)
{
  uint32_t at = (uint32_t) hash_key (key) & (self->n_slots - 1);

  while (self->slots[at] != 0 &&
         !is_same (&g_array_index (self->groups, Group, self->slots[at] - 1).key, key))
    at = (at + 1) & (self->n_slots - 1);
  return &self->slots[at];
}

static void
grow (Groups *self)
{
  g_free (self->slots);
  self->n_slots *= 2;
  self->slots = g_new0 (uint32_t, self->n_slots);
  for (uint32_t i = 0; i < self->groups->len; i++)
    *find_slot (self, &g_array_index (self->groups, Group, i).key) = i + 1;
}

static void
add (Groups *self, const Key *key, uint32_t wait, int64_t time, uint16_t stands_for)
{
  uint32_t *slot = find_slot (self, key);
  double each = (double) time / stands_for;
  Group *group;

  if (*slot == 0)
    {
      Group fresh = { .key = *key, .wait = wait };

      if (self->groups->len >= self->n_slots / 2)
        {
          grow (self);
          slot = find_slot (self, key);
        }
      g_array_append_val (self->groups, fresh);
      *slot = self->groups->len;
    }

  group = &g_array_index (self->groups, Group, *slot - 1);
  group->count += stands_for;
  group->time = sysprof_time_sum (group->time, time);
  group->max = MAX (group->max, time / stands_for);
  /* Each wait was recorded with a probability of 1 / stands_for. */
  group->variance += each * each * stands_for * (stands_for - 1);
}

static void
add_wait (const SelectedWaits *self, Groups *groups, uint32_t wait)
{
  const Waits *waits = &self->request->store->waits;
  const Wait *row = &waits->row[wait];
  int64_t runnable = sysprof_selected_wait_runnable (self, wait);
  Key key = { .thread = self->first_thread[row->thread],
              .waker = row->waker != 0 ? 1 + self->first_thread[row->waker - 1] : 0,
              .waker_stack = row->waker_stack,
              .stack = waits->events.stack[wait],
              .syscall = row->reason == OFF_CPU_SYSCALL ? row->syscall : 0,
              .reason = row->reason,
              .is_idle = self->is_idle[wait] != 0,
              .by_interrupt = row->waker == 0 && (row->flags & OFF_CPU_BY_INTERRUPT) != 0 };

  if (row->reason == OFF_CPU_PREEMPTED)
    {
      add (groups, &key, wait, runnable, row->stands_for);
      return;
    }
  add (groups, &key, wait, sysprof_selected_wait_waiting (self, wait), row->stands_for);
  if (runnable == 0)
    return;
  key.reason = RUNNABLE;
  key.syscall = 0;
  key.is_idle = false; /* it was runnable, so not idle */
  add (groups, &key, wait, runnable, row->stands_for);
}

/* Idle waits last, then by descending time. */
static int
compare_groups (const void *left, const void *right, void *data)
{
  const Group *a = left, *b = right;

  if (a->key.is_idle != b->key.is_idle)
    return a->key.is_idle ? 1 : -1;
  if (a->time != b->time)
    return a->time < b->time ? 1 : -1;
  return (a->wait > b->wait) - (a->wait < b->wait);
}

static void
add_row (SelectedWaits *self, StackTexts *texts, const Group *group)
{
  static const StackText none = { 0 };
  const Store *store = self->request->store;
  const WaitThread *thread = &store->waits.threads[group->key.thread];
  Cell *cells = sysprof_rows_add (self->rows);

  cells[PROCESS].text =
      sysprof_store_string (store, store->processes.row[thread->process].comm);
  cells[PID].number = thread->pid;
  cells[THREAD].text = sysprof_store_string (store, thread->comm);
  cells[TID].number = thread->tid;
  cells[REASON].text = group->key.reason == RUNNABLE
                           ? "runnable"
                           : sysprof_selected_waits_reason (self, group->wait);
  cells[WAKER].text = sysprof_selected_waits_waker (self, group->wait);
  cells[WAKER_STACK].stack = group->key.waker_stack != 0
                                 ? sysprof_stack_texts_get (texts, group->key.waker_stack)
                                 : &none;
  cells[COUNT].count = group->count;
  cells[TIME].number = group->time;
  cells[MAX_].number = group->max;
  cells[IDLE].flag = group->key.is_idle;
  cells[ERROR_].number = (int64_t) fmin (1.96 * sqrt (group->variance), 0x1p62);
  cells[STACK].stack = sysprof_stack_texts_get (texts, group->key.stack);
}

static void
fill_groups (SelectedWaits *self)
{
  StackTexts texts;
  Groups groups;
  uint64_t total = 0;

  groups_init (&groups);
  for (uint32_t i = 0; i < self->n && sysprof_is_wanted_at (i); i++)
    add_wait (self, &groups, self->found[i]);
  (void) sysprof_sort_if_wanted (groups.groups->data, groups.groups->len, sizeof (Group),
                                 compare_groups, NULL);
  sysprof_rows_init (self->rows, columns, N_COLUMNS, 0);
  sysprof_stack_texts_init (&texts, self->request, self->rows);
  for (uint32_t i = 0; i < groups.groups->len && sysprof_is_wanted_at (i); i++)
    {
      const Group *group = &g_array_index (groups.groups, Group, i);

      add_row (self, &texts, group);
      total += (uint64_t) group->time;
    }
  sysprof_selected_waits_name_rows (self, total);
  sysprof_stack_texts_clear (&texts);
  groups_clear (&groups);
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
  { "by-lock", "Show contended locks with their owners and waiters" },
  { "critical-path", "Show which waits delayed the selected thread, from waker to waker" },
  { NULL },
};

const View sysprof_waits_view = {
  .name = "waits",
  .title = "Waits",
  .summary = "time off the CPU by cause",
  .switches = switches,
  .fill = fill_waits,
};
