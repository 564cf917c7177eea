// SPDX-License-Identifier: GPL-3.0-or-later

/* Keeps the last seconds of a running recording as a capture. See live.h. */

#include "live/live.h"

#include "capture/capture.h"
#include "util/util.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCK_SIZE ((size_t) 1 << 20) /* bytes read at once; more than the largest frame */
/* ns between two checks whether a forked task is a process */
#define LOOK_INTERVAL (30 * G_GINT64_CONSTANT (1000000000))
#define CHUNK_SIZE    ((size_t) 16100) /* size of one piece of an embedded file */

/* State of one process. The entry of pid -1 holds state without a process. */
typedef struct
{
  GByteArray *frames; /* state frames, in the order of arrival */
  int32_t parent; /* process whose mappings it uses until it executes a program; 0 = its own */
  int64_t began_at; /* ns: time of the last fork or exec */
  int64_t
      gone_at; /* ns: time of the last exit. CPUs may report events of a process in any order */
  int64_t looked_at; /* ns: next check whether it is a process */
} Process;

/* Events that were read at once. */
typedef struct
{
  GByteArray *frames;
  int64_t begin; /* ns, of the oldest */
  int64_t end;   /* ns, of the newest */
} Batch;

struct LiveWindow
{
  int64_t length;
  LiveIsProcessFunc is_process;
  int64_t offset;        /* offset of the next read */
  uint8_t *block;        /* [BLOCK_SIZE] */
  GHashTable *processes; /* pid → Process */
  GQueue batches;        /* of Batch, oldest first */
};

static void
free_process (gpointer data)
{
  Process *self = data;

  g_byte_array_unref (self->frames);
  g_free (self);
}

static void
free_batch (gpointer data)
{
  Batch *self = data;

  g_byte_array_unref (self->frames);
  g_free (self);
}

bool
sysprof_live_is_process (int32_t pid)
{
  g_autofree char *path = g_strdup_printf ("/proc/%d/status", pid);
  g_autofree char *text = NULL;
  const char *leader;

  if (!g_file_get_contents (path, &text, NULL, NULL))
    return false;
  leader = strstr (text, "\nTgid:");
  return leader != NULL && atoi (leader + strlen ("\nTgid:")) == pid;
}

LiveWindow *
sysprof_live_window_new (int64_t length, LiveIsProcessFunc is_process)
{
  LiveWindow *self = g_new0 (LiveWindow, 1);

  self->length = length;
  self->is_process = is_process;
  self->offset = sizeof (SysprofCaptureFileHeader);
  self->block = g_malloc (BLOCK_SIZE);
  self->processes = g_hash_table_new_full (NULL, NULL, NULL, free_process);
  g_queue_init (&self->batches);
  return self;
}

void
sysprof_live_window_free (LiveWindow *self)
{
  g_queue_clear_full (&self->batches, free_batch);
  g_hash_table_unref (self->processes);
  g_free (self->block);
  g_free (self);
}

int64_t
sysprof_live_window_get_offset (const LiveWindow *self)
{
  return self->offset;
}

int64_t
sysprof_live_window_get_span (const LiveWindow *self)
{
  const Batch *oldest = self->batches.head != NULL ? self->batches.head->data : NULL;
  const Batch *youngest = self->batches.tail != NULL ? self->batches.tail->data : NULL;

  return oldest != NULL ? youngest->end - oldest->begin : 0;
}

/* --- reading --- */

static Process *
find_process (LiveWindow *self, int32_t pid)
{
  Process *process = g_hash_table_lookup (self->processes, GINT_TO_POINTER (pid));

  if (process == NULL)
    {
      process = g_new0 (Process, 1);
      process->frames = g_byte_array_new ();
      g_hash_table_insert (self->processes, GINT_TO_POINTER (pid), process);
    }
  return process;
}

/* Embedded files with the mounts of a process have no pid. Their names contain it. */
static int32_t
owner_of_file (const SysprofCaptureFileChunk *chunk)
{
  int pid;

  return sscanf (chunk->path, "/proc/%d/", &pid) == 1 ? pid : chunk->frame.pid;
}

