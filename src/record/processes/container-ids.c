// SPDX-License-Identifier: GPL-3.0-or-later

/* Reads the files in which containers describe themselves, in a confined child process (see
 * container-facts.h). The pump thread must never open these files itself, and must treat
 * replies of the child as untrusted. */

#include "record/processes/container-ids.h"

#include "access/access.h"
#include "record/pump-private.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

#define MOST_BYTES 16100 /* of a file; they usually have some hundred */
#define FINISH_MSEC \
  2500 /* longer than the timeout of one user's child (util/children/opener.h) */
#define MOST_WAITING 4096 /* replies; while more are pending, further processes are skipped */

static const char *const names[] = { ".flatpak-info", "run/.containerenv" };

typedef struct
{
  int64_t time;
  int32_t pid;
  uint32_t padding;
} Question;

/* The child sends one for each name. */
typedef struct
{
  Question question;
  uint32_t name; /* index */
  /* bytes that follow; 0 = the file does not exist, or the process's user may not read it */
  uint32_t size;
} Answer;

/* --- the child --- */

static uint32_t
read_fact (ProcessFiles *files,
           const ProcessUser *user,
           int root,
           const char *name,
           uint8_t *bytes)
{
  struct stat info;
  autofd envelope = sysprof_process_files_open (files, user, root, name, 0, MOST_BYTES, &info);
  autofd copy = envelope >= 0 ? sysprof_envelope_open (envelope) : -1;
  ssize_t n = copy >= 0 ? pread (copy, bytes, MOST_BYTES, 0) : 0;

  return n > 0 ? (uint32_t) n : 0;
}

static bool
answer (int socket, ProcessFiles *files, const Question *question)
{
  static struct
  {
    Answer answer;
    uint8_t bytes[MOST_BYTES];
  } reply;
  autofd root = -1;
  ProcessUser *user = sysprof_process_user_read (question->pid, &root);
  bool is_sent = true;

  reply.answer.question = *question;
  for (uint32_t i = 0; is_sent && i < G_N_ELEMENTS (names); i++)
    {
      reply.answer.name = i;
      reply.answer.size =
          user != NULL && root >= 0 ? read_fact (files, user, root, names[i], reply.bytes) : 0;
      is_sent = sysprof_write_all (socket, &reply, sizeof reply.answer + reply.answer.size);
    }
  sysprof_process_user_free (user);
  return is_sent;
}

static void
serve (int socket)
{
  static ProcessFiles files;
  Question question;

  while (sysprof_confined_child_read (socket, &question, sizeof question) &&
         answer (socket, &files, &question))
    ;
  sysprof_process_files_clear (&files);
}

/* --- the pump --- */

/* The child opens no untrusted file itself, so it ends at once when it is killed. */
static void
end_child (ContainerIds *self)
{
  self->is_broken = true;
  self->n_waiting = 0;
  if (self->child.pid == 0)
    return;
  sysprof_pump_unwatch_fd (self->pump, self->child.socket);
  sysprof_confined_child_end (&self->child);
}

static void
add_fact (ContainerIds *self, const Answer *answer, const uint8_t *bytes)
{
  g_autofree char *path =
      g_strdup_printf ("/proc/%d/root/%s", answer->question.pid, names[answer->name]);

  /* sysprof_pump_add_file() counts a failure */
  (void) sysprof_pump_add_file (self->pump, answer->question.time, answer->question.pid, path,
                                bytes, answer->size, false);
}

/* The child forwards the contents of untrusted files, so its replies are checked. */
static void
take_answers (ContainerIds *self)
{
  size_t at = 0;

  while (self->n_input - at >= sizeof (Answer))
    {
      Answer answer;

      memcpy (&answer, self->input + at, sizeof answer);
      if (answer.size > MOST_BYTES || answer.name >= G_N_ELEMENTS (names) ||
          self->n_waiting == 0)
        {
          end_child (self);
          return;
        }
      if (self->n_input - at < sizeof answer + answer.size)
        break;
      at += sizeof answer;
      if (answer.size > 0)
        add_fact (self, &answer, self->input + at);
      at += answer.size;
      self->n_waiting--;
    }
  self->n_input -= at;
  memmove (self->input, self->input + at, self->n_input);
}

static void
child_ready (Pump *pump, int fd, void *data)
{
  ContainerIds *self = data;
  ssize_t n = recv (fd, self->input + self->n_input,
                    sizeof (Answer) + MOST_BYTES - self->n_input, MSG_DONTWAIT);

  if (n < 0 && (errno == EAGAIN || errno == EINTR))
    return;
  if (n <= 0)
    {
      end_child (self);
      return;
    }
  self->n_input += (size_t) n;
  take_answers (self);
}

void
sysprof_container_ids_init (ContainerIds *self, Pump *pump)
{
  Privilege *privilege = sysprof_pump_get_privilege (pump);

  *self = (ContainerIds){
    .pump = pump,
    .child = { .socket = -1, .keeps_rights = true },
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
  if (!sysprof_confined_child_start (&self->child, serve))
    {
      self->is_broken = true;
      return false;
    }

  self->input = g_malloc (sizeof (Answer) + MOST_BYTES);
  sysprof_pump_watch_fd (self->pump, self->child.socket, child_ready, self);
  return true;
}

void
sysprof_container_ids_request (ContainerIds *self, int32_t pid, int64_t time, uint64_t mounts)
{
  const Question question = { .time = time, .pid = pid };
  ssize_t n;

  if (self->is_broken || mounts == 0 || mounts == self->own_mounts || !start_child (self) ||
      self->n_waiting >= MOST_WAITING)
    return;

  n = send (self->child.socket, &question, sizeof question, MSG_DONTWAIT | MSG_NOSIGNAL);
  if (n == (ssize_t) sizeof question)
    self->n_waiting += G_N_ELEMENTS (names);
  else if (n >= 0) /* the child would take the rest of it for the next request */
    end_child (self);
}

void
sysprof_container_ids_finish (ContainerIds *self)
{
  int64_t deadline = sysprof_pump_now () + FINISH_MSEC * NSEC_PER_MSEC;

  while (self->n_waiting > 0 && sysprof_pump_now () < deadline)
    {
      struct pollfd ready = { .fd = self->child.socket, .events = POLLIN };

      if (poll (&ready, 1, FINISH_MSEC) > 0)
        child_ready (self->pump, self->child.socket, self);
    }
  end_child (self);
  g_clear_pointer (&self->input, g_free);
}
