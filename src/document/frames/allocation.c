// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofDocumentAllocation: an allocation or a release of memory. */

#include "document/frame.h"
#include "document/properties.h"

struct _SysprofDocumentAllocation
{
  SysprofDocumentFrame parent_instance;
};

struct _SysprofDocumentAllocationClass
{
  SysprofDocumentFrameClass parent_class;
};

static const SysprofCaptureAddress *
sysprof_document_allocation_get_addresses (SysprofDocumentTraceable *traceable,
                                           guint *n_addresses)
{
  const SysprofCaptureAllocation *frame =
      sysprof_document_frame_read (SYSPROF_DOCUMENT_FRAME (traceable));

  *n_addresses = frame != NULL ? frame->n_addrs : 0;
  return frame != NULL ? frame->addrs : NULL;
}

static int
sysprof_document_allocation_get_thread_id (SysprofDocumentTraceable *traceable)
{
  return sysprof_document_allocation_get_tid (SYSPROF_DOCUMENT_ALLOCATION (traceable));
}

static void
traceable_init (SysprofDocumentTraceableInterface *interface)
{
  interface->get_addresses = sysprof_document_allocation_get_addresses;
  interface->get_thread_id = sysprof_document_allocation_get_thread_id;
}

G_DEFINE_TYPE_WITH_CODE (SysprofDocumentAllocation,
                         sysprof_document_allocation,
                         SYSPROF_TYPE_DOCUMENT_FRAME,
                         G_IMPLEMENT_INTERFACE (SYSPROF_TYPE_DOCUMENT_TRACEABLE,
                                                traceable_init))

guint64
sysprof_document_allocation_get_address (SysprofDocumentAllocation *self)
{
  const SysprofCaptureAllocation *frame;

  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_ALLOCATION (self), 0);

  frame = sysprof_document_frame_read (SYSPROF_DOCUMENT_FRAME (self));
  return frame != NULL ? frame->alloc_addr : 0;
}

gint64
sysprof_document_allocation_get_size (SysprofDocumentAllocation *self)
{
  const SysprofCaptureAllocation *frame;

  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_ALLOCATION (self), 0);

  frame = sysprof_document_frame_read (SYSPROF_DOCUMENT_FRAME (self));
  return frame != NULL ? frame->alloc_size : 0;
}

int
sysprof_document_allocation_get_tid (SysprofDocumentAllocation *self)
{
  const SysprofCaptureAllocation *frame;

  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_ALLOCATION (self), -1);

  frame = sysprof_document_frame_read (SYSPROF_DOCUMENT_FRAME (self));
  return frame != NULL ? frame->tid : -1;
}

gboolean
sysprof_document_allocation_is_free (SysprofDocumentAllocation *self)
{
  const SysprofCaptureAllocation *frame;

  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_ALLOCATION (self), FALSE);

  frame = sysprof_document_frame_read (SYSPROF_DOCUMENT_FRAME (self));
  return frame != NULL ? frame->alloc_size <= 0 : FALSE;
}

static char *
sysprof_document_allocation_dup_details (SysprofDocumentFrame *frame)
{
  SysprofDocumentAllocation *self = SYSPROF_DOCUMENT_ALLOCATION (frame);
  guint64 address = sysprof_document_allocation_get_address (self);

  if (sysprof_document_allocation_is_free (self))
    return g_strdup_printf ("Freed 0x%" G_GINT64_MODIFIER "x", address);

  return g_strdup_printf ("Allocated %" G_GINT64_FORMAT " bytes at 0x%" G_GINT64_MODIFIER "x",
                          sysprof_document_allocation_get_size (self), address);
}

static void
sysprof_document_allocation_class_init (SysprofDocumentAllocationClass *class)
{
  static const PropertyRow rows[] = {
    { "address", PROPERTY_UINT64, G_CALLBACK (sysprof_document_allocation_get_address) },
    { "is-free", PROPERTY_BOOLEAN, G_CALLBACK (sysprof_document_allocation_is_free) },
    { "size", PROPERTY_INT64, G_CALLBACK (sysprof_document_allocation_get_size) },
    { "tid", PROPERTY_INT, G_CALLBACK (sysprof_document_allocation_get_tid) },
  };

  class->parent_class.dup_details = sysprof_document_allocation_dup_details;
  sysprof_properties_install (G_OBJECT_CLASS (class), rows, G_N_ELEMENTS (rows));
  sysprof_traceable_class_install (G_OBJECT_CLASS (class), G_N_ELEMENTS (rows) + 1);
}

static void
sysprof_document_allocation_init (SysprofDocumentAllocation *self)
{
}
