// SPDX-License-Identifier: GPL-3.0-or-later

/* Off-CPU: where threads wait, for how long, why, and which thread wakes them; of the whole
 * machine or of the chosen threads.
 *
 * BPF programs run at each context switch and each wake-up, and write to rings that are drained
 * several times per second. They unwind stacks with the tables that the sampler has made, or
 * with those of an unwinder of our own if there is no such sampler.
 */

#include "record/clock.h"
#include "record/record.h"

#include "access/access.h"
#include "record/recording-context.h"
#include "record/sampling/request.h"
#include "unwinder/unwinder.h"
#include "util/util.h"
#include "waits/waits.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DOMAIN "Off-CPU"
/* a ring has space for several times as much */
#define DRAIN_INTERVAL (25 * NSEC_PER_MSEC)
#define MOST_INTERVAL  (100 * NSEC_PER_MSEC) /* when little arrives */
/* bytes per µs that waits without new stacks write to a ring at most */
#define FASTEST        40
#define MUCH           (1. / 16) /* of a ring */
#define LITTLE         (1. / 64)
#define FLUSH_INTERVAL (1 * NSEC_PER_SEC)
/* limit of the wait for the tables of programs that already run */
#define WHOLE_MSEC         250
#define UNFINISHED_ID      "org.gnome.sysprof.unfinished-waits"
#define UNSEEN_ID          "org.gnome.sysprof.unseen-switches"
#define PID_NAMESPACE_PATH "/proc/self/ns/pid"
/* inode of the initial PID namespace, in every kernel */
#define FIRST_PID_NAMESPACE 0xeffffffcu
#define BTF_PATH            "/sys/kernel/btf/vmlinux"

struct _SysprofOffCpu
{
  SysprofInstrument parent_instance;

  /* Frozen once made; owns its pointers. */
  SamplerOptions options;

  /* Owned by the pump thread. */
  SamplingRequest request;
  Unwinder *unwinder; /* our own; NULL = the sampler's is used */
  WaitsProgram program;
  WaitRings *rings;
  WaitLog *log;
  RecordingContext *context;
  uint64_t cgroup; /* id of the chosen cgroup; 0 = none */
  int64_t begin;
  uint64_t marker[WALK_REASONS];
  bool is_loaded;
  int64_t interval; /* ns between two reads of the rings */
  bool has_told_limit;
  /* a write to the stream failed; readers cannot decode anything after the gap */
  bool is_broken_off;
};

SYSPROF_DEFINE_INSTRUMENT (SysprofOffCpu, sysprof_off_cpu)

/* --- writing --- */

static void
write_chunk (const uint8_t *bytes, size_t size, bool is_last, void *data)
{
  SysprofOffCpu *self = data;
  int64_t end = self->context->end;

  if (self->is_broken_off)
    {
      sysprof_context_add_lost (self->context, LOST_OTHERS, 1);
      return;
    }
  if (!sysprof_capture_writer_add_file (self->context->writer,
                                        end > 0 ? end : sysprof_clock_now (), -1, -1,
                                        WAIT_STREAM_FILE, is_last, bytes, size))
    {
      self->is_broken_off = true;
      sysprof_context_add_lost (self->context, LOST_OTHERS, 1);
    }
}

static uint64_t
marker_of (WalkReason reason, void *data)
{
  SysprofOffCpu *self = data;

  return sysprof_truncation_marker (self->marker, reason, self->context->writer);
}

static void
take_record (const WaitsHead *record, void *data)
{
  SysprofOffCpu *self = data;

  sysprof_wait_log_take (self->log, record);
}

static void
drain (SysprofOffCpu *self, int64_t now)
{
  uint64_t n_lost, n_refused;

  if (!sysprof_wait_rings_drain (self->rings, take_record, self))
    g_debug ("A ring of the off-CPU programs contains an invalid record");
  n_refused = sysprof_wait_log_get_status (self->log).n_refused;
  if (n_refused > 0 && !self->has_told_limit)
    {
      self->has_told_limit = true;
      sysprof_context_report (
          self->context, DOMAIN, false,
          "The limit of distinct stacks is reached; later waits are recorded without a "
          "stack. Record for a shorter time, or fewer processes.");
    }
  n_lost = sysprof_wait_log_set_lost (
      self->log, sysprof_wait_rings_count_lost (self->rings) + n_refused, now);
  if (n_lost > 0)
    sysprof_context_add_lost (self->context, LOST_OTHERS, n_lost);
}

