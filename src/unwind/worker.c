// SPDX-License-Identifier: GPL-3.0-or-later

/* The child that builds tables, and its protocol:
 *
 *   debug file:  one byte with an envelope that contains the debug file of the next file; no
 *                reply
 *   file:        one byte with an envelope that contains the file
 *   reply:       Reply, followed by the bytes of the table */

#include "unwind/unwind.h"

#include "util/util.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The time limit for one table, in ms: about fifty times as long as it takes on an idle
 * machine. */
#define PATIENCE        2000
#define PATIENCE_PER_MB 20
#define MOST_PATIENCE   20000
#define MB              (1 << 20)
#define MOST_BYTES      (UINT64_C (256) << 20) /* of a table: all slabs */

enum
{
  REQUEST_FILE = 1,
  REQUEST_DEBUG_FILE = 2,
};

typedef struct
{
  uint32_t status; /* ElfStatus */
  uint32_t padding;
  uint64_t size; /* of the table */
} Reply;

static bool
is_of_same_build (ElfImage *image, ElfImage *other)
{
  uint8_t build_id[2][ELF_MAX_BUILD_ID];
  size_t size[2];

  return sysprof_elf_image_build_id (image, build_id[0], &size[0]) == ELF_OK &&
         sysprof_elf_image_build_id (other, build_id[1], &size[1]) == ELF_OK &&
         size[0] == size[1] && memcmp (build_id[0], build_id[1], size[0]) == 0;
}

/* `debug_fd` may be -1. A debug file of another build is ignored. */
static ElfStatus
build (int fd, int debug_fd, UnwindTable *table)
{
  ElfImage *image, *debug_image = NULL;
  ElfStatus status = sysprof_elf_image_open (fd, &image);

  if (status != ELF_OK)
    return status;

  if (debug_fd >= 0 && sysprof_elf_image_open (debug_fd, &debug_image) == ELF_OK &&
      !is_of_same_build (image, debug_image))
    {
      sysprof_elf_image_free (debug_image);
      debug_image = NULL;
    }
  status = sysprof_unwind_table_build (image, debug_image, table);
  sysprof_elf_image_free (debug_image);
  sysprof_elf_image_free (image);
  return status;
}

static void
serve (int socket)
{
  uint8_t request;
  int envelope, debug_fd = -1;

  while (sysprof_confined_child_read_request (socket, &request, sizeof request, &envelope))
    {
      int fd = sysprof_envelope_open (envelope);
      UnwindTable table = { 0 };
      Reply reply = { 0 };
      bool is_sent;

      (void) close (envelope);
      if (request == REQUEST_DEBUG_FILE)
        {
          debug_fd = fd;
          continue;
        }
      reply.status = build (fd, debug_fd, &table);
      reply.size = table.size;
      is_sent = sysprof_write_all (socket, &reply, sizeof reply) &&
                sysprof_write_all (socket, table.bytes, table.size);
      sysprof_unwind_table_clear (&table);
      /* After the answer, because close() may block if the file system does not answer. */
      if (fd >= 0)
        (void) close (fd);
      if (debug_fd >= 0)
        (void) close (debug_fd);
      debug_fd = -1;
      if (!is_sent)
        return;
    }
}

/* --- the parent --- */

static bool
receive_table (const ConfinedChild *child,
               int64_t deadline,
               const Reply *reply,
               UnwindTable *table)
{
  uint8_t *bytes = malloc (reply->size);

  if (bytes == NULL || !sysprof_confined_child_receive (child, deadline, bytes, reply->size))
    {
      free (bytes);
      return false;
    }
  return sysprof_unwind_table_adopt (table, bytes, reply->size);
}

bool
sysprof_unwind_worker_start (UnwindWorker *self)
{
  self->child.is_urgent = true; /* stacks are truncated until their file has a table */
  self->child.has_stop_fd = self->has_stop_fd;
  self->child.stop_fd = self->stop_fd;
  return self->child.pid != 0 || sysprof_confined_child_start (&self->child, serve);
}

/* A file that has taken control of the child can falsify the tables of all later files. So a
 * child reads files of one owner only, who could modify those files anyway; and files of root,
 * which are trusted. */
static void
keep_apart (UnwindWorker *self, uid_t owner)
{
  if (self->has_foreign && self->foreign_owner != owner)
    sysprof_unwind_worker_clear (self);
  if (owner != 0)
    {
      self->has_foreign = true;
      self->foreign_owner = owner;
    }
}

/* Holes take no time to read. */
int64_t
sysprof_unwind_worker_patience (const struct stat *info)
{
  int64_t stored = (int64_t) info->st_blocks * 512;
  int64_t size = info->st_size < stored ? info->st_size : stored;
  int64_t patience = PATIENCE + size / MB * PATIENCE_PER_MB;

  return patience < MOST_PATIENCE ? patience : MOST_PATIENCE;
}

ElfStatus
sysprof_unwind_worker_build (UnwindWorker *self,
                             int envelope,
                             int debug_envelope,
                             const struct stat *info,
                             UnwindTable *table)
{
  const uint8_t file = REQUEST_FILE, debug_file = REQUEST_DEBUG_FILE;
  int64_t deadline;
  Reply reply;

  /* The child has died while it was idle, for lack of memory perhaps: this file is not the
   * cause. */
  if (!sysprof_confined_child_is_waiting (&self->child))
    sysprof_unwind_worker_clear (self);
  keep_apart (self, info->st_uid);
  deadline = sysprof_confined_child_deadline (sysprof_unwind_worker_patience (info));
  if (!sysprof_unwind_worker_start (self))
    return ELF_IO_ERROR;

  if ((debug_envelope >= 0 &&
       !sysprof_confined_child_send_request (&self->child, &debug_file, sizeof debug_file,
                                             debug_envelope)) ||
      !sysprof_confined_child_send_request (&self->child, &file, sizeof file, envelope) ||
      !sysprof_confined_child_receive (&self->child, deadline, &reply, sizeof reply) ||
      reply.status > ELF_IO_ERROR || (reply.status == ELF_OK) != (reply.size > 0) ||
      reply.size > MOST_BYTES ||
      (reply.status == ELF_OK && !receive_table (&self->child, deadline, &reply, table)))
    {
      sysprof_unwind_worker_clear (self);
      return ELF_IO_ERROR;
    }

  return (ElfStatus) reply.status;
}

void
sysprof_unwind_worker_clear (UnwindWorker *self)
{
  sysprof_confined_child_end (&self->child);
  self->has_foreign = false;
}