static void
keep_state (LiveWindow *self, const SysprofCaptureFrame *frame)
{
  int32_t pid = frame->pid;
  Process *process;

  if (frame->type == SYSPROF_CAPTURE_FRAME_FORK)
    pid = ((const SysprofCaptureFork *) frame)->child_pid;
  else if (frame->type == SYSPROF_CAPTURE_FRAME_FILE_CHUNK)
    pid = owner_of_file ((const SysprofCaptureFileChunk *) frame);
  process = find_process (self, pid);
  g_byte_array_append (process->frames, (const guint8 *) frame, frame->len);

  switch (frame->type)
    {
    case SYSPROF_CAPTURE_FRAME_FORK:
      process->parent = frame->pid;
      process->began_at = MAX (process->began_at, frame->time);
      break;
    case SYSPROF_CAPTURE_FRAME_PROCESS:
      process->began_at = MAX (process->began_at, frame->time);
      break;
    case SYSPROF_CAPTURE_FRAME_EXIT:
      process->gone_at = MAX (process->gone_at, frame->time);
      break;
    default:
      break;
    }
}

static void
keep_event (Batch *batch, const SysprofCaptureFrame *frame)
{
  if (batch->frames->len == 0 || frame->time < batch->begin)
    batch->begin = frame->time;
  if (batch->frames->len == 0 || frame->time > batch->end)
    batch->end = frame->time;
  g_byte_array_append (batch->frames, (const guint8 *) frame, frame->len);
}

static void
keep_frame (LiveWindow *self, Batch *batch, const SysprofCaptureFrame *frame)
{
  /* Skips the pieces of symbol tables, which are written for each sample and are useful only
   * at the end. */
  if (frame->type == SYSPROF_CAPTURE_FRAME_FILE_CHUNK &&
      g_str_equal (((const SysprofCaptureFileChunk *) frame)->path, CAPTURE_PERIODS_FILE))
    return;
  if (sysprof_capture_frame_type_is_state (frame->type))
    keep_state (self, frame);
  else
    keep_event (batch, frame);
}

/* Reads complete frames. The bytes after them are still being written. */
static size_t
keep_block (LiveWindow *self, Batch *batch, size_t size)
{
  size_t at = 0;
  size_t length;

  while (size - at >= sizeof (SysprofCaptureFrame) &&
         (length = sysprof_capture_frame_length (self->block + at, size - at, false)) > 0 &&
         length <= size - at)
    {
      keep_frame (self, batch, (const SysprofCaptureFrame *) (const void *) (self->block + at));
      at += length;
    }
  return at;
}

bool
sysprof_live_window_read (LiveWindow *self, int fd, GError **error)
{
  Batch *batch = g_new0 (Batch, 1);
  ssize_t size = 0;
  size_t used = 0;

  batch->frames = g_byte_array_new ();
  for (;;)
    {
      size = pread (fd, self->block, BLOCK_SIZE, self->offset);
      used = size > 0 ? keep_block (self, batch, (size_t) size) : 0;
      if (used == 0)
        break;
      self->offset += (int64_t) used;
    }

  if (batch->frames->len > 0)
    g_queue_push_tail (&self->batches, batch);
  else
    free_batch (batch);
  if (size < 0)
    sysprof_set_error_errno (error, "Cannot read the recording back");
  return size >= 0;
}

/* --- removing old state --- */

/* A process keeps the mappings that it shared with a process that has ended. */
static void
inherit (Process *process, int32_t pid, const Process *parent)
{
  GByteArray *frames = g_byte_array_new ();
  size_t length;

  for (size_t at = 0; at < parent->frames->len; at += length)
    {
      const SysprofCaptureFrame *frame = (const void *) (parent->frames->data + at);

      length = frame->len;
      if (frame->type != SYSPROF_CAPTURE_FRAME_MAP)
        continue;
      g_byte_array_append (frames, (const guint8 *) frame, (guint) length);
      ((SysprofCaptureFrame *) (void *) (frames->data + frames->len - length))->pid = pid;
    }
  g_byte_array_append (frames, process->frames->data, process->frames->len);
  g_byte_array_unref (process->frames);
  process->frames = frames;
  process->parent = parent->parent;
}

/* Threads are reported like processes, but their ends are not. They have no mappings of
 * their own. */
static bool
is_only_forked (const Process *process)
{
  return process->frames->len == sizeof (SysprofCaptureFork) && process->parent != 0;
}

static void
forget_process (LiveWindow *self, int32_t pid, const Process *process)
{
  GHashTableIter iter;
  gpointer key, value;

  g_hash_table_iter_init (&iter, self->processes);
  while (g_hash_table_iter_next (&iter, &key, &value))
    {
      Process *child = value;

      if (child->parent != pid || child == process)
        continue;
      if (self->is_process (GPOINTER_TO_INT (key)))
        inherit (child, GPOINTER_TO_INT (key), process);
      else if (is_only_forked (child))
        g_hash_table_iter_remove (&iter);
      else
        child->parent = 0;
    }
  g_hash_table_remove (self->processes, GINT_TO_POINTER (pid));
}

