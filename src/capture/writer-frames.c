// SPDX-License-Identifier: BSD-2-Clause

/* One short function per frame type. Each reserves room in the buffer, fills it and commits. */

#include "capture/writer.h"

#include <errno.h>
#include <stddef.h>
#include <unistd.h>

#define CALLBACK_ADDRESSES_MAX 64
#define COPIED_ADDRESSES_MAX   4095
#define DBUS_MESSAGE_MAX       (65536 - sizeof (SysprofCaptureDBusMessage) - 16)
#define OVERLAY_PATH_MAX       32767
#define FILE_CHUNK_USUAL_MAX \
  (SYSPROF_CAPTURE_FRAME_USUAL_MAX - sizeof (SysprofCaptureFileChunk))

void
sysprof_capture_put_text (uint8_t *field, size_t field_size, const char *text)
{
  if (text != NULL)
    memcpy (field, text, strnlen (text, field_size - 1));
}

static void
set_header (uint8_t *frame, SysprofCaptureFrameType type, int64_t time, int cpu, int32_t pid)
{
  SysprofCaptureFrame header = {
    .cpu = (int16_t) cpu,
    .pid = pid,
    .time = time,
    .type = (uint8_t) type,
  };

  memcpy (frame, &header, sizeof header);
}

uint8_t *
sysprof_capture_writer_begin_frame (SysprofCaptureWriter *self,
                                    SysprofCaptureFrameType type,
                                    int64_t time,
                                    int cpu,
                                    int32_t pid,
                                    size_t fixed,
                                    size_t len)
{
  uint8_t *frame = sysprof_capture_writer_reserve (self, len);

  if (frame != NULL)
    {
      memset (frame, 0, fixed);
      set_header (frame, type, time, cpu, pid);
    }

  return frame;
}

/* A frame that ends in a text. */
static uint8_t *
begin_text_frame (SysprofCaptureWriter *self,
                  SysprofCaptureFrameType type,
                  int64_t time,
                  int cpu,
                  int32_t pid,
                  size_t fixed,
                  const char *text,
                  size_t *len)
{
  size_t text_size = text != NULL ? strlen (text) + 1 : 1;
  uint8_t *frame;

  *len = fixed + text_size;
  frame = sysprof_capture_writer_begin_frame (self, type, time, cpu, pid, fixed, *len);
  if (frame != NULL)
    memcpy (frame + fixed, text != NULL ? text : "", text_size);

  return frame;
}

bool
sysprof_capture_writer_add_timestamp (SysprofCaptureWriter *self,
                                      int64_t time,
                                      int cpu,
                                      int32_t pid)
{
  const size_t len = sizeof (SysprofCaptureTimestamp);

  if (sysprof_capture_writer_begin_frame (self, SYSPROF_CAPTURE_FRAME_TIMESTAMP, time, cpu, pid,
                                          len, len) == NULL)
    return false;
  sysprof_capture_writer_commit (self, len);

  return true;
}

bool
sysprof_capture_writer_add_exit (SysprofCaptureWriter *self, int64_t time, int cpu, int32_t pid)
{
  const size_t len = sizeof (SysprofCaptureExit);

  if (sysprof_capture_writer_begin_frame (self, SYSPROF_CAPTURE_FRAME_EXIT, time, cpu, pid, len,
                                          len) == NULL)
    return false;
  sysprof_capture_writer_commit (self, len);

  return true;
}

bool
sysprof_capture_writer_add_fork (SysprofCaptureWriter *self,
                                 int64_t time,
                                 int cpu,
                                 int32_t pid,
                                 int32_t child_pid)
{
  const size_t len = sizeof (SysprofCaptureFork);
  SysprofCaptureFork *fork;

  fork = (SysprofCaptureFork *) sysprof_capture_writer_begin_frame (
      self, SYSPROF_CAPTURE_FRAME_FORK, time, cpu, pid, len, len);
  if (fork == NULL)
    return false;
  fork->child_pid = child_pid;
  sysprof_capture_writer_commit (self, len);

  return true;
}

