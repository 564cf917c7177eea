// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofDocumentOverlay: one layer of what a process sees as its files. */

#pragma once

#include "sysprof-document-frame.h"

G_BEGIN_DECLS

#define SYSPROF_TYPE_DOCUMENT_OVERLAY (sysprof_document_overlay_get_type ())

SYSPROF_DECLARE_TYPE (SysprofDocumentOverlay,
                      sysprof_document_overlay,
                      DOCUMENT_OVERLAY,
                      SYSPROF_AVAILABLE_IN_ALL)

/* 0 is the topmost. Property "layer". */
SYSPROF_AVAILABLE_IN_ALL
guint sysprof_document_overlay_get_layer (SysprofDocumentOverlay *self);

/* Where it lies on the host. *(none)* Property "source". */
SYSPROF_AVAILABLE_IN_ALL
const char *sysprof_document_overlay_get_source (SysprofDocumentOverlay *self);

/* Where the process sees it. *(none)* Property "destination". */
SYSPROF_AVAILABLE_IN_ALL
const char *sysprof_document_overlay_get_destination (SysprofDocumentOverlay *self);

G_END_DECLS
