// SPDX-License-Identifier: GPL-3.0-or-later

/* The CPU time and resident memory of processes: of the recorded command and its descendants,
 * of the processes that --pid selects, and of the 50 others with the most memory.
 *
 * Each reading lists /proc, which finds new processes, and reads the chosen ones through
 * descriptors that stay open. The memory of the others is only read every SCAN_INTERVAL,
 * because opening their files is what costs most.
 *
 * The definition of a counter has the pid of its process, and its name, for readers that ignore
 * the pid. A process that exits keeps its last values.
 *
 * Source: proc(5), /proc/PID/stat and statm. */

#include "access/access.h"
#include "record/clock.h"
#include "record/instrument.h"

#include <errno.h>
#include <unistd.h>

#define READ_INTERVAL (500 * NSEC_PER_MSEC)
#define SCAN_INTERVAL (5 * NSEC_PER_SEC)

/* Processes that are read though they do not belong to the command. */
#define MAX_OTHERS 50

/* Processes that are read at a time; each needs two descriptors. */
#define MAX_CHOSEN 512

/* bytes; a stat line has at most 52 numbers and a name of 15 bytes, up to 64 for kernel
 * threads */
#define MAX_TEXT_SIZE 2048

/* Values of one frame, which keep it below the 16,384 bytes that Sysprof 3.46 can join. */
#define MAX_VALUES 1024

typedef enum
{
  CPU_TIME, /* ns since the recording began */
  RESIDENT, /* bytes */
  N_VALUES,
} ValueKind;

static const struct
{
  const char *name;        /* in front of "(COMM/PID)" */
  const char *description; /* in front of "of COMM (PID)" */
} counters[N_VALUES] = {
  [CPU_TIME] = { "CPU Time", "CPU time" },
  [RESIDENT] = { "Resident", "Resident memory" },
};

/* bytes of "COMM/PID" with its NUL, so that the names of counters are not truncated */
#define LABEL_SIZE (sizeof ((SysprofCaptureCounter *) 0)->name - (sizeof "CPU Time ()" - 1))

typedef struct
{
  int32_t pid;
  int32_t parent_pid;
  uint64_t start_ticks; /* distinguishes it from later processes with its pid */
  uint64_t base_ticks;  /* the CPU time before the recording */
  uint64_t resident;    /* pages, when it was last scanned; 0 = a kernel thread */
  bool is_wanted;       /* the command or its descendant, or selected by --pid */
  bool is_chosen;       /* both files are open and read */
  bool is_young;        /* it started after the last scan of all processes */
  bool has_exited;
  int stat_fd;
  int statm_fd;
  unsigned ids[N_VALUES]; /* 0 = not defined yet */
} UsedProcess;

typedef struct _SysprofProcessUsage SysprofProcessUsage;

struct _SysprofProcessUsage
{
  SysprofInstrument parent_instance;

  /* Owned by the pump thread. */
  Privilege *machine;
  GArray *processes; /* [UsedProcess] all that exist, by pid; NULL = not recording */
  int64_t next_scan; /* ns */
  unsigned n_chosen;
  bool has_begun; /* /proc has been listed */
  bool is_full;   /* a process was not chosen for lack of descriptors */
  bool has_told_full;
  double page_size;
  double nsec_per_tick;

  /* The values of one reading. */
  unsigned ids[MAX_VALUES];
  SysprofCaptureCounterValue values[MAX_VALUES];
  unsigned n_values;
};

GType sysprof_process_usage_get_type (void);
SysprofInstrument *sysprof_process_usage_new (void);

SYSPROF_DEFINE_INSTRUMENT (SysprofProcessUsage, sysprof_process_usage)

static UsedProcess *
process_at (const SysprofProcessUsage *self, unsigned i)
{
  return &g_array_index (self->processes, UsedProcess, i);
}

static void
unchoose (SysprofProcessUsage *self, UsedProcess *process)
{
  self->n_chosen -= process->is_chosen;
  process->is_chosen = false;
  sysprof_autofd_close (&process->stat_fd);
  sysprof_autofd_close (&process->statm_fd);
  process->stat_fd = process->statm_fd = -1;
}

static bool
read_text (int fd, char buffer[MAX_TEXT_SIZE], Text *text)
{
  ssize_t n;

  do
    n = fd >= 0 ? pread (fd, buffer, MAX_TEXT_SIZE, 0) : -1;
  while (n < 0 && errno == EINTR && fd >= 0);
  *text = (Text){ buffer, buffer + MAX (n, 0) };
  return n > 0;
}

