// SPDX-License-Identifier: GPL-3.0-or-later

/* Who there is: every pid that something happened to, its names, its threads,
 * its span of life.
 *
 * Fork frames carry thread ids, for new threads as for new processes. An id
 * that some other frame names as its pid is a process; any other is a thread of
 * whoever forked it. */

#include "store/builder.h"

#define COMM_MOST 15 /* bytes: what the kernel keeps of a thread's name */

/* Types that are about a process of the machine. A jitmap's pid is who wrote
 * it, a counter's often so. */
static const bool names_process[STORE_N_FRAME_TYPES] = {
  [SYSPROF_CAPTURE_FRAME_SAMPLE] = true,     [SYSPROF_CAPTURE_FRAME_MAP] = true,
  [SYSPROF_CAPTURE_FRAME_PROCESS] = true,    [SYSPROF_CAPTURE_FRAME_EXIT] = true,
  [SYSPROF_CAPTURE_FRAME_MARK] = true,       [SYSPROF_CAPTURE_FRAME_LOG] = true,
  [SYSPROF_CAPTURE_FRAME_ALLOCATION] = true, [SYSPROF_CAPTURE_FRAME_OVERLAY] = true,
  [SYSPROF_CAPTURE_FRAME_TRACE] = true,
};

#define ITEMS_BETWEEN 0x1000 /* between two checks for cancellation */

typedef struct
{
  ProcessId process;
  int32_t tid;
} Thread;

ProcessId
sysprof_builder_process (const Builder *self, int32_t pid)
{
  return GPOINTER_TO_UINT (g_hash_table_lookup (self->process_of_pid, GINT_TO_POINTER (pid)));
}

static ProcessId
add_process (Builder *self, GArray *rows, int32_t pid)
{
  Process process = { .pid = pid, .parent_pid = -1 };
  ProcessId id = sysprof_builder_process (self, pid);

  if (id != 0)
    return id;

  id = rows->len;
  g_array_append_val (rows, process);
  g_hash_table_insert (self->process_of_pid, GINT_TO_POINTER (pid), GUINT_TO_POINTER (id));
  return id;
}

static void
add_thread (GArray *threads, ProcessId process, int32_t tid)
{
  Thread thread = { process, tid };

  if (process != 0 && tid >= 0)
    g_array_append_val (threads, thread);
}

/* CPUs take turns in a capture, so pids do: those looked up last, by pid. */
#define N_PID_SLOTS 256

typedef struct
{
  ProcessId process; /* 0 = free */
  int32_t pid;
} PidSlot;

/* Where the next stack of each kind is in its table. */
typedef struct
{
  uint32_t sample;
  uint32_t allocation;
  uint32_t trace;
} Next;

/* Sets the process of a stack, and returns that of its thread. */
static int32_t
take_event (StackEvents *events, uint32_t event, ProcessId process)
{
  events->process[event] = process;
  return events->tid[event];
}

static int32_t
take_thread (Store *store, FrameNo number, ProcessId process, Next *next)
{
  switch (store->frames.type[number])
    {
    case SYSPROF_CAPTURE_FRAME_SAMPLE:
      return take_event (&store->samples, next->sample++, process);
    case SYSPROF_CAPTURE_FRAME_ALLOCATION:
      return take_event (&store->allocations, next->allocation++, process);
    default:
      return take_event (&store->traces, next->trace++, process);
    }
}

/* Rows in the order in which the pids first appear, the threads that frames
 * name, and whose each stack is. */
static void
collect_pids (Builder *self, GArray *rows, GArray *threads)
{
  Store *store = self->store;
  Next next = { 0 };
  PidSlot slots[N_PID_SLOTS] = { 0 };
  Thread last = { 0, -1 };
  int32_t last_pid = -1;
  ProcessId process = 0;

  for (uint32_t i = 0;
       i < store->frames.n && sysprof_builder_goes_on (self, i, 2 * (uint64_t) store->frames.n);
       i++)
    {
      uint8_t type = store->frames.type[i];

      bool has_thread = type == SYSPROF_CAPTURE_FRAME_SAMPLE ||
                        type == SYSPROF_CAPTURE_FRAME_TRACE ||
                        type == SYSPROF_CAPTURE_FRAME_ALLOCATION;

      /* -1 stands for "none", but a stack must hang somewhere. */
      if (!names_process[type] || (store->frames.pid[i] < 0 && !has_thread))
        continue;

      if (process == 0 || store->frames.pid[i] != last_pid)
        {
          PidSlot *slot = &slots[(uint32_t) (last_pid = store->frames.pid[i]) % N_PID_SLOTS];

          if (slot->process == 0 || slot->pid != last_pid)
            *slot = (PidSlot){ add_process (self, rows, last_pid), last_pid };
          process = slot->process;
        }

      if (has_thread)
        {
          int32_t tid = take_thread (store, i, process, &next);

          if (tid == last_pid || (process == last.process && tid == last.tid))
            continue;
          last = (Thread){ process, tid };
          add_thread (threads, process, tid);
          if (tid >= 0)
            g_hash_table_insert (self->process_of_tid, GINT_TO_POINTER (tid),
                                 GUINT_TO_POINTER (process));
        }
    }
}

