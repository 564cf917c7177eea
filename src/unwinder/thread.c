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

#include "unwinder/unwinder-private.h"

#include "access/access.h"
#include "perf/perf.h"
#include "unwinder/priority.h"
#include "util/util.h"

#include <sys/epoll.h>
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

static int64_t
now_nsec (clockid_t clock)
{
  struct timespec now;

  clock_gettime (clock, &now);
  return now.tv_sec * INT64_C (1000000000) + now.tv_nsec;
}

/* --- records --- */

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

/* --- rings --- */

static void
close_session (Unwinder *self, PerfSession **session, unsigned wait)
{
  g_clear_pointer (session, sysprof_perf_session_close);
  sysprof_autofd_close (&self->waits[wait].fd);
  self->waits[wait].fd = -1; /* poll() ignores it */
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

bool
sysprof_unwinder_open_rings (Unwinder *self, const PerfSessionOptions *options, GError **error)
{
  self->begin_nsec = now_nsec (CLOCK_MONOTONIC);
  self->session = open_waking_session (self, *options, WAIT_EVENTS, keep_record, error);
  if (self->session == NULL)
    return false;
  if (self->tells_files && self->loading != NULL)
    watch_unknown_files (self);
  return true;
}

void
sysprof_unwinder_close_rings (Unwinder *self)
{
  close_session (self, &self->session, WAIT_EVENTS);
  close_session (self, &self->unknown_files, WAIT_UNKNOWN_FILES);
}

/* --- applying events --- */

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

/* Read the rings a last time. Both the rings and the pump may contain these records. */
static void
leave_rings (Unwinder *self)
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
    leave_rings (self);
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

void *
sysprof_unwinder_run (void *data)
{
  Unwinder *self = data;
  int64_t cpus_due = g_get_monotonic_time () + CPUS_USEC;

  self->waits[WAIT_WAKE].fd = self->wake_fd;
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
          sysprof_unwinder_notify (self->ready_fd);
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
