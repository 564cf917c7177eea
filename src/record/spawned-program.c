// SPDX-License-Identifier: GPL-3.0-or-later

/* Starts the program that the user wants to record. Its exit ends the recording. */

#include "access/access.h"
#include "record/instrument.h"
#include "record/recording-thread-private.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

void
sysprof_context_begin_spawn (RecordingContext *self)
{
  pthread_sigmask (SIG_SETMASK, &((RecordingThread *) self)->inherited_signals, NULL);
  sysprof_descriptor_limit_restore ();
}

void
sysprof_context_end_spawn (RecordingContext *self)
{
  sigset_t all;

  sigfillset (&all);
  pthread_sigmask (SIG_BLOCK, &all, NULL);
  sysprof_descriptor_limit_raise_again ();
}

static void
program_ended (RecordingContext *context, int fd, void *data)
{
  sysprof_pump_unwatch_fd (context->pump, fd);
  sysprof_pump_request_stop (context->pump);
}

bool
sysprof_spawned_program_start (RecordingThread *self)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GSubprocess) subprocess = NULL;
  const char *identifier;

  for (guint i = 0; i < self->instruments->len; i++)
    {
      SysprofInstrument *instrument = g_ptr_array_index (self->instruments, i);
      SysprofInstrumentClass *klass = SYSPROF_INSTRUMENT_GET_CLASS (instrument);

      if (klass->prepare_spawnable != NULL)
        klass->prepare_spawnable (instrument, &self->context, self->context.spawnable);
    }

  sysprof_context_begin_spawn (&self->context);
  subprocess = sysprof_spawnable_spawn (self->context.spawnable, &error);
  sysprof_context_end_spawn (&self->context);
  if (subprocess == NULL)
    {
      self->events.diagnostic (self->events_data, "Program", error->message, true);
      sysprof_context_fail (&self->context, g_steal_pointer (&error));
      return false;
    }

  identifier = g_subprocess_get_identifier (subprocess);
  if (identifier != NULL)
    {
      self->context.program_pid = atoi (identifier);
      self->program_fd = (int) syscall (SYS_pidfd_open, self->context.program_pid, 0);
      (void) sysprof_capture_writer_add_metadata (self->context.writer,
                                                  SYSPROF_CAPTURE_CURRENT_TIME, -1, -1,
                                                  "spawnable.pid", identifier, -1);
    }

  self->events.spawned (self->events_data, subprocess);

  if (self->program_fd >= 0)
    sysprof_pump_watch_fd (self->context.pump, self->program_fd, program_ended, NULL);
  else
    sysprof_pump_request_stop (self->context.pump); /* the program has exited and was reaped */

  return true;
}