/* Those that were only seen to wait, or to wake others. */
static void
collect_waiting (Builder *self, GArray *rows, GArray *threads)
{
  Waits *waits = &self->store->waits;

  for (uint32_t i = 0; i < waits->n_threads; i++)
    {
      WaitThread *thread = &waits->threads[i];

      if (i % ITEMS_BETWEEN == 0 && sysprof_progress_is_cancelled (self->progress))
        return;
      thread->process = add_process (self, rows, thread->pid);
      if (thread->tid == thread->pid)
        continue;
      add_thread (threads, thread->process, thread->tid);
      g_hash_table_insert (self->process_of_tid, GINT_TO_POINTER (thread->tid),
                           GUINT_TO_POINTER (thread->process));
    }
  for (uint32_t i = 0; i < waits->events.n; i++)
    waits->events.process[i] = waits->threads[waits->row[i].thread].process;
}

/* Used if no frame has it. */
static void
name_waiting (Builder *self)
{
  const Waits *waits = &self->store->waits;

  for (uint32_t i = 0; i < waits->n_threads; i++)
    {
      const WaitThread *thread = &waits->threads[i];
      Process *process = &self->store->processes.row[thread->process];

      if (i % ITEMS_BETWEEN == 0 && sysprof_progress_is_cancelled (self->progress))
        return;
      if (thread->tid == thread->pid && !self->has_process_frame[thread->process] &&
          thread->comm != 0)
        process->comm = process->command_line = thread->comm;
    }
}

static ProcessId
process_of_thread (const Builder *self, int32_t tid)
{
  ProcessId process = sysprof_builder_process (self, tid);

  if (process != 0)
    return process;
  return GPOINTER_TO_UINT (g_hash_table_lookup (self->process_of_tid, GINT_TO_POINTER (tid)));
}

static void
follow_forks (Builder *self, GArray *rows, GArray *threads)
{
  const Store *store = self->store;
  const FrameList *forks = &store->frames_of_type[SYSPROF_CAPTURE_FRAME_FORK];
  FileWindow window;

  sysprof_file_window_init (&window, self->file, FILE_WINDOW_SOME);
  self->fork_parent = g_new0 (ProcessId, forks->n);
  self->fork_child = g_new0 (ProcessId, forks->n);
  for (uint32_t i = 0; i < forks->n; i++)
    {
      if (i % ITEMS_BETWEEN == 0 && sysprof_progress_is_cancelled (self->progress))
        break;
      Frame frame = sysprof_store_frame_in (store, &window, forks->frame[i]);
      int32_t parent_tid = store->frames.pid[forks->frame[i]];
      int32_t child_tid = sysprof_frame_i32 (&frame, 24);
      ProcessId parent = process_of_thread (self, parent_tid);
      ProcessId child = sysprof_builder_process (self, child_tid);

      if (parent == 0 && parent_tid >= 0)
        parent = add_process (self, rows, parent_tid);
      if (parent == 0)
        continue;

      if (child == 0 || child == parent)
        {
          add_thread (threads, parent, child_tid);
          if (child_tid >= 0 && child == 0)
            g_hash_table_insert (self->process_of_tid, GINT_TO_POINTER (child_tid),
                                 GUINT_TO_POINTER (parent));
          continue;
        }

      self->fork_parent[i] = parent;
      self->fork_child[i] = child;
      g_array_index (rows, Process, child).parent_pid =
          g_array_index (rows, Process, parent).pid;
    }
  sysprof_file_window_clear (&window);
}

