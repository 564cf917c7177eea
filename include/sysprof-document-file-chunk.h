// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofDocumentFileChunk: a part of an embedded file. */

#pragma once

#include "sysprof-document-frame.h"

G_BEGIN_DECLS

#define SYSPROF_TYPE_DOCUMENT_FILE_CHUNK (sysprof_document_file_chunk_get_type ())

SYSPROF_DECLARE_TYPE (SysprofDocumentFileChunk,
                      sysprof_document_file_chunk,
                      DOCUMENT_FILE_CHUNK,
                      SYSPROF_AVAILABLE_IN_ALL)

/* The name of the file as stored: a compressed one ends in ".gz". *(none)* Property "path". */
SYSPROF_AVAILABLE_IN_ALL
const char *sysprof_document_file_chunk_get_path (SysprofDocumentFileChunk *self);

/* Whether this is the last part of the file. Property "is-last". */
SYSPROF_AVAILABLE_IN_ALL
gboolean sysprof_document_file_chunk_get_is_last (SysprofDocumentFileChunk *self);

/* Bytes. Property "size". */
SYSPROF_AVAILABLE_IN_ALL
guint sysprof_document_file_chunk_get_size (SysprofDocumentFileChunk *self);

/**
 * sysprof_document_file_chunk_get_data:
 * @self: a part of a file
 * @size: (out) (optional): the number of bytes
 *
 * Returns: (array length=size) (element-type guint8) (transfer none) (nullable): the bytes as
 *   stored; valid as long as the frame
 */
SYSPROF_AVAILABLE_IN_ALL
const guint8 *sysprof_document_file_chunk_get_data (SysprofDocumentFileChunk *self,
                                                    guint *size);

G_END_DECLS
