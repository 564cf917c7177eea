// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofDocumentMmap: a mapping of a file into a process. */

#include "document/frame.h"
#include "document/properties.h"

#include <string.h>

struct _SysprofDocumentMmap
{
  SysprofDocumentFrame parent_instance;
};

struct _SysprofDocumentMmapClass
{
  SysprofDocumentFrameClass parent_class;
};

G_DEFINE_TYPE (SysprofDocumentMmap, sysprof_document_mmap, SYSPROF_TYPE_DOCUMENT_FRAME)

guint64
sysprof_document_mmap_get_start_address (SysprofDocumentMmap *self)
{
  const SysprofCaptureMap *frame;

  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_MMAP (self), 0);

  frame = sysprof_document_frame_read (SYSPROF_DOCUMENT_FRAME (self));
  return frame != NULL ? frame->start : 0;
}

guint64
sysprof_document_mmap_get_end_address (SysprofDocumentMmap *self)
{
  const SysprofCaptureMap *frame;

  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_MMAP (self), 0);

  frame = sysprof_document_frame_read (SYSPROF_DOCUMENT_FRAME (self));
  return frame != NULL ? frame->end : 0;
}

const char *
sysprof_document_mmap_get_file (SysprofDocumentMmap *self)
{
  const SysprofCaptureMap *frame;

  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_MMAP (self), NULL);

  frame = sysprof_document_frame_read (SYSPROF_DOCUMENT_FRAME (self));
  return frame != NULL ? sysprof_frame_text_make_valid (frame->filename) : "";
}

guint64
sysprof_document_mmap_get_file_inode (SysprofDocumentMmap *self)
{
  const SysprofCaptureMap *frame;

  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_MMAP (self), 0);

  frame = sysprof_document_frame_read (SYSPROF_DOCUMENT_FRAME (self));
  return frame != NULL ? frame->inode : 0;
}

guint64
sysprof_document_mmap_get_file_offset (SysprofDocumentMmap *self)
{
  const SysprofCaptureMap *frame;

  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_MMAP (self), 0);

  frame = sysprof_document_frame_read (SYSPROF_DOCUMENT_FRAME (self));
  return frame != NULL ? frame->offset : 0;
}

/* Behind the file name, '@' and the text. */
const char *
sysprof_document_mmap_get_build_id (SysprofDocumentMmap *self)
{
  const SysprofCaptureMap *frame;
  const char *text;

  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_MMAP (self), NULL);

  frame = sysprof_document_frame_read (SYSPROF_DOCUMENT_FRAME (self));
  if (frame == NULL)
    return NULL;

  text = frame->filename + strlen (frame->filename) + 1;
  if (text >= (const char *) frame + frame->frame.len || text[0] != '@')
    return NULL;
  return sysprof_frame_text_make_valid (text + 1);
}

static char *
sysprof_document_mmap_dup_details (SysprofDocumentFrame *frame)
{
  SysprofDocumentMmap *self = SYSPROF_DOCUMENT_MMAP (frame);

  return g_strdup_printf ("0x%" G_GINT64_MODIFIER "x: %s",
                          sysprof_document_mmap_get_start_address (self),
                          sysprof_document_mmap_get_file (self));
}

static void
sysprof_document_mmap_class_init (SysprofDocumentMmapClass *class)
{
  static const PropertyRow rows[] = {
    { "build-id", PROPERTY_STRING, G_CALLBACK (sysprof_document_mmap_get_build_id) },
    { "end-address", PROPERTY_UINT64, G_CALLBACK (sysprof_document_mmap_get_end_address) },
    { "file", PROPERTY_STRING, G_CALLBACK (sysprof_document_mmap_get_file) },
    { "file-inode", PROPERTY_UINT64, G_CALLBACK (sysprof_document_mmap_get_file_inode) },
    { "file-offset", PROPERTY_UINT64, G_CALLBACK (sysprof_document_mmap_get_file_offset) },
    { "start-address", PROPERTY_UINT64, G_CALLBACK (sysprof_document_mmap_get_start_address) },
  };

  class->parent_class.dup_details = sysprof_document_mmap_dup_details;
  sysprof_properties_install (G_OBJECT_CLASS (class), rows, G_N_ELEMENTS (rows));
}

static void
sysprof_document_mmap_init (SysprofDocumentMmap *self)
{
}
