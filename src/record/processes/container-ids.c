// SPDX-License-Identifier: GPL-3.0-or-later

/* Reads the files in which containers describe themselves, in a confined child process (see
 * container-facts.h). The pump thread must never open these files itself, and must treat
 * replies of the child as untrusted. */

#include "record/processes/container-ids.h"

#include "access/access.h"
#include "record/clock.h"
#include "record/recording-context.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#define MOST_BYTES 16100 /* of a file; they usually have some hundred */
#define FINISH_MSEC \
  2500 /* longer than the timeout of one user's child (util/children/opener.h) */
#define MOST_WAITING 2048 /* replies; while more are pending, further processes are skipped */

static const char *const names[] = { ".flatpak-info", "run/.containerenv" };

typedef struct
{
  int64_t time;
  int32_t pid;
  uint32_t padding;
} Question;

/* Parts of a reply: the question, and the file with each name; empty = it does not exist, or the
 * process's user may not read it. */
enum
{
  PART_QUESTION,
  FIRST_FILE,
};

/* --- the child --- */

static void
read_fact (ProcessFiles *files,
           const ProcessUser *user,
           int root,
           unsigned name,
           ChildReply *reply)
{
  struct stat info;
  autofd envelope =
      sysprof_process_files_open (files, user, root, names[name], 0, MOST_BYTES, &info);
  autofd copy = envelope >= 0 ? sysprof_envelope_open (envelope) : -1;
  void *bytes = copy >= 0 ? malloc (MOST_BYTES) : NULL;
  ssize_t n = bytes != NULL ? pread (copy, bytes, MOST_BYTES, 0) : 0;

  sysprof_child_reply_set (reply, FIRST_FILE + name, bytes, n > 0 ? (size_t) n : 0);
}

static bool
handle (ChildRequest *request, ChildReply *reply)
{
  static ProcessFiles files;
  Question *question = malloc (sizeof *question);
  ProcessUser *user;
  autofd root = -1;

  if (question == NULL)
    return false;
  memcpy (question, request->bytes, sizeof *question);
  sysprof_child_reply_set (reply, PART_QUESTION, question, sizeof *question);
  user = sysprof_process_user_read (question->pid, &root);
  for (unsigned i = 0; user != NULL && root >= 0 && i < G_N_ELEMENTS (names); i++)
    read_fact (&files, user, root, i, reply);
  sysprof_process_user_free (user);
  return true;
}

static const ChildService service = {
  .name = "container files",
  .request_size = sizeof (Question),
  .keeps_rights = true,
  .reply_size = sizeof (Question),
  .most = { [FIRST_FILE] = MOST_BYTES, MOST_BYTES },
  .handle = handle,
};

/* --- the pump --- */

/* The child opens no untrusted file itself, so it ends at once when it is killed. */
static void
end_child (ContainerIds *self)
{
  self->is_broken = true;
  self->n_waiting = 0;
  sysprof_child_reply_clear (&self->reply);
  if (self->child.pid == 0)
    return;
  sysprof_pump_unwatch_fd (self->context->pump, self->child.socket);
  sysprof_confined_child_end (&self->child);
}

/* The child forwards the contents of untrusted files, so its replies are checked. */
static void
add_facts (ContainerIds *self)
{
  const Question *question = self->reply.part[PART_QUESTION].bytes;

  for (unsigned i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *path = g_strdup_printf ("/proc/%d/root/%s", question->pid, names[i]);

      /* sysprof_context_add_file() counts a failure */
      if (self->reply.part[FIRST_FILE + i].size > 0)
        (void) sysprof_context_add_file (self->context, question->time, question->pid, path,
                                         self->reply.part[FIRST_FILE + i].bytes,
                                         self->reply.part[FIRST_FILE + i].size, false);
    }
}

static void
child_ready (RecordingContext *context, int fd, void *data)
{
  ContainerIds *self = data;
  ChildReplyState state = sysprof_child_receive (&self->child, NULL, &self->reply);

  if (state == CHILD_REPLY_PENDING)
    return;
  if (state == CHILD_REPLY_INVALID || self->n_waiting == 0)
    {
      end_child (self);
      return;
    }
  add_facts (self);
  sysprof_child_reply_clear (&self->reply);
  self->n_waiting--;
}

void
sysprof_container_ids_init (ContainerIds *self, RecordingContext *context)
{
  Privilege *privilege = context->privilege;

  *self = (ContainerIds){
    .context = context,
    .child = CONFINED_CHILD_INIT,
    .reply = CHILD_REPLY_INIT,
    /* A test machine in a file tree has no processes to inspect. */
    .is_broken = *sysprof_privilege_get_root (privilege) != '\0',
    .own_mounts = sysprof_privilege_read_namespace (privilege, getpid (), "mnt"),
  };
}

static bool
start_child (ContainerIds *self)
{
  if (self->child.pid != 0)
    return true;
  if (!sysprof_confined_child_start (&self->child, &service))
    {
      self->is_broken = true;
      return false;
    }

  sysprof_pump_watch_fd (self->context->pump, self->child.socket, child_ready, self);
  return true;
}

void
sysprof_container_ids_request (ContainerIds *self, int32_t pid, int64_t time, uint64_t mounts)
{
  const Question question = { .time = time, .pid = pid };

  if (self->is_broken || mounts == 0 || mounts == self->own_mounts || !start_child (self) ||
      self->n_waiting >= MOST_WAITING)
    return;

  if (sysprof_child_send (&self->child, &(ChildRequest){ .bytes = &question, .fd = -1 }, 0))
    self->n_waiting++;
  else if (errno != EAGAIN) /* if the child is behind, the request is dropped */
    end_child (self);
}

void
sysprof_container_ids_finish (ContainerIds *self)
{
  int64_t deadline = sysprof_clock_now () + FINISH_MSEC * NSEC_PER_MSEC;

  while (self->n_waiting > 0 && sysprof_clock_now () < deadline)
    {
      struct pollfd ready = { .fd = self->child.socket, .events = POLLIN };

      if (poll (&ready, 1, FINISH_MSEC) > 0)
        child_ready (self->context, self->child.socket, self);
    }
  end_child (self);
}