static void drain_tick (RecordingContext *context, int64_t now, void *data);

/* Adapts how often the rings are drained, so that an idle machine is not woken often. The
 * interval grows while little arrives, but stays short enough that waits alone cannot fill a
 * ring. Each new stack takes up to some KB. If very many arrive at once after a quiet time, a
 * ring may overflow, and the records that do not fit are counted as lost. */
static void
adapt_interval (SysprofOffCpu *self, RecordingContext *context)
{
  double fill = sysprof_wait_rings_get_fill (self->rings);
  int64_t most = (int64_t) sysprof_wait_rings_get_size (self->rings) * 1000 / FASTEST;
  int64_t interval = self->interval;

  if (fill > MUCH)
    interval = DRAIN_INTERVAL;
  else if (fill < LITTLE)
    interval = MIN (2 * interval, CLAMP (most, DRAIN_INTERVAL, MOST_INTERVAL));
  if (interval == self->interval)
    return;

  self->interval = interval;
  sysprof_pump_change_tick (context->pump, interval, drain_tick, self);
}

static void
drain_tick (RecordingContext *context, int64_t now, void *data)
{
  SysprofOffCpu *self = data;

  if (self->rings == NULL)
    return;
  drain (self, now);
  adapt_interval (self, context);
}

static void
flush_tick (RecordingContext *context, int64_t now, void *data)
{
  SysprofOffCpu *self = data;

  if (self->log != NULL)
    sysprof_wait_log_flush (self->log);
}

/* --- choosing threads --- */

static void
find_kernel_code (SysprofOffCpu *self, RecordingContext *context, WaitsControl *control)
{
  autofd fd = sysprof_privilege_open_kallsyms (context->privilege);
  g_autoptr (GString) text = g_string_new (NULL);
  char bytes[65536];
  ssize_t n;

  while (fd >= 0 && (n = read (fd, bytes, sizeof bytes)) > 0)
    g_string_append_len (text, bytes, n);
  sysprof_kernel_code_find (control, (Text){ text->str, text->str + text->len });
  if (control->interrupts[0].end == 0)
    sysprof_context_report (
        context, DOMAIN, false,
        "Wake-ups from interrupts are attributed to the interrupted thread, because kernel "
        "addresses are hidden. Run as root, or with 'sudo sysctl kernel.kptr_restrict=0'.");
}

/* The BPF programs use the PIDs of the initial namespace. */
static bool
has_other_numbers (void)
{
  struct stat info;

  return stat (PID_NAMESPACE_PATH, &info) == 0 && info.st_ino != FIRST_PID_NAMESPACE;
}

/* Checks the choice before anything is loaded. */
static bool
can_be_told_apart (SysprofOffCpu *self, GError **error)
{
  const SamplerOptions *options = &self->options;
  struct stat info;

  if (options->n_pids + options->n_tids > 0 && has_other_numbers ())
    {
      g_set_error_literal (
          error, SYSPROF_ERROR, SYSPROF_ERROR_UNSUPPORTED,
          "not recorded: PIDs in this container differ from the PIDs in the kernel's "
          "scheduler events. Choose threads with --cgroup or --user, or record outside of "
          "the container.");
      return false;
    }
  if (options->n_pids + options->n_tids > WAITS_MOST_IDS)
    {
      g_set_error (error, SYSPROF_ERROR, SYSPROF_ERROR_FAILED,
                   "not recorded: %u processes and threads were given, but the limit is %u.",
                   options->n_pids + options->n_tids, WAITS_MOST_IDS);
      return false;
    }
  if (self->request.cgroup_fd >= 0)
    {
      if (fstat (self->request.cgroup_fd, &info) != 0 || info.st_ino == 0)
        {
          sysprof_set_error_errno (error, "not recorded: cannot access the control group %s",
                                   options->cgroup);
          return false;
        }
      self->cgroup = info.st_ino;
    }
  return true;
}

