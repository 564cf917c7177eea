// SPDX-License-Identifier: GPL-3.0-or-later

/* The unwinder's thread: it reads events, has tables built, publishes processes, and finishes
 * samples that the walker could not finish.
 *
 * Until a process's mappings are published, the BPF walker copies its stack; this thread
 * unwinds those copies later. So the thread need not react at once, but it must not fall
 * behind. It therefore has rings of its own, a raised priority where permitted, and other
 * threads that build the tables. A record wakes the thread if there was none for a while. While
 * programs start one after another, the thread polls at intervals instead, because a wake-up
 * for each record would cost more than all its other work.
 *
 * If the BPF program can query the kernel for mappings, the thread only has to learn of new
 * files. Ten polls a second are then enough. Once the pump receives the same events, the thread
 * closes its rings and takes new records from the pump.
 *
 * Each CPU has its own ring, so the thread sorts records by time before it applies them. */

#include "unwinder/unwinder.h"

#include "access/access.h"
#include "perf/perf.h"
#include "unwinder/loading.h"
#include "unwinder/mapping-events.h"
#include "unwinder/priority.h"
#include "unwinder/processes.h"
#include "util/util.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <time.h>

/* Of reading /proc, before events are read again. */
#define SLICE_USEC (2 * G_TIME_SPAN_MILLISECOND)
#define CPUS_USEC  (1 * G_TIME_SPAN_SECOND)
/* Time between two polls of the rings. At 1 kHz sampling and 1,200 records a second, an
 * interval of 0.2 ms costs 10 % of a CPU. */
#define PACE_USEC (10 * G_TIME_SPAN_MILLISECOND)
/* The interval if only new files matter. Until a file is known, the walker copies stacks that
 * go through it. */
#define LONG_PACE_USEC (100 * G_TIME_SPAN_MILLISECOND)
/* Until pending samples are tried again. */
#define WAITING_USEC (50 * G_TIME_SPAN_MILLISECOND)
#define READ_USEC    (1 * G_TIME_SPAN_SECOND) /* least time between two full reads of /proc */
/* Between two CPU updates without own rings. */
#define IDLE_USEC     (10 * G_TIME_SPAN_SECOND)
#define FINISH_USEC   (500 * G_TIME_SPAN_MILLISECOND) /* limit for pending tables at the end */
#define USEC_PER_MSEC 1000

/* What the thread polls. The first two interrupt every wait; the rings of events are read at
 * intervals. */
enum
{
  WAIT_WAKE,
  WAIT_UNKNOWN_FILES,
  N_URGENT_WAITS,
  WAIT_EVENTS = N_URGENT_WAITS,
  N_WAITS
};

struct Unwinder
{
  /* Constant while the thread runs, except the program's own descriptor, which the pump's
   * thread owns. */
  WalkProgram program; /* none where copies are unwound */
  /* The program queries the kernel for mappings; this side only publishes files. */
  bool tells_files;
  Loading *loading;
  Privilege *privilege;
  UnwindIndex *index; /* mapped */
  GThread *thread;
  int wake_fd;
  /* An eventfd, written when the processes that ran at the start have their tables. */
  int ready_fd;
  atomic_bool stop_requested;
  atomic_bool relies_on_pump;
  atomic_bool is_to_widen;
  bool is_shared; /* owned by the pump's thread: sysprof_unwinder_widen() was called */
  /* The event queue, shared with the pump's thread. NULL: the program does not query the
   * kernel. */
  MappingEvents *mapping_events;
  unsigned n_only; /* wanted processes; 0 = all */