/* Opens both files. FALSE if the process has exited, is hidden, or there are too many. */
static bool
choose (SysprofProcessUsage *self, UsedProcess *process)
{
  if (process->is_chosen)
    return true;
  if (self->n_chosen == MAX_CHOSEN)
    {
      self->is_full = true;
      return false;
    }

  process->stat_fd = sysprof_privilege_open_process_file (self->machine, process->pid, "stat");
  process->statm_fd =
      sysprof_privilege_open_process_file (self->machine, process->pid, "statm");
  process->is_chosen = true;
  self->n_chosen++;
  if (process->statm_fd >= 0 && sysprof_descriptor_limit_is_near (process->statm_fd))
    self->is_full = true;
  else if (process->stat_fd >= 0 && process->statm_fd >= 0)
    return true;
  unchoose (self, process);
  return false;
}

/* --- values --- */

static void
write_values (SysprofProcessUsage *self, SysprofCaptureWriter *writer, int64_t now)
{
  if (self->n_values > 0)
    (void) sysprof_capture_writer_set_counters (writer, now, -1, -1, self->ids, self->values,
                                                self->n_values); /* the writer counts losses */
  self->n_values = 0;
}

static void
set_value (SysprofProcessUsage *self, unsigned id, double value)
{
  self->ids[self->n_values] = id;
  self->values[self->n_values++].v64 = (int64_t) value;
}

/* FALSE if there is no space. The next reading tries again. */
static bool
define_counters (UsedProcess *process, Text comm, SysprofCaptureWriter *writer, int64_t now)
{
  SysprofCaptureCounter definitions[N_VALUES] = { 0 };
  unsigned id = sysprof_capture_writer_request_counter (writer, N_VALUES);
  char name[LABEL_SIZE], pid[16];
  size_t room = sizeof name - 1 - (size_t) g_snprintf (pid, sizeof pid, "%d", process->pid);

  /* Room for the pid and its slash. */
  g_snprintf (name, sizeof name, "%.*s", (int) MIN (room - 1, sysprof_text_size (comm)),
              comm.at);
  for (char *at = name; *at != '\0'; at++)
    *at = g_ascii_isprint (*at) ? *at : '?';

  for (unsigned i = 0; i < N_VALUES; i++)
    {
      SysprofCaptureCounter *counter = &definitions[i];

      g_strlcpy (counter->category, "Process", sizeof counter->category);
      g_snprintf (counter->name, sizeof counter->name, "%s (%s/%s)", counters[i].name, name,
                  pid);
      g_snprintf (counter->description, sizeof counter->description, "%s of %s (%s)",
                  counters[i].description, name, pid);
      counter->id = (id + i) & 0xffffff;
      counter->type = SYSPROF_CAPTURE_COUNTER_INT64;
      process->ids[i] = id == 0 ? 0 : id + i;
    }
  if (id != 0 && !sysprof_capture_writer_define_counters (writer, now, -1, process->pid,
                                                          definitions, N_VALUES))
    memset (process->ids, 0, sizeof process->ids);
  return process->ids[0] != 0;
}

static void
read_process (SysprofProcessUsage *self,
              UsedProcess *process,
              SysprofCaptureWriter *writer,
              int64_t now)
{
  char buffer[MAX_TEXT_SIZE];
  Text text;
  ProcStat stat;
  uint64_t pages;

  if (!read_text (process->stat_fd, buffer, &text) || !sysprof_proc_parse_stat (text, &stat) ||
      stat.start_ticks != process->start_ticks)
    {
      process->has_exited = true;
      unchoose (self, process);
      return;
    }
  if (process->ids[0] == 0 && !define_counters (process, stat.comm, writer, now))
    return;

  if (self->n_values + N_VALUES > MAX_VALUES)
    write_values (self, writer, now);
  set_value (self, process->ids[CPU_TIME],
             (double) (stat.cpu_ticks - MIN (stat.cpu_ticks, process->base_ticks)) *
                 self->nsec_per_tick);
  /* A process that is exiting has no memory any more. */
  if (read_text (process->statm_fd, buffer, &text) &&
      sysprof_proc_parse_resident (text, &pages) && pages > 0)
    {
      process->resident = pages;
      set_value (self, process->ids[RESIDENT], (double) pages * self->page_size);
    }
}

/* --- the choice --- */

/* Reads the resident size of a process that is not chosen. */
static void
scan_memory (const SysprofProcessUsage *self, UsedProcess *process)
{
  autofd fd = sysprof_privilege_open_process_file (self->machine, process->pid, "statm");
  char buffer[MAX_TEXT_SIZE];
  Text text;

  if (!read_text (fd, buffer, &text) || !sysprof_proc_parse_resident (text, &process->resident))
    process->resident = 0;
}

