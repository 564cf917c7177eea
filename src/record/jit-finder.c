// SPDX-License-Identifier: GPL-3.0-or-later

#include "record/jit-finder.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST_FILES    512
#define LOOK_MSEC     200 /* between two looks for what is not there yet */
#define LAZY_MSEC     1000
#define EAGER_LOOKS   50   /* then they become rarer */
#define PATIENCE      5000 /* ms for all that was found */
#define OLD_SLACK     2    /* seconds: clocks of files are coarse */
#define NSEC_PER_SEC  1000000000
#define PERF_MAP_PATH "/tmp/perf-%d.map"

typedef struct
{
  int32_t pid;      /* 0 = tell what was found */
  uint32_t is_dump; /* of a jitdump: where it is */
  char path[JIT_FINDER_MOST_PATH];
} Request;

/* --- the child --- */

typedef struct
{
  int32_t pid;
  uint32_t kind; /* JitFileKind */
  uint32_t uid;  /* of the process */
  bool is_known; /* the process was seen alive */
  bool in_our_mounts;
  bool is_refused;
  uint32_t reason; /* JitRefusal */
  uint32_t owner;
  int64_t start; /* of the process, seconds since 1970 */
  int fd;        /* -1 = not found yet */
  char path[JIT_FINDER_MOST_PATH];
} Watched;

typedef struct
{
  Watched *files; /* [n] */
  unsigned n;
  unsigned n_looks; /* since the last that was new */
  uint64_t our_mounts;
} Watch;

/* The inode of a namespace, 0 = unknown. */
static uint64_t
mounts_of (int32_t pid)
{
  char path[64];
  struct stat info;

  (void) snprintf (path, sizeof path, "/proc/%d/ns/mnt", pid);
  return stat (path, &info) == 0 ? info.st_ino : 0;
}

static size_t
read_proc (int32_t pid, const char *name, char *text, size_t size)
{
  char path[64];
  ssize_t n;
  int fd;

  (void) snprintf (path, sizeof path, "/proc/%d/%s", pid, name);
  fd = open (path, O_RDONLY | O_CLOEXEC);
  n = fd >= 0 ? read (fd, text, size - 1) : -1;
  if (fd >= 0)
    (void) close (fd);
  text[n > 0 ? n : 0] = '\0';
  return n > 0 ? (size_t) n : 0;
}

/* Its number in the innermost namespace, which is the last one of the line. */
static int32_t
inner_pid_of (const char *status)
{
  const char *line = strstr (status, "\nNSpid:");
  int32_t inner = 0;

  if (line == NULL)
    return 0;
  line += strlen ("\nNSpid:");
  while (*line == '\t' || *line == ' ')
    {
      char *end;
      long number = strtol (line, &end, 10);

      if (end == line)
        break;
      inner = (int32_t) number;
      line = end;
    }
  return inner;
}

/* Seconds since 1970; 0 = unknown. */
static int64_t
start_of (const char *stat_text)
{
  const char *at = strrchr (stat_text, ')');
  unsigned long long ticks = 0;
  struct timespec now, since_boot;

  for (int i = 0; i < 20 && at != NULL; i++) /* the 22nd field, and the second is behind us */
    at = strchr (at + 1, ' ');
  if (at == NULL || sscanf (at, "%llu", &ticks) != 1 ||
      clock_gettime (CLOCK_REALTIME, &now) != 0 ||
      clock_gettime (CLOCK_BOOTTIME, &since_boot) != 0)
    return 0;
  return now.tv_sec - since_boot.tv_sec +
         (int64_t) (ticks / (unsigned long) sysconf (_SC_CLK_TCK));
}

/* FALSE when it has ended. */
static bool
learn_process (const Watch *self, Watched *file)
{
  char text[4096];
  const char *uid;
  unsigned effective;
  int32_t inner;

  if (read_proc (file->pid, "status", text, sizeof text) == 0)
    return false;
  inner = inner_pid_of (text);
  uid = strstr (text, "\nUid:");
  if (inner <= 0 || uid == NULL || sscanf (uid, "\nUid: %*u %u", &effective) != 1)
    return false;
  if (read_proc (file->pid, "stat", text, sizeof text) == 0)
    return false;

  file->uid = effective;
  file->start = start_of (text);
  file->in_our_mounts = self->our_mounts != 0 && mounts_of (file->pid) == self->our_mounts;
  if (file->kind == JIT_PERF_MAP)
    (void) snprintf (file->path, sizeof file->path, PERF_MAP_PATH, inner);
  file->is_known = true;
  return true;
}