static int
compare_threads (const void *a, const void *b, void *data)
{
  const Thread *left = a, *right = b;

  if (left->process != right->process)
    return left->process < right->process ? -1 : 1;
  return (left->tid > right->tid) - (left->tid < right->tid);
}

static void
fill_threads (Processes *processes, GArray *threads, const Progress *progress)
{
  for (ProcessId i = 1; i < processes->n; i++)
    add_thread (threads, i, processes->row[i].pid);
  if (!sysprof_progress_sort (progress, threads->data, threads->len, sizeof (Thread),
                              compare_threads, NULL))
    return;

  processes->thread_ids = g_new (int32_t, threads->len);
  for (unsigned i = 0; i < threads->len; i++)
    {
      const Thread *thread = &g_array_index (threads, Thread, i);
      Process *process = &processes->row[thread->process];

      if (i > 0 && compare_threads (thread, thread - 1, NULL) == 0)
        continue;
      if (process->n_threads++ == 0)
        process->first_thread = processes->n_thread_ids;
      processes->thread_ids[processes->n_thread_ids++] = thread->tid;
    }

  /* A process without threads is not in order otherwise. */
  for (ProcessId i = 1; i < processes->n; i++)
    if (processes->row[i].n_threads == 0)
      processes->row[i].first_thread =
          processes->row[i - 1].first_thread + processes->row[i - 1].n_threads;
}

static int
compare_pids (const void *a, const void *b, void *data)
{
  const ProcessOfPid *left = a, *right = b;

  return (left->pid > right->pid) - (left->pid < right->pid);
}

static void
order_by_pid (Processes *processes, const Progress *progress)
{
  processes->by_pid = g_new (ProcessOfPid, processes->n);
  for (ProcessId id = 1; id < processes->n; id++)
    processes->by_pid[id - 1] = (ProcessOfPid){ processes->row[id].pid, id };
  (void) sysprof_progress_sort (progress, processes->by_pid, processes->n - 1,
                                sizeof *processes->by_pid, compare_pids,
                                NULL); /* the caller sees it */
}

/* What the spans need to know while the frames go by. */
typedef struct
{
  bool is_described; /* by a process or a map frame */
  bool has_name;
  bool has_kernel_name; /* a comm from the kernel's own records, which carry the
                           CPU */
  bool was_forked;
} Birth;

/* argv[0] without its directories. */
static Text
base_name (Text command_line)
{
  Text name = command_line;
  const char *blank = memchr (name.at, ' ', sysprof_text_size (name));

  if (blank != NULL && blank > name.at)
    name.end = blank;
  for (const char *at = name.at; at < name.end; at++)
    if (*at == '/' && at + 1 < name.end)
      name.at = at + 1;

  return name;
}

static void
take_name (Builder *self, ProcessId id, const Birth *birth, Text text, int16_t cpu)
{
  Store *store = self->store;
  Process *process = &store->processes.row[id];
  /* During the recording the kernel reports the 15 bytes of comm; at the start /proc has the
   * command line. A recorder that looks up the arguments of an exec writes them after the
   * kernel's comm, without a CPU. */
  bool is_comm = sysprof_text_size (text) <= COMM_MOST &&
                 (birth->has_name || birth->was_forked) &&
                 (cpu >= 0 || !birth->has_kernel_name);
  /* Importers repeat the name of a command, with a CPU: it is a comm, however
   * long it is and whatever it contains. */
  bool is_repeated = birth->has_name && cpu >= 0 &&
                     process->command_line == sysprof_store_intern (store, text);

  if (sysprof_text_size (text) == 0)
    return;

  if (is_comm || is_repeated)
    {
      /* What it has from its parent it lost with the first exec; its own it keeps
     * when it only renames itself. */
      bool is_stale = process->command_line == process->comm || !birth->has_name;

      self->comm_is_derived[id] = false;
      process->comm = sysprof_store_intern (store, text);
      if (process->command_line == 0 || is_stale)
        process->command_line = process->comm;
      return;
    }

  process->command_line = sysprof_store_intern (store, text);
  process->comm = sysprof_store_intern (store, base_name (text));
  self->comm_is_derived[id] = true;
}

/* Until it executes something else, a forked process is what its parent was. */
static void
inherit_name (Builder *self, Process *rows, ProcessId parent, ProcessId child)
{
  if (rows[child].comm != 0)
    return;

  rows[child].comm = rows[parent].comm;
  rows[child].command_line = rows[parent].command_line;
  self->comm_is_derived[child] = self->comm_is_derived[parent];
}

