// SPDX-License-Identifier: GPL-3.0-or-later

/* Findings about waits: the process that waited most, and for what. Waits that rarely delay
 * anything (see waits/causes.c) do not count. Of a whole machine nothing is said, because most
 * of its threads wait for work. */

#include "document/document.h"
#include "views/overview/findings.h"

#include <string.h>

#define MOST_RUNNING 0.7 /* share of the time on a CPU, up to which waits are worth a finding */
#define LEAST_DELAY  0.1 /* share of the time without a CPU, from which it is in the finding */
#define MOST_CPU_USE 0.5 /* the same where waits were not recorded */
#define BUSY_MACHINE 0.9 /* share of all CPUs, from which the command may have waited for one */

/* Columns of the view `waits`. */
typedef struct
{
  size_t process, pid, reason, time, runnable, idle, cause, symbol;
} WaitColumns;

/* What the process did that waited most. */
typedef struct
{
  const char *comm;
  int64_t pid;
  int64_t waited;  /* ns, of all threads */
  int64_t delayed; /* ns, of all threads: ready to run, but others had the CPU */
  int64_t ran;     /* ns, of all threads */
  int64_t wall;    /* ns, of the thread that lived longest */
  uint32_t n_threads;
  const Cell *main_cause; /* the row of the longest cause */
} Waiter;

/* On a busy machine each thread waits for a CPU. That is not what delays the program elsewhere,
 * so these waits choose neither the process nor the cause. */
static bool
choose_waiter (const Rows *rows, const WaitColumns *at, Waiter *waiter)
{
  g_autoptr (GHashTable) of_pid = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  Waiter *most = NULL;

  *waiter = (Waiter){ 0 };
  for (uint32_t i = 0; i < rows->n_rows; i++)
    {
      const Cell *cells = sysprof_rows_cells (rows, i);
      void *pid = GINT_TO_POINTER ((int) cells[at->pid].number);
      Waiter *known = g_hash_table_lookup (of_pid, pid);

      if (cells[at->idle].flag)
        continue;
      if (known == NULL)
        {
          known = g_new0 (Waiter, 1);
          *known = (Waiter){ .comm = cells[at->process].text, .pid = cells[at->pid].number };
          g_hash_table_insert (of_pid, pid, known);
        }
      if (strcmp (cells[at->reason].text, "preempted") == 0)
        {
          known->delayed = sysprof_time_sum (known->delayed, cells[at->time].number);
          continue;
        }
      known->waited = sysprof_time_sum (known->waited, cells[at->time].number);
      known->delayed = sysprof_time_sum (known->delayed, cells[at->runnable].number);
      if (known->main_cause == NULL ||
          cells[at->time].number > known->main_cause[at->time].number)
        known->main_cause = cells;
      if (most == NULL || known->waited > most->waited)
        most = known;
    }
  if (most != NULL)
    *waiter = *most;
  return waiter->waited > 0;
}

/* Adds the running times of the waiter's threads. */
static void
add_running_times (const ViewRequest *request, Waiter *waiter)
{
  static const char *const switches[] = { "by-thread", NULL };
  ViewRequest by_thread = *request;
  Rows rows = { 0 };
  size_t pid, running, wall;

  by_thread.switches = switches;
  if (!sysprof_view_fill (&sysprof_waits_view, &by_thread, &rows, NULL))
    return;
  pid = sysprof_rows_column (&rows, "pid");
  running = sysprof_rows_column (&rows, "running");
  wall = sysprof_rows_column (&rows, "wall");
  for (uint32_t i = 0; i < rows.n_rows; i++)
    {
      const Cell *cells = sysprof_rows_cells (&rows, i);

      if (cells[pid].number != waiter->pid)
        continue;
      waiter->n_threads++;
      waiter->ran = sysprof_time_sum (waiter->ran, cells[running].number);
      waiter->wall = MAX (waiter->wall, cells[wall].number);
    }
  sysprof_rows_clear (&rows);
}