  /* Owned by the thread while it runs. */
  uint8_t *slab[UNWIND_MOST_SLABS]; /* mapped */
  UnwindPublisher *publisher;
  CodeFiles *files;
  CodeProcesses *processes;
  PendingSamples *pending; /* shared with the pump's thread */
  CopiedSamples *copies;   /* the same; NULL: the BPF program unwinds */
  PerfSession *session;    /* NULL: events come from the pump */
  /* Files without a table that the walker met; NULL: it does not report them. */
  PerfSession *unknown_files;
  /* wake_fd, then an epoll instance with the rings of each session; -1 = none. */
  struct pollfd waits[N_WAITS];
  GByteArray *records;     /* read from the rings and not applied yet */
  GArray *pending_records; /* of PendingRecord */
  GArray *to_read;         /* of int32_t */
  guint n_read;
  int64_t events_until; /* ns: all earlier events have been applied */
  bool had_events;      /* at the last poll */
  bool is_incomplete;   /* records were lost */
  bool is_to_read;      /* read all processes again */
  bool is_widened;      /* sysprof_unwinder_widen() has been applied */
  int64_t read_usec;    /* start of the last full read */
  int64_t now_usec;     /* time of the last poll */
  int64_t begin_nsec;
  UnwinderStatus status;
};

typedef struct
{
  int64_t time;
  uint32_t offset; /* in `records` */
} PendingRecord;

static int64_t
now_nsec (clockid_t clock)
{
  struct timespec now;

  clock_gettime (clock, &now);
  return now.tv_sec * INT64_C (1000000000) + now.tv_nsec;
}

static void
notify (int fd)
{
  const uint64_t one = 1;

  (void) !write (fd, &one, sizeof one); /* full: already signaled */
}

/* --- events --- */

static void
keep_record (const struct perf_event_header *record, void *data)
{
  Unwinder *self = data;
  TaskEvent event;
  PendingRecord pending;

  if (record->type == PERF_RECORD_LOST)
    {
      const struct
      {
        struct perf_event_header header;
        uint64_t id;
        uint64_t n;
      } *lost = (const void *) record;

      self->status.n_lost += record->size >= sizeof *lost ? lost->n : 1;
      self->is_incomplete = true;
      return;
    }
  if (!sysprof_task_event_parse (&event, record))
    return;
  self->status.n_events++;
  if (!sysprof_code_processes_note (self->processes, &event, self->session == NULL,
                                    self->now_usec))
    return;

  pending = (PendingRecord){ event.time, self->records->len };
  g_array_append_val (self->pending_records, pending);
  g_byte_array_append (self->records, (const uint8_t *) record, record->size);
}

/* The walker reported a file without a table. If the process has exited since, its mapping
 * records request the table instead. */
static void
build_unknown_file (const struct perf_event_header *record, void *data)
{
  Unwinder *self = data;
  struct
  {
    struct perf_event_header header;
    uint32_t pid;
    uint32_t tid;
    uint32_t raw_size;
    uint8_t raw[sizeof (UnwindFileKey)];
  } reported;
  UnwindFileKey file;

  if (record->type != PERF_RECORD_SAMPLE || record->size < sizeof reported)
    return; /* the record was lost: the walker reports the file again */
  memcpy (&reported, record, sizeof reported);
  memcpy (&file, reported.raw, sizeof file);
  sysprof_code_processes_build_tables (self->processes, (int32_t) reported.pid, &file);
}

static int
compare_pending_records (const void *a, const void *b)
{
  const PendingRecord *left = a, *right = b;

  if (left->time != right->time)
    return left->time < right->time ? -1 : 1;
  return left->offset < right->offset ? -1 : 1;
}

static void
take_mapping_events (Unwinder *self)
{
  g_autoptr (GByteArray) records = g_byte_array_new ();
  bool has_lost;

  self->events_until = sysprof_mapping_events_take (self->mapping_events, records, &has_lost);
  self->is_incomplete |= has_lost; /* the pump counts lost records */
  for (guint at = 0; at < records->len;)
    {
      const struct perf_event_header *record = (const void *) (records->data + at);

      keep_record (record, self);
      at += record->size;
    }
}