/* A hidden process is added, too, so that the next listing does not read it again. The memory
 * of a new process is first read at the next reading, because most live shortly. */
static void
add_process (const SysprofProcessUsage *self, GArray *processes, int32_t pid)
{
  autofd fd = sysprof_privilege_open_process_file (self->machine, pid, "stat");
  UsedProcess process = {
    .pid = pid, .is_young = self->has_begun, .stat_fd = -1, .statm_fd = -1
  };
  char buffer[MAX_TEXT_SIZE];
  Text text;
  ProcStat stat;

  if (read_text (fd, buffer, &text) && sysprof_proc_parse_stat (text, &stat))
    {
      process.parent_pid = stat.parent_pid;
      process.start_ticks = stat.start_ticks;
      process.base_ticks = self->has_begun ? 0 : stat.cpu_ticks;
      if (!self->has_begun)
        scan_memory (self, &process);
    }
  g_array_append_val (processes, process);
}

static int
compare_pids (const void *left, const void *right)
{
  const int32_t *a = left, *b = right;

  return (*a > *b) - (*a < *b);
}

/* Lists /proc again: adds new processes and removes those that have exited. */
static void
list_processes (SysprofProcessUsage *self)
{
  g_autoptr (GArray) pids = sysprof_tasks_list_processes (self->machine);
  GArray *now = g_array_sized_new (false, false, sizeof (UsedProcess), pids->len);
  unsigned old = 0;

  g_array_sort (pids, compare_pids);
  for (unsigned i = 0; i < pids->len; i++)
    {
      int32_t pid = g_array_index (pids, int32_t, i);

      for (; old < self->processes->len && process_at (self, old)->pid < pid; old++)
        unchoose (self, process_at (self, old));
      if (old < self->processes->len && process_at (self, old)->pid == pid &&
          !process_at (self, old)->has_exited)
        g_array_append_val (now, *process_at (self, old++));
      else
        add_process (self, now, pid);
    }
  for (; old < self->processes->len; old++)
    unchoose (self, process_at (self, old));
  g_array_unref (self->processes);
  self->processes = now;
  self->has_begun = true;
}

static const UsedProcess *
find_process (const SysprofProcessUsage *self, int32_t pid)
{
  return bsearch (&pid, self->processes->data, self->processes->len, sizeof (UsedProcess),
                  compare_pids); /* the pid is the first member */
}

static bool
is_selected (const RecordingContext *context, int32_t pid)
{
  for (unsigned i = 0; i < context->process_log.n_only; i++)
    if (context->process_log.only[i] == pid)
      return true;
  return context->program_pid != 0 && pid == context->program_pid;
}

/* A process may have a lower pid than its parent, hence the repetition. */
static void
find_wanted (SysprofProcessUsage *self, const RecordingContext *context)
{
  bool has_changed = true;

  while (has_changed)
    {
      has_changed = false;
      for (unsigned i = 0; i < self->processes->len; i++)
        {
          UsedProcess *process = process_at (self, i);
          const UsedProcess *parent;

          if (process->is_wanted)
            continue;
          parent = find_process (self, process->parent_pid);
          process->is_wanted =
              is_selected (context, process->pid) || (parent != NULL && parent->is_wanted);
          has_changed |= process->is_wanted;
        }
    }
}

static int
compare_resident (const void *left, const void *right)
{
  const UsedProcess *a = *(UsedProcess *const *) left, *b = *(UsedProcess *const *) right;

  return (a->resident < b->resident) - (a->resident > b->resident);
}

/* Scans the processes that are not chosen, or only the young ones, which are few and may have
 * grown since they started. */
static void
scan_others (const SysprofProcessUsage *self, bool only_young)
{
  for (unsigned i = 0; i < self->processes->len; i++)
    {
      UsedProcess *process = process_at (self, i);

      if (!process->is_chosen && (process->is_young || (process->resident > 0 && !only_young)))
        scan_memory (self, process);
      process->is_young &= only_young;
    }
}

/* Chooses the largest of the processes that are not wanted. */
static void
choose_others (SysprofProcessUsage *self)
{
  g_autofree UsedProcess **others = g_new (UsedProcess *, MAX (self->processes->len, 1));
  unsigned n = 0;

  for (unsigned i = 0; i < self->processes->len; i++)
    {
      UsedProcess *process = process_at (self, i);

      if (!process->is_wanted && process->resident > 0)
        others[n++] = process;
    }
  qsort (others, n, sizeof *others, compare_resident);
  for (unsigned i = n; i-- > MAX_OTHERS;)
    unchoose (self, others[i]);
  for (unsigned i = 0; i < MIN (n, MAX_OTHERS); i++)
    (void) choose (self, others[i]); /* it may have exited */
}

