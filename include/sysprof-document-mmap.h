// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofDocumentMmap: a process mapped a file. */

#pragma once

#include "sysprof-document-frame.h"

G_BEGIN_DECLS

#define SYSPROF_TYPE_DOCUMENT_MMAP (sysprof_document_mmap_get_type ())

SYSPROF_DECLARE_TYPE (SysprofDocumentMmap,
                      sysprof_document_mmap,
                      DOCUMENT_MMAP,
                      SYSPROF_AVAILABLE_IN_ALL)

/* Property "start-address". */
SYSPROF_AVAILABLE_IN_ALL
guint64 sysprof_document_mmap_get_start_address (SysprofDocumentMmap *self);

/* The first address after the mapping. Property "end-address". */
SYSPROF_AVAILABLE_IN_ALL
guint64 sysprof_document_mmap_get_end_address (SysprofDocumentMmap *self);

/* The path of the file as the process sees it, or the name of a mapping without a file.
 * *(none)* Property "file". */
SYSPROF_AVAILABLE_IN_ALL
const char *sysprof_document_mmap_get_file (SysprofDocumentMmap *self);

/* 0 unknown. Property "file-inode". */
SYSPROF_AVAILABLE_IN_ALL
guint64 sysprof_document_mmap_get_file_inode (SysprofDocumentMmap *self);

/* The offset of the start address in the file, in bytes. Property "file-offset". */
SYSPROF_AVAILABLE_IN_ALL
guint64 sysprof_document_mmap_get_file_offset (SysprofDocumentMmap *self);

/* As hexadecimal text. *(none, nullable)* Property "build-id". */
SYSPROF_AVAILABLE_IN_ALL
const char *sysprof_document_mmap_get_build_id (SysprofDocumentMmap *self);

G_END_DECLS