static void
choose (const SysprofOffCpu *self, WaitsControl *control)
{
  const SamplerOptions *options = &self->options;

  for (guint i = 0; i < options->n_pids; i++)
    control->id[control->n_ids++] = (uint32_t) options->pids[i];
  control->n_pids = options->n_pids;
  for (guint i = 0; i < options->n_tids; i++)
    control->id[control->n_ids++] = (uint32_t) options->tids[i];
  control->follows_forks = self->request.session.follows_forks;
  control->follows_threads = self->request.session.follows_threads;

  control->has_user = self->request.has_user;
  control->uid = self->request.uid;
  control->has_cpus = options->n_cpus > 0;
  for (guint i = 0; i < options->n_cpus; i++)
    if (options->cpus[i] >= 0 && (guint) options->cpus[i] < WAITS_MOST_CPUS)
      control->cpu[options->cpus[i]] = 1;
  control->cgroup = self->cgroup;
  __atomic_store_n (&control->is_chosen, 1, __ATOMIC_RELEASE);
}

/* --- the instrument --- */

static void
set_load_error (GError **error)
{
  int number = errno;

  if (number == EPERM || number == EACCES)
    g_set_error (
        error, SYSPROF_ERROR, SYSPROF_ERROR_DENIED,
        "not recorded: watching the scheduler requires root, or CAP_BPF and CAP_PERFMON.");
  else if (number == ENOSYS)
    g_set_error (error, SYSPROF_ERROR, SYSPROF_ERROR_UNSUPPORTED,
                 "not recorded: this program was built without BPF support (clang and "
                 "libbpf).");
  else if (access (BTF_PATH, R_OK) != 0)
    g_set_error (
        error, SYSPROF_ERROR, SYSPROF_ERROR_UNSUPPORTED,
        "not recorded: the kernel does not provide BTF type information in " BTF_PATH " "
        "(%s). Use a kernel that was built with CONFIG_DEBUG_INFO_BTF, as most distributions "
        "do.",
        g_strerror (errno));
  else
    g_set_error (
        error, SYSPROF_ERROR, SYSPROF_ERROR_FAILED,
        "not recorded: the kernel rejects the BPF programs that watch the scheduler: %s. "
        "They require Linux 5.18 or later; 'dmesg' may have more details.",
        g_strerror (number));
}

/* The tables that the BPF programs unwind with. */
static const WalkProgram *
find_tables (SysprofOffCpu *self, RecordingContext *context, GError **error)
{
  Unwinder *unwinder = context->unwinder;

  if (unwinder != NULL)
    sysprof_unwinder_widen (unwinder); /* any process may wake a thread */
  else
    {
      g_autoptr (GError) local = NULL;

      self->unwinder = sysprof_unwinder_new (
          context->privilege, &(UnwinderOptions){ .without_program = true }, &local);
      if (g_error_matches (local, SYSPROF_ERROR, SYSPROF_ERROR_DENIED))
        {
          errno = EPERM;
          set_load_error (error);
          return NULL;
        }
      if (self->unwinder == NULL)
        {
          g_set_error (error, SYSPROF_ERROR, local->code, "not recorded: %s", local->message);
          return NULL;
        }
      if (!sysprof_unwinder_start (self->unwinder, NULL, 0, error))
        return NULL;
      unwinder = self->unwinder;
    }
  return sysprof_unwinder_get_program (unwinder);
}

static bool
load (SysprofOffCpu *self, RecordingContext *context, GError **error)
{
  const WalkProgram *tables = find_tables (self, context, error);

  if (tables == NULL)
    return false;
  self->is_loaded = sysprof_privilege_load_waits (context->privilege, tables, &self->program);
  if (!self->is_loaded)
    {
      set_load_error (error);
      return false;
    }
  self->rings = sysprof_wait_rings_new (&self->program, error);
  return self->rings != NULL;
}

/* Unloads the BPF programs and frees their rings. */
static void
unload (SysprofOffCpu *self)
{
  if (self->is_loaded)
    sysprof_waits_program_clear (&self->program);
  self->is_loaded = false;
  g_clear_pointer (&self->log, sysprof_wait_log_free);
  g_clear_pointer (&self->rings, sysprof_wait_rings_free);
  g_clear_pointer (&self->unwinder, sysprof_unwinder_free);
}

/* Counts stacks that would need the unwinder to finish them. Samples carry the stack bytes for
 * that, waits do not. */
static void
write_count (RecordingContext *context, const char *id, uint64_t n)
{
  char text[32];

  if (n == 0)
    return;
  (void) snprintf (text, sizeof text, "%" G_GUINT64_FORMAT, n);
  if (!sysprof_capture_writer_add_metadata (context->writer, context->end, -1, -1, id, text,
                                            -1))
    sysprof_context_add_lost (context, LOST_OTHERS, 1);
}