static void
close_session (Unwinder *self, PerfSession **session, unsigned wait)
{
  g_clear_pointer (session, sysprof_perf_session_close);
  sysprof_autofd_close (&self->waits[wait].fd);
  self->waits[wait].fd = -1; /* poll() ignores it */
}

/* Read the rings a last time. Both the rings and the pump may contain these records. */
static void
close_rings (Unwinder *self)
{
  sysprof_perf_session_disable (self->session);
  sysprof_perf_session_drain (self->session);
  self->is_incomplete |= sysprof_perf_session_was_full (self->session);
  close_session (self, &self->session, WAIT_EVENTS);
}

static void
apply_events (Unwinder *self)
{
  uint64_t n_before = self->status.n_events;

  self->now_usec = g_get_monotonic_time ();
  if (self->unknown_files != NULL)
    sysprof_perf_session_drain (self->unknown_files);
  if (self->session != NULL &&
      atomic_load_explicit (&self->relies_on_pump, memory_order_acquire))
    close_rings (self);
  if (self->session != NULL)
    {
      sysprof_perf_session_drain (self->session);
      /* The kernel reports records that it dropped only with the next record that fits. */
      self->is_incomplete |= sysprof_perf_session_was_full (self->session);
    }
  else
    take_mapping_events (self);
  g_array_sort (self->pending_records, compare_pending_records);
  for (guint i = 0; i < self->pending_records->len; i++)
    {
      TaskEvent event;
      const uint8_t *record =
          self->records->data + g_array_index (self->pending_records, PendingRecord, i).offset;

      if (sysprof_task_event_parse (&event, (const void *) record))
        sysprof_code_processes_apply (self->processes, &event);
    }

  self->had_events = self->status.n_events > n_before;
  g_array_set_size (self->pending_records, 0);
  g_byte_array_set_size (self->records, 0);
}

/* --- processes that run at the start --- */

static void
put_first (GArray *pids, int32_t pid)
{
  int32_t *all = (int32_t *) (void *) pids->data;

  for (unsigned i = 0; i < pids->len; i++)
    if (all[i] == pid)
      {
        all[i] = all[0];
        all[0] = pid;
        return;
      }
}

/* Read this process first, because it maps the C library and because the threads that build
 * tables run most at first. */
static void
list_processes (Unwinder *self)
{
  self->to_read =
      self->is_widened ? NULL : sysprof_code_processes_list_wanted (self->processes);
  if (self->to_read != NULL)
    return;
  self->to_read = sysprof_tasks_list_processes (self->privilege);
  put_first (self->to_read, getpid ());
}

/* Reads all processes, the wanted ones a second time. From now on, each full read of /proc
 * covers all processes. */
static void
widen (Unwinder *self)
{
  self->is_widened = true;
  sysprof_code_processes_widen (self->processes);
  g_array_unref (self->to_read);
  list_processes (self);
  self->n_read = 0;
}

static bool
is_reading (const Unwinder *self)
{
  return self->n_read < self->to_read->len;
}

/* Forget all mappings: a truncated stack is better than one unwound with mappings that may be
 * stale. */
static void
forget_processes (Unwinder *self)
{
  sysprof_code_processes_forget (self->processes, now_nsec (CLOCK_MONOTONIC));
  self->is_incomplete = false;
  self->n_read = self->to_read->len;
  /* Otherwise each process is read when a sample needs it. */
  self->is_to_read = self->mapping_events == NULL || self->n_only > 0;
}

/* Read all processes again, but not more often than READ_USEC if the kernel keeps dropping
 * records. */
static void
begin_to_read_anew (Unwinder *self)
{
  int64_t now = g_get_monotonic_time ();

  if (now - self->read_usec < READ_USEC)
    return;
  self->is_to_read = false;
  self->read_usec = now;
  self->n_read = 0;
  g_array_unref (self->to_read);
  list_processes (self);
}

