// SPDX-License-Identifier: GPL-3.0-or-later

/* A frame that names a process stands for the whole process: one object is as good as another. */

#include "document/frame.h"
#include "document/properties.h"

struct _SysprofDocumentProcess
{
  SysprofDocumentFrame parent_instance;
  ProcessId process; /* 0 = not looked up yet */
  char *command_line;
};

struct _SysprofDocumentProcessClass
{
  SysprofDocumentFrameClass parent_class;
};

G_DEFINE_TYPE (SysprofDocumentProcess, sysprof_document_process, SYSPROF_TYPE_DOCUMENT_FRAME)

static const Store *
store_of (SysprofDocumentProcess *self)
{
  return SYSPROF_DOCUMENT_FRAME (self)->store;
}

static const Process *
row_of (SysprofDocumentProcess *self)
{
  if (self->process == 0)
    self->process = sysprof_store_find_process (
        store_of (self), sysprof_document_frame_get_pid (SYSPROF_DOCUMENT_FRAME (self)));
  return &store_of (self)->processes.row[self->process];
}

SysprofDocumentProcess *
sysprof_document_process_new (Store *store, FrameNo number)
{
  SysprofDocumentProcess *self = g_object_new (SYSPROF_TYPE_DOCUMENT_PROCESS, NULL);
  SysprofDocumentFrame *frame = SYSPROF_DOCUMENT_FRAME (self);

  frame->store = sysprof_store_ref (store);
  frame->number = number;
  return self;
}

const char *
sysprof_document_process_get_command_line (SysprofDocumentProcess *self)
{
  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_PROCESS (self), NULL);

  if (self->command_line == NULL)
    self->command_line = g_utf8_make_valid (
        sysprof_store_string (store_of (self), row_of (self)->command_line), -1);
  return self->command_line;
}

gint64
sysprof_document_process_get_exit_time (SysprofDocumentProcess *self)
{
  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_PROCESS (self), 0);

  return row_of (self)->end;
}

gint64
sysprof_document_process_get_duration (SysprofDocumentProcess *self)
{
  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_PROCESS (self), 0);

  return sysprof_time_between (row_of (self)->start, row_of (self)->end);
}

char *
sysprof_document_process_dup_title (SysprofDocumentProcess *self)
{
  g_autofree char *comm = NULL;

  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_PROCESS (self), NULL);

  comm = g_utf8_make_valid (sysprof_store_string (store_of (self), row_of (self)->comm), -1);
  return g_strdup_printf ("%s [%d]", comm, row_of (self)->pid);
}

GListModel *
sysprof_document_process_list_memory_maps (SysprofDocumentProcess *self)
{
  const Store *store;
  const FrameList *maps;
  FrameNo *frames;
  uint32_t n = 0;

  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_PROCESS (self), NULL);

  store = store_of (self);
  maps = &store->frames_of_type[SYSPROF_CAPTURE_FRAME_MAP];
  frames = g_new (FrameNo, MAX (maps->n, 1));
  for (uint32_t i = 0; i < maps->n; i++)
    if (store->frames.pid[maps->frame[i]] == row_of (self)->pid)
      frames[n++] = maps->frame[i];
  return sysprof_frame_model_new_take ((Store *) store, g_renew (FrameNo, frames, MAX (n, 1)),
                                       n, SYSPROF_TYPE_DOCUMENT_MMAP);
}

GListModel *
sysprof_document_process_list_mounts (SysprofDocumentProcess *self)
{
  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_PROCESS (self), NULL);

  return sysprof_mounts_read (store_of (self), row_of (self)->pid);
}

static gpointer
make_thread (gpointer owner, uint32_t number)
{
  SysprofDocumentProcess *self = owner;
  const Processes *processes = &store_of (self)->processes;

  return sysprof_thread_info_new (self,
                                  processes->thread_ids[row_of (self)->first_thread + number]);
}

GListModel *
sysprof_document_process_list_threads (SysprofDocumentProcess *self)
{
  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_PROCESS (self), NULL);

  return sysprof_index_model_new (self, SYSPROF_TYPE_THREAD_INFO, make_thread, NULL,
                                  row_of (self)->n_threads);
}

static char *
sysprof_document_process_dup_details (SysprofDocumentFrame *frame)
{
  return sysprof_document_process_dup_title (SYSPROF_DOCUMENT_PROCESS (frame));
}

static void
sysprof_document_process_finalize (GObject *object)
{
  SysprofDocumentProcess *self = SYSPROF_DOCUMENT_PROCESS (object);

  g_free (self->command_line);

  G_OBJECT_CLASS (sysprof_document_process_parent_class)->finalize (object);
}

static void
sysprof_document_process_class_init (SysprofDocumentProcessClass *class)
{
  static const PropertyRow rows[] = {
    { "command-line", PROPERTY_STRING, G_CALLBACK (sysprof_document_process_get_command_line) },
    { "duration", PROPERTY_INT64, G_CALLBACK (sysprof_document_process_get_duration) },
    { "exit-time", PROPERTY_INT64, G_CALLBACK (sysprof_document_process_get_exit_time) },
    { "memory-maps", PROPERTY_DUP_OBJECT,
      G_CALLBACK (sysprof_document_process_list_memory_maps), g_list_model_get_type },
    { "mounts", PROPERTY_DUP_OBJECT, G_CALLBACK (sysprof_document_process_list_mounts),
      g_list_model_get_type },
    { "threads", PROPERTY_DUP_OBJECT, G_CALLBACK (sysprof_document_process_list_threads),
      g_list_model_get_type },
    { "title", PROPERTY_DUP_STRING, G_CALLBACK (sysprof_document_process_dup_title) },
  };

  class->parent_class.dup_details = sysprof_document_process_dup_details;
  sysprof_properties_install (G_OBJECT_CLASS (class), rows, G_N_ELEMENTS (rows));
  G_OBJECT_CLASS (class)->finalize = sysprof_document_process_finalize;
}

static void
sysprof_document_process_init (SysprofDocumentProcess *self)
{
}