bool
sysprof_capture_writer_add_process (SysprofCaptureWriter *self,
                                    int64_t time,
                                    int cpu,
                                    int32_t pid,
                                    const char *cmdline)
{
  size_t len;

  if (begin_text_frame (self, SYSPROF_CAPTURE_FRAME_PROCESS, time, cpu, pid,
                        sizeof (SysprofCaptureProcess), cmdline, &len) == NULL)
    return false;
  sysprof_capture_writer_commit (self, len);

  return true;
}

bool
sysprof_capture_writer_add_map (SysprofCaptureWriter *self,
                                int64_t time,
                                int cpu,
                                int32_t pid,
                                uint64_t start,
                                uint64_t end,
                                uint64_t offset,
                                uint64_t inode,
                                const char *filename)
{
  return sysprof_capture_writer_add_map_with_build_id (self, time, cpu, pid, start, end, offset,
                                                       inode, filename, NULL);
}

bool
sysprof_capture_writer_add_map_with_build_id (SysprofCaptureWriter *self,
                                              int64_t time,
                                              int cpu,
                                              int32_t pid,
                                              uint64_t start,
                                              uint64_t end,
                                              uint64_t offset,
                                              uint64_t inode,
                                              const char *filename,
                                              const char *build_id)
{
  size_t path_size = filename != NULL ? strlen (filename) + 1 : 1;
  size_t id_size = build_id != NULL && *build_id != '\0' ? strlen (build_id) + 1 : 0;
  size_t len = sizeof (SysprofCaptureMap) + path_size + (id_size != 0 ? 1 + id_size : 0);
  SysprofCaptureMap *map;

  map = (SysprofCaptureMap *) sysprof_capture_writer_begin_frame (
      self, SYSPROF_CAPTURE_FRAME_MAP, time, cpu, pid, sizeof *map, len);
  if (map == NULL)
    return false;
  map->start = start;
  map->end = end;
  map->offset = offset;
  map->inode = inode;
  memcpy (map->filename, filename != NULL ? filename : "", path_size);
  if (id_size != 0)
    {
      map->filename[path_size] = '@';
      memcpy (map->filename + path_size + 1, build_id, id_size);
    }
  sysprof_capture_writer_commit (self, len);

  return true;
}

bool
sysprof_capture_writer_add_mark (SysprofCaptureWriter *self,
                                 int64_t time,
                                 int cpu,
                                 int32_t pid,
                                 uint64_t duration,
                                 const char *group,
                                 const char *name,
                                 const char *message)
{
  SysprofCaptureMark *mark;
  size_t len;

  mark = (SysprofCaptureMark *) begin_text_frame (self, SYSPROF_CAPTURE_FRAME_MARK, time, cpu,
                                                  pid, sizeof *mark, message, &len);
  if (mark == NULL)
    return false;
  mark->duration = (int64_t) duration;
  sysprof_capture_put_text ((uint8_t *) mark->group, sizeof mark->group, group);
  sysprof_capture_put_text ((uint8_t *) mark->name, sizeof mark->name, name);
  sysprof_capture_writer_commit (self, len);

  return true;
}