/* Below `root`, by no link and by no mount of /proc. -1 with errno. */
static int
open_below (const char *root, const char *path)
{
  struct open_how how = { .flags = O_PATH | O_CLOEXEC | O_NOFOLLOW,
                          .resolve =
                              RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS };
  int directory = open (root, O_PATH | O_DIRECTORY | O_CLOEXEC);
  int fd, saved;

  if (directory < 0)
    return -1;
  fd = (int) syscall (SYS_openat2, directory, path, &how, sizeof how);
  saved = errno;
  (void) close (directory);
  errno = saved;
  return fd;
}

static void
refuse (Watched *file, JitRefusal reason, uint32_t owner)
{
  file->is_refused = true;
  file->reason = reason;
  file->owner = owner;
}

/* `fd`, which it closes, only names the file; what has been looked at is then opened. */
static void
take_file (Watched *file, int fd)
{
  struct stat info;
  char path[64];

  if (fstat (fd, &info) != 0)
    refuse (file, JIT_REFUSED_OTHER, 0);
  else if (S_ISLNK (info.st_mode))
    refuse (file, JIT_REFUSED_LINK, info.st_uid);
  else if (!S_ISREG (info.st_mode))
    refuse (file, JIT_REFUSED_NO_FILE, info.st_uid);
  else if (info.st_uid != 0 && info.st_uid != file->uid)
    refuse (file, JIT_REFUSED_OWNER, info.st_uid);
  else if (file->start != 0 && info.st_mtim.tv_sec + OLD_SLACK < file->start)
    refuse (file, JIT_REFUSED_OLD, info.st_uid);
  else
    {
      file->is_refused = false;
      (void) snprintf (path, sizeof path, "/proc/self/fd/%d", fd);
      file->fd = open (path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
      if (file->fd < 0)
        refuse (file, JIT_REFUSED_OTHER, info.st_uid);
    }
  (void) close (fd);
}

static void
look_for (const Watch *self, Watched *file)
{
  char root[64];
  int fd = -1;

  if (file->fd >= 0)
    return;
  if (!file->is_known && !learn_process (self, file))
    return;

  (void) snprintf (root, sizeof root, "/proc/%d/root", file->pid);
  fd = open_below (root, file->path);
  /* Of a process that has ended, nobody knows the root any more. */
  if (fd < 0 && file->in_our_mounts && errno != ELOOP)
    fd = open_below ("/", file->path);
  if (fd >= 0)
    take_file (file, fd);
  else if (errno == ELOOP)
    refuse (file, JIT_REFUSED_LINK, 0);
}

static void
look_for_all (const Watch *self)
{
  for (unsigned i = 0; i < self->n; i++)
    look_for (self, &self->files[i]);
}

static void
watch (Watch *self, const Request *request)
{
  uint32_t kind = request->is_dump != 0 ? JIT_DUMP : JIT_PERF_MAP;
  Watched *file;

  for (unsigned i = 0; i < self->n; i++)
    if (self->files[i].pid == request->pid && self->files[i].kind == kind &&
        (kind == JIT_PERF_MAP || strcmp (self->files[i].path, request->path) == 0))
      return;
  if (self->n == MOST_FILES)
    return;

  file = &self->files[self->n++];
  *file = (Watched){ .pid = request->pid, .kind = kind, .fd = -1 };
  if (kind == JIT_DUMP)
    memcpy (file->path, request->path, sizeof file->path);
  self->n_looks = 0;
  look_for (self, file);
}

static bool
answer (int socket, const JitFound *found, int fd)
{
  int envelope = fd >= 0 ? sysprof_envelope_seal (fd) : -1;
  struct pollfd writable = { .fd = socket, .events = POLLOUT };
  bool is_sent = poll (&writable, 1, -1) > 0 &&
                 sysprof_confined_child_send_answer (socket, found, sizeof *found, envelope);

  if (envelope >= 0)
    (void) close (envelope);
  return is_sent;
}

static bool
tell_all (const Watch *self, int socket)
{
  look_for_all (self);
  for (unsigned i = 0; i < self->n; i++)
    {
      const Watched *file = &self->files[i];
      JitFound found = { .found = file->fd >= 0 ? JIT_FOUND_FILE : JIT_FOUND_REFUSED,
                         .kind = file->kind,
                         .pid = file->pid,
                         .reason = file->reason,
                         .uid = file->owner };

      struct stat info;

      if (file->fd < 0 && !file->is_refused)
        continue;
      if (file->fd >= 0 && fstat (file->fd, &info) == 0)
        found.size = (uint64_t) info.st_size;
      memcpy (found.path, file->path, sizeof found.path);
      if (!answer (socket, &found, file->fd))
        return false;
    }
  return answer (socket, &(JitFound){ .found = JIT_FOUND_END }, -1);
}

static bool
is_looking (const Watch *self)
{
  for (unsigned i = 0; i < self->n; i++)
    if (self->files[i].fd < 0)
      return true;
  return false;
}

static void
serve (int socket)
{
  static Watched files[MOST_FILES];
  Watch self = { .files = files, .our_mounts = mounts_of (getpid ()) };

  for (;;)
    {
      struct pollfd readable = { .fd = socket, .events = POLLIN };
      int pause = !is_looking (&self) ? -1 : self.n_looks < EAGER_LOOKS ? LOOK_MSEC : LAZY_MSEC;
      int n = poll (&readable, 1, pause);
      Request request;

      if (n < 0 && errno != EINTR)
        return;
      if (n <= 0)
        {
          self.n_looks++;
          look_for_all (&self);
          continue;
        }
      if (!sysprof_confined_child_read (socket, &request, sizeof request))
        return;
      request.path[sizeof request.path - 1] = '\0';
      if (request.pid != 0)
        watch (&self, &request);
      else if (!tell_all (&self, socket))
        return;
    }
}

/* --- the pump --- */

static void
give_up (JitFinder *self)
{
  self->is_broken = true;
  if (self->child.pid != 0)
    (void) waitpid (sysprof_confined_child_give_up (&self->child), NULL, WNOHANG);
}

static void
send_request (JitFinder *self, const Request *request)
{
  ssize_t n = send (self->child.socket, request, sizeof *request, MSG_DONTWAIT | MSG_NOSIGNAL);

  if (n == (ssize_t) sizeof *request || (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)))
    return; /* a child that is behind is not asked for more */
  give_up (self);
}

