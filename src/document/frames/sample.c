// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofDocumentSample: a sample with its stack. */

#include "document/frame.h"
#include "document/properties.h"

#include <string.h>

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

/* Without a copy of the frame, because callers read this of all samples in turn. */
bool
sysprof_document_frame_has_context (const Store *store, FrameNo number)
{
  const uint8_t *bytes = store->bytes + store->frames.offset[number];
  uint16_t length, n;

  memcpy (&length, bytes, sizeof length);
  memcpy (&n, bytes + sizeof (SysprofCaptureFrame), sizeof n);
  if (store->is_swapped)
    {
      length = GUINT16_SWAP_LE_BE (length);
      n = GUINT16_SWAP_LE_BE (n);
    }

  for (size_t at = offsetof (SysprofCaptureSample, addrs); n > 0 && at + 8 <= length;
       at += 8, n--)
    {
      uint64_t address;

      memcpy (&address, bytes + at, sizeof address);
      if (store->is_swapped)
        address = GUINT64_SWAP_LE_BE (address);
      if (sysprof_address_is_context_switch (address, NULL))
        return true;
    }
  return false;
}

int
sysprof_document_sample_get_tid (SysprofDocumentSample *self)
{
  const SysprofCaptureSample *sample;

  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_SAMPLE (self), -1);

  sample = sysprof_document_frame_read (SYSPROF_DOCUMENT_FRAME (self));
  return sample != NULL ? sample->tid : -1;
}

static void
sysprof_document_sample_class_init (SysprofDocumentSampleClass *class)
{
  static const PropertyRow rows[] = {
    { "tid", PROPERTY_INT, G_CALLBACK (sysprof_document_sample_get_tid) },
  };

  sysprof_properties_install (G_OBJECT_CLASS (class), rows, G_N_ELEMENTS (rows));
  sysprof_traceable_class_install (G_OBJECT_CLASS (class), G_N_ELEMENTS (rows) + 1);
}

static void
sysprof_document_sample_init (SysprofDocumentSample *self)
{
}
