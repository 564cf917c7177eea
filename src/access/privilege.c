// SPDX-License-Identifier: GPL-3.0-or-later

/* Performs privileged operations with this process's own privileges, or requests them from a
 * helper. Messages for the user about missing privileges are at the end. This file must never
 * expose to its callers which of them was used. */

#include "access/privilege.h"

#include "util/util.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#define LARGEST_TEXT  4096 /* bytes; for one-line files in /proc */
#define SWITCH_FORMAT "/sys/kernel/tracing/events/sched/sched_switch/format"

struct Privilege
{
  gatomicrefcount ref_count;
  char *root;             /* prefix of /proc and /sys; "" = this machine */
  int helper;             /* the socket; -1 = none, use our own privileges */
  OlderService *older;    /* owned; NULL = none, or there is a helper */
  pthread_mutex_t asking; /* held from a request to its reply */
  int tracefs_fd; /* the root of tracefs; used by the pump thread only; -1 = not opened yet */
  bool has_described_perf; /* same */
};

Privilege *
sysprof_privilege_new_for_helper (int socket)
{
  Privilege *self = g_new0 (Privilege, 1);

  g_atomic_ref_count_init (&self->ref_count);
  (void) pthread_mutex_init (&self->asking, NULL);
  self->root = g_strdup ("");
  self->helper = socket;
  self->tracefs_fd = -1;
  return self;
}

Privilege *
sysprof_privilege_new (void)
{
  return sysprof_privilege_new_for_helper (-1);
}

Privilege *
sysprof_privilege_new_below (const char *root)
{
  Privilege *self = sysprof_privilege_new ();

  g_free (self->root);
  self->root = g_strdup (root);
  return self;
}

bool
sysprof_privilege_may_sample_machine (void)
{
  struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
                                  .size = sizeof attr,
                                  .config = PERF_COUNT_SW_CPU_CLOCK,
                                  .disabled = 1 };
  autofd event = sysprof_rights_open_event (&attr, -1, 0, 0);

  return event >= 0 || (errno != EACCES && errno != EPERM);
}

void
sysprof_privilege_set_helper (Privilege *self, int socket)
{
  self->helper = socket;
}

void
sysprof_privilege_set_older_service (Privilege *self, OlderService *service)
{
  self->older = service;
}

const char *
sysprof_privilege_get_root (const Privilege *self)
{
  return self->root;
}

Privilege *
sysprof_privilege_ref (Privilege *self)
{
  g_atomic_ref_count_inc (&self->ref_count);
  return self;
}

void
sysprof_privilege_unref (Privilege *self)
{
  if (self == NULL || !g_atomic_ref_count_dec (&self->ref_count))
    return;

  sysprof_autofd_close (&self->tracefs_fd);
  sysprof_older_service_free (self->older);
  (void) pthread_mutex_destroy (&self->asking);
  g_free (self->root);
  g_free (self);
}

bool
sysprof_privilege_has_helper (const Privilege *self)
{
  return self->helper >= 0 || self->older != NULL;
}

/* Whether the kernel denied access and a helper could grant it. */
static bool
is_refused (const Privilege *self, int fd)
{
  return fd < 0 && sysprof_privilege_has_helper (self) && (errno == EACCES || errno == EPERM);
}

/* Evaluates `question` while holding the lock, so that no other thread waits for a reply. Keeps
 * errno. */
#define ASK(self, question)                        \
  ({                                               \
    __typeof__ (question) answer_;                 \
                                                   \
    (void) pthread_mutex_lock (&(self)->asking);   \
    answer_ = (question);                          \
    (void) pthread_mutex_unlock (&(self)->asking); \
    answer_;                                       \
  })

static int
open_below (const Privilege *self, const char *path, int flags)
{
  g_autofree char *whole = g_strconcat (self->root, path, NULL);

  return open (whole, O_RDONLY | O_CLOEXEC | flags);
}

static int
open_recorded_event (const Privilege *self, const struct perf_event_attr *attr, int cpu)
{
  g_autofree char *path = g_strdup_printf ("/events/%u-%" G_GUINT64_FORMAT "-%d", attr->type,
                                           (guint64) attr->config, cpu);

  return open_below (self, path, 0);
}

