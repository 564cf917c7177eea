// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofDocumentOverlay: a layer of an overlay file system. */

#include "document/frame.h"
#include "document/properties.h"

struct _SysprofDocumentOverlay
{
  SysprofDocumentFrame parent_instance;
};

struct _SysprofDocumentOverlayClass
{
  SysprofDocumentFrameClass parent_class;
};

G_DEFINE_TYPE (SysprofDocumentOverlay, sysprof_document_overlay, SYSPROF_TYPE_DOCUMENT_FRAME)

guint
sysprof_document_overlay_get_layer (SysprofDocumentOverlay *self)
{
  const SysprofCaptureOverlay *frame;

  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_OVERLAY (self), 0);

  frame = sysprof_document_frame_read (SYSPROF_DOCUMENT_FRAME (self));
  return frame != NULL ? frame->layer : 0;
}

const char *
sysprof_document_overlay_get_source (SysprofDocumentOverlay *self)
{
  const SysprofCaptureOverlay *frame;

  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_OVERLAY (self), NULL);

  frame = sysprof_document_frame_read (SYSPROF_DOCUMENT_FRAME (self));
  return frame != NULL ? sysprof_frame_text_make_valid (frame->data) : "";
}

const char *
sysprof_document_overlay_get_destination (SysprofDocumentOverlay *self)
{
  const SysprofCaptureOverlay *frame;

  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_OVERLAY (self), NULL);

  frame = sysprof_document_frame_read (SYSPROF_DOCUMENT_FRAME (self));
  return frame != NULL ? sysprof_frame_text_make_valid (frame->data + frame->src_len + 1) : "";
}

static char *
sysprof_document_overlay_dup_details (SysprofDocumentFrame *frame)
{
  SysprofDocumentOverlay *self = SYSPROF_DOCUMENT_OVERLAY (frame);

  return g_strdup_printf ("%s: %s", sysprof_document_overlay_get_destination (self),
                          sysprof_document_overlay_get_source (self));
}

static void
sysprof_document_overlay_class_init (SysprofDocumentOverlayClass *class)
{
  static const PropertyRow rows[] = {
    { "destination", PROPERTY_STRING, G_CALLBACK (sysprof_document_overlay_get_destination) },
    { "layer", PROPERTY_UINT, G_CALLBACK (sysprof_document_overlay_get_layer) },
    { "source", PROPERTY_STRING, G_CALLBACK (sysprof_document_overlay_get_source) },
  };

  class->parent_class.dup_details = sysprof_document_overlay_dup_details;
  sysprof_properties_install (G_OBJECT_CLASS (class), rows, G_N_ELEMENTS (rows));
}

static void
sysprof_document_overlay_init (SysprofDocumentOverlay *self)
{
}
