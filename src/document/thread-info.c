// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofThreadInfo: a thread of a process with its name. */

#include "document/frame.h"
#include "document/objects.h"
#include "document/properties.h"

struct _SysprofThreadInfo
{
  GObject parent_instance;
  SysprofDocumentProcess *process;
  int thread_id;
};

G_DEFINE_FINAL_TYPE (SysprofThreadInfo, sysprof_thread_info, G_TYPE_OBJECT)

SysprofThreadInfo *
sysprof_thread_info_new (SysprofDocumentProcess *process, int thread_id)
{
  SysprofThreadInfo *self = g_object_new (SYSPROF_TYPE_THREAD_INFO, NULL);

  self->process = g_object_ref (process);
  self->thread_id = thread_id;
  return self;
}

SysprofDocumentProcess *
sysprof_thread_info_get_process (SysprofThreadInfo *self)
{
  g_return_val_if_fail (SYSPROF_IS_THREAD_INFO (self), NULL);

  return self->process;
}

int
sysprof_thread_info_get_thread_id (SysprofThreadInfo *self)
{
  g_return_val_if_fail (SYSPROF_IS_THREAD_INFO (self), -1);

  return self->thread_id;
}

char *
sysprof_thread_info_dup_name (SysprofThreadInfo *self)
{
  const Store *store;
  StringId name;

  g_return_val_if_fail (SYSPROF_IS_THREAD_INFO (self), NULL);

  store = SYSPROF_DOCUMENT_FRAME (self->process)->store;
  name = sysprof_store_thread_name (
      store,
      sysprof_store_find_process (
          store, sysprof_document_frame_get_pid (SYSPROF_DOCUMENT_FRAME (self->process))),
      self->thread_id, INT64_MAX);
  return name != 0 ? g_utf8_make_valid (sysprof_store_string (store, name), -1) : NULL;
}

gboolean
sysprof_thread_info_is_main_thread (SysprofThreadInfo *self)
{
  g_return_val_if_fail (SYSPROF_IS_THREAD_INFO (self), FALSE);

  return self->thread_id ==
         sysprof_document_frame_get_pid (SYSPROF_DOCUMENT_FRAME (self->process));
}

static void
sysprof_thread_info_finalize (GObject *object)
{
  SysprofThreadInfo *self = SYSPROF_THREAD_INFO (object);

  g_clear_object (&self->process);

  G_OBJECT_CLASS (sysprof_thread_info_parent_class)->finalize (object);
}

static void
sysprof_thread_info_class_init (SysprofThreadInfoClass *class)
{
  static const PropertyRow rows[] = {
    { "is-main-thread", PROPERTY_BOOLEAN, G_CALLBACK (sysprof_thread_info_is_main_thread) },
    { "name", PROPERTY_DUP_STRING, G_CALLBACK (sysprof_thread_info_dup_name) },
    { "process", PROPERTY_OBJECT, G_CALLBACK (sysprof_thread_info_get_process),
      sysprof_document_process_get_type },
    { "thread-id", PROPERTY_INT, G_CALLBACK (sysprof_thread_info_get_thread_id) },
  };

  G_OBJECT_CLASS (class)->finalize = sysprof_thread_info_finalize;
  sysprof_properties_install (G_OBJECT_CLASS (class), rows, G_N_ELEMENTS (rows));
}

static void
sysprof_thread_info_init (SysprofThreadInfo *self)
{
}