bool
sysprof_capture_writer_add_metadata (SysprofCaptureWriter *self,
                                     int64_t time,
                                     int cpu,
                                     int32_t pid,
                                     const char *id,
                                     const char *metadata,
                                     ssize_t metadata_len)
{
  SysprofCaptureMetadata *frame;
  size_t text_len;
  size_t len;

  if (metadata == NULL)
    text_len = 0;
  else if (metadata_len < 0)
    text_len = strlen (metadata);
  else
    text_len = (size_t) metadata_len;
  if (text_len > SYSPROF_CAPTURE_FRAME_MAX)
    {
      errno = EMSGSIZE;
      return false;
    }

  len = sizeof *frame + text_len + 1;
  frame = (SysprofCaptureMetadata *) sysprof_capture_writer_begin_frame (
      self, SYSPROF_CAPTURE_FRAME_METADATA, time, cpu, pid, sizeof *frame, len);
  if (frame == NULL)
    return false;
  sysprof_capture_put_text ((uint8_t *) frame->id, sizeof frame->id, id);
  if (text_len != 0)
    memcpy (frame->metadata, metadata, text_len);
  frame->metadata[text_len] = '\0';
  sysprof_capture_writer_commit (self, len);

  return true;
}

bool
sysprof_capture_writer_add_log (SysprofCaptureWriter *self,
                                int64_t time,
                                int cpu,
                                int32_t pid,
                                int severity,
                                const char *domain,
                                const char *message)
{
  SysprofCaptureLog *log;
  size_t len;

  log = (SysprofCaptureLog *) begin_text_frame (self, SYSPROF_CAPTURE_FRAME_LOG, time, cpu, pid,
                                                sizeof *log, message, &len);
  if (log == NULL)
    return false;
  log->severity = (uint16_t) severity;
  sysprof_capture_put_text ((uint8_t *) log->domain, sizeof log->domain, domain);
  sysprof_capture_writer_commit (self, len);

  return true;
}

bool
sysprof_capture_writer_add_sample (SysprofCaptureWriter *self,
                                   int64_t time,
                                   int cpu,
                                   int32_t pid,
                                   int32_t tid,
                                   const SysprofCaptureAddress *addrs,
                                   unsigned int n_addrs)
{
  size_t len = sizeof (SysprofCaptureSample) + (size_t) n_addrs * sizeof *addrs;
  SysprofCaptureSample *sample;

  sample = (SysprofCaptureSample *) sysprof_capture_writer_begin_frame (
      self, SYSPROF_CAPTURE_FRAME_SAMPLE, time, cpu, pid, sizeof *sample, len);
  if (sample == NULL)
    return false;
  sample->n_addrs = (uint16_t) n_addrs;
  sample->tid = tid;
  if (n_addrs != 0)
    memcpy (sample->addrs, addrs, (size_t) n_addrs * sizeof *addrs);
  sysprof_capture_writer_commit (self, len);

  return true;
}

bool
sysprof_capture_writer_add_trace (SysprofCaptureWriter *self,
                                  int64_t time,
                                  int cpu,
                                  int32_t pid,
                                  int32_t tid,
                                  const SysprofCaptureAddress *addrs,
                                  unsigned int n_addrs,
                                  bool entering)
{
  size_t len = sizeof (SysprofCaptureTrace) + (size_t) n_addrs * sizeof *addrs;
  SysprofCaptureTrace *trace;

  trace = (SysprofCaptureTrace *) sysprof_capture_writer_begin_frame (
      self, SYSPROF_CAPTURE_FRAME_TRACE, time, cpu, pid, sizeof *trace, len);
  if (trace == NULL)
    return false;
  trace->n_addrs = (uint16_t) n_addrs;
  trace->entering = entering;
  trace->tid = tid;
  if (n_addrs != 0)
    memcpy (trace->addrs, addrs, (size_t) n_addrs * sizeof *addrs);
  sysprof_capture_writer_commit (self, len);

  return true;
}

static void
finish_allocation (SysprofCaptureWriter *self,
                   uint8_t *frame,
                   int32_t tid,
                   SysprofCaptureAddress alloc_addr,
                   int64_t alloc_size,
                   unsigned int n_addrs)
{
  SysprofCaptureAllocation *allocation = (SysprofCaptureAllocation *) frame;

  allocation->alloc_addr = alloc_addr;
  allocation->alloc_size = alloc_size;
  allocation->tid = tid;
  allocation->n_addrs = (uint16_t) n_addrs;
  sysprof_capture_writer_commit (self, sizeof *allocation +
                                           (size_t) n_addrs * sizeof (SysprofCaptureAddress));
}

