// SPDX-License-Identifier: GPL-3.0-or-later

/* Joins the capture that another process wrote to a descriptor, when the recording has
 * stopped. */

#include "record/instrument.h"
#include "record/joined-capture.h"
#include "util/util.h"

#include <sysprof.h>

struct _SysprofTracefdConsumer
{
  SysprofInstrument parent_instance;
  int trace_fd;
  SysprofCaptureJoin *join; /* NULL = nothing left to join */
};

SYSPROF_DEFINE_INSTRUMENT (SysprofTracefdConsumer, sysprof_tracefd_consumer)

static const char instrument_name[] = "Trace File";
static const char who[] = "a program with a trace descriptor";

static gboolean
sysprof_tracefd_consumer_augment (SysprofInstrument *instrument,
                                  RecordingContext *context,
                                  GError **error)
{
  SysprofTracefdConsumer *self = SYSPROF_TRACEFD_CONSUMER (instrument);
  g_autoptr (GError) cause = NULL;

  /* An empty file is not an error: a program need not use the descriptor. */
  self->join =
      sysprof_joined_capture_begin (context, instrument_name, who, self->trace_fd, &cause);
  if (cause == NULL)
    return TRUE;

  g_propagate_error (error, g_steal_pointer (&cause));
  return FALSE;
}

static gboolean
sysprof_tracefd_consumer_append (SysprofInstrument *instrument,
                                 RecordingContext *context,
                                 GError **error)
{
  return sysprof_joined_capture_finish (SYSPROF_TRACEFD_CONSUMER (instrument)->join, who,
                                        error);
}

static void
sysprof_tracefd_consumer_finalize (GObject *object)
{
  SysprofTracefdConsumer *self = SYSPROF_TRACEFD_CONSUMER (object);

  /* The join only borrows the writer; nothing is written any more. */
  sysprof_capture_join_free (self->join);
  sysprof_autofd_close (&self->trace_fd);
  G_OBJECT_CLASS (sysprof_tracefd_consumer_parent_class)->finalize (object);
}

static void
sysprof_tracefd_consumer_class_init (SysprofTracefdConsumerClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = sysprof_tracefd_consumer_finalize;
  klass->parent_class.name = instrument_name;
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
