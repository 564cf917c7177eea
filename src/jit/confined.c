// SPDX-License-Identifier: GPL-3.0-or-later

/* Reads a file of a JIT compiler in a sandboxed child. The request has the file, the reply has
 * the lines. */

#include "jit/jit.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define MOST_PERF_MAP (UINT64_C (64) << 20) /* bytes */
#define MOST_DUMP     (UINT64_C (4) << 30)  /* bytes, most of which are skipped */

typedef struct
{
  uint64_t size; /* of the file: the child may not call fstat() */
  uint32_t kind;
  uint32_t padding;
} Request;

/* --- the child --- */

static JitStatus
read_map_file (int fd, size_t size, JitLines *lines)
{
  char *bytes = calloc (size + 1, 1);
  size_t done = 0;
  JitStatus status;

  if (bytes == NULL)
    return JIT_NO_MEMORY;
  while (done < size)
    {
      ssize_t n = pread (fd, bytes + done, size - done, (off_t) done);

      if (n < 0 && errno == EINTR)
        continue;
      if (n <= 0)
        break; /* the file has become shorter */
      done += (size_t) n;
    }
  status = sysprof_jit_read_perf_map (bytes, done, lines);
  free (bytes);
  return status == JIT_OK && done < size ? JIT_IO_ERROR : status;
}

static JitStatus
read_file (const Request *request, int fd, JitLines *lines)
{
  bool is_dump = request->kind == JIT_DUMP;
  uint64_t most = is_dump ? MOST_DUMP : MOST_PERF_MAP;
  uint64_t size = request->size < most ? request->size : most;
  JitStatus status;

  if (fd < 0)
    return JIT_IO_ERROR;
  status = is_dump ? sysprof_jit_read_dump_file (fd, size, lines)
                   : read_map_file (fd, (size_t) size, lines);
  return size < request->size && (status == JIT_OK || status == JIT_TRUNCATED) ? JIT_TOO_LARGE
                                                                               : status;
}

static bool
handle (ChildRequest *request, ChildReply *reply)
{
  JitLines lines = { 0 };

  reply->status = read_file (request->bytes, request->fd, &lines);
  sysprof_child_reply_set (reply, 0, lines.text, lines.size);
  return true;
}

static const ChildService service = {
  .name = "JIT symbols",
  .request_size = sizeof (Request),
  .timeout_msec = 20000,
  .takes_envelopes = true,
  .last_status = JIT_IO_ERROR,
  .most = { JIT_MOST_TEXT },
  .handle = handle,
};

/* --- the parent --- */

JitStatus
sysprof_jit_read_confined (ConfinedChild *child,
                           JitFileKind kind,
                           int envelope,
                           uint64_t size,
                           int64_t until,
                           JitLines *lines)
{
  const Request request = { .size = size, .kind = (uint32_t) kind };
  ChildReply reply;
  JitStatus status = JIT_IO_ERROR;

  if (sysprof_child_call (
          child, &service,
          &(ChildRequest){ .bytes = &request, .fd = envelope, .deadline_msec = until }, &reply))
    {
      status = (JitStatus) reply.status;
      *lines = (JitLines){ .text = sysprof_child_reply_take (&reply, 0),
                           .size = reply.part[0].size,
                           .capacity = reply.part[0].size };
    }
  sysprof_child_reply_clear (&reply);
  return status;
}