int
sysprof_privilege_open_event (Privilege *self,
                              struct perf_event_attr *attr,
                              pid_t pid,
                              int cpu,
                              unsigned long flags)
{
  bool is_cgroup = (flags & PERF_FLAG_PID_CGROUP) != 0;
  int fd;

  if (self->root[0] != '\0')
    return open_recorded_event (self, attr, cpu);

  /* For a helper, 0 would be the helper itself. */
  if (pid == 0)
    pid = (pid_t) syscall (SYS_gettid);
  if (self->helper >= 0)
    return ASK (self,
                sysprof_rights_ask_event (self->helper, attr, pid, cpu, is_cgroup ? pid : -1));

  fd = sysprof_rights_open_event (attr, pid, cpu, flags);
  if (is_refused (self, fd))
    fd = ASK (self, sysprof_older_service_open_event (self->older, attr, pid, cpu, flags));
  return fd;
}

int
sysprof_privilege_open_processes (Privilege *self)
{
  return open_below (self, "/proc", O_DIRECTORY);
}

int
sysprof_privilege_open_machine_file (Privilege *self, const char *path)
{
  return open_below (self, path, 0);
}

int
sysprof_privilege_open_mounts (Privilege *self)
{
  return open_below (self, "/proc/mounts", 0);
}

int
sysprof_privilege_open_process_file (Privilege *self, pid_t pid, const char *name)
{
  ProcessFile file = sysprof_rights_find_process_file (name);
  char path[64];
  int fd;

  g_snprintf (path, sizeof path, "/proc/%d/%s", pid, name);
  fd = open_below (self, path, 0);
  if (is_refused (self, fd) && file != N_PROCESS_FILES)
    fd = ASK (self, self->older != NULL
                        ? sysprof_older_service_open_file (self->older, path)
                        : sysprof_rights_ask_process_file (self->helper, pid, file));
  return fd;
}

int
sysprof_privilege_open_mapped_file (Privilege *self, const ExecutableMapping *mapping)
{
  if (self->helper < 0)
    {
      errno = EPERM;
      return -1;
    }
  return ASK (self, sysprof_rights_ask_mapped_file (self->helper, mapping));
}

bool
sysprof_privilege_make_walker_maps (Privilege *self, WalkProgram *program)
{
  if (self->helper < 0)
    return sysprof_walk_program_make_maps (program);
  return ASK (self, sysprof_rights_ask_walker_maps (self->helper, program));
}

bool
sysprof_privilege_load_walker (Privilege *self,
                               uint32_t most_addresses,
                               bool by_lists,
                               WalkProgram *program)
{
  const WalkProgramOptions options = {
    .most_addresses = most_addresses,
    .by_lists = by_lists,
  };
  int promise;

  if (self->helper < 0)
    return sysprof_walk_program_load (program, &options);

  promise = ASK (self, sysprof_rights_ask_walker (
                           self->helper, MIN (most_addresses, WALK_MOST_ADDRESSES), by_lists));
  if (promise < 0)
    return false;
  program->fd = sysprof_rights_wait_for_walker (promise);
  return program->fd >= 0;
}

int
sysprof_privilege_add_walker_slab (Privilege *self, const WalkProgram *program, uint32_t index)
{
  if (self->helper < 0)
    return sysprof_walk_program_add_slab (program, index);
  return ASK (self, sysprof_rights_ask_slab (self->helper, index));
}

bool
sysprof_privilege_set_walker_output (Privilege *self,
                                     const WalkProgram *program,
                                     uint32_t index,
                                     int event_fd)
{
  if (self->helper < 0)
    return sysprof_walk_program_set_output (program, index, event_fd);
  return ASK (self, sysprof_rights_ask_output (self->helper, index, event_fd));
}

bool
sysprof_privilege_load_waits (Privilege *self, const WalkProgram *maps, WaitsProgram *program)
{
  int promise;

  if (self->helper < 0)
    return sysprof_waits_program_load (program, maps);

  promise = ASK (self, sysprof_rights_ask_waits (self->helper));
  return promise >= 0 && sysprof_rights_wait_for_waits (promise, program);
}

uint64_t
sysprof_privilege_read_namespace (Privilege *self, pid_t pid, const char *name)
{
  ProcessNamespace which = sysprof_rights_find_namespace (name);
  uint64_t inode = which != N_PROCESS_NS ? sysprof_rights_read_namespace (pid, which) : 0;

  if (inode == 0 && which != N_PROCESS_NS && self->helper >= 0 && is_refused (self, -1))
    inode = ASK (self, sysprof_rights_ask_namespace (self->helper, pid, which));
  return inode;
}

