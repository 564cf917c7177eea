// SPDX-License-Identifier: GPL-3.0-or-later

#include "record/container-facts.h"

#include "record/privilege.h"
#include "record/pump-private.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define MOST_BYTES   16100 /* of a file; they have some hundred */
#define FINISH_MSEC  500
#define MOST_WAITING 4096 /* a child that is behind is not asked for more */

static const char *const names[] = { ".flatpak-info", "run/.containerenv" };

typedef struct
{
  int64_t time;
  int32_t pid;
  uint32_t name;
} Question;

typedef struct
{
  Question question;
  uint32_t size; /* of the bytes behind it; 0 = there is no such file */
  uint32_t padding;
} Answer;

/* --- the child --- */

/* Below the root of a process, whatever links there are, and nothing but a regular file. -1 when there is none. */
static int
open_below_root (int32_t pid, const char *name)
{
  struct open_how how = { .flags = O_PATH | O_CLOEXEC,
                          .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };
  char path[64];
  autofd root = -1, file = -1;
  struct stat info;

  (void) snprintf (path, sizeof path, "/proc/%d/root", pid);
  root = open (path, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (root < 0)
    return -1;
  file = (int) syscall (SYS_openat2, root, name, &how, sizeof how);
  if (file < 0 || fstat (file, &info) != 0 || !S_ISREG (info.st_mode))
    return -1;

  (void) snprintf (path, sizeof path, "/proc/self/fd/%d", file);
  return open (path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
}

static uint32_t
read_fact (const Question *question, uint8_t *bytes)
{
  autofd fd = open_below_root (question->pid, names[question->name]);
  uint32_t size = 0;
  ssize_t n;

  while (fd >= 0 && size < MOST_BYTES && (n = read (fd, bytes + size, MOST_BYTES - size)) > 0)
    size += (uint32_t) n;
  return size;
}

static void
serve (int socket)
{
  static struct
  {
    Answer answer;
    uint8_t bytes[MOST_BYTES];
  } reply;

  while (sysprof_confined_child_read (socket, &reply.answer.question, sizeof (Question)))
    {
      if (reply.answer.question.name >= G_N_ELEMENTS (names))
        return;
      reply.answer.size = read_fact (&reply.answer.question, reply.bytes);
      if (!sysprof_write_all (socket, &reply, sizeof reply.answer + reply.answer.size))
        return;
    }
}

/* --- the pump --- */

static void
give_up (ContainerFacts *self)
{
  pid_t pid;

  self->is_broken = true;
  self->n_waiting = 0;
  if (self->child.pid == 0)
    return;
  sysprof_pump_unwatch_fd (self->pump, self->child.socket);
  pid = sysprof_confined_child_give_up (&self->child);
  (void) waitpid (pid, NULL, WNOHANG); /* one that hangs in the kernel ends when that lets it */
}

static void
add_fact (ContainerFacts *self, const Answer *answer, const uint8_t *bytes)
{
  g_autofree char *path =
      g_strdup_printf ("/proc/%d/root/%s", answer->question.pid, names[answer->question.name]);

  (void) sysprof_pump_add_file (self->pump, answer->question.time, answer->question.pid, path,
                                bytes, answer->size, false); /* counted there */
}

/* The child reads what a stranger wrote, and what it says is looked at like that. */
static void
take_answers (ContainerFacts *self)
{
  size_t at = 0;

  while (self->n_input - at >= sizeof (Answer))
    {
      Answer answer;

      memcpy (&answer, self->input + at, sizeof answer);
      if (answer.size > MOST_BYTES || answer.question.name >= G_N_ELEMENTS (names) ||
          self->n_waiting == 0)
        {
          give_up (self);
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
  ContainerFacts *self = data;
  ssize_t n = recv (fd, self->input + self->n_input,
                    sizeof (Answer) + MOST_BYTES - self->n_input, MSG_DONTWAIT);

  if (n < 0 && (errno == EAGAIN || errno == EINTR))
    return;
  if (n <= 0)
    {
      give_up (self);
      return;
    }
  self->n_input += (size_t) n;
  take_answers (self);
}

void
sysprof_container_facts_init (ContainerFacts *self, Pump *pump)
{
  Privilege *privilege = sysprof_pump_get_privilege (pump);

  *self = (ContainerFacts){
    .pump = pump,
    .child = { .socket = -1, .keeps_rights = true },
    /* Of a machine that is a tree of files there is nothing else to be had. */
    .is_broken = *sysprof_privilege_get_root (privilege) != '\0',
    .own_mounts = sysprof_privilege_read_namespace (privilege, getpid (), "mnt"),
  };
}

static bool
start_child (ContainerFacts *self)
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
sysprof_container_facts_ask (ContainerFacts *self, int32_t pid, int64_t time, uint64_t mounts)
{
  if (self->is_broken || mounts == 0 || mounts == self->own_mounts || !start_child (self))
    return;

  for (uint32_t i = 0; i < G_N_ELEMENTS (names) && self->n_waiting < MOST_WAITING; i++)
    {
      const Question question = { time, pid, i };

      ssize_t n =
          send (self->child.socket, &question, sizeof question, MSG_DONTWAIT | MSG_NOSIGNAL);

      if (n >= 0 && n != (ssize_t) sizeof question) /* nobody knows what it will read now */
        give_up (self);
      if (n != (ssize_t) sizeof question)
        return;
      self->n_waiting++;
    }
}

void
sysprof_container_facts_finish (ContainerFacts *self)
{
  int64_t deadline = sysprof_pump_now () + FINISH_MSEC * NSEC_PER_MSEC;

  while (self->n_waiting > 0 && sysprof_pump_now () < deadline)
    {
      struct pollfd ready = { .fd = self->child.socket, .events = POLLIN };

      if (poll (&ready, 1, FINISH_MSEC) > 0)
        child_ready (self->pump, self->child.socket, self);
    }
  give_up (self);
  g_clear_pointer (&self->input, g_free);
}
