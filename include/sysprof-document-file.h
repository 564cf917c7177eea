// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofDocumentFile: an embedded file, all its parts together. */

#pragma once

#include <gio/gio.h>

#include "sysprof-version-macros.h"

G_BEGIN_DECLS

#define SYSPROF_TYPE_DOCUMENT_FILE (sysprof_document_file_get_type ())

SYSPROF_AVAILABLE_IN_ALL
G_DECLARE_FINAL_TYPE (SysprofDocumentFile,
                      sysprof_document_file,
                      SYSPROF,
                      DOCUMENT_FILE,
                      GObject)

/* The path; for compressed files without ".gz". *(none)* Property "path". */
SYSPROF_AVAILABLE_IN_ALL
const char *sysprof_document_file_get_path (SysprofDocumentFile *self);

/* The decompressed contents; empty if they cannot be read. *(full)* Property "bytes". */
SYSPROF_AVAILABLE_IN_ALL
GBytes *sysprof_document_file_dup_bytes (SysprofDocumentFile *self);

/* Returns a stream of the decompressed contents. *(full)* */
SYSPROF_AVAILABLE_IN_ALL
GInputStream *sysprof_document_file_read (SysprofDocumentFile *self);

/* The decompressed size in bytes. Property "size". */
SYSPROF_AVAILABLE_IN_ALL
gsize sysprof_document_file_get_size (SysprofDocumentFile *self);

/* Whether it is stored compressed. Property "is-compressed". */
SYSPROF_AVAILABLE_IN_ALL
gboolean sysprof_document_file_is_compressed (SysprofDocumentFile *self);

G_END_DECLS
