// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofDocumentMetadata: a key and its value. */

#include "document/frame.h"
#include "document/properties.h"

struct _SysprofDocumentMetadata
{
  SysprofDocumentFrame parent_instance;
};

struct _SysprofDocumentMetadataClass
{
  SysprofDocumentFrameClass parent_class;
};

G_DEFINE_TYPE (SysprofDocumentMetadata, sysprof_document_metadata, SYSPROF_TYPE_DOCUMENT_FRAME)

const char *
sysprof_document_metadata_get_id (SysprofDocumentMetadata *self)
{
  const SysprofCaptureMetadata *frame;

  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_METADATA (self), NULL);

  frame = sysprof_document_frame_read (SYSPROF_DOCUMENT_FRAME (self));
  return frame != NULL ? sysprof_frame_text_make_valid (frame->id) : "";
}

const char *
sysprof_document_metadata_get_value (SysprofDocumentMetadata *self)
{
  const SysprofCaptureMetadata *frame;

  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_METADATA (self), NULL);

  frame = sysprof_document_frame_read (SYSPROF_DOCUMENT_FRAME (self));
  return frame != NULL ? sysprof_frame_text_make_valid (frame->metadata) : "";
}

static char *
sysprof_document_metadata_dup_details (SysprofDocumentFrame *frame)
{
  SysprofDocumentMetadata *self = SYSPROF_DOCUMENT_METADATA (frame);

  return g_strdup_printf ("%s: %s", sysprof_document_metadata_get_id (self),
                          sysprof_document_metadata_get_value (self));
}

static void
sysprof_document_metadata_class_init (SysprofDocumentMetadataClass *class)
{
  static const PropertyRow rows[] = {
    { "id", PROPERTY_STRING, G_CALLBACK (sysprof_document_metadata_get_id) },
    { "value", PROPERTY_STRING, G_CALLBACK (sysprof_document_metadata_get_value) },
  };

  class->parent_class.dup_details = sysprof_document_metadata_dup_details;
  sysprof_properties_install (G_OBJECT_CLASS (class), rows, G_N_ELEMENTS (rows));
}

static void
sysprof_document_metadata_init (SysprofDocumentMetadata *self)
{
}