static void
read_processes (RecordingContext *context, int64_t now, void *data)
{
  SysprofProcessUsage *self = data;

  scan_others (self, now < self->next_scan);
  list_processes (self);
  find_wanted (self, context);
  for (unsigned i = 0; i < self->processes->len; i++)
    if (process_at (self, i)->is_wanted)
      (void) choose (self, process_at (self, i)); /* it may have exited */
  choose_others (self);
  if (now >= self->next_scan)
    self->next_scan = now + SCAN_INTERVAL;

  for (unsigned i = 0; i < self->processes->len; i++)
    if (process_at (self, i)->is_chosen)
      read_process (self, process_at (self, i), context->writer, now);
  write_values (self, context->writer, now);

  if (self->is_full && !self->has_told_full)
    sysprof_context_report (context, "Process Usage", false,
                            "Recording CPU time and memory of %u processes; others are skipped "
                            "(the limit is %d, or fewer if the limit of open files is low).",
                            self->n_chosen, MAX_CHOSEN);
  self->has_told_full = self->is_full;
}

/* --- the instrument --- */

static void
clear (SysprofProcessUsage *self)
{
  if (self->processes == NULL)
    return;

  for (unsigned i = 0; i < self->processes->len; i++)
    unchoose (self, process_at (self, i));
  g_clear_pointer (&self->processes, g_array_unref);
  g_clear_pointer (&self->machine, sysprof_privilege_unref);
  sysprof_descriptor_limit_give_back (2 * MAX_CHOSEN);
}

static gboolean
sysprof_process_usage_prepare (SysprofInstrument *instrument,
                               RecordingContext *context,
                               GError **error)
{
  SysprofProcessUsage *self = (SysprofProcessUsage *) instrument;
  autofd fd = sysprof_privilege_open_processes (context->privilege);

  if (fd < 0)
    {
      g_set_error (error, SYSPROF_ERROR, SYSPROF_ERROR_UNSUPPORTED,
                   "Cannot record CPU time and memory of processes: cannot list '%s/proc': %s. "
                   "The recording continues without them. Check that /proc is mounted.",
                   sysprof_privilege_get_root (context->privilege), g_strerror (errno));
      return FALSE;
    }

  clear (self);
  sysprof_descriptor_limit_ask (2 * MAX_CHOSEN);
  self->machine = sysprof_privilege_ref (context->privilege);
  self->processes = g_array_new (false, false, sizeof (UsedProcess));
  self->page_size = (double) sysconf (_SC_PAGESIZE);
  self->nsec_per_tick = (double) NSEC_PER_SEC / (double) sysconf (_SC_CLK_TCK);
  self->next_scan = 0;
  self->has_begun = self->is_full = self->has_told_full = false;
  sysprof_pump_add_tick (context->pump, READ_INTERVAL, read_processes, self);
  return TRUE;
}

static void
sysprof_process_usage_stop (SysprofInstrument *instrument, RecordingContext *context)
{
  SysprofProcessUsage *self = (SysprofProcessUsage *) instrument;

  if (self->processes == NULL)
    return;

  sysprof_pump_remove_tick (context->pump, read_processes, self);
  if (self->has_begun)
    read_processes (context, context->end, self);
  clear (self);
}

static void
sysprof_process_usage_finalize (GObject *object)
{
  clear ((SysprofProcessUsage *) object);
  G_OBJECT_CLASS (sysprof_process_usage_parent_class)->finalize (object);
}

static void
sysprof_process_usage_class_init (SysprofProcessUsageClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = sysprof_process_usage_finalize;
  klass->parent_class.name = "Process Usage";
  klass->parent_class.prepare = sysprof_process_usage_prepare;
  klass->parent_class.stop = sysprof_process_usage_stop;
}

static void
sysprof_process_usage_init (SysprofProcessUsage *self)
{
}

SysprofInstrument *
sysprof_process_usage_new (void)
{
  return g_object_new (sysprof_process_usage_get_type (), NULL);
}

const InstrumentRow sysprof_process_usage_row = {
  .by_default = INSTRUMENT_ON,
  .options = { { "no-process-usage", "Do not record CPU time and memory of processes",
                 .omits = true } },
  .manual =
      "Do not record the CPU time and resident memory of processes. They are read twice a\n"
      "second for the recorded command and its descendants, the processes that\n"
      "\\fB--pid\\fR selects, and the 50 others with the most memory.",
  .new = sysprof_process_usage_new,
};
