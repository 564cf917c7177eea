// SPDX-License-Identifier: GPL-3.0-or-later

/* The lists of a document: views over the store's own lists of frames, or over its rows. */

#include "document/frame.h"

static GListModel *
list_frames (SysprofDocument *self, SysprofCaptureFrameType type, GType item_type)
{
  return sysprof_frame_model_new (self->store, &self->store->frames_of_type[type], item_type);
}

GListModel *
sysprof_document_list_samples (SysprofDocument *self)
{
  g_return_val_if_fail (SYSPROF_IS_DOCUMENT (self), NULL);

  return list_frames (self, SYSPROF_CAPTURE_FRAME_SAMPLE, SYSPROF_TYPE_DOCUMENT_SAMPLE);
}

GListModel *
sysprof_document_list_marks (SysprofDocument *self)
{
  g_return_val_if_fail (SYSPROF_IS_DOCUMENT (self), NULL);

  return list_frames (self, SYSPROF_CAPTURE_FRAME_MARK, SYSPROF_TYPE_DOCUMENT_MARK);
}

GListModel *
sysprof_document_list_allocations (SysprofDocument *self)
{
  g_return_val_if_fail (SYSPROF_IS_DOCUMENT (self), NULL);

  return list_frames (self, SYSPROF_CAPTURE_FRAME_ALLOCATION, SYSPROF_TYPE_DOCUMENT_ALLOCATION);
}

GListModel *
sysprof_document_list_logs (SysprofDocument *self)
{
  g_return_val_if_fail (SYSPROF_IS_DOCUMENT (self), NULL);

  return list_frames (self, SYSPROF_CAPTURE_FRAME_LOG, SYSPROF_TYPE_DOCUMENT_LOG);
}

GListModel *
sysprof_document_list_metadata (SysprofDocument *self)
{
  g_return_val_if_fail (SYSPROF_IS_DOCUMENT (self), NULL);

  return list_frames (self, SYSPROF_CAPTURE_FRAME_METADATA, SYSPROF_TYPE_DOCUMENT_METADATA);
}

GListModel *
sysprof_document_list_dbus_messages (SysprofDocument *self)
{
  g_return_val_if_fail (SYSPROF_IS_DOCUMENT (self), NULL);

  return list_frames (self, SYSPROF_CAPTURE_FRAME_DBUS_MESSAGE,
                      SYSPROF_TYPE_DOCUMENT_DBUS_MESSAGE);
}

GListModel *
sysprof_document_list_jitmaps (SysprofDocument *self)
{
  g_return_val_if_fail (SYSPROF_IS_DOCUMENT (self), NULL);

  return list_frames (self, SYSPROF_CAPTURE_FRAME_JITMAP, SYSPROF_TYPE_DOCUMENT_JITMAP);
}

/* Those frames of the list that are taken. */
static GListModel *
list_marked (SysprofDocument *self, FrameNo *frames, uint32_t n, GType item_type)
{
  return sysprof_frame_model_new_take (self->store, g_renew (FrameNo, frames, MAX (n, 1)), n,
                                       item_type);
}

GListModel *
sysprof_document_list_traceables (SysprofDocument *self)
{
  const FrameTable *frames;
  FrameNo *taken;
  uint32_t n = 0;

  g_return_val_if_fail (SYSPROF_IS_DOCUMENT (self), NULL);

  frames = &self->store->frames;
  taken = g_new (FrameNo, MAX (frames->n, 1));
  for (FrameNo i = 0; i < frames->n; i++)
    if (frames->type[i] == SYSPROF_CAPTURE_FRAME_SAMPLE ||
        frames->type[i] == SYSPROF_CAPTURE_FRAME_ALLOCATION ||
        frames->type[i] == SYSPROF_CAPTURE_FRAME_TRACE)
      taken[n++] = i;
  return list_marked (self, taken, n, SYSPROF_TYPE_DOCUMENT_TRACEABLE);
}

GListModel *
sysprof_document_list_marks_by_group (SysprofDocument *self, const char *group)
{
  const Store *store;
  const FrameList *marks;
  FrameNo *taken;
  StringId id;
  uint32_t n = 0;

  g_return_val_if_fail (SYSPROF_IS_DOCUMENT (self), NULL);
  g_return_val_if_fail (group != NULL, NULL);

  store = self->store;
  marks = &store->frames_of_type[SYSPROF_CAPTURE_FRAME_MARK];
  id = sysprof_intern_lookup (&store->strings, group);
  taken = g_new (FrameNo, MAX (marks->n, 1));
  for (uint32_t i = 0; i < store->n_marks && (id != 0 || group[0] == 0); i++)
    if (store->marks[i].group == id)
      taken[n++] = marks->frame[i];
  return list_marked (self, taken, n, SYSPROF_TYPE_DOCUMENT_MARK);
}

GListModel *
sysprof_document_catalog_marks (SysprofDocument *self)
{
  g_return_val_if_fail (SYSPROF_IS_DOCUMENT (self), NULL);

  return sysprof_mark_catalogs_new (self->store);
}

static gpointer
make_counter (gpointer owner, uint32_t number)
{
  return sysprof_document_counter_new (SYSPROF_DOCUMENT (owner)->store, number);
}