/* The kernel shows zeros to readers who may not see addresses. */
static bool
shows_addresses (int fd)
{
  char head[LARGEST_TEXT];
  ssize_t size = pread (fd, head, sizeof head, 0);
  Text text = { head, head + MAX (size, 0) }, line;
  uint64_t address;

  while (sysprof_text_next_line (&text, &line))
    if (sysprof_text_hex (&line, &address) && address != 0)
      return true;
  return false;
}

int
sysprof_privilege_open_kallsyms (Privilege *self)
{
  autofd fd = sysprof_rights_open_kallsyms ();

  /* The text depends on the privileges of the process that opened it. */
  if (sysprof_privilege_has_helper (self) && (fd < 0 || !shows_addresses (fd)))
    {
      sysprof_autofd_close (&fd);
      fd = ASK (self, self->older != NULL ? sysprof_older_service_open_kallsyms (self->older)
                                          : sysprof_rights_ask_kallsyms (self->helper));
    }
  if (fd < 0)
    return -1;

  if (!shows_addresses (fd))
    {
      errno = ENODATA;
      return -1;
    }
  return sysprof_steal_fd (&fd);
}

int
sysprof_privilege_open_tracefs (Privilege *self, const char *path)
{
  if (self->tracefs_fd < 0)
    self->tracefs_fd = sysprof_rights_open_tracefs ();
  if (self->tracefs_fd < 0)
    return -1;

  return openat (self->tracefs_fd, path, O_RDONLY | O_CLOEXEC);
}

int
sysprof_privilege_open_switch_format (Privilege *self)
{
  int fd = sysprof_rights_open_switch_format ();

  if (is_refused (self, fd))
    fd = ASK (self, self->older != NULL
                        ? sysprof_older_service_open_file (self->older, SWITCH_FORMAT)
                        : sysprof_rights_ask_switch_format (self->helper));
  return fd;
}

/* The mount point of the hierarchy that perf events use: the version 1 hierarchy with
 * perf_event, else version 2. */
static char *
find_cgroup_mount (void)
{
  g_autofree char *text = NULL;
  g_autofree char *unified = NULL;
  Text rest, line;

  if (!g_file_get_contents ("/proc/self/mounts", &text, NULL, NULL))
    return NULL;

  rest = sysprof_text_from_string (text);
  while (sysprof_text_next_line (&rest, &line))
    {
      Text source, place, type, options;

      if (!sysprof_text_next_word (&line, &source) || !sysprof_text_next_word (&line, &place) ||
          !sysprof_text_next_word (&line, &type) || !sysprof_text_next_word (&line, &options))
        continue;

      if (sysprof_text_equal (type, "cgroup") &&
          memmem (options.at, sysprof_text_size (options), "perf_event",
                  strlen ("perf_event")) != NULL)
        return g_strndup (place.at, sysprof_text_size (place));

      if (sysprof_text_equal (type, "cgroup2") && unified == NULL)
        unified = g_strndup (place.at, sysprof_text_size (place));
    }

  return g_steal_pointer (&unified);
}