static const char *
kind_of_wait (const char *reason, const char *cause)
{
  static const struct
  {
    const char *reason;
    const char *kind;
  } kinds[] = {
    { "futex", "lock" },
    { "io", "io" },
    { "page-fault", "io" },
    { "sleep", "sleep" },
    { "child", "child" },
    { "syscall:fsync", "io" },
    { "syscall:fdatasync", "io" },
    { "syscall:msync", "io" },
    { "syscall:sync", "io" },
    { "syscall:syncfs", "io" },
    { "syscall:sync_file_range", "io" },
  };

  static const char *const conditions[] = { "pthread_cond_", "std::condition_variable",
                                            "g_cond_" };

  for (size_t i = 0; i < G_N_ELEMENTS (conditions); i++)
    if (g_str_has_prefix (cause, conditions[i]))
      return "wait"; /* for work, or for the result of another thread */
  for (size_t i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (strcmp (reason, kinds[i].reason) == 0)
      return kinds[i].kind;
  return "wait";
}

/* "fsync ← append_record", or the reason. *(full)* */
static char *
dup_cause (const char *cause, const char *reason)
{
  g_auto (GStrv) parts = g_strsplit (cause, " < ", 3);

  if (parts[0] == NULL || parts[0][0] == '\0')
    return g_strdup (reason);
  if (parts[1] == NULL)
    return g_strdup (parts[0]);
  return g_strdup_printf ("%s ← %s", parts[0], parts[1]);
}

static void
add_waiter (Findings *self, const Waiter *waiter, const WaitColumns *at)
{
  const char *reason = waiter->main_cause[at->reason].text;
  int64_t longest = waiter->main_cause[at->time].number;
  double share = (double) longest / (double) sysprof_time_sum (waiter->ran, waiter->waited);
  g_autofree char *ran = sysprof_dup_duration (waiter->ran);
  g_autofree char *waited = sysprof_dup_duration (waiter->waited);
  g_autofree char *wall = sysprof_dup_duration (waiter->wall);
  g_autofree char *comm = sysprof_dup_one_line (waiter->comm);
  g_autofree char *name = g_strdup_printf ("%s/%" G_GINT64_FORMAT, comm, waiter->pid);
  g_autofree char *pid = g_strdup_printf ("%" G_GINT64_FORMAT, waiter->pid);
  g_autofree char *cause = dup_cause (waiter->main_cause[at->cause].text, reason);
  g_autofree char *delayed = sysprof_dup_duration (waiter->delayed);
  double span = (double) waiter->ran + (double) waiter->waited + (double) waiter->delayed;
  g_autofree char *delay =
      (double) waiter->delayed >= LEAST_DELAY * span
          ? g_strdup_printf (", and %s ready to run but had no CPU for %s",
                             waiter->n_threads > 1 ? "were" : "was", delayed)
          : g_strdup ("");
  g_autofree char *threads =
      waiter->n_threads > 1 ? g_strdup_printf ("The %u threads of ", waiter->n_threads) : NULL;

  sysprof_findings_add (
      self,
      &(Finding){ .kind = kind_of_wait (reason, waiter->main_cause[at->cause].text),
                  .view = "waits",
                  .process = name,
                  .symbol = waiter->main_cause[at->symbol].text,
                  .reason = reason,
                  .share = share,
                  .options = { "process", pid } },
      "%s%s ran %s and waited %s %s %s: %.0f %% in %s%s.", threads != NULL ? threads : "", comm,
      ran, waited, threads != NULL ? "in" : "of", wall,
      100.0 * (double) longest / (double) waiter->waited, cause, delay);
}

static bool
is_machine_busy (const Store *store)
{
  const Metadata *row = sysprof_store_find_metadata (store, "n-cpu", NULL);
  double n_cpus =
      row != NULL ? g_ascii_strtod (sysprof_store_string (store, row->value), NULL) : 0;
  double ran = (double) store->samples.n * (double) store->sampled_events[0].period;

  return n_cpus > 0 &&
         ran > BUSY_MACHINE * n_cpus * (double) sysprof_time_between (store->begin, store->end);
}

/* Without recorded waits, only the missing CPU time shows that the command waited. */
static void
find_missing_time (Findings *self)
{
  const Store *store = self->store;
  const Selection *selection = self->request->selection;
  ProcessId process = sysprof_store_find_command (store);
  const Process *row = &store->processes.row[process];
  const SampleFilter *filter = self->request->filter;
  int64_t wall = sysprof_time_between (row->start, row->end), ran;
  g_autofree char *ran_text = NULL, *wall_text = NULL, *command = NULL;

  if (selection == NULL || !selection->command || process == 0 || wall == 0 ||
      filter->weight_name != NULL || filter->times != NULL || store->n_sampled_events != 1 ||
      !store->sampled_events[0].is_time || store->sampled_events[0].period == 0)
    return;

  ran = (int64_t) self->weights.total * store->sampled_events[0].period;
  if ((double) ran > MOST_CPU_USE * (double) wall || is_machine_busy (store))
    return;
  ran_text = sysprof_dup_duration (ran);
  wall_text = sysprof_dup_duration (wall);
  command = sysprof_dup_one_line (sysprof_store_string (store, row->comm));
  sysprof_findings_add (self,
                        &(Finding){ .kind = "wait",
                                    .process = command,
                                    .remedy =
                                        "Record with sysprof-cli --off-cpu to see what it "
                                        "waited for.",
                                    .share = 1 - (double) ran / (double) wall },
                        "%s was on a CPU for %s of %s.", command, ran_text, wall_text);
}

void
sysprof_find_waits (Findings *self)
{
  const SampleFilter *filter = self->request->filter;
  ViewRequest request = *self->request;
  WaitColumns at;
  Waiter waiter;
  Rows rows = { 0 };

  if (filter == NULL || (!filter->has_processes && !filter->has_tids) ||
      sysprof_findings_weigh_waits (self))
    return;
  if (self->store->waits.events.n == 0)
    {
      find_missing_time (self);
      return;
    }
  request.switches = NULL;
  request.search = NULL;
  request.sort = NULL;
  request.limit = 0;
  if (!sysprof_view_fill (&sysprof_waits_view, &request, &rows, NULL))
    return;
  at = (WaitColumns){
    .process = sysprof_rows_column (&rows, "process"),
    .pid = sysprof_rows_column (&rows, "pid"),
    .reason = sysprof_rows_column (&rows, "reason"),
    .time = sysprof_rows_column (&rows, "time"),
    .runnable = sysprof_rows_column (&rows, "runnable"),
    .idle = sysprof_rows_column (&rows, "idle"),
    .cause = sysprof_rows_column (&rows, "cause"),
    .symbol = sysprof_rows_column (&rows, "symbol"),
  };
  if (choose_waiter (&rows, &at, &waiter))
    {
      add_running_times (&request, &waiter);
      if ((double) waiter.ran < MOST_RUNNING * (double) (waiter.ran + waiter.waited))
        add_waiter (self, &waiter, &at);
    }
  sysprof_rows_clear (&rows);
}