static void
read_processes (Unwinder *self)
{
  int64_t deadline = g_get_monotonic_time () + SLICE_USEC;

  while (is_reading (self) && g_get_monotonic_time () < deadline)
    sysprof_code_processes_read (self->processes,
                                 g_array_index (self->to_read, int32_t, self->n_read++));
}

/* --- the thread --- */

static void
update_cpus (Unwinder *self)
{
  g_autofree char *online = NULL;

  if (!g_file_get_contents (CPUS_ONLINE_PATH, &online, NULL, NULL))
    return;
  if (self->session != NULL)
    sysprof_perf_session_update_cpus (self->session, online);
  if (self->unknown_files != NULL)
    sysprof_perf_session_update_cpus (self->unknown_files, online);
}

/* FALSE: no urgent descriptor is ready. */
static bool
poll_waits (Unwinder *self, unsigned n, int64_t timeout_usec)
{
  (void) poll (self->waits, n, (int) ((timeout_usec + USEC_PER_MSEC - 1) / USEC_PER_MSEC));
  for (unsigned i = 0; i < N_URGENT_WAITS; i++)
    if (self->waits[i].revents != 0)
      return true;
  return false;
}

static void
wait_for_something (Unwinder *self, int64_t until_usec)
{
  bool is_urgent = false;
  uint64_t n;

  if (!self->had_events || self->session == NULL)
    is_urgent = poll_waits (self, N_WAITS, until_usec);
  /* Do not wait at a fixed interval if records come from the pump, which has its own. Copies
   * are unwound in batches and always wait for a full interval. */
  if (self->session != NULL && self->copies != NULL)
    g_usleep (PACE_USEC);
  else if (self->session != NULL && !is_urgent)
    (void) poll_waits (self, N_URGENT_WAITS, self->tells_files ? LONG_PACE_USEC : PACE_USEC);
  self->status.n_wake_ups++;
  if ((self->waits[WAIT_WAKE].revents & POLLIN) != 0)
    (void) !read (self->wake_fd, &n, sizeof n); /* only resets it */
}

/* Applies events and unwinds samples that can be unwound. Sets `waits` if samples wait for a
 * table or a mapping. Returns the microseconds until the next deadline; -1 = none. */
static int64_t
catch_up (Unwinder *self, bool *waits)
{
  bool tables_came;
  int64_t next;

  if (self->copies != NULL)
    sysprof_copied_samples_hold (self->copies);
  if (self->n_only > 0 &&
      atomic_exchange_explicit (&self->is_to_widen, false, memory_order_acquire))
    widen (self);
  apply_events (self);
  if (self->is_incomplete)
    forget_processes (self);
  if (self->is_to_read)
    begin_to_read_anew (self);
  if (is_reading (self))
    read_processes (self);
  tables_came = sysprof_code_files_collect (self->files);
  next = sysprof_code_processes_publish (self->processes, tables_came, g_get_monotonic_time ());
  *waits = sysprof_pending_samples_walk (
      self->pending, self->processes, sysprof_unwind_publisher_get_memory (self->publisher),
      is_reading (self) || self->is_to_read ? PENDING_WAIT : PENDING_BE_PATIENT,
      self->events_until);
  if (self->copies != NULL)
    sysprof_copied_samples_go_on (self->copies);
  return next;
}

static bool
is_ready (const Unwinder *self)
{
  return !is_reading (self) && sysprof_code_files_get_status (self->files).n_waiting == 0;
}

/* Waits for pending tables, because a short recording can end before they are built. */
static void
finish (Unwinder *self)
{
  int64_t deadline = g_get_monotonic_time () + FINISH_USEC;
  bool waits;

  (void) catch_up (self, &waits);
  if (self->copies != NULL)
    {
      sysprof_copied_samples_finish (self->copies);
      (void) catch_up (self, &waits);
    }
  while (waits && !is_ready (self) && g_get_monotonic_time () < deadline)
    {
      if (!is_reading (self))
        g_usleep (PACE_USEC);
      (void) catch_up (self, &waits);
    }
  (void) sysprof_pending_samples_walk (self->pending, self->processes,
                                       sysprof_unwind_publisher_get_memory (self->publisher),
                                       PENDING_WALK_ALL, INT64_MAX);
}

