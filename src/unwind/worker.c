// SPDX-License-Identifier: GPL-3.0-or-later

/* The child that builds tables. A request has a file, or the debug file of the next file; the
 * reply is the table. */

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

typedef enum
{
  REQUEST_FILE,
  REQUEST_DEBUG_FILE,
} Request;

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

static bool
handle (ChildRequest *request, ChildReply *reply)
{
  static int debug_fd = -1;
  const Request *kind = request->bytes;
  UnwindTable table = { 0 };

  if (*kind == REQUEST_DEBUG_FILE)
    {
      debug_fd = request->fd;
      request->fd = -1;
      return true;
    }
  reply->status = build (request->fd, debug_fd, &table);
  sysprof_child_reply_set (reply, 0, table.bytes, table.size);
  if (debug_fd >= 0)
    (void) close (debug_fd);
  debug_fd = -1;
  return true;
}

static bool
is_valid_reply (const ChildRequest *request, const ChildReply *reply)
{
  const Request *kind = request->bytes;

  return (*kind == REQUEST_FILE && reply->status == ELF_OK) == (reply->part[0].size > 0);
}

static const ChildService service = {
  .name = "unwind tables",
  .request_size = sizeof (Request),
  .timeout_msec = MOST_PATIENCE,
  .is_urgent = true, /* stacks are truncated until their file has a table */
  .takes_envelopes = true,
  .last_status = ELF_IO_ERROR,
  .most = { MOST_BYTES },
  .handle = handle,
  .is_valid_reply = is_valid_reply,
};

/* --- the parent --- */

bool
sysprof_unwind_worker_start (UnwindWorker *self)
{
  self->child.has_stop_fd = self->has_stop_fd;
  self->child.stop_fd = self->stop_fd;
  return self->child.pid != 0 || sysprof_confined_child_start (&self->child, &service);
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

/* Passes a file to the child and receives its reply. */
static bool
call (UnwindWorker *self, Request kind, int envelope, int64_t deadline, ChildReply *reply)
{
  const ChildRequest request = { .bytes = &kind, .fd = envelope, .deadline_msec = deadline };

  return sysprof_unwind_worker_start (self) &&
         sysprof_child_call (&self->child, &service, &request, reply);
}

static bool
pass_debug_file (UnwindWorker *self, int envelope, int64_t deadline)
{
  ChildReply reply = CHILD_REPLY_INIT;
  bool is_passed = call (self, REQUEST_DEBUG_FILE, envelope, deadline, &reply);

  sysprof_child_reply_clear (&reply);
  return is_passed;
}

ElfStatus
sysprof_unwind_worker_build (UnwindWorker *self,
                             int envelope,
                             int debug_envelope,
                             const struct stat *info,
                             UnwindTable *table)
{
  int64_t deadline;
  ChildReply reply = CHILD_REPLY_INIT;
  ElfStatus status = ELF_IO_ERROR;

  /* The child has died while it was idle, for lack of memory perhaps: this file is not the
   * cause. */
  if (!sysprof_confined_child_is_waiting (&self->child))
    sysprof_unwind_worker_clear (self);
  keep_apart (self, info->st_uid);
  deadline = sysprof_confined_child_deadline (sysprof_unwind_worker_patience (info));

  if ((debug_envelope < 0 || pass_debug_file (self, debug_envelope, deadline)) &&
      call (self, REQUEST_FILE, envelope, deadline, &reply) &&
      (reply.status != ELF_OK ||
       sysprof_unwind_table_adopt (table, sysprof_child_reply_take (&reply, 0),
                                   reply.part[0].size)))
    status = (ElfStatus) reply.status;
  else
    sysprof_unwind_worker_clear (self);
  sysprof_child_reply_clear (&reply);
  return status;
}

void
sysprof_unwind_worker_clear (UnwindWorker *self)
{
  sysprof_confined_child_end (&self->child);
  self->has_foreign = false;
}
