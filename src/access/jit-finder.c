// SPDX-License-Identifier: GPL-3.0-or-later

/* Finds perf maps and jitdumps in a child process (see jit-finder.h). The pump's part, at the
 * end, must never open such files, and must treat paths from the child as untrusted. */

#include "access/jit-finder.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LOOK_MSEC     200 /* between two searches for files that are still missing */
#define LAZY_MSEC     1000
#define EAGER_LOOKS   50 /* after that many, the interval becomes LAZY_MSEC */
#define OLD_SLACK     2  /* seconds: timestamps of files are coarse */
#define NSEC_PER_SEC  1000000000
#define PERF_MAP_PATH "/tmp/perf-%d.map"

typedef struct
{
  int32_t pid;      /* 0 = send the next result */
  uint32_t is_dump; /* the file is a jitdump at `path` */
  char path[JIT_FINDER_MOST_PATH];
} Request;

/* --- the child --- */

typedef struct
{
  int32_t pid;
  uint32_t kind;     /* JitFileKind */
  ProcessUser *user; /* user of the process at the last search; NULL = not known yet */
  bool in_our_mounts;
  bool is_refused;
  uint32_t reason;          /* JitRefusal */
  uint32_t owner;           /* of the file */
  uint64_t size;            /* bytes, of the file when it was opened */
  unsigned long long ticks; /* start time of the process since boot */
  int64_t start;            /* the same in seconds since 1970; 0 = unknown */
  int envelope;             /* contains the file; -1 = not found yet */
  char path[JIT_FINDER_MOST_PATH];
} Watched;

typedef struct
{
  Watched *files; /* [n] */
  unsigned n;
  unsigned n_looks;    /* since the last new file */
  int64_t last_look;   /* ms */
  unsigned n_sent;     /* files whose results were sent, or that have none */
  unsigned n_no_room;  /* files that could not be watched, because there were too many */
  int32_t no_room_for; /* the last pid that was counted there */
  uint64_t our_mounts;
  ProcessFiles opened;
} Watch;

/* The inode of the process's mount namespace, 0 = unknown. */
static uint64_t
mounts_of (int32_t pid)
{
  char path[64];
  struct stat info;

  (void) snprintf (path, sizeof path, "/proc/%d/ns/mnt", pid);
  return stat (path, &info) == 0 ? info.st_ino : 0;
}

