// SPDX-License-Identifier: GPL-3.0-or-later

/* Passes the control socket to the program and polls its rings.
 *
 * A thread that requests a ring waits for the reply without a time limit. So this instrument
 * must close the socket before anything else of the end of the recording takes time. */

#include "record/instruments/program-rings.h"

#include "record/clock.h"
#include "rings/rings.h"
#include "util/util.h"

#include <sys/socket.h>

/* A program at full speed fills a ring in less than a millisecond; it then waits for a poll.
 * Our collector gives up after 100 ms. */
#define MIN_INTERVAL (1 * NSEC_PER_MSEC)
#define MAX_INTERVAL (40 * NSEC_PER_MSEC)
/* The perf rings must be drained, too. */
#define MAX_POLL (4 * NSEC_PER_MSEC)

struct _SysprofProgramRings
{
  SysprofInstrument parent_instance;

  RecordingContext *context;
  RingSet *rings;
  ControlServer *server; /* NULL = closed */
  int fd;                /* of the server; -1 = not watched */
  int64_t interval;      /* ns; 0 = not polling */
  uint64_t n_told_lost;
};

SYSPROF_DEFINE_INSTRUMENT (SysprofProgramRings, sysprof_program_rings)

static const char instrument_name[] = "Collector";

static void
unwatch (SysprofProgramRings *self)
{
  if (self->fd >= 0)
    sysprof_pump_unwatch_fd (self->context->pump, self->fd);
  self->fd = -1;
}

static void
close_server (SysprofProgramRings *self)
{
  unwatch (self);
  g_clear_pointer (&self->server, sysprof_control_server_free);
}

static void
add_losses (SysprofProgramRings *self)
{
  uint64_t n = sysprof_ring_set_get_n_lost (self->rings);

  sysprof_context_add_lost (self->context, LOST_RECORDS, n - self->n_told_lost);
  self->n_told_lost = n;
}

static void poll_tick (RecordingContext *context, int64_t now, void *data);

static void
set_interval (SysprofProgramRings *self, int64_t interval)
{
  if (self->interval == 0)
    sysprof_pump_add_tick (self->context->pump, interval, poll_tick, self);
  else if (self->interval != interval)
    sysprof_pump_change_tick (self->context->pump, interval, poll_tick, self);
  self->interval = interval;
}

static void requested (RecordingContext *context, int fd, void *data);

static void
answer (SysprofProgramRings *self)
{
  switch (sysprof_control_server_answer (self->server))
    {
    case CONTROL_READING:
      if (self->fd < 0)
        {
          self->fd = sysprof_control_server_get_fd (self->server);
          sysprof_pump_watch_fd (self->context->pump, self->fd, requested, self);
        }
      break;
    case CONTROL_WRITING:
      unwatch (self); /* the next poll continues */
      break;
    case CONTROL_CLOSED:
      close_server (self);
      break;
    }

  if (sysprof_ring_set_get_n (self->rings) > 0)
    set_interval (self, MIN_INTERVAL);
}

static void
requested (RecordingContext *context, int fd, void *data)
{
  answer (data);
}

static void
poll_tick (RecordingContext *context, int64_t now, void *data)
{
  SysprofProgramRings *self = data;
  RingActivity activity = sysprof_ring_set_drain (self->rings, now + MAX_POLL);

  add_losses (self);
  if (activity == RINGS_FILLING)
    set_interval (self, MIN_INTERVAL);
  else if (activity == RINGS_ACTIVE)
    set_interval (self, MAX_INTERVAL / 4);
  else
    set_interval (self, MIN (2 * self->interval, MAX_INTERVAL));

  if (self->server != NULL && self->fd < 0)
    answer (self);
  if (sysprof_ring_set_get_n (self->rings) == 0 && (self->server == NULL || self->fd >= 0))
    {
      sysprof_pump_remove_tick (self->context->pump, poll_tick, self);
      self->interval = 0;
    }
}

static SysprofCaptureWriter *
get_tail_writer (void *data)
{
  RecordingContext *context = data;

  return sysprof_context_has_tail_room (context)
             ? sysprof_context_get_tail_writer (context, NULL)
             : NULL;
}

