// SPDX-License-Identifier: GPL-3.0-or-later

/* Scheduler details: a mark for each time that a thread was running on a CPU, from the
 * tracepoint sched:sched_switch of the whole machine.
 *
 * This records every switch instead of sampling. A machine at its limit has about 100,000
 * switches per second and CPU. */

#include "record/clock.h"
#include "record/instrument.h"

#include "perf/perf.h"
#include "record/recording-context.h"
#include "record/sampling/feed.h"
#include "util/util.h"

#include <errno.h>
#include <unistd.h>

#define FORMAT_PATH "events/sched/sched_switch/format"
/* bytes; the text has about 1 KiB, and half of it is the print format */
#define LARGEST_TEXT 4096

/* ns; how often, and for how long at most, CPUs without switches are sampled at the end. */
#define LOOK_INTERVAL (1 * NSEC_PER_MSEC)
#define LOOK_PATIENCE (100 * NSEC_PER_MSEC)

struct _SysprofSchedulerDetails
{
  SysprofInstrument parent_instance;

  /* Owned by the pump thread. */
  EventFeed feed;
  SchedulerMarks *marks;
};

SYSPROF_DEFINE_INSTRUMENT (SysprofSchedulerDetails, sysprof_scheduler_details)

static bool
read_layout (Privilege *privilege, SwitchLayout *layout, GError **error)
{
  char bytes[LARGEST_TEXT];
  autofd fd = sysprof_privilege_open_switch_format (privilege);
  ssize_t size = fd >= 0 ? read (fd, bytes, sizeof bytes) : -1;

  if (size < 0)
    {
      g_set_error (
          error, SYSPROF_ERROR,
          errno == EACCES || errno == EPERM ? SYSPROF_ERROR_DENIED : SYSPROF_ERROR_FAILED,
          "not recorded: cannot read the layout of the tracepoint sched:sched_switch in tracefs: %s. Run as "
          "root, or give your group access with 'sudo mount -o remount,gid=GROUP "
          "/sys/kernel/tracing'.",
          g_strerror (errno));
      return false;
    }

  if (!sysprof_switch_layout_parse (layout, (Text){ bytes, bytes + size }))
    {
      g_set_error (
          error, SYSPROF_ERROR, SYSPROF_ERROR_FAILED,
          "not recorded: the tracepoint sched:sched_switch of this kernel does not have the "
          "required fields. Please report this with the output of 'sudo cat "
          "/sys/kernel/tracing/%s'.",
          FORMAT_PATH);
      return false;
    }
  return true;
}

static PerfSession *
open_session (SysprofSchedulerDetails *self,
              Privilege *privilege,
              const SwitchLayout *layout,
              GError **error)
{
  PerfSessionOptions options = {
    .target = PERF_TARGET_SYSTEM,
    .cgroup_fd = -1,
    .samples = true,
    .event = { .type = PERF_TYPE_TRACEPOINT,
               .config = layout->id,
               .period = 1,
               .name = "sched:sched_switch" },
    .bare_sample_type = SCHEDULER_SAMPLE_TYPE,
    .func = sysprof_scheduler_marks_take,
    .func_data = self->marks,
  };
  g_autoptr (GError) local = NULL;
  PerfSession *session = sysprof_perf_session_open (&options, privilege, &local);
  g_autofree char *missing = NULL;

  if (session != NULL)
    return session;

  if (!g_error_matches (local, SYSPROF_ERROR, SYSPROF_ERROR_DENIED))
    {
      g_set_error (error, SYSPROF_ERROR, local->code, "not recorded: %s", local->message);
      return NULL;
    }

  missing = sysprof_privilege_describe_missing_perf (privilege);
  g_set_error (error, SYSPROF_ERROR, SYSPROF_ERROR_DENIED, "not recorded: %s", missing);
  return NULL;
}

static gboolean
sysprof_scheduler_details_prepare (SysprofInstrument *instrument,
                                   RecordingContext *context,
                                   GError **error)
{
  SysprofSchedulerDetails *self = SYSPROF_SCHEDULER_DETAILS (instrument);
  Privilege *privilege = context->privilege;
  SwitchLayout layout;
  PerfSession *session;

  if (!read_layout (privilege, &layout, error))
    return FALSE;

  self->marks = sysprof_scheduler_marks_new (&layout);
  session = open_session (self, privilege, &layout, error);
  if (session == NULL)
    return FALSE;

  sysprof_scheduler_marks_set_decoder (self->marks, sysprof_perf_session_get_decoder (session));
  sysprof_event_feed_start (&self->feed, context, session, LOST_OTHERS);
  return TRUE;
}