static gboolean
sysprof_off_cpu_prepare (SysprofInstrument *instrument,
                         RecordingContext *context,
                         GError **error)
{
  SysprofOffCpu *self = SYSPROF_OFF_CPU (instrument);
  WaitsControl *control;

  self->context = context;
  if (!sysprof_sampling_request_resolve (&self->request, &self->options, context->privilege,
                                         error) ||
      !can_be_told_apart (self, error))
    return FALSE;
  if (!load (self, context, error))
    {
      unload (self); /* the pump does not call stop for an instrument that failed here */
      return FALSE;
    }
  control = sysprof_wait_rings_get_control (self->rings);
  choose (self, control);
  find_kernel_code (self, context, control);
  if (has_other_numbers ())
    sysprof_context_report (
        context, DOMAIN, false,
        "Waiting threads are recorded with their PIDs outside of this container, but samples "
        "with PIDs inside, so views of single threads do not show both. Record outside of "
        "the container.");
  if (self->unwinder != NULL)
    sysprof_unwinder_wait_until_ready (self->unwinder, WHOLE_MSEC);

  self->log = sysprof_wait_log_new (write_chunk, marker_of, self);
  self->interval = DRAIN_INTERVAL;
  sysprof_pump_add_tick (context->pump, self->interval, drain_tick, self);
  sysprof_pump_add_tick (context->pump, FLUSH_INTERVAL, flush_tick, self);
  return TRUE;
}

/* Lets the kernel iterate over all threads with the BPF program of `fd`. The threads come in
 * batches, because a ring only has space for the records of some hundred. */
static void
go_through_threads (SysprofOffCpu *self, RecordingContext *context, int fd)
{
  char ticks[32]; /* one byte per thread */
  ssize_t n;

  do
    {
      n = read (fd, ticks, sizeof ticks);
      if (n > 0)
        drain (self, sysprof_clock_now ());
    }
  while (n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR)));
  if (n < 0)
    sysprof_context_report (
        context, DOMAIN, false,
        "The kernel cannot list its threads: %s. Waits that were in progress at the start or "
        "the end may be missing. 'dmesg' may have more details.",
        g_strerror (errno));
}

static void
begin (SysprofOffCpu *self, RecordingContext *context)
{
  WaitsControl *control = sysprof_wait_rings_get_control (self->rings);

  go_through_threads (self, context, self->program.fd[WAITS_PREPARE_FD]);
  if (control->cgroup != 0 && control->has_no_cgroups)
    sysprof_context_report (context, DOMAIN, false,
                            "No waits are recorded: this kernel does not report the control "
                            "group of a thread (CONFIG_CGROUP_PERF). Choose threads with --pid "
                            "or --user.");
  self->begin = sysprof_clock_now ();
  control->begin = (uint64_t) self->begin;
  __atomic_store_n (&control->is_enabled, 1, __ATOMIC_RELEASE);
  go_through_threads (self, context, self->program.fd[WAITS_BEGIN_FD]);
}

static void
delay_tick (RecordingContext *context, int64_t now, void *data)
{
  SysprofOffCpu *self = data;

  if (now < context->begin + self->options.delay_nsec)
    return;

  begin (self, context);
  sysprof_pump_remove_tick (context->pump, delay_tick, self);
}

static void
sysprof_off_cpu_record (SysprofInstrument *instrument, RecordingContext *context)
{
  SysprofOffCpu *self = SYSPROF_OFF_CPU (instrument);

  if (self->options.delay_nsec > 0)
    sysprof_pump_add_tick (context->pump, self->options.delay_nsec, delay_tick, self);
  else
    begin (self, context);
}

/* Detaching does not wait for BPF programs that are running. membarrier() does: every CPU must
 * pass a scheduling point, and these programs cannot be preempted. */
static void
wait_for_programs (void)
{
  if (syscall (SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) != 0)
    /* longer than any program runs */
    g_usleep (G_USEC_PER_SEC / 1000);
}

