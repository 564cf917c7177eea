// SPDX-License-Identifier: GPL-3.0-or-later

/* Selects waits, and formats threads and reasons for all forms of the view `waits`. */

#include "views/waits/selected-waits.h"

static const char *const joining_functions[] = {
  "pthread_join", "__pthread_join", "__pthread_clockjoin_ex", "std::thread::join", "thrd_join",
};
/* Where the kernel wakes those who wait for a thread that exits. */
static const char *const exiting_functions[] = { "do_exit" };

/* First entry with the same content for each thread: a thread that changed its name twice
 * has equal entries. */
static uint32_t *
find_first_threads (const Store *store)
{
  const Waits *waits = &store->waits;
  uint32_t *first = g_new0 (uint32_t, MAX (waits->n_threads, 1));
  g_autoptr (GHashTable) of_tid = g_hash_table_new (NULL, NULL);

  for (uint32_t i = 0; i < waits->n_threads && sysprof_is_wanted_at (i); i++)
    {
      const WaitThread *thread = &waits->threads[i];
      uint32_t known =
          GPOINTER_TO_UINT (g_hash_table_lookup (of_tid, GINT_TO_POINTER (thread->tid)));
      const WaitThread *other = known != 0 ? &waits->threads[known - 1] : NULL;

      first[i] = i;
      if (other != NULL && other->pid == thread->pid && other->comm == thread->comm)
        first[i] = known - 1;
      else
        g_hash_table_insert (of_tid, GINT_TO_POINTER (thread->tid), GUINT_TO_POINTER (i + 1));
    }
  return first;
}

void
sysprof_selected_waits_init (SelectedWaits *self, const ViewRequest *request, Rows *rows)
{
  const Store *store = request->store;
  SampleFilter filter = request->filter != NULL ? *request->filter : (SampleFilter){ 0 };
  WeighedWaits weighed;

  *self = (SelectedWaits){ .request = request, .rows = rows };
  filter.no_idle = false; /* rows show them apart */
  sysprof_time_clip_init (&self->clip, store, &filter);
  sysprof_waits_weigh (&weighed, store, request->symbols, &filter);
  filter.events = &weighed.events;
  filter.event_is_in = weighed.is_in;
  self->found = sysprof_samples_find (store, request->symbols, &filter, &self->n);
  sysprof_weighed_waits_clear (&weighed);
  self->is_idle = sysprof_waits_find_idle (store, request->symbols);
  self->has_fence = sysprof_stacks_find_gpu_fences (store, request->symbols);
  self->first_thread = find_first_threads (store);
  self->names = g_new0 (const char *, MAX (store->waits.n_threads, 1));
  sysprof_syscall_names_init (&self->syscalls, store);
  sysprof_stack_callers_init (&self->callers, store, request->symbols);
}

void
sysprof_selected_waits_clear (SelectedWaits *self)
{
  sysprof_time_clip_clear (&self->clip);
  g_free (self->found);
  g_free (self->is_idle);
  g_free (self->has_fence);
  g_free (self->first_thread);
  g_free (self->names);
  sysprof_stack_callers_clear (&self->callers);
  *self = (SelectedWaits){ 0 };
}

void
sysprof_selected_waits_name_rows (const SelectedWaits *self, uint64_t total)
{
  Rows *rows = self->rows;

  rows->total = total;
  rows->is_event_list = true;
  rows->n_available = self->request->store->waits.events.n;
  rows->noun = "waits";
  rows->weight_name = "time";
  rows->weight_unit = "ns";
}

static int64_t
multiply (int64_t nsec, uint16_t n)
{
  int64_t product;

  return __builtin_mul_overflow (nsec, (int64_t) n, &product) ? INT64_MAX : product;
}

int64_t
sysprof_selected_wait_waiting (const SelectedWaits *self, uint32_t wait)
{
  const Waits *waits = &self->request->store->waits;

  return multiply (sysprof_time_clip_overlap (&self->clip, waits->events.time[wait],
                                              sysprof_wait_woken_at (waits, wait)),
                   waits->row[wait].stands_for);
}

int64_t
sysprof_selected_wait_runnable (const SelectedWaits *self, uint32_t wait)
{
  const Waits *waits = &self->request->store->waits;

  return multiply (sysprof_time_clip_overlap (&self->clip, sysprof_wait_woken_at (waits, wait),
                                              sysprof_wait_end (waits, wait)),
                   waits->row[wait].stands_for);
}

const char *
sysprof_selected_waits_thread (SelectedWaits *self, uint32_t thread)
{
  const Store *store = self->request->store;
  const WaitThread *row;
  g_autofree char *name = NULL;

  thread = self->first_thread[thread];
  if (self->names[thread] != NULL)
    return self->names[thread];

  row = &store->waits.threads[thread];
  name = row->comm != 0
             ? g_strdup_printf ("%s/%d", sysprof_store_string (store, row->comm), row->tid)
             : g_strdup_printf ("%d", row->tid);
  return self->names[thread] = sysprof_rows_dup (self->rows, name);
}

const char *
sysprof_selected_waits_waker (SelectedWaits *self, uint32_t wait)
{
  const Wait *row = &self->request->store->waits.row[wait];

  if (row->waker != 0)
    return sysprof_selected_waits_thread (self, row->waker - 1);
  return (row->flags & OFF_CPU_BY_INTERRUPT) != 0 ? "[interrupt]" : "";
}

const char *
sysprof_selected_waits_reason (const SelectedWaits *self, uint32_t wait)
{
  static const char *const reasons[N_OFF_CPU_REASONS] = {
    "", "page-fault", "child", "sleep", "futex", "io", NULL, "other", "preempted",
  };
  const Waits *waits = &self->request->store->waits;
  const Wait *row = &waits->row[wait];
  const char *name;
  g_autofree char *text = NULL;

  if (self->has_fence[waits->events.stack[wait]] && row->reason >= OFF_CPU_IO &&
      row->reason <= OFF_CPU_OTHER)
    return "gpu-fence";
  if (row->reason != OFF_CPU_SYSCALL)
    return reasons[row->reason];
  if (row->syscall == 0)
    return "syscall";

  name = sysprof_syscall_name (&self->syscalls, row->syscall - 1);
  text = name != NULL ? g_strdup_printf ("syscall:%s", name)
                      : g_strdup_printf ("syscall:%u", row->syscall - 1);
  return sysprof_rows_dup (self->rows, text);
}

uint8_t *
sysprof_selected_waits_find_joins (const SelectedWaits *self)
{
  const Store *store = self->request->store;
  const SymbolTable *symbols = self->request->symbols;
  const Waits *waits = &store->waits;
  g_autofree uint8_t *joins = sysprof_stacks_find_functions (
      store, symbols, joining_functions, G_N_ELEMENTS (joining_functions), false);
  g_autofree uint8_t *exits = sysprof_stacks_find_functions (
      store, symbols, exiting_functions, G_N_ELEMENTS (exiting_functions), true);
  uint8_t *is_join = g_new0 (uint8_t, MAX (waits->events.n, 1));

  for (uint32_t i = 0; i < waits->events.n && sysprof_is_wanted_at (i); i++)
    is_join[i] = waits->row[i].reason == OFF_CPU_FUTEX &&
                 (joins[waits->events.stack[i]] || exits[waits->row[i].waker_stack]);
  return is_join;
}
