// SPDX-License-Identifier: GPL-3.0-or-later

/* A function was entered or left: a frame with a stack, of no public type of its own. */

#include "document/frame.h"
#include "document/properties.h"

typedef struct
{
  SysprofDocumentFrame parent_instance;
} SysprofDocumentTrace;

typedef struct
{
  SysprofDocumentFrameClass parent_class;
} SysprofDocumentTraceClass;

static const SysprofCaptureTrace *
read_trace (SysprofDocumentTraceable *traceable)
{
  return sysprof_document_frame_read (SYSPROF_DOCUMENT_FRAME (traceable));
}

static const SysprofCaptureAddress *
sysprof_document_trace_get_addresses (SysprofDocumentTraceable *traceable, guint *n_addresses)
{
  const SysprofCaptureTrace *frame = read_trace (traceable);

  *n_addresses = frame != NULL ? frame->n_addrs : 0;
  return frame != NULL ? frame->addrs : NULL;
}

static int
sysprof_document_trace_get_thread_id (SysprofDocumentTraceable *traceable)
{
  const SysprofCaptureTrace *frame = read_trace (traceable);

  return frame != NULL ? frame->tid : -1;
}

static void
traceable_init (SysprofDocumentTraceableInterface *interface)
{
  interface->get_addresses = sysprof_document_trace_get_addresses;
  interface->get_thread_id = sysprof_document_trace_get_thread_id;
}

G_DEFINE_TYPE_WITH_CODE (SysprofDocumentTrace,
                         sysprof_document_trace,
                         SYSPROF_TYPE_DOCUMENT_FRAME,
                         G_IMPLEMENT_INTERFACE (SYSPROF_TYPE_DOCUMENT_TRACEABLE,
                                                traceable_init))

static void
sysprof_document_trace_class_init (SysprofDocumentTraceClass *class)
{
  sysprof_properties_install (G_OBJECT_CLASS (class), NULL, 0);
  sysprof_traceable_class_install (G_OBJECT_CLASS (class), 1);
}

static void
sysprof_document_trace_init (SysprofDocumentTrace *self)
{
}