static void
sysprof_scheduler_details_record (SysprofInstrument *instrument, RecordingContext *context)
{
  SysprofSchedulerDetails *self = SYSPROF_SCHEDULER_DETAILS (instrument);
  g_autoptr (GArray) online = sysprof_cpus_online ();
  int64_t begin;

  sysprof_perf_session_enable (self->feed.session);
  begin = sysprof_clock_now ();
  for (guint i = 0; i < online->len; i++)
    sysprof_scheduler_marks_begin (self->marks, g_array_index (online, int, i), begin);
}

typedef struct
{
  SchedulerMarks *marks;
  const PerfDecoder *decoder; /* has the CPU of the current sample */
} Look;

static void
take_look (const struct perf_event_header *record, void *data)
{
  const Look *self = data;
  int32_t pid_and_tid[2];

  if (record->type != PERF_RECORD_SAMPLE || record->size < sizeof *record + sizeof pid_and_tid)
    return;
  memcpy (pid_and_tid, record + 1, sizeof pid_and_tid);
  sysprof_scheduler_marks_saw (self->marks, self->decoder->cpu, pid_and_tid[1]);
}

/* A thread that has a CPU for itself is never switched. One or two samples show which thread
 * that is. If this fails or takes too long, there is no mark for that CPU. */
static void
look_at_silent_cpus (SysprofSchedulerDetails *self, Privilege *privilege)
{
  Look look = { .marks = self->marks };
  PerfSessionOptions options = {
    .target = PERF_TARGET_SYSTEM,
    .cgroup_fd = -1,
    .samples = true,
    .tells_at_once = true,
    .bare_sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
    .func = take_look,
    .func_data = &look,
  };
  int64_t deadline;
  PerfSession *session;

  sysprof_perf_event_init_cpu_clock (&options.event);
  options.event.period = LOOK_INTERVAL;
  session = sysprof_perf_session_open (&options, privilege, NULL);
  if (session == NULL)
    return;

  look.decoder = sysprof_perf_session_get_decoder (session);
  sysprof_perf_session_enable (session);
  deadline = sysprof_clock_now () + LOOK_PATIENCE;
  while (sysprof_scheduler_marks_has_silent (self->marks) && sysprof_clock_now () < deadline)
    {
      g_usleep (LOOK_INTERVAL / 1000);
      sysprof_perf_session_drain (session);
    }
  sysprof_perf_session_close (session);
}

static void
sysprof_scheduler_details_stop (SysprofInstrument *instrument, RecordingContext *context)
{
  SysprofSchedulerDetails *self = SYSPROF_SCHEDULER_DETAILS (instrument);

  if (self->feed.session == NULL)
    return;

  sysprof_scheduler_marks_set_end (self->marks, context->end);
  sysprof_perf_session_drain (self->feed.session);
  if (sysprof_scheduler_marks_has_silent (self->marks))
    look_at_silent_cpus (self, context->privilege);
  sysprof_event_feed_drain (&self->feed);
  sysprof_scheduler_marks_finish (self->marks, context->privilege);
  sysprof_event_feed_stop (&self->feed);
}

static void
sysprof_scheduler_details_finalize (GObject *object)
{
  g_clear_pointer (&SYSPROF_SCHEDULER_DETAILS (object)->marks, sysprof_scheduler_marks_free);
  G_OBJECT_CLASS (sysprof_scheduler_details_parent_class)->finalize (object);
}

static void
sysprof_scheduler_details_class_init (SysprofSchedulerDetailsClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = sysprof_scheduler_details_finalize;

  klass->parent_class.name = "Scheduler Details";
  klass->parent_class.opens_events = true;
  klass->parent_class.prepare = sysprof_scheduler_details_prepare;
  klass->parent_class.record = sysprof_scheduler_details_record;
  klass->parent_class.stop = sysprof_scheduler_details_stop;
}

static void
sysprof_scheduler_details_init (SysprofSchedulerDetails *self)
{
}

SysprofInstrument *
sysprof_scheduler_details_new (void)
{
  return g_object_new (SYSPROF_TYPE_SCHEDULER_DETAILS, NULL);
}

const InstrumentRow sysprof_scheduler_details_row = {
  .options = { { "scheduler", "Record every context switch" } },
  .manual =
      "Record which thread ran on which CPU, for the whole machine. Each run becomes a mark of\n"
      "the group Scheduler, with the CPU as its name and the thread's name as its message. Idle\n"
      "time has no marks. \\fBsysprof-report marks\\fR shows them. A busy machine writes several\n"
      "megabytes per second. The option needs the privilege to sample the whole machine and to\n"
      "read tracefs.",
  .new = sysprof_scheduler_details_new,
};