static void
read_names_and_spans (Builder *self)
{
  Store *store = self->store;
  Processes *processes = &store->processes;
  g_autofree Birth *births = g_new0 (Birth, processes->n);
  uint32_t n_forks = 0;
  FileWindow window;

  for (ProcessId i = 1; i < processes->n; i++)
    {
      processes->row[i].start = store->begin;
      processes->row[i].end = store->end;
    }

  sysprof_file_window_init (&window, self->file, FILE_WINDOW_SOME);
  for (uint64_t i = 0, n = store->frames.n;
       i < n && sysprof_builder_goes_on (self, n + i, 2 * n); i++)
    {
      uint8_t type = store->frames.type[i];
      int64_t time = store->frames.time[i];
      ProcessId id;
      Process *process;
      Birth *birth;

      if (type == SYSPROF_CAPTURE_FRAME_FORK)
        {
          id = self->fork_child[n_forks++];
          if (id == 0)
            continue;
          births[id].was_forked = true;
          if (!births[id].is_described || processes->row[id].has_exit)
            processes->row[id].start = CLAMP (time, store->begin, store->end);
          processes->row[id].has_exit = false;
          processes->row[id].end = store->end;
          inherit_name (self, processes->row, self->fork_parent[n_forks - 1], id);
          continue;
        }

      if (type != SYSPROF_CAPTURE_FRAME_PROCESS && type != SYSPROF_CAPTURE_FRAME_MAP &&
          type != SYSPROF_CAPTURE_FRAME_EXIT)
        continue;
      id = sysprof_builder_process (self, store->frames.pid[i]);
      if (id == 0)
        continue;

      process = &processes->row[id];
      birth = &births[id];
      if (type == SYSPROF_CAPTURE_FRAME_EXIT)
        {
          process->has_exit = true;
          process->end = CLAMP (time, process->start, store->end);
          continue;
        }

      if (!birth->is_described && !birth->was_forked)
        process->start = CLAMP (time, store->begin, store->end);
      if (type == SYSPROF_CAPTURE_FRAME_PROCESS)
        {
          Frame frame = sysprof_store_frame_in (store, &window, i);

          take_name (self, id, birth, sysprof_frame_text (&frame, 24), store->frames.cpu[i]);
          birth->has_name = self->has_process_frame[id] = true;
          birth->has_kernel_name |= store->frames.cpu[i] >= 0;
        }
      birth->is_described = true;
    }
  sysprof_file_window_clear (&window);
  name_waiting (self);

  for (ProcessId i = 1; i < processes->n; i++)
    {
      Process *process = &processes->row[i];

      if (i % ITEMS_BETWEEN == 0 && sysprof_progress_is_cancelled (self->progress))
        return;
      process->end = MAX (process->end, process->start);
      if (process->comm == 0)
        {
          g_autofree char *name = process->pid == 0
                                      ? g_strdup ("swapper")
                                      : g_strdup_printf ("Process %d", process->pid);

          process->comm = sysprof_intern_string (&store->strings, name);
        }
      if (process->command_line == 0)
        process->command_line = process->comm;
    }
}

ProcessId
sysprof_store_process_of_thread (const Store *self, uint32_t index)
{
  const Process *row = self->processes.row;
  ProcessId low = 0, high = self->processes.n;

  /* The first whose threads end behind it. */
  while (low < high)
    {
      ProcessId middle = low + (high - low) / 2;

      if (row[middle].first_thread + row[middle].n_threads <= index)
        low = middle + 1;
      else
        high = middle;
    }
  return low < self->processes.n ? low : 0;
}

void
sysprof_builder_find_processes (Builder *self)
{
  g_autoptr (GArray) rows = g_array_new (FALSE, TRUE, sizeof (Process));
  g_autoptr (GArray) threads = g_array_new (FALSE, FALSE, sizeof (Thread));
  Processes *processes = &self->store->processes;

  g_array_set_size (rows, 1);
  collect_pids (self, rows, threads);
  collect_waiting (self, rows, threads);
  follow_forks (self, rows, threads);

  processes->n = rows->len;
  self->comm_is_derived = g_new0 (bool, rows->len);
  self->has_process_frame = g_new0 (bool, rows->len);
  processes->row = (Process *) g_array_free (g_steal_pointer (&rows), FALSE);
  order_by_pid (processes, self->progress);
  fill_threads (processes, threads, self->progress);
  read_names_and_spans (self);
}
