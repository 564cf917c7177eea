// SPDX-License-Identifier: GPL-3.0-or-later

/* Reads a file of a JIT compiler in a sandboxed child: both sides of the socket. The request
 * has the file, the reply has the lines. */

#include "jit/jit.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define MOST_PERF_MAP (UINT64_C (64) << 20) /* bytes */
#define MOST_DUMP     (UINT64_C (4) << 30)  /* bytes, most of which are skipped */
#define PATIENCE      20000                 /* ms */

typedef struct
{
  uint64_t size; /* of the file: the child may not call fstat() */
  uint32_t kind;
  uint32_t padding;
} Request;

typedef struct
{
  uint32_t status;
  uint32_t n;
  uint64_t size;
} Reply;

/* --- the child --- */

static JitStatus
read_map_file (int fd, size_t size, JitLines *lines)
{
  char *bytes = malloc (size + 1);
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

static void
serve (int socket)
{
  bool goes_on = true;
  Request request;
  int envelope;

  while (goes_on &&
         sysprof_confined_child_read_request (socket, &request, sizeof request, &envelope))
    {
      int fd = envelope >= 0 ? sysprof_envelope_open (envelope) : -1;
      JitLines lines = { 0 };
      Reply reply = { 0 };

      if (envelope >= 0)
        (void) close (envelope);
      reply.status = read_file (&request, fd, &lines);
      reply.n = lines.n;
      reply.size = lines.size;
      goes_on = sysprof_write_all (socket, &reply, sizeof reply) &&
                sysprof_write_all (socket, lines.text, lines.size);
      sysprof_jit_lines_clear (&lines);
      if (fd >= 0)
        (void) close (fd);
    }
}

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
  int64_t deadline = sysprof_confined_child_deadline (PATIENCE);
  Reply reply;

  if (until < deadline)
    deadline = until;
  if (child->pid == 0 && !sysprof_confined_child_start (child, serve))
    return JIT_IO_ERROR;

  if (sysprof_confined_child_send_request (child, &request, sizeof request, envelope) &&
      sysprof_confined_child_receive (child, deadline, &reply, sizeof reply) &&
      reply.status <= JIT_IO_ERROR && reply.size <= JIT_MOST_TEXT)
    {
      size_t text_size = (size_t) reply.size;

      *lines = (JitLines){
        .text = malloc (text_size + 1), .size = text_size, .capacity = text_size, .n = reply.n
      };
      if (lines->text != NULL &&
          sysprof_confined_child_receive (child, deadline, lines->text, lines->size))
        return (JitStatus) reply.status;
      sysprof_jit_lines_clear (lines);
    }

  sysprof_confined_child_end (child);
  return JIT_IO_ERROR;
}
