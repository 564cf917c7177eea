// SPDX-License-Identifier: GPL-3.0-or-later

#include "record/jit-finder.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

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
  unsigned long long ticks; /* when the process began, since boot */
  int64_t start;            /* the same, seconds since 1970; 0 = unknown */
  int fd;                   /* -1 = not found yet */
  char path[JIT_FINDER_MOST_PATH];
} Watched;

typedef struct
{
  Watched *files; /* [n] */
  unsigned n;
  unsigned n_looks;    /* since the last that was new */
  int64_t last_look;   /* ms */
  unsigned n_no_room;  /* times that there was no room for one more */
  int32_t no_room_for; /* whom it was told last */
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

/* 0 = unknown. */
static unsigned long long
ticks_of (const char *stat_text)
{
  const char *at = strrchr (stat_text, ')');
  unsigned long long ticks = 0;

  for (int i = 0; i < 20 && at != NULL; i++) /* the 22nd field, and the second is behind us */
    at = strchr (at + 1, ' ');
  return at != NULL && sscanf (at, "%llu", &ticks) == 1 ? ticks : 0;
}

/* Seconds since 1970; 0 = unknown. */
static int64_t
time_of_ticks (unsigned long long ticks)
{
  struct timespec now, since_boot;

  if (ticks == 0 || clock_gettime (CLOCK_REALTIME, &now) != 0 ||
      clock_gettime (CLOCK_BOOTTIME, &since_boot) != 0)
    return 0;
  return now.tv_sec - since_boot.tv_sec +
         (int64_t) (ticks / (unsigned long) sysconf (_SC_CLK_TCK));
}

typedef struct
{
  int32_t inner; /* its number in its own namespace */
  unsigned uid;
  unsigned long long ticks; /* as Watched.ticks */
} Running;

/* FALSE when it has ended. */
static bool
read_process (int32_t pid, Running *process)
{
  char text[4096];
  const char *uid;

  if (read_proc (pid, "status", text, sizeof text) == 0)
    return false;
  process->inner = inner_pid_of (text);
  uid = strstr (text, "\nUid:");
  if (process->inner <= 0 || uid == NULL || sscanf (uid, "\nUid: %*u %u", &process->uid) != 1 ||
      read_proc (pid, "stat", text, sizeof text) == 0)
    return false;
  process->ticks = ticks_of (text);
  return true;
}

/* FALSE when it has ended. */
static bool
learn_process (const Watch *self, Watched *file)
{
  Running process;

  if (!read_process (file->pid, &process))
    return false;

  file->uid = process.uid;
  file->ticks = process.ticks;
  file->start = time_of_ticks (process.ticks);
  file->in_our_mounts = self->our_mounts != 0 && mounts_of (file->pid) == self->our_mounts;
  if (file->kind == JIT_PERF_MAP)
    (void) snprintf (file->path, sizeof file->path, PERF_MAP_PATH, process.inner);
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

static int64_t
now_msec (void)
{
  struct timespec now;

  (void) clock_gettime (CLOCK_MONOTONIC, &now); /* cannot fail */
  return (int64_t) now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void
look_for_all (Watch *self)
{
  self->last_look = now_msec ();
  for (unsigned i = 0; i < self->n; i++)
    look_for (self, &self->files[i]);
}

/* The process of that number is another one than it was, or may do other things: what its file said does not hold for what comes
 * now. */
static bool
is_another (const Watched *file)
{
  Running process;

  return file->is_known && read_process (file->pid, &process) &&
         (process.ticks != file->ticks || process.uid != file->uid);
}

static Watched *
find_watched (const Watch *self, const Request *request, uint32_t kind)
{
  for (unsigned i = 0; i < self->n; i++)
    if (self->files[i].pid == request->pid && self->files[i].kind == kind &&
        (kind == JIT_PERF_MAP || strcmp (self->files[i].path, request->path) == 0))
      return &self->files[i];
  return NULL;
}

/* Where there is none left, that of a process that has ended and left nothing behind. NULL = there is none. */
static Watched *
find_room (Watch *self)
{
  if (self->n < JIT_FINDER_MOST_FILES)
    return &self->files[self->n++];

  for (unsigned i = 0; i < self->n; i++)
    {
      Watched *file = &self->files[i];

      if (file->fd >= 0 || file->is_refused || kill (file->pid, 0) == 0 || errno != ESRCH)
        continue;
      look_for (self, file); /* for the last time */
      if (file->fd < 0 && !file->is_refused)
        return file;
    }
  return NULL;
}

static void
watch (Watch *self, const Request *request)
{
  uint32_t kind = request->is_dump != 0 ? JIT_DUMP : JIT_PERF_MAP;
  Watched *file = find_watched (self, request, kind);

  if (file != NULL && !is_another (file))
    return;
  if (file != NULL && file->fd >= 0)
    (void) close (file->fd);
  if (file == NULL)
    file = find_room (self);
  if (file == NULL)
    {
      self->n_no_room += request->pid != self->no_room_for;
      self->no_room_for = request->pid;
      return;
    }

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
tell_all (Watch *self, int socket)
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
        {
          found.size = (uint64_t) info.st_size;
          found.uid = info.st_uid;
        }
      memcpy (found.path, file->path, sizeof found.path);
      if (!answer (socket, &found, file->fd))
        return false;
    }
  return answer (socket, &(JitFound){ .found = JIT_FOUND_END, .size = self->n_no_room }, -1);
}

static bool
is_looking (const Watch *self)
{
  for (unsigned i = 0; i < self->n; i++)
    if (self->files[i].fd < 0)
      return true;
  return false;
}

/* ms until the next look is due; -1 = never. However much is told meanwhile, it comes. */
static int
until_next_look (const Watch *self)
{
  int64_t due = self->last_look + (self->n_looks < EAGER_LOOKS ? LOOK_MSEC : LAZY_MSEC);
  int64_t now = now_msec ();

  if (!is_looking (self))
    return -1;
  return due > now ? (int) (due - now) : 0;
}

static void
serve (int socket)
{
  static Watched files[JIT_FINDER_MOST_FILES];
  Watch self = { .files = files, .our_mounts = mounts_of (getpid ()) };

  for (;;)
    {
      struct pollfd readable = { .fd = socket, .events = POLLIN };
      int n = poll (&readable, 1, until_next_look (&self));
      Request request;

      if (n < 0 && errno != EINTR)
        return;
      if (until_next_look (&self) == 0)
        {
          self.n_looks++;
          look_for_all (&self);
        }
      if (n <= 0)
        continue;
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

/* It is a stranger's, and goes to terminals. */
static void
make_printable (char *path)
{
  for (; *path != '\0'; path++)
    if (*path < ' ' || *path > '~')
      *path = '?';
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
  make_printable (found->path);
  return found->found != JIT_FOUND_END;
}

void
sysprof_jit_finder_clear (JitFinder *self)
{
  if (self->child.pid != 0)
    sysprof_confined_child_end (&self->child);
}
