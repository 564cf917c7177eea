// SPDX-License-Identifier: GPL-3.0-or-later

/* Joins the capture that another process wrote into a descriptor, when the recording has stopped: first what every reader knows, so
 * that the addresses in it get their symbols, and what is left when these are written. */

#include "capture/capture.h"
#include "record/instrument.h"
#include "util/util.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sysprof.h>

struct _SysprofTracefdConsumer
{
  SysprofInstrument parent_instance;
  int trace_fd;
  SysprofCaptureJoin *join; /* NULL = nothing is left */
};

SYSPROF_DEFINE_INSTRUMENT (SysprofTracefdConsumer, sysprof_tracefd_consumer)

static gboolean
set_join_error (GError **error)
{
  g_set_error (error, SYSPROF_ERROR, SYSPROF_ERROR_FAILED,
               "Cannot join all that a program wrote into its trace descriptor: %s. What was "
               "joined stays; record where there is more room for the rest.",
               g_strerror (errno));
  return FALSE;
}

static gboolean
sysprof_tracefd_consumer_augment (SysprofInstrument *instrument, Pump *pump, GError **error)
{
  SysprofTracefdConsumer *self = SYSPROF_TRACEFD_CONSUMER (instrument);
  SysprofCaptureReader *reader;
  autofd copy = -1;
  struct stat info;
  uint64_t n_cut;

  /* Nobody took the offer: nothing to tell. */
  if (self->trace_fd >= 0 && fstat (self->trace_fd, &info) == 0 && info.st_size == 0)
    return TRUE;

  copy = fcntl (self->trace_fd, F_DUPFD_CLOEXEC, 3);
  reader = copy >= 0 ? sysprof_capture_reader_new_from_fd (copy) : NULL;
  if (reader == NULL)
    {
      g_set_error (
          error, SYSPROF_ERROR, SYSPROF_ERROR_FAILED,
          "Cannot join what a program wrote into its trace descriptor: it is no capture "
          "(%s). Programs write one with sysprof_capture_writer_new_from_env().",
          g_strerror (errno));
      return FALSE;
    }
  (void) sysprof_steal_fd (&copy); /* the reader's now */

  self->join = sysprof_capture_join_begin (sysprof_pump_get_writer (pump), reader);
  sysprof_capture_reader_unref (reader);
  if (self->join == NULL)
    return set_join_error (error);

  n_cut = sysprof_capture_join_get_n_cut (self->join);
  if (n_cut > 0)
    sysprof_pump_report (
        pump, "Trace File", false,
        "%" G_GUINT64_FORMAT
        " of the frames that a program wrote into its trace descriptor are longer than the 16384 bytes that "
        "every reader takes: their texts are cut, and D-Bus messages kept without content. Let it "
        "write shorter ones.",
        n_cut);
  return TRUE;
}

static gboolean
sysprof_tracefd_consumer_append (SysprofInstrument *instrument, Pump *pump, GError **error)
{
  SysprofTracefdConsumer *self = SYSPROF_TRACEFD_CONSUMER (instrument);

  if (self->join != NULL && !sysprof_capture_join_finish (self->join))
    return set_join_error (error);
  return TRUE;
}

static void
sysprof_tracefd_consumer_finalize (GObject *object)
{
  SysprofTracefdConsumer *self = SYSPROF_TRACEFD_CONSUMER (object);

  /* Whatever it has of the writer it only borrowed; nothing is written any more. */
  sysprof_capture_join_free (self->join);
  sysprof_autofd_close (&self->trace_fd);
  G_OBJECT_CLASS (sysprof_tracefd_consumer_parent_class)->finalize (object);
}

static void
sysprof_tracefd_consumer_class_init (SysprofTracefdConsumerClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = sysprof_tracefd_consumer_finalize;
  klass->parent_class.name = "Trace File";
  klass->parent_class.augment = sysprof_tracefd_consumer_augment;
  klass->parent_class.append = sysprof_tracefd_consumer_append;
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
