// SPDX-License-Identifier: GPL-3.0-or-later

#include "document/frames/frame.h"

struct _SysprofDocumentSample
{
  SysprofDocumentFrame parent_instance;
};

struct _SysprofDocumentSampleClass
{
  SysprofDocumentFrameClass parent_class;
};

static const SysprofCaptureAddress *
sysprof_document_sample_get_addresses (SysprofDocumentTraceable *traceable, guint *n_addresses)
{
  const SysprofCaptureSample *sample =
      sysprof_document_frame_read (SYSPROF_DOCUMENT_FRAME (traceable));

  *n_addresses = sample != NULL ? sample->n_addrs : 0;
  return sample != NULL ? sample->addrs : NULL;
}

static int
sysprof_document_sample_get_thread_id (SysprofDocumentTraceable *traceable)
{
  return sysprof_document_sample_get_tid (SYSPROF_DOCUMENT_SAMPLE (traceable));
}

static void
traceable_init (SysprofDocumentTraceableInterface *interface)
{
  interface->get_addresses = sysprof_document_sample_get_addresses;
  interface->get_thread_id = sysprof_document_sample_get_thread_id;
}

G_DEFINE_TYPE_WITH_CODE (SysprofDocumentSample,
                         sysprof_document_sample,
                         SYSPROF_TYPE_DOCUMENT_FRAME,
                         G_IMPLEMENT_INTERFACE (SYSPROF_TYPE_DOCUMENT_TRACEABLE,
                                                traceable_init))

enum
{
  PROP_0,
  PROP_TID,
  N_PROPS,

  /* Of the interface. */
  PROP_STACK_DEPTH,
  PROP_THREAD_ID,
};

static GParamSpec *properties[N_PROPS];

int
sysprof_document_sample_get_tid (SysprofDocumentSample *self)
{
  const SysprofCaptureSample *sample;

  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_SAMPLE (self), -1);

  sample = sysprof_document_frame_read (SYSPROF_DOCUMENT_FRAME (self));
  return sample != NULL ? sample->tid : -1;
}

static void
sysprof_document_sample_get_property (GObject *object,
                                      guint id,
                                      GValue *value,
                                      GParamSpec *pspec)
{
  switch (id)
    {
    case PROP_TID:
    case PROP_THREAD_ID:
      g_value_set_int (value,
                       sysprof_document_sample_get_tid (SYSPROF_DOCUMENT_SAMPLE (object)));
      break;
    case PROP_STACK_DEPTH:
      g_value_set_uint (value, sysprof_document_traceable_get_stack_depth (
                                   SYSPROF_DOCUMENT_TRACEABLE (object)));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
sysprof_document_sample_class_init (SysprofDocumentSampleClass *class)
{
  GObjectClass *object_class = G_OBJECT_CLASS (class);

  object_class->get_property = sysprof_document_sample_get_property;

  properties[PROP_TID] = g_param_spec_int ("tid", NULL, NULL, G_MININT, G_MAXINT, -1,
                                           G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
  g_object_class_install_properties (object_class, N_PROPS, properties);
  g_object_class_override_property (object_class, PROP_STACK_DEPTH, "stack-depth");
  g_object_class_override_property (object_class, PROP_THREAD_ID, "thread-id");
}

static void
sysprof_document_sample_init (SysprofDocumentSample *self)
{
}
