// SPDX-License-Identifier: GPL-3.0-or-later

/* Records processes, their mappings and namespaces, and where their files are.
 *
 * When the recording has started and kernel events already arrive, /proc is read once. This
 * happens in slices, so that the rings are drained in time. A mapping that is recorded twice is
 * harmless, but a missing one leaves stacks without symbols. What is read from /proc gets the
 * start time of the recording.
 *
 * After that, kernel events report the processes that start. Only data that the events do not
 * contain is read from /proc, within a small budget and only for processes that live long
 * enough: the full command line, the cgroup, the namespaces, and the mount table if the mount
 * namespace is new. The overlay layers of a container are written for each of its processes,
 * because readers look them up by process.
 *
 * If no other instrument has opened kernel events, the watcher does: recordings of counters or
 * allocations need mappings, too.
 */

#include "record/processes/process-watcher.h"

#include "access/access.h"
#include "capture/capture.h"
#include "record/clock.h"
#include "record/processes/process-facts.h"
#include "record/recording-context.h"
#include "record/sampling/feed.h"
#include "util/util.h"

#include <errno.h>
#include <limits.h>
#include <unistd.h>

/* The time per interval to read about started processes: 1 % of a CPU. */
#define STARTED_INTERVAL (200 * NSEC_PER_MSEC)
#define STARTED_BUDGET   (2 * NSEC_PER_MSEC)
/* Younger processes are not read. Most processes that a shell or a compiler starts have exited
 * before that, and so cost nothing. */
#define STARTED_AGE (50 * NSEC_PER_MSEC)

struct _SysprofProcessWatcher
{
  SysprofInstrument parent_instance;

  /* Owned by the pump thread. */
  EventFeed feed;  /* only if no sampler has one */
  GArray *to_read; /* [int32_t] processes still to be read; NULL = done */
  ProcessFacts facts;
};

SYSPROF_DEFINE_INSTRUMENT (SysprofProcessWatcher, sysprof_process_watcher)

static GArray *
list_processes_to_read (RecordingContext *context)
{
  ProcessLog *log = &context->process_log;
  GArray *pids;

  if (log->only == NULL)
    return sysprof_tasks_list_processes (context->privilege);

  pids = g_array_new (false, false, sizeof (int32_t));
  g_array_append_vals (pids, log->only, log->n_only);
  return pids;
}

/* From the last to the first: /proc lists new processes last, and those are the most likely to
 * exit before they are read, and to be what is recorded. */
static bool
read_running_processes (RecordingContext *context, int64_t deadline, void *data)
{
  SysprofProcessWatcher *self = data;

  while (self->to_read != NULL && sysprof_clock_now () < deadline)
    {
      if (self->to_read->len > 0)
        {
          guint last = self->to_read->len - 1;
          int32_t pid = g_array_index (self->to_read, int32_t, last);

          g_array_set_size (self->to_read, last);
          sysprof_process_facts_add_running (&self->facts, context, pid);
        }
      else
        g_clear_pointer (&self->to_read, g_array_unref);
    }
  return self->to_read != NULL;
}

/* Reads the processes that were started before `before`, as many as possible until
 * `deadline`. */
static void
read_started_processes (SysprofProcessWatcher *self,
                        RecordingContext *context,
                        int64_t before,
                        int64_t deadline)
{
  ProcessLog *log = &context->process_log;
  StartedProcess process;

  while (sysprof_clock_now () < deadline && sysprof_process_log_take (log, before, &process))
    sysprof_process_facts_add_started (&self->facts, context, &process);
}

static void
started_tick (RecordingContext *context, int64_t now, void *data)
{
  SysprofProcessWatcher *self = data;

  sysprof_jit_files_take_log (&self->facts.jit_files);
  read_started_processes (self, context, now - STARTED_AGE, now + STARTED_BUDGET);
}

/* Opens events for mappings and processes without samples. If that is denied, there is only
 * /proc; the sampler has reported the reason. */
static void
open_events (SysprofProcessWatcher *self, RecordingContext *context)
{
  g_autoptr (GError) error = NULL;
  PerfSession *session = sysprof_perf_session_open (
      &(PerfSessionOptions){ .target = PERF_TARGET_SYSTEM }, context->privilege, &error);

  if (session == NULL)
    {
      g_debug ("Cannot open process events: %s", error->message);
      return;
    }

  context->process_log.is_tracked = true;
  sysprof_event_feed_start (&self->feed, context, session, LOST_RECORDS);
}

static gboolean
sysprof_process_watcher_prepare (SysprofInstrument *instrument,
                                 RecordingContext *context,
                                 GError **error)
{
  SysprofProcessWatcher *self = SYSPROF_PROCESS_WATCHER (instrument);
  ProcessLog *log = &context->process_log;

  if (!log->is_tracked && log->only == NULL)
    open_events (self, context);

  sysprof_pump_add_tick (context->pump, STARTED_INTERVAL, started_tick, self);
  return TRUE;
}

static void
sysprof_process_watcher_record (SysprofInstrument *instrument, RecordingContext *context)
{
  SysprofProcessWatcher *self = SYSPROF_PROCESS_WATCHER (instrument);

  if (self->feed.session != NULL)
    sysprof_perf_session_enable (self->feed.session);

  sysprof_process_facts_init (&self->facts, context);
  sysprof_process_facts_add_mounts (&self->facts, context);
  self->to_read = list_processes_to_read (context);
  sysprof_pump_add_work (context->pump, read_running_processes, self);
}