int
sysprof_privilege_open_cgroup (Privilege *self, const char *path)
{
  g_autofree char *mount = find_cgroup_mount ();
  g_autofree char *below = NULL;
  int fd;

  if (mount == NULL)
    {
      errno = ENOENT;
      return -1;
    }

  if (g_str_has_prefix (path, mount) &&
      (path[strlen (mount)] == '/' || path[strlen (mount)] == '\0'))
    return open (path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

  below = g_build_filename (mount, path, NULL);
  fd = open (below, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  return fd;
}

/* The effective capabilities as bits; 0 if unknown. */
static uint64_t
read_capabilities (void)
{
  g_autofree char *status = NULL;
  Text text, line;
  uint64_t effective;

  if (!g_file_get_contents ("/proc/self/status", &status, NULL, NULL))
    return 0;

  text = sysprof_text_from_string (status);
  while (sysprof_text_next_line (&text, &line))
    if (sysprof_text_skip (&line, "CapEff:\t") && sysprof_text_hex (&line, &effective))
      return effective;
  return 0;
}

/* CAP_SYS_ADMIN granted this before CAP_PERFMON was introduced. */
static bool
has_perfmon (void)
{
  return (read_capabilities () &
          (UINT64_C (1) << CAP_PERFMON | UINT64_C (1) << CAP_SYS_ADMIN)) != 0;
}

const char *
sysprof_privilege_describe_missing_confinement (void)
{
  const uint64_t needed = UINT64_C (1) << CAP_SETUID | UINT64_C (1) << CAP_SETGID;

  if (geteuid () != 0 || (read_capabilities () & needed) == needed)
    return NULL;
  return "Files of the recorded processes are not parsed, so unwind tables, symbols, perf "
         "maps, jitdumps and container descriptions are missing. A recorder that runs as "
         "root parses such files in child processes that switch to another user. That "
         "requires CAP_SETUID and CAP_SETGID, and this process does not have both. Start the "
         "container with '--cap-add SETUID --cap-add SETGID', or record as an ordinary user.";
}

/* In a user namespace, capabilities only apply to resources of that namespace. A namespace that
 * maps all users to themselves is not recognized. */
static bool
is_in_user_namespace (void)
{
  g_autofree char *map = NULL;
  unsigned inside, outside, n;

  return g_file_get_contents ("/proc/self/uid_map", &map, NULL, NULL) &&
         (sscanf (map, "%u %u %u", &inside, &outside, &n) != 3 || inside != 0 || outside != 0 ||
          n != UINT32_MAX);
}

char *
sysprof_privilege_describe_time_namespace (void)
{
  g_autofree char *offsets = NULL;
  long long seconds, nsec;

  if (!g_file_get_contents ("/proc/self/timens_offsets", &offsets, NULL, NULL) ||
      sscanf (offsets, "monotonic %lld %lld", &seconds, &nsec) != 2 ||
      (seconds == 0 && nsec == 0))
    return NULL;

  return g_strdup_printf (
      "Cannot sample in this time namespace: its clock differs by %lld s from the kernel's "
      "clock, which samples use. Record outside of it: 'nsenter --time=/proc/1/ns/time "
      "sysprof-cli ...' as root of the machine.",
      seconds);
}

const char *
sysprof_privilege_describe_older_service (const Privilege *self)
{
  if (self->older == NULL)
    return NULL;
  return "the sysprofd of this machine is of an older version, which lends neither BPF "
         "programs nor copies of stacks. Install the newer sysprofd.";
}

char *
sysprof_privilege_describe_missing_perf (Privilege *self)
{
  g_autofree char *paranoid = NULL;
  g_autofree char *program = g_file_read_link ("/proc/self/exe", NULL);

  if (self->has_described_perf)
    return g_strdup ("permission is missing, as described above.");
  self->has_described_perf = true;

  if (!g_file_get_contents ("/proc/sys/kernel/perf_event_paranoid", &paranoid, NULL, NULL))
    return g_strdup (
        "this kernel has no perf events (kernel.perf_event_paranoid does not exist): it was "
        "built without CONFIG_PERF_EVENTS, or /proc/sys is hidden. CAP_PERFMON would not "
        "help. Record on the host instead of in a container.");

  g_strstrip (paranoid);
  if (has_perfmon () && is_in_user_namespace ())
    return g_strdup_printf (
        "kernel.perf_event_paranoid is %s, and this process has CAP_PERFMON only in its user "
        "namespace, where it does not permit sampling. Record outside of the user namespace, "
        "as root of the machine.",
        paranoid);
  if (has_perfmon ())
    return g_strdup_printf (
        "kernel.perf_event_paranoid is %s, and this process has CAP_PERFMON, but "
        "perf_event_open is denied, most likely by the seccomp filter of a container. Start "
        "the container with '--cap-add PERFMON --security-opt seccomp=unconfined', or record "
        "on the host.",
        paranoid);

  return g_strdup_printf (
      "kernel.perf_event_paranoid is %s, and this process does not have CAP_PERFMON. To "
      "sample the whole system,\n"
      "  run it as root,\n"
      "  or install %s,\n"
      "  or allow it for this program: sudo setcap "
      "cap_perfmon,cap_bpf,cap_sys_ptrace,cap_syslog,cap_checkpoint_restore,cap_sys_nice+ep "
      "%s\n"
      "  or for all users, until the next boot: sudo sysctl kernel.perf_event_paranoid=-1",
      paranoid,
      self->older != NULL ? "a newer sysprofd: the older one of this machine gives only "
                            "samples of the whole system, at most 10000 per second"
                          : "sysprofd, which asks for a password",
      program != NULL ? program : "PROGRAM");
}
