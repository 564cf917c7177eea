// SPDX-License-Identifier: GPL-3.0-or-later

/* Joins the capture that another process wrote into a descriptor, when the recording has stopped. */

#include "record/instrument.h"
#include "util/util.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sysprof.h>

struct _SysprofTracefdConsumer
{
  SysprofInstrument parent_instance;
  int trace_fd;
};

SYSPROF_DEFINE_INSTRUMENT (SysprofTracefdConsumer, sysprof_tracefd_consumer)

static gboolean
sysprof_tracefd_consumer_augment (SysprofInstrument *instrument, Pump *pump, GError **error)
{
  SysprofTracefdConsumer *self = SYSPROF_TRACEFD_CONSUMER (instrument);
  SysprofCaptureReader *reader;
  autofd copy = -1;
  struct stat info;
  bool joined;

  /* Nobody took the offer: nothing to tell. */
  if (self->trace_fd >= 0 && fstat (self->trace_fd, &info) == 0 && info.st_size == 0)
    return TRUE;

  copy = fcntl (self->trace_fd, F_DUPFD_CLOEXEC, 3);
  reader = copy >= 0 ? sysprof_capture_reader_new_from_fd (copy) : NULL;
  if (reader == NULL)
    {
      sysprof_set_error_errno (error,
                               "Cannot join what a program traced: its file is no capture");
      return FALSE;
    }
  (void) sysprof_steal_fd (&copy); /* the reader's now */

  joined = sysprof_capture_writer_cat (sysprof_pump_get_writer (pump), reader);
  if (!joined)
    sysprof_set_error_errno (error, "Cannot join all that a program traced");
  sysprof_capture_reader_unref (reader);
  return joined;
}

static void
sysprof_tracefd_consumer_finalize (GObject *object)
{
  sysprof_autofd_close (&SYSPROF_TRACEFD_CONSUMER (object)->trace_fd);
  G_OBJECT_CLASS (sysprof_tracefd_consumer_parent_class)->finalize (object);
}

static void
sysprof_tracefd_consumer_class_init (SysprofTracefdConsumerClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = sysprof_tracefd_consumer_finalize;
  klass->parent_class.name = "Trace File";
  klass->parent_class.augment = sysprof_tracefd_consumer_augment;
}

static void
sysprof_tracefd_consumer_init (SysprofTracefdConsumer *self)
{
  self->trace_fd = -1;
}

SysprofInstrument *
sysprof_tracefd_consumer_new (int trace_fd)
{
  SysprofTracefdConsumer *self = g_object_new (SYSPROF_TYPE_TRACEFD_CONSUMER, NULL);

  self->trace_fd = trace_fd;
  return SYSPROF_INSTRUMENT (self);
}