bool
sysprof_capture_writer_add_allocation (SysprofCaptureWriter *self,
                                       int64_t time,
                                       int cpu,
                                       int32_t pid,
                                       int32_t tid,
                                       SysprofCaptureAddress alloc_addr,
                                       int64_t alloc_size,
                                       SysprofBacktraceFunc backtrace_func,
                                       void *backtrace_data)
{
  const size_t fixed = sizeof (SysprofCaptureAllocation);
  uint8_t *frame;
  int n_addrs = 0;

  frame = sysprof_capture_writer_reserve (self, fixed + CALLBACK_ADDRESSES_MAX *
                                                            sizeof (SysprofCaptureAddress));
  if (frame == NULL)
    return false;

  /* Unwinders are known to write a little before the array as well: the head of the frame comes
   * after. */
  if (backtrace_func != NULL)
    n_addrs = backtrace_func ((SysprofCaptureAddress *) (void *) (frame + fixed),
                              CALLBACK_ADDRESSES_MAX, backtrace_data);
  if (n_addrs < 0)
    n_addrs = 0;
  if (n_addrs > CALLBACK_ADDRESSES_MAX)
    n_addrs = CALLBACK_ADDRESSES_MAX;

  memset (frame, 0, fixed);
  set_header (frame, SYSPROF_CAPTURE_FRAME_ALLOCATION, time, cpu, pid);
  finish_allocation (self, frame, tid, alloc_addr, alloc_size, (unsigned int) n_addrs);

  return true;
}

bool
sysprof_capture_writer_add_allocation_copy (SysprofCaptureWriter *self,
                                            int64_t time,
                                            int cpu,
                                            int32_t pid,
                                            int32_t tid,
                                            SysprofCaptureAddress alloc_addr,
                                            int64_t alloc_size,
                                            const SysprofCaptureAddress *addrs,
                                            unsigned int n_addrs)
{
  const size_t fixed = sizeof (SysprofCaptureAllocation);
  size_t addrs_size;
  uint8_t *frame;

  if (n_addrs > COPIED_ADDRESSES_MAX)
    n_addrs = COPIED_ADDRESSES_MAX;
  addrs_size = (size_t) n_addrs * sizeof *addrs;
  frame = sysprof_capture_writer_begin_frame (self, SYSPROF_CAPTURE_FRAME_ALLOCATION, time, cpu,
                                              pid, fixed, fixed + addrs_size);
  if (frame == NULL)
    return false;
  if (n_addrs != 0)
    memcpy (frame + fixed, addrs, addrs_size);
  finish_allocation (self, frame, tid, alloc_addr, alloc_size, n_addrs);

  return true;
}

bool
sysprof_capture_writer_add_overlay (SysprofCaptureWriter *self,
                                    int64_t time,
                                    int cpu,
                                    int32_t pid,
                                    uint32_t layer,
                                    const char *src,
                                    const char *dst)
{
  size_t src_len = src != NULL ? strlen (src) : 0;
  size_t dst_len = dst != NULL ? strlen (dst) : 0;
  size_t len = sizeof (SysprofCaptureOverlay) + src_len + 1 + dst_len + 1;
  SysprofCaptureOverlay *overlay;

  if (src_len > OVERLAY_PATH_MAX || dst_len > OVERLAY_PATH_MAX)
    {
      errno = EMSGSIZE;
      return false;
    }

  overlay = (SysprofCaptureOverlay *) sysprof_capture_writer_begin_frame (
      self, SYSPROF_CAPTURE_FRAME_OVERLAY, time, cpu, pid, len, len);
  if (overlay == NULL)
    return false;
  overlay->layer = (uint8_t) layer;
  overlay->src_len = (uint16_t) src_len;
  overlay->dst_len = (uint16_t) dst_len;
  sysprof_capture_put_text ((uint8_t *) overlay->data, src_len + 1, src);
  sysprof_capture_put_text ((uint8_t *) overlay->data + src_len + 1, dst_len + 1, dst);
  sysprof_capture_writer_commit (self, len);

  return true;
}