GListModel *
sysprof_document_list_counters (SysprofDocument *self)
{
  g_return_val_if_fail (SYSPROF_IS_DOCUMENT (self), NULL);

  return sysprof_index_model_new (self, SYSPROF_TYPE_DOCUMENT_COUNTER, make_counter, NULL,
                                  self->store->counters.n);
}

SysprofDocumentCounter *
sysprof_document_find_counter (SysprofDocument *self, const char *category, const char *name)
{
  g_return_val_if_fail (SYSPROF_IS_DOCUMENT (self), NULL);
  g_return_val_if_fail (category != NULL && name != NULL, NULL);

  for (uint32_t i = 0; i < self->store->counters.n; i++)
    {
      const Counter *counter = &self->store->counters.row[i];

      if (g_str_equal (sysprof_store_string (self->store, counter->category), category) &&
          g_str_equal (sysprof_store_string (self->store, counter->name), name))
        return sysprof_document_counter_new (self->store, i);
    }

  return NULL;
}

static gpointer
make_file (gpointer owner, uint32_t number)
{
  return sysprof_document_file_new (SYSPROF_DOCUMENT (owner)->store, number);
}

GListModel *
sysprof_document_list_files (SysprofDocument *self)
{
  g_return_val_if_fail (SYSPROF_IS_DOCUMENT (self), NULL);

  return sysprof_index_model_new (self, SYSPROF_TYPE_DOCUMENT_FILE, make_file, NULL,
                                  self->store->files.n);
}

SysprofDocumentFile *
sysprof_document_lookup_file (SysprofDocument *self, const char *path)
{
  g_autofree char *packed = NULL;

  g_return_val_if_fail (SYSPROF_IS_DOCUMENT (self), NULL);
  g_return_val_if_fail (path != NULL, NULL);

  packed = g_strconcat (path, ".gz", NULL);
  for (uint32_t i = 0; i < self->store->files.n; i++)
    {
      const char *name = sysprof_store_string (self->store, self->store->files.row[i].name);

      if (g_str_equal (name, path) || g_str_equal (name, packed))
        return sysprof_document_file_new (self->store, i);
    }
  return NULL;
}

/* [processes.n] A frame that names each process: one that describes it, else any. GRAPH_NOWHERE where none does. */
static const FrameNo *
frames_of_processes (SysprofDocument *self)
{
  const Store *store = self->store;
  const FrameList *described = &store->frames_of_type[SYSPROF_CAPTURE_FRAME_PROCESS];
  uint32_t n_open = store->processes.n;
  FrameNo *frame_of_process = g_atomic_pointer_get (&self->frame_of_process);

  if (frame_of_process != NULL)
    return frame_of_process;

  frame_of_process = g_new (FrameNo, MAX (store->processes.n, 1));
  for (ProcessId i = 0; i < store->processes.n; i++)
    frame_of_process[i] = GRAPH_NOWHERE;

  for (uint32_t i = 0; i < described->n + store->frames.n && n_open > 1; i++)
    {
      FrameNo frame = i < described->n ? described->frame[i] : i - described->n;
      ProcessId process = sysprof_store_find_process (store, store->frames.pid[frame]);

      if (process != 0 && frame_of_process[process] == GRAPH_NOWHERE)
        {
          frame_of_process[process] = frame;
          n_open--;
        }
    }
  if (!g_atomic_pointer_compare_and_exchange (&self->frame_of_process, NULL, frame_of_process))
    g_free (frame_of_process); /* another thread was first */
  return g_atomic_pointer_get (&self->frame_of_process);
}

static gpointer
make_process (gpointer owner, uint32_t process)
{
  SysprofDocument *self = owner;

  return sysprof_document_process_new (self->store, frames_of_processes (self)[process]);
}

GListModel *
sysprof_document_list_processes (SysprofDocument *self)
{
  const FrameNo *frames;
  uint32_t *processes;
  uint32_t n = 0;

  g_return_val_if_fail (SYSPROF_IS_DOCUMENT (self), NULL);

  frames = frames_of_processes (self);
  processes = g_new (uint32_t, MAX (self->store->processes.n, 1));
  for (ProcessId i = 1; i < self->store->processes.n; i++)
    if (frames[i] != GRAPH_NOWHERE)
      processes[n++] = i;
  return sysprof_index_model_new (self, SYSPROF_TYPE_DOCUMENT_PROCESS, make_process, processes,
                                  n);
}

SysprofDocumentProcess *
sysprof_document_lookup_process (SysprofDocument *self, int pid)
{
  ProcessId process;

  g_return_val_if_fail (SYSPROF_IS_DOCUMENT (self), NULL);

  process = sysprof_store_find_process (self->store, pid);
  if (process == 0 || frames_of_processes (self)[process] == GRAPH_NOWHERE)
    return NULL;

  return make_process (self, process);
}

GListModel *
sysprof_document_list_cpu_info (SysprofDocument *self)
{
  g_return_val_if_fail (SYSPROF_IS_DOCUMENT (self), NULL);

  return sysprof_cpu_infos_read (self->store);
}
