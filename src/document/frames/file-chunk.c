// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofDocumentFileChunk: a piece of an embedded file. */

#include "document/frame.h"
#include "document/properties.h"

struct _SysprofDocumentFileChunk
{
  SysprofDocumentFrame parent_instance;
};

struct _SysprofDocumentFileChunkClass
{
  SysprofDocumentFrameClass parent_class;
};

G_DEFINE_TYPE (SysprofDocumentFileChunk,
               sysprof_document_file_chunk,
               SYSPROF_TYPE_DOCUMENT_FRAME)

const char *
sysprof_document_file_chunk_get_path (SysprofDocumentFileChunk *self)
{
  const SysprofCaptureFileChunk *frame;

  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_FILE_CHUNK (self), NULL);

  frame = sysprof_document_frame_read (SYSPROF_DOCUMENT_FRAME (self));
  return frame != NULL ? sysprof_frame_text_make_valid (frame->path) : "";
}

gboolean
sysprof_document_file_chunk_get_is_last (SysprofDocumentFileChunk *self)
{
  const SysprofCaptureFileChunk *frame;

  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_FILE_CHUNK (self), FALSE);

  frame = sysprof_document_frame_read (SYSPROF_DOCUMENT_FRAME (self));
  return frame != NULL ? frame->is_last : FALSE;
}

guint
sysprof_document_file_chunk_get_size (SysprofDocumentFileChunk *self)
{
  const SysprofCaptureFileChunk *frame;

  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_FILE_CHUNK (self), 0);

  frame = sysprof_document_frame_read (SYSPROF_DOCUMENT_FRAME (self));
  return frame != NULL ? frame->len : 0;
}

const guint8 *
sysprof_document_file_chunk_get_data (SysprofDocumentFileChunk *self, guint *size)
{
  const SysprofCaptureFileChunk *frame;

  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_FILE_CHUNK (self), NULL);

  frame = sysprof_document_frame_read (SYSPROF_DOCUMENT_FRAME (self));
  if (size != NULL)
    *size = frame != NULL ? frame->len : 0;
  return frame != NULL ? frame->data : NULL;
}

static char *
sysprof_document_file_chunk_dup_details (SysprofDocumentFrame *frame)
{
  SysprofDocumentFileChunk *self = SYSPROF_DOCUMENT_FILE_CHUNK (frame);

  return g_strdup_printf ("%s (%u bytes)", sysprof_document_file_chunk_get_path (self),
                          sysprof_document_file_chunk_get_size (self));
}

static void
sysprof_document_file_chunk_class_init (SysprofDocumentFileChunkClass *class)
{
  static const PropertyRow rows[] = {
    { "is-last", PROPERTY_BOOLEAN, G_CALLBACK (sysprof_document_file_chunk_get_is_last) },
    { "path", PROPERTY_STRING, G_CALLBACK (sysprof_document_file_chunk_get_path) },
    { "size", PROPERTY_UINT, G_CALLBACK (sysprof_document_file_chunk_get_size) },
  };

  class->parent_class.dup_details = sysprof_document_file_chunk_dup_details;
  sysprof_properties_install (G_OBJECT_CLASS (class), rows, G_N_ELEMENTS (rows));
}

static void
sysprof_document_file_chunk_init (SysprofDocumentFileChunk *self)
{
}