static void
sysprof_process_watcher_stop (SysprofInstrument *instrument, RecordingContext *context)
{
  SysprofProcessWatcher *self = SYSPROF_PROCESS_WATCHER (instrument);

  sysprof_event_feed_stop (&self->feed);
  /* so that short recordings are complete, too */
  (void) read_running_processes (context, INT64_MAX, self);
  read_started_processes (self, context, INT64_MAX, sysprof_clock_now () + STARTED_INTERVAL);
  sysprof_jit_files_take_log (&self->facts.jit_files);
  sysprof_container_ids_finish (&self->facts.container_ids);
}

static void
add_kernel_symbol_log (RecordingContext *context)
{
  KernelSymbolLog *log = &context->kernel_symbol_log;
  GString *text = sysprof_kernel_symbol_log_to_text (log);

  if (text == NULL)
    return;

  (void) sysprof_context_add_file (context, context->begin, -1, "__ksymbols__",
                                   (const uint8_t *) text->str, text->len, false);
  g_string_free (text, TRUE);
  if (log->n_missed > 0)
    sysprof_context_report (context, "Processes", false,
                            "The log of loaded and unloaded kernel code is full: the first %u "
                            "events are recorded, %" G_GUINT64_FORMAT " more are not. Samples "
                            "of such code may have wrong symbols. Record for a shorter time.",
                            KERNEL_SYMBOL_LOG_MOST, log->n_missed);
}

static void
add_thread_names_file (RecordingContext *context)
{
  ThreadNames *names = &context->thread_names;
  GString *text = sysprof_thread_names_to_text (names);

  if (text == NULL)
    return;

  /* sysprof_context_add_file() counts a failure. */
  (void) sysprof_context_add_file (context, context->begin, -1, CAPTURE_THREADS_FILE,
                                   (const uint8_t *) text->str, text->len, true);
  g_string_free (text, TRUE);
  if (names->n_missed > 0)
    sysprof_context_report (
        context, "Processes", false,
        "Only the first %u thread names are recorded, not %" G_GUINT64_FORMAT
        " later ones; these threads have the name of their process. Record "
        "for a shorter time, or fewer processes.",
        THREAD_NAMES_MOST, names->n_missed);
}

/* Written at the end, so that it includes modules loaded during the recording. */
static void
add_module_sections (RecordingContext *context)
{
  g_autofree char *text = sysprof_dup_module_sections (MODULES_DIR);

  if (text != NULL)
    (void) sysprof_context_add_file (context, context->begin, -1, "__modules__",
                                     (const uint8_t *) text, strlen (text), true);
}

GBytes *
sysprof_context_read_kernel_symbols (RecordingContext *context)
{
  autofd fd = sysprof_privilege_open_kallsyms (context->privilege);
  g_autoptr (GByteArray) symbols = g_byte_array_new ();
  uint8_t part[64 * 1024];
  ssize_t n;

  if (fd < 0)
    {
      g_debug ("No kernel symbols: %s", g_strerror (errno));
      return NULL;
    }
  while ((n = read (fd, part, sizeof part)) > 0)
    g_byte_array_append (symbols, part, (guint) n);
  sysprof_kernel_symbol_log_append_gone (&context->kernel_symbol_log, symbols);
  return g_byte_array_free_to_bytes (g_steal_pointer (&symbols));
}

/* Files are compressed only now, because that takes longer than anything else here. */
static gboolean
sysprof_process_watcher_augment (SysprofInstrument *instrument,
                                 RecordingContext *context,
                                 GError **error)
{
  SysprofProcessWatcher *self = SYSPROF_PROCESS_WATCHER (instrument);
  g_autoptr (GBytes) symbols = NULL;

  sysprof_jit_files_add (&self->facts.jit_files);
  add_kernel_symbol_log (context);
  add_thread_names_file (context);
  add_module_sections (context);
  if (context->bundles_kernel_symbols)
    return TRUE;

  symbols = sysprof_context_read_kernel_symbols (context);
  if (symbols != NULL)
    (void) sysprof_context_add_file (context, context->begin, -1, "/proc/kallsyms",
                                     g_bytes_get_data (symbols, NULL),
                                     g_bytes_get_size (symbols), true);
  return TRUE;
}

static void
sysprof_process_watcher_finalize (GObject *object)
{
  SysprofProcessWatcher *self = SYSPROF_PROCESS_WATCHER (object);

  g_clear_pointer (&self->to_read, g_array_unref);
  sysprof_process_facts_clear (&self->facts);
  G_OBJECT_CLASS (sysprof_process_watcher_parent_class)->finalize (object);
}

static void
sysprof_process_watcher_class_init (SysprofProcessWatcherClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = sysprof_process_watcher_finalize;

  klass->parent_class.name = "Processes";
  klass->parent_class.prepare = sysprof_process_watcher_prepare;
  klass->parent_class.record = sysprof_process_watcher_record;
  klass->parent_class.stop = sysprof_process_watcher_stop;
  klass->parent_class.augment = sysprof_process_watcher_augment;
}

static void
sysprof_process_watcher_init (SysprofProcessWatcher *self)
{
}

SysprofInstrument *
sysprof_process_watcher_new (void)
{
  return g_object_new (SYSPROF_TYPE_PROCESS_WATCHER, NULL);
}