static void *
run (void *data)
{
  Unwinder *self = data;
  int64_t cpus_due = g_get_monotonic_time () + CPUS_USEC;

  sysprof_raise_priority ();
  list_processes (self);
  while (!atomic_load_explicit (&self->stop_requested, memory_order_acquire))
    {
      bool waits;
      int64_t next = catch_up (self, &waits);
      int64_t now = g_get_monotonic_time ();

      if (self->status.ready_nsec == 0 && is_ready (self))
        {
          self->status.ready_nsec = now_nsec (CLOCK_MONOTONIC) - self->begin_nsec;
          notify (self->ready_fd);
        }

      if (now >= cpus_due)
        {
          update_cpus (self);
          cpus_due = now + (self->session != NULL ? CPUS_USEC : IDLE_USEC);
        }
      if (next < 0 || next > cpus_due - now)
        next = cpus_due - now;
      if (waits && next > WAITING_USEC)
        next = WAITING_USEC;
      if (!is_reading (self))
        wait_for_something (self, next);
    }

  finish (self);
  self->status.cpu_nsec = now_nsec (CLOCK_THREAD_CPUTIME_ID);
  return NULL;
}

/* --- construction and destruction --- */

static uint8_t *
make_slab (void *data, uint32_t index)
{
  Unwinder *self = data;
  autofd fd = sysprof_privilege_add_walker_slab (self->privilege, &self->program, index);
  void *bytes = fd >= 0
                    ? mmap (NULL, UNWIND_SLAB_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
                    : MAP_FAILED;

  if (bytes == MAP_FAILED)
    return NULL;
  self->slab[index] = bytes;
  return bytes;
}

static void
set_load_error (GError **error)
{
  const char *why = g_strerror (errno);
  const char *instead = "--unwind=copy walks copies of them instead.";
  int code = SYSPROF_ERROR_FAILED;

  if (errno == EPERM || errno == EACCES)
    {
      code = SYSPROF_ERROR_DENIED;
      why = "that needs root, or CAP_BPF and CAP_PERFMON";
    }
  else if (errno == ENOSYS)
    {
      code = SYSPROF_ERROR_UNSUPPORTED;
      why = "this program was built without BPF (clang and libbpf)";
    }
  if (PERF_COPY_REGISTERS == 0)
    {
      why =
          "the registers that are needed are known on x86-64 and arm64 alone, and this machine is neither";
      instead = "--unwind=frame-pointer records what the kernel finds.";
    }
  g_set_error (error, SYSPROF_ERROR, code, "Cannot walk stacks in the kernel: %s. %s", why,
               instead);
}

static Unwinder *
make_unwinder (Privilege *privilege)
{
  Unwinder *self = g_new0 (Unwinder, 1);

  self->program = (WalkProgram) WALK_PROGRAM_INIT;
  self->wake_fd = -1;
  self->ready_fd = -1;
  for (unsigned i = 0; i < N_WAITS; i++)
    self->waits[i] = (struct pollfd){ .fd = -1, .events = POLLIN };
  self->privilege = sysprof_privilege_ref (privilege);
  return self;
}

/* Takes ownership of the mapped index. FALSE with `error`. */
static bool
set_up (Unwinder *self, void *index, UnwindMakeSlab slab_func, GError **error)
{
  self->index = index != MAP_FAILED ? index : NULL;
  self->wake_fd = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);
  self->ready_fd = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (self->index == NULL || self->wake_fd < 0 || self->ready_fd < 0)
    {
      sysprof_set_error_errno (error,
                               "Cannot walk stacks with tables: no memory or descriptors for "
                               "them (ulimit -v, ulimit -n)");
      return false;
    }

  self->publisher = sysprof_unwind_publisher_new (self->index, slab_func, self);
  self->mapping_events = self->tells_files ? sysprof_mapping_events_new (self->wake_fd) : NULL;
  self->events_until = INT64_MAX;
  self->files = sysprof_code_files_new (self->publisher, self->privilege, self->mapping_events,
                                        self->wake_fd, error);
  if (self->files == NULL)
    return false;
  self->processes = sysprof_code_processes_new (self->publisher, self->files, self->privilege,
                                                self->mapping_events);
  self->pending = sysprof_pending_samples_new ();
  self->records = g_byte_array_new ();
  self->pending_records = g_array_new (false, false, sizeof (PendingRecord));
  return true;
}

