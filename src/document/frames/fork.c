// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofDocumentFork: the start of a child process. */

#include "document/frame.h"
#include "document/properties.h"

struct _SysprofDocumentFork
{
  SysprofDocumentFrame parent_instance;
};

struct _SysprofDocumentForkClass
{
  SysprofDocumentFrameClass parent_class;
};

G_DEFINE_TYPE (SysprofDocumentFork, sysprof_document_fork, SYSPROF_TYPE_DOCUMENT_FRAME)

int
sysprof_document_fork_get_child_pid (SysprofDocumentFork *self)
{
  const SysprofCaptureFork *frame;

  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_FORK (self), -1);

  frame = sysprof_document_frame_read (SYSPROF_DOCUMENT_FRAME (self));
  return frame != NULL ? frame->child_pid : -1;
}

static void
sysprof_document_fork_class_init (SysprofDocumentForkClass *class)
{
  static const PropertyRow rows[] = {
    { "child-pid", PROPERTY_INT, G_CALLBACK (sysprof_document_fork_get_child_pid) },
  };

  sysprof_properties_install (G_OBJECT_CLASS (class), rows, G_N_ELEMENTS (rows));
}

static void
sysprof_document_fork_init (SysprofDocumentFork *self)
{
}