static void
sysprof_off_cpu_stop (SysprofInstrument *instrument, RecordingContext *context)
{
  SysprofOffCpu *self = SYSPROF_OFF_CPU (instrument);
  WaitsControl *control;
  WaitLogStatus status;

  if (self->log == NULL)
    return;

  control = sysprof_wait_rings_get_control (self->rings);
  __atomic_store_n (&control->is_enabled, 0, __ATOMIC_SEQ_CST);
  wait_for_programs ();
  if (self->begin != 0)
    {
      drain (self, context->end);
      control->end = (uint64_t) MAX (sysprof_clock_now (), context->end);
      go_through_threads (self, context, self->program.fd[WAITS_END_FD]);
    }
  sysprof_waits_program_clear (&self->program);
  drain (self, context->end);
  sysprof_wait_log_finish (self->log);

  status = sysprof_wait_log_get_status (self->log);
  write_count (context, UNFINISHED_ID, status.n_unfinished);
  write_count (context, UNSEEN_ID, sysprof_wait_rings_count_unseen (self->rings));
  g_debug ("Off-CPU: %" G_GUINT64_FORMAT " waits, %" G_GUINT64_FORMAT
           " stacks, %" G_GUINT64_FORMAT " without a stack, %" G_GUINT64_FORMAT " lost",
           status.n_waits, status.n_stacks, status.n_nameless,
           sysprof_wait_rings_count_lost (self->rings));
  unload (self);
}

static void
sysprof_off_cpu_finalize (GObject *object)
{
  SysprofOffCpu *self = SYSPROF_OFF_CPU (object);

  unload (self);
  sysprof_sampling_request_clear (&self->request);
  g_free ((void *) self->options.pids);
  g_free ((void *) self->options.tids);
  g_free ((void *) self->options.cpus);
  g_free ((void *) self->options.cgroup);
  g_free ((void *) self->options.user);
  G_OBJECT_CLASS (sysprof_off_cpu_parent_class)->finalize (object);
}

static void
sysprof_off_cpu_class_init (SysprofOffCpuClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = sysprof_off_cpu_finalize;

  klass->parent_class.name = DOMAIN;
  klass->parent_class.opens_events = true;
  klass->parent_class.prepare = sysprof_off_cpu_prepare;
  klass->parent_class.record = sysprof_off_cpu_record;
  klass->parent_class.stop = sysprof_off_cpu_stop;
}

static void
sysprof_off_cpu_init (SysprofOffCpu *self)
{
  self->request.cgroup_fd = -1;
}

SysprofInstrument *
sysprof_off_cpu_new (const SamplerOptions *options)
{
  SysprofOffCpu *self = g_object_new (sysprof_off_cpu_get_type (), NULL);

  self->options = *options;
  self->options.events = NULL; /* sampling events do not matter here */
  self->options.pids = g_memdup2 (options->pids, options->n_pids * sizeof *options->pids);
  self->options.tids = g_memdup2 (options->tids, options->n_tids * sizeof *options->tids);
  self->options.cpus = g_memdup2 (options->cpus, options->n_cpus * sizeof *options->cpus);
  self->options.cgroup = g_strdup (options->cgroup);
  self->options.user = g_strdup (options->user);
  return SYSPROF_INSTRUMENT (self);
}

static void
create_off_cpu (const InstrumentSelection *selection, GPtrArray *instruments)
{
  g_ptr_array_add (instruments, sysprof_off_cpu_new (selection->sampler));
}

const InstrumentRow sysprof_off_cpu_row = {
  .options = { { "off-cpu",
                 "Also record waits: where, how long, why, and which thread ended them" },
               { "no-off-cpu", "Do not record waits (default)", .omits = true } },
  .manual =
      "Also record waits of all threads, or of those selected by\n"
      "\\fB--pid\\fR, \\fB--tid\\fR, \\fB--cpu\\fR, \\fB--cgroup\\fR and \\fB--user\\fR.\n"
      "For each wait the capture contains the stack, the duration, how long the thread was\n"
      "runnable, the reason (page fault, child, sleep, futex, I/O, the system call, or\n"
      "preemption), the thread that ended the wait, with its stack, and the owner of the lock,\n"
      "if known.\n"
      ".IP\n"
      "This needs root, or CAP_BPF and CAP_PERFMON, and Linux 5.18. With \\fB--no-perf\\fR waits\n"
      "are recorded without samples. Stacks of programs that have just started can be\n"
      "truncated; \\fBsysprof-report quality\\fR shows how many. In a container with its own\n"
      "process IDs, select by \\fB--cgroup\\fR or \\fB--user\\fR. Off by default.",
  .create = create_off_cpu,
};