Unwinder *
sysprof_unwinder_new (Privilege *privilege, const UnwinderOptions *options, GError **error)
{
  Unwinder *self = make_unwinder (privilege);

  self->tells_files = !options->by_lists && sysprof_walk_program_asks_kernel ();
  if (!sysprof_privilege_make_walker_maps (self->privilege, &self->program))
    {
      set_load_error (error);
      sysprof_unwinder_free (self);
      return NULL;
    }

  if (set_up (self,
              mmap (NULL, sizeof *self->index, PROT_READ | PROT_WRITE, MAP_SHARED,
                    self->program.index_fd, 0),
              make_slab, error))
    {
      if (options->without_program)
        return self;
      /* Start this thread only now. The processes that build tables have just been forked, and
       * no other thread may hold the allocator's lock during fork(). */
      self->loading = sysprof_loading_start (self->privilege, &self->program,
                                             options->call_depth, options->by_lists);
      if (self->loading != NULL)
        return self;
      set_load_error (error);
    }

  sysprof_unwinder_free (self);
  return NULL;
}

Unwinder *
sysprof_unwinder_new_for_copies (Privilege *privilege, GError **error)
{
  Unwinder *self;

  if (PERF_COPY_REGISTERS == 0)
    {
      g_set_error_literal (
          error, SYSPROF_ERROR, SYSPROF_ERROR_UNSUPPORTED,
          "Cannot walk copies of stacks: their registers are known on x86-64 and arm64 alone, and "
          "this machine is neither. --unwind=frame-pointer records what the kernel finds.");
      return NULL;
    }

  self = make_unwinder (privilege);
  if (set_up (self,
              mmap (NULL, sizeof *self->index, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
              NULL, error))
    {
      self->copies = sysprof_copied_samples_new (
          self->processes, sysprof_unwind_publisher_get_memory (self->publisher), self->pending,
          self->wake_fd, error);
      if (self->copies != NULL)
        return self;
    }

  sysprof_unwinder_free (self);
  return NULL;
}

const WalkProgram *
sysprof_unwinder_get_program (const Unwinder *self)
{
  return self->copies == NULL ? &self->program : NULL;
}

int
sysprof_unwinder_get_loaded_fd (const Unwinder *self)
{
  return sysprof_loading_get_fd (self->loading);
}

bool
sysprof_unwinder_finish_loading (Unwinder *self, GError **error)
{
  self->program.fd = sysprof_loading_take (self->loading);
  if (self->program.fd < 0)
    set_load_error (error);
  return self->program.fd >= 0;
}

static void
leader_changed (int fd, bool is_added, void *data)
{
  const struct pollfd *wait = data;
  struct epoll_event event = { .events = EPOLLIN };

  /* If this fails, the ring is read when something else wakes the thread. */
  (void) epoll_ctl (wait->fd, is_added ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, fd, &event);
}

/* Opens a session whose rings wake the thread at each record. NULL with `error`. */
static PerfSession *
open_waking_session (Unwinder *self,
                     PerfSessionOptions options,
                     unsigned wait,
                     PerfRecordFunc func,
                     GError **error)
{
  PerfSession *session;

  options.cgroup_fd = -1;
  options.tells_at_once = true;
  options.func = func;
  options.func_data = self;
  session = sysprof_perf_session_open (&options, self->privilege, error);
  if (session == NULL)
    return NULL;

  self->waits[wait].fd = epoll_create1 (EPOLL_CLOEXEC);
  sysprof_perf_session_set_leader_func (session, leader_changed, &self->waits[wait]);
  sysprof_perf_session_enable (session);
  return session;
}

/* Lets the walker report files without a table at once. Without these reports, a new file is
 * noticed only when the pump drains its rings. */
static void
watch_unknown_files (Unwinder *self)
{
  g_autoptr (GError) error = NULL;

  self->unknown_files =
      open_waking_session (self,
                           (PerfSessionOptions){
                               .target = PERF_TARGET_SYSTEM,
                               .bare_sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_RAW,
                               .walker = &self->program,
                               .reports_unknown_files = true,
                           },
                           WAIT_UNKNOWN_FILES, build_unknown_file, &error);
  if (self->unknown_files == NULL)
    g_debug ("Unwinder: files without a table are not reported at once: %s", error->message);
}

static bool
start (Unwinder *self,
       PerfSessionOptions options,
       const int32_t *only,
       unsigned n_only,
       GError **error)
{
  self->begin_nsec = now_nsec (CLOCK_MONOTONIC);
  self->session = open_waking_session (self, options, WAIT_EVENTS, keep_record, error);
  if (self->session == NULL)
    return false;
  if (self->tells_files && self->loading != NULL)
    watch_unknown_files (self);

  self->n_only = n_only;
  for (unsigned i = 0; i < n_only; i++)
    sysprof_code_processes_narrow (self->processes, only[i]);

  self->waits[WAIT_WAKE].fd = self->wake_fd;
  self->thread = g_thread_try_new ("sysprof-unwind", run, self, error);
  return self->thread != NULL;
}

bool
sysprof_unwinder_start (Unwinder *self, const int32_t *only, unsigned n_only, GError **error)
{
  return start (self, (PerfSessionOptions){ .target = PERF_TARGET_SYSTEM }, only, n_only,
                error);
}

bool
sysprof_unwinder_start_for_tasks (Unwinder *self,
                                  const pid_t *tasks,
                                  unsigned n_tasks,
                                  const int32_t *only,
                                  unsigned n_only,
                                  GError **error)
{
  const PerfSessionOptions options = {
    .target = PERF_TARGET_TASKS,
    .tasks = tasks,
    .n_tasks = n_tasks,
    .follows_forks = true,
  };

  return start (self, options, only, n_only, error);
}

void
sysprof_unwinder_widen (Unwinder *self)
{
  self->is_shared = true;
  atomic_store_explicit (&self->is_to_widen, true, memory_order_release);
  notify (self->wake_fd);
}

bool
sysprof_unwinder_is_widened (const Unwinder *self)
{
  return self->is_shared;
}

MappingEvents *
sysprof_unwinder_get_mapping_events (const Unwinder *self)
{
  return self->n_only == 0 ? self->mapping_events : NULL;
}

void
sysprof_unwinder_rely_on_pump (Unwinder *self)
{
  atomic_store_explicit (&self->relies_on_pump, true, memory_order_release);
  notify (self->wake_fd);
}

void
sysprof_unwinder_set_copy_budget (Unwinder *self, size_t n_bytes)
{
  __atomic_store_n (&self->index->copy_budget, (uint32_t) MIN (n_bytes, UINT32_MAX),
                    __ATOMIC_RELAXED);
  sysprof_unwinder_note_drained (self);
}

void
sysprof_unwinder_note_drained (Unwinder *self)
{
  /* Only the pump's thread writes the counter; the BPF program reads it. */
  __atomic_store_n (&self->index->n_drains, self->index->n_drains + 1, __ATOMIC_RELAXED);
}

bool
sysprof_unwinder_take_pending (const WalkedSample *sample, void *data)
{
  Unwinder *self = data;

  if (self->copies != NULL)
    return sysprof_copied_samples_add (self->copies, sample);
  if (!sysprof_pending_samples_add (self->pending, sample))
    return false;
  if (atomic_load_explicit (&self->relies_on_pump, memory_order_relaxed))
    sysprof_mapping_events_wake_later (self->mapping_events);
  else
    notify (self->wake_fd);
  return true;
}

void
sysprof_unwinder_write_finished (Unwinder *self, PerfDecoder *decoder)
{
  if (self->copies != NULL)
    {
      sysprof_copied_samples_send (self->copies);
      sysprof_copied_samples_write (self->copies, decoder);
    }
  sysprof_pending_samples_write (self->pending, decoder);
  if (self->mapping_events != NULL)
    sysprof_mapping_events_write_named (self->mapping_events, decoder);
}

void
sysprof_unwinder_wait_until_ready (Unwinder *self, int64_t patience_msec)
{
  struct pollfd ready = { .fd = self->ready_fd, .events = POLLIN };

  /* After a timeout, the first samples are finished later. */
  (void) poll (&ready, 1, (int) patience_msec);
}

static void
end_thread (Unwinder *self)
{
  if (self->thread == NULL)
    return;

  atomic_store_explicit (&self->stop_requested, true, memory_order_release);
  notify (self->wake_fd);
  g_thread_join (g_steal_pointer (&self->thread));
}

void
sysprof_unwinder_stop (Unwinder *self, UnwinderStatus *status)
{
  if (self->copies != NULL)
    sysprof_copied_samples_send (self->copies);
  end_thread (self);
  if (self->copies != NULL)
    self->status.copies = sysprof_copied_samples_get_status (self->copies);
  self->status.files = sysprof_code_files_get_status (self->files);
  self->status.use = sysprof_unwind_publisher_get_use (self->publisher);
  self->status.pending = sysprof_pending_samples_get_status (self->pending);
  *status = self->status;
}

void
sysprof_unwinder_keep_files (Unwinder *self, unsigned most)
{
  sysprof_code_files_keep (self->files, most);
}

PinnedFiles *
sysprof_unwinder_steal_pinned_files (Unwinder *self)
{
  return sysprof_code_files_steal_kept (self->files);
}

void
sysprof_unwinder_free (Unwinder *self)
{
  if (self == NULL)
    return;

  end_thread (self);
  close_session (self, &self->session, WAIT_EVENTS);
  close_session (self, &self->unknown_files, WAIT_UNKNOWN_FILES);
  sysprof_copied_samples_free (self->copies);
  sysprof_pending_samples_free (self->pending);
  sysprof_code_processes_free (self->processes);
  sysprof_code_files_free (self->files);
  sysprof_mapping_events_free (self->mapping_events);
  if (self->publisher != NULL)
    sysprof_unwind_publisher_free (self->publisher);
  for (uint32_t i = 0; i < UNWIND_MOST_SLABS; i++)
    if (self->slab[i] != NULL)
      (void) munmap (self->slab[i], UNWIND_SLAB_SIZE);
  if (self->index != NULL)
    (void) munmap (self->index, sizeof *self->index);
  sysprof_loading_free (self->loading);
  sysprof_walk_program_clear (&self->program);
  sysprof_autofd_close (&self->wake_fd);
  sysprof_autofd_close (&self->ready_fd);
  sysprof_privilege_unref (self->privilege);
  g_clear_pointer (&self->records, g_byte_array_unref);
  g_clear_pointer (&self->pending_records, g_array_unref);
  g_clear_pointer (&self->to_read, g_array_unref);
  g_free (self);
}