void
sysprof_jit_finder_tell (JitFinder *self, int32_t pid, const char *dump)
{
  Request request = { .pid = pid, .is_dump = dump != NULL };

  if (self->is_broken || pid <= 0)
    return;
  if (dump != NULL && (strlen (dump) >= sizeof request.path || *dump != '/'))
    return;
  self->child.keeps_rights = true; /* an ended one took it along */
  if (self->child.pid == 0 && !sysprof_confined_child_start (&self->child, serve))
    {
      self->is_broken = true;
      return;
    }

  if (dump != NULL)
    strcpy (request.path, dump);
  send_request (self, &request);
}

void
sysprof_jit_finder_begin (JitFinder *self)
{
  if (!self->is_broken && self->child.pid != 0)
    send_request (self, &(Request){ 0 });
}

bool
sysprof_jit_finder_next (JitFinder *self, JitFound *found, int *envelope)
{
  *envelope = -1;
  if (self->is_broken || self->child.pid == 0)
    return false;
  if (!sysprof_confined_child_receive_answer (&self->child,
                                              sysprof_confined_child_deadline (PATIENCE), found,
                                              sizeof *found, envelope))
    {
      give_up (self);
      return false;
    }

  found->path[sizeof found->path - 1] = '\0';
  return found->found != JIT_FOUND_END;
}

void
sysprof_jit_finder_clear (JitFinder *self)
{
  if (self->child.pid != 0)
    sysprof_confined_child_end (&self->child);
}
