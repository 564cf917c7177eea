// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofDocumentExit: the end of a process. */

#include "document/frame.h"
#include "document/properties.h"

struct _SysprofDocumentExit
{
  SysprofDocumentFrame parent_instance;
};

struct _SysprofDocumentExitClass
{
  SysprofDocumentFrameClass parent_class;
};

G_DEFINE_TYPE (SysprofDocumentExit, sysprof_document_exit, SYSPROF_TYPE_DOCUMENT_FRAME)

static void
sysprof_document_exit_class_init (SysprofDocumentExitClass *class)
{
}

static void
sysprof_document_exit_init (SysprofDocumentExit *self)
{
}