/* 0 = unknown: the process has exited. */
static unsigned long long
read_start_ticks (int32_t pid)
{
  char text[4096]; /* more than the kernel writes: numbers, and a name of 64 bytes */
  const char *at;
  unsigned long long ticks = 0;
  autofd fd = -1;
  ssize_t n;

  (void) snprintf (text, sizeof text, "/proc/%d/stat", pid);
  fd = open (text, O_RDONLY | O_CLOEXEC);
  n = fd >= 0 ? read (fd, text, sizeof text - 1) : -1;
  text[n > 0 ? n : 0] = '\0';

  at = strrchr (text, ')');
  for (int i = 0; i < 20 && at != NULL; i++) /* to the 22nd field; the name is the 2nd */
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

/* Takes ownership of `user`, which was just read. */
static void
learn_process (const Watch *self, Watched *file, ProcessUser *user)
{
  if (file->user == NULL)
    {
      file->ticks = read_start_ticks (file->pid);
      file->start = time_of_ticks (file->ticks);
      file->in_our_mounts = self->our_mounts != 0 && mounts_of (file->pid) == self->our_mounts;
      if (file->kind == JIT_PERF_MAP)
        (void) snprintf (file->path, sizeof file->path, PERF_MAP_PATH, user->inner_pid);
    }
  sysprof_process_user_free (file->user);
  file->user = user;
}

static void
refuse (Watched *file, JitRefusal reason, uint32_t owner)
{
  file->is_refused = true;
  file->reason = reason;
  file->owner = owner;
}

static void
refuse_for_errno (Watched *file, int error, uint32_t owner)
{
  switch (error)
    {
    case ELOOP:
      refuse (file, JIT_REFUSED_LINK, owner);
      break;
    case ENOTSUP:
      refuse (file, JIT_REFUSED_NO_FILE, owner);
      break;
    case ETIMEDOUT:
    case EIO:
      refuse (file, JIT_REFUSED_OTHER, owner);
      break;
    /* ENOENT: no such file yet. EPERM: the child cannot become that user, which the recorder
     * reports once. */
    default:
      break;
    }
}

/* Takes ownership of `envelope`; -1 = the process's user may not read the file. */
static void
take_file (Watched *file, int envelope, const struct stat *info)
{
  autofd taken = envelope;

  if (info->st_uid != 0 && info->st_uid != file->user->uid)
    refuse (file, JIT_REFUSED_OWNER, info->st_uid);
  else if (file->start != 0 && info->st_mtim.tv_sec + OLD_SLACK < file->start)
    refuse (file, JIT_REFUSED_OLD, info->st_uid);
  else if (envelope < 0)
    refuse (file, JIT_REFUSED_RIGHTS, info->st_uid);
  else
    {
      file->is_refused = false;
      file->owner = info->st_uid;
      file->size = (uint64_t) info->st_size;
      file->envelope = sysprof_steal_fd (&taken);
    }
}

/* Each search reads the user again: a process may drop root privileges and then set up a root
 * directory of its own. */
static void
look_for (Watch *self, Watched *file)
{
  autofd root = -1;
  ProcessUser *user;
  struct stat info;
  int envelope;

  if (file->envelope >= 0)
    return;
  user = sysprof_process_user_read (file->pid, &root);
  if (user != NULL)
    learn_process (self, file, user);
  else if (file->user == NULL || (errno != ENOENT && errno != ESRCH))
    return;
  /* The root directory of a process that has exited is unknown. If the process was in our mount
   * namespace, ours is used. */
  if (root < 0 && !file->in_our_mounts)
    return;

  envelope =
      sysprof_process_files_open (&self->opened, file->user, root, file->path, 0, 0, &info);
  if (envelope >= 0 || (errno == EACCES && S_ISREG (info.st_mode)))
    take_file (file, envelope, &info);
  else
    refuse_for_errno (file, errno, info.st_uid);
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

/* Whether the PID now belongs to another process, or the process runs as another user. The file
 * found before then does not describe the current code. */
static bool
is_another (const Watched *file)
{
  ProcessUser *user = file->user != NULL ? sysprof_process_user_read (file->pid, NULL) : NULL;
  bool is_changed = user != NULL && (!sysprof_process_user_equal (user, file->user) ||
                                     read_start_ticks (file->pid) != file->ticks);

  sysprof_process_user_free (user);
  return is_changed;
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

/* Returns a free slot, or that of a process that has exited without leaving a file. NULL =
 * none. */
static Watched *
find_room (Watch *self)
{
  if (self->n < JIT_FINDER_MOST_FILES)
    return &self->files[self->n++];

  for (unsigned i = 0; i < self->n; i++)
    {
      Watched *file = &self->files[i];

      if (file->envelope >= 0 || file->is_refused || kill (file->pid, 0) == 0 || errno != ESRCH)
        continue;
      look_for (self, file); /* the last attempt */
      if (file->envelope < 0 && !file->is_refused)
        return file;
    }
  return NULL;
}

/* A slot that was never used has a PID of 0. */
static void
forget (Watched *file)
{
  if (file->pid != 0)
    sysprof_autofd_close (&file->envelope);
  sysprof_process_user_free (file->user);
}

static void
watch (Watch *self, const Request *request)
{
  uint32_t kind = request->is_dump != 0 ? JIT_DUMP : JIT_PERF_MAP;
  Watched *file = find_watched (self, request, kind);

  if (file != NULL && !is_another (file))
    return;
  if (file == NULL)
    file = find_room (self);
  if (file == NULL)
    {
      self->n_no_room += request->pid != self->no_room_for;
      self->no_room_for = request->pid;
      return;
    }

  forget (file);
  *file = (Watched){ .pid = request->pid, .kind = kind, .envelope = -1 };
  if (kind == JIT_DUMP)
    memcpy (file->path, request->path, sizeof file->path);
  self->n_looks = 0;
  look_for (self, file);
}

/* The next file that was found or refused; NULL = there is none. */
static const Watched *
next_result (Watch *self)
{
  if (self->n_sent == 0)
    look_for_all (self);
  while (self->n_sent < self->n)
    {
      const Watched *file = &self->files[self->n_sent++];

      if (file->envelope >= 0 || file->is_refused)
        return file;
    }
  return NULL;
}

/* The reply is a JitFound and the envelope. */
static bool
answer (Watch *self, ChildReply *reply)
{
  JitFound *found = calloc (1, sizeof *found);
  const Watched *file = next_result (self);
  struct stat info;

  if (found == NULL)
    return false;
  sysprof_child_reply_set (reply, 0, found, sizeof *found);
  if (file == NULL)
    {
      *found = (JitFound){ .found = JIT_FOUND_END, .size = self->n_no_room };
      return true;
    }

  *found = (JitFound){ .found = file->envelope >= 0 ? JIT_FOUND_FILE : JIT_FOUND_REFUSED,
                       .kind = file->kind,
                       .pid = file->pid,
                       .reason = file->reason,
                       .uid = file->owner,
                       .size = file->size };
  memcpy (found->path, file->path, sizeof found->path);
  if (file->envelope < 0)
    return true;
  if (sysprof_process_files_stat (&self->opened, file->user, file->envelope, &info))
    found->size = (uint64_t) info.st_size; /* the file has grown */
  reply->fd = fcntl (file->envelope, F_DUPFD_CLOEXEC, 0);
  return true;
}

static bool
is_looking (const Watch *self)
{
  for (unsigned i = 0; i < self->n; i++)
    if (self->files[i].envelope < 0)
      return true;
  return false;
}

/* ms until the next search is due; -1 = never. Requests in the meantime do not delay it. */
static int
until_next_look (const Watch *self)
{
  int64_t due = self->last_look + (self->n_looks < EAGER_LOOKS ? LOOK_MSEC : LAZY_MSEC);
  int64_t now = now_msec ();

  if (!is_looking (self))
    return -1;
  return due > now ? (int) (due - now) : 0;
}

static Watched watched_files[JIT_FINDER_MOST_FILES];
static Watch the_watch; /* *Owned* by the child, like its files */

static int
tick (void)
{
  if (the_watch.files == NULL)
    the_watch = (Watch){ .files = watched_files, .our_mounts = mounts_of (getpid ()) };
  if (until_next_look (&the_watch) == 0)
    {
      the_watch.n_looks++;
      look_for_all (&the_watch);
    }
  return until_next_look (&the_watch);
}

static bool
handle (ChildRequest *call, ChildReply *reply)
{
  const Request *request = call->bytes; /* its path ends with NUL */

  if (request->pid == 0)
    return answer (&the_watch, reply);
  watch (&the_watch, request);
  return false;
}

static const ChildService service = {
  .name = "JIT files",
  .request_size = sizeof (Request),
  .timeout_msec = 5000,
  .keeps_rights = true,
  .returns_descriptor = true,
  .reply_size = sizeof (JitFound),
  .handle = handle,
  .tick = tick,
};

/* --- the pump --- */

/* The child opens no untrusted file itself, so it ends at once when it is killed. */
static void
give_up (JitFinder *self)
{
  self->is_broken = true;
  sysprof_confined_child_end (&self->child);
}

void
sysprof_jit_finder_tell (JitFinder *self, int32_t pid, const char *dump)
{
  Request request = { .pid = pid, .is_dump = dump != NULL };

  if (self->is_broken || pid <= 0)
    return;
  if (dump != NULL && (strlen (dump) >= sizeof request.path || *dump != '/'))
    return;
  if (self->child.pid == 0 && !sysprof_confined_child_start (&self->child, &service))
    {
      self->is_broken = true;
      return;
    }

  if (dump != NULL)
    strcpy (request.path, dump);
  /* if the child is behind, the request is dropped */
  if (!sysprof_child_send (&self->child, &(ChildRequest){ .bytes = &request, .fd = -1 }, 0) &&
      errno != EAGAIN)
    give_up (self);
}

/* The path is untrusted and will be printed on terminals. */
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
  const Request request = { 0 };
  ChildReply reply;

  *envelope = -1;
  if (self->is_broken || self->child.pid == 0)
    return false;
  if (!sysprof_child_call (&self->child, &service,
                           &(ChildRequest){ .bytes = &request, .fd = -1 }, &reply))
    {
      self->is_broken = true;
      return false;
    }

  memcpy (found, reply.part[0].bytes, sizeof *found);
  *envelope = sysprof_steal_fd (&reply.fd);
  sysprof_child_reply_clear (&reply);
  found->path[sizeof found->path - 1] = '\0';
  make_printable (found->path);
  return found->found != JIT_FOUND_END;
}

void
sysprof_jit_finder_clear (JitFinder *self)
{
  sysprof_confined_child_end (&self->child);
}
