// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofDocumentLog: a log message. */

#include "document/frame.h"
#include "document/properties.h"

struct _SysprofDocumentLog
{
  SysprofDocumentFrame parent_instance;
};

struct _SysprofDocumentLogClass
{
  SysprofDocumentFrameClass parent_class;
};

G_DEFINE_TYPE (SysprofDocumentLog, sysprof_document_log, SYSPROF_TYPE_DOCUMENT_FRAME)

const char *
sysprof_document_log_get_message (SysprofDocumentLog *self)
{
  const SysprofCaptureLog *frame;

  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_LOG (self), NULL);

  frame = sysprof_document_frame_read (SYSPROF_DOCUMENT_FRAME (self));
  return frame != NULL ? sysprof_frame_text_make_valid (frame->message) : "";
}

GLogLevelFlags
sysprof_document_log_get_severity (SysprofDocumentLog *self)
{
  const SysprofCaptureLog *frame;

  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_LOG (self), (GLogLevelFlags) 0);

  frame = sysprof_document_frame_read (SYSPROF_DOCUMENT_FRAME (self));
  return frame != NULL ? (GLogLevelFlags) frame->severity : (GLogLevelFlags) 0;
}

const char *
sysprof_document_log_get_domain (SysprofDocumentLog *self)
{
  const SysprofCaptureLog *frame;

  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_LOG (self), NULL);

  frame = sysprof_document_frame_read (SYSPROF_DOCUMENT_FRAME (self));
  return frame != NULL ? sysprof_frame_text_make_valid (frame->domain) : "";
}

static char *
sysprof_document_log_dup_details (SysprofDocumentFrame *frame)
{
  SysprofDocumentLog *self = SYSPROF_DOCUMENT_LOG (frame);

  return g_strdup_printf ("%s: %s", sysprof_document_log_get_domain (self),
                          sysprof_document_log_get_message (self));
}

static void
sysprof_document_log_class_init (SysprofDocumentLogClass *class)
{
  static const PropertyRow rows[] = {
    { "domain", PROPERTY_STRING, G_CALLBACK (sysprof_document_log_get_domain) },
    { "message", PROPERTY_STRING, G_CALLBACK (sysprof_document_log_get_message) },
    { "severity", PROPERTY_UINT, G_CALLBACK (sysprof_document_log_get_severity) },
  };

  class->parent_class.dup_details = sysprof_document_log_dup_details;
  sysprof_properties_install (G_OBJECT_CLASS (class), rows, G_N_ELEMENTS (rows));
}

static void
sysprof_document_log_init (SysprofDocumentLog *self)
{
}