static bool
is_over (LiveWindow *self, int32_t pid, Process *process, int64_t begin, int64_t now)
{
  if (process->gone_at > process->began_at)
    return process->gone_at < begin;
  if (!is_only_forked (process) || process->began_at >= begin ||
      now - process->looked_at < LOOK_INTERVAL)
    return false;
  process->looked_at = now;
  return !self->is_process (pid);
}

static void
forget_before (LiveWindow *self, int64_t begin, int64_t now)
{
  g_autoptr (GArray) over = g_array_new (FALSE, FALSE, sizeof (int32_t));
  GHashTableIter iter;
  gpointer key, value;
  Batch *batch;

  while ((batch = g_queue_peek_head (&self->batches)) != NULL && batch->end < begin)
    free_batch (g_queue_pop_head (&self->batches));

  g_hash_table_iter_init (&iter, self->processes);
  while (g_hash_table_iter_next (&iter, &key, &value))
    {
      int32_t pid = GPOINTER_TO_INT (key);

      if (is_over (self, pid, value, begin, now))
        g_array_append_val (over, pid);
    }
  for (guint i = 0; i < over->len; i++)
    {
      int32_t pid = g_array_index (over, int32_t, i);
      const Process *process = g_hash_table_lookup (self->processes, GINT_TO_POINTER (pid));

      if (process != NULL) /* otherwise stored with its parent */
        forget_process (self, pid, process);
    }
}

/* --- the window as a capture --- */

static bool
add_frames (SysprofCaptureWriter *writer, const GByteArray *frames)
{
  size_t length;

  for (size_t at = 0; at < frames->len; at += length)
    {
      void *room;

      length = ((const SysprofCaptureFrame *) (const void *) (frames->data + at))->len;
      room = sysprof_capture_writer_reserve (writer, length);
      if (room == NULL)
        return false;
      memcpy (room, frames->data + at, length);
      sysprof_capture_writer_commit (writer, length);
    }
  return true;
}

static bool
add_file (SysprofCaptureWriter *writer, int64_t time, const char *name, GBytes *bytes)
{
  size_t left = 0;
  const uint8_t *at = bytes != NULL ? g_bytes_get_data (bytes, &left) : NULL;
  size_t size;

  for (; left > 0; at += size, left -= size)
    {
      size = MIN (left, CHUNK_SIZE);
      if (!sysprof_capture_writer_add_file (writer, time, -1, -1, name, size == left, at, size))
        return false;
    }
  return true;
}

static bool
add_kept (LiveWindow *self, SysprofCaptureWriter *writer)
{
  GHashTableIter iter;
  gpointer value;

  g_hash_table_iter_init (&iter, self->processes);
  while (g_hash_table_iter_next (&iter, NULL, &value))
    if (!add_frames (writer, ((Process *) value)->frames))
      return false;
  for (GList *link = self->batches.head; link != NULL; link = link->next)
    if (!add_frames (writer, ((Batch *) link->data)->frames))
      return false;
  return true;
}

int
sysprof_live_window_make_capture (LiveWindow *self,
                                  int64_t now,
                                  GBytes *symbols,
                                  GBytes *unnamed,
                                  GError **error)
{
  autofd fd = sysprof_temporary_file_open_unnamed ();
  int writers_fd = fd >= 0 ? fcntl (fd, F_DUPFD_CLOEXEC, 3) : -1;
  /* takes the descriptor, also on failure */
  SysprofCaptureWriter *writer =
      writers_fd >= 0 ? sysprof_capture_writer_new_from_fd (writers_fd, 0) : NULL;
  const Batch *oldest;
  int64_t begin = now - self->length;
  bool is_whole;

  forget_before (self, begin, now);
  oldest = g_queue_peek_head (&self->batches);
  if (oldest != NULL)
    begin = MAX (begin, oldest->begin);

  is_whole = writer != NULL && add_kept (self, writer) &&
             add_file (writer, begin, "__symbols__", symbols) &&
             add_file (writer, begin, "__unnamed__", unnamed) &&
             sysprof_capture_writer_set_time_range (writer, begin, now) &&
             sysprof_capture_writer_flush (writer);
  if (!is_whole)
    sysprof_set_error_errno (error, "Cannot make a temporary file for the live view");
  if (writer != NULL)
    sysprof_capture_writer_unref (writer);
  return is_whole ? sysprof_steal_fd (&fd) : -1;
}