static void
sysprof_program_rings_prepare_spawnable (SysprofInstrument *instrument,
                                         RecordingContext *context,
                                         SysprofSpawnable *spawnable)
{
  SysprofProgramRings *self = SYSPROF_PROGRAM_RINGS (instrument);
  char number[12];
  int ends[2];

  if (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0)
    {
      sysprof_context_report (
          context, instrument_name, false,
          "Marks of the program are not recorded: cannot create a socket: %s. "
          "Raise the limit of open files (ulimit -n).",
          g_strerror (errno));
      return;
    }

  self->context = context;
  self->rings = sysprof_ring_set_new (context->writer, get_tail_writer, context);
  self->server = sysprof_control_server_new (ends[0], self->rings);
  g_snprintf (number, sizeof number, "%d", sysprof_spawnable_take_fd (spawnable, ends[1], -1));
  sysprof_spawnable_setenv (spawnable, "SYSPROF_CONTROL_FD", number);
  answer (self);
}

static void
report_program (const RingProgram *program, void *data)
{
  const char *name = program->name[0] != '\0' ? program->name : "a program";
  uint64_t n_lost = program->n_dropped + program->n_rejected + program->n_invalid;

  if (program->n_dropped > 0)
    sysprof_context_report (
        data, instrument_name, false,
        "'%s' (process %d) dropped %" G_GUINT64_FORMAT " of its marks, logs "
        "and counter values, because it wrote them faster than they could be "
        "recorded. Let it write fewer.",
        name, (int) program->pid, program->n_dropped);
  if (n_lost > program->n_dropped)
    sysprof_context_report (data, instrument_name, false,
                            "%" G_GUINT64_FORMAT
                            " frames of '%s' (process %d) are lost: they are "
                            "damaged, or the disk was behind.",
                            n_lost - program->n_dropped, name, (int) program->pid);
  if (program->n_broken > 0)
    sysprof_context_report (
        data, instrument_name, false,
        "'%s' (process %d) damaged %u of the buffers that it shares with the "
        "recorder. Their frames are recorded up to the damage.",
        name, (int) program->pid, program->n_broken);
  if (program->n_shortened > 0)
    sysprof_context_report (
        data, instrument_name, false,
        "%" G_GUINT64_FORMAT " frames of '%s' (process %d) are longer than "
        "16384 bytes, the limit of some readers: their texts are truncated.",
        program->n_shortened, name, (int) program->pid);
}

static void
sysprof_program_rings_stop (SysprofInstrument *instrument, RecordingContext *context)
{
  SysprofProgramRings *self = SYSPROF_PROGRAM_RINGS (instrument);

  if (self->rings == NULL)
    return;

  close_server (self);
  if (self->interval != 0)
    sysprof_pump_remove_tick (context->pump, poll_tick, self);
  self->interval = 0;

  /* A program may still write; frames that come later are not part of the recording. */
  (void) sysprof_ring_set_drain (self->rings, INT64_MAX);
  add_losses (self);
  sysprof_ring_set_foreach_program (self->rings, report_program, context);
  g_clear_pointer (&self->rings, sysprof_ring_set_free);
}

static void
sysprof_program_rings_finalize (GObject *object)
{
  SysprofProgramRings *self = SYSPROF_PROGRAM_RINGS (object);

  sysprof_control_server_free (self->server);
  sysprof_ring_set_free (self->rings);
  G_OBJECT_CLASS (sysprof_program_rings_parent_class)->finalize (object);
}

static void
sysprof_program_rings_class_init (SysprofProgramRingsClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = sysprof_program_rings_finalize;
  klass->parent_class.name = instrument_name;
  klass->parent_class.opens_events = true; /* so that it stops first */
  klass->parent_class.prepare_spawnable = sysprof_program_rings_prepare_spawnable;
  klass->parent_class.stop = sysprof_program_rings_stop;
}

static void
sysprof_program_rings_init (SysprofProgramRings *self)
{
  self->fd = -1;
}

SysprofInstrument *
sysprof_program_rings_new (void)
{
  return g_object_new (SYSPROF_TYPE_PROGRAM_RINGS, NULL);
}
