// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofDocumentOverlay: one layer of the file system of a process. */

#pragma once

#include "sysprof-document-frame.h"

G_BEGIN_DECLS

#define SYSPROF_TYPE_DOCUMENT_OVERLAY (sysprof_document_overlay_get_type ())

SYSPROF_DECLARE_TYPE (SysprofDocumentOverlay,
                      sysprof_document_overlay,
                      DOCUMENT_OVERLAY,
                      SYSPROF_AVAILABLE_IN_ALL)

/* The number of the layer; 0 is the topmost. Property "layer". */
SYSPROF_AVAILABLE_IN_ALL
guint sysprof_document_overlay_get_layer (SysprofDocumentOverlay *self);

/* The path on the host. *(none)* Property "source". */
SYSPROF_AVAILABLE_IN_ALL
const char *sysprof_document_overlay_get_source (SysprofDocumentOverlay *self);

/* The path inside the process's mount namespace. *(none)* Property "destination". */
SYSPROF_AVAILABLE_IN_ALL
const char *sysprof_document_overlay_get_destination (SysprofDocumentOverlay *self);

G_END_DECLS