bool
sysprof_capture_writer_add_dbus_message (SysprofCaptureWriter *self,
                                         int64_t time,
                                         int cpu,
                                         int32_t pid,
                                         uint16_t bus_type,
                                         uint16_t flags,
                                         const uint8_t *message_data,
                                         size_t message_len)
{
  SysprofCaptureDBusMessage *message;
  size_t len;

  if (message_len > DBUS_MESSAGE_MAX)
    {
      flags |= SYSPROF_CAPTURE_DBUS_FLAGS_MESSAGE_TOO_LARGE;
      message_len = 0;
    }

  len = sizeof *message + message_len;
  message = (SysprofCaptureDBusMessage *) sysprof_capture_writer_begin_frame (
      self, SYSPROF_CAPTURE_FRAME_DBUS_MESSAGE, time, cpu, pid, sizeof *message, len);
  if (message == NULL)
    return false;
  message->bus_type = bus_type & 3U;
  message->flags = flags & 0x3fffU;
  message->message_len = (uint16_t) message_len;
  if (message_len != 0)
    memcpy (message->message, message_data, message_len);
  sysprof_capture_writer_commit (self, len);

  return true;
}

bool
sysprof_capture_writer_add_file (SysprofCaptureWriter *self,
                                 int64_t time,
                                 int cpu,
                                 int32_t pid,
                                 const char *path,
                                 bool is_last,
                                 const uint8_t *data,
                                 size_t data_len)
{
  SysprofCaptureFileChunk *chunk;
  size_t len;

  if (data_len > SYSPROF_CAPTURE_FRAME_MAX - sizeof *chunk)
    {
      errno = EMSGSIZE;
      return false;
    }

  len = sizeof *chunk + data_len;
  chunk = (SysprofCaptureFileChunk *) sysprof_capture_writer_begin_frame (
      self, SYSPROF_CAPTURE_FRAME_FILE_CHUNK, time, cpu, pid, sizeof *chunk, len);
  if (chunk == NULL)
    return false;
  chunk->is_last = is_last;
  chunk->len = (uint16_t) data_len;
  sysprof_capture_put_text ((uint8_t *) chunk->path, sizeof chunk->path, path);
  if (data_len != 0)
    memcpy (chunk->data, data, data_len);
  sysprof_capture_writer_commit (self, len);

  return true;
}

/* Fills `data` as far as the file goes, so that chunks are full whatever a pipe gives at a
 * time. */
static bool
read_chunk (int fd, uint8_t *data, size_t size, size_t *n_read)
{
  *n_read = 0;
  while (*n_read < size)
    {
      ssize_t n = read (fd, data + *n_read, size - *n_read);

      if (n == 0)
        return true;
      if (n > 0)
        *n_read += (size_t) n;
      else if (errno != EINTR)
        return false;
    }

  return true;
}

bool
sysprof_capture_writer_add_file_fd (SysprofCaptureWriter *self,
                                    int64_t time,
                                    int cpu,
                                    int32_t pid,
                                    const char *path,
                                    int fd)
{
  uint8_t data[FILE_CHUNK_USUAL_MAX];
  size_t n_read;

  do
    {
      if (!read_chunk (fd, data, sizeof data, &n_read))
        return false;
      if (n_read != 0 &&
          !sysprof_capture_writer_add_file (self, time, cpu, pid, path, false, data, n_read))
        return false;
    }
  while (n_read == sizeof data);

  /* An empty chunk says that the file is whole. */
  return sysprof_capture_writer_add_file (self, time, cpu, pid, path, true, NULL, 0);
}
