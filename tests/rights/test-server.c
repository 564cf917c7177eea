// SPDX-License-Identifier: GPL-3.0-or-later

/* An untrusted client sends any bytes to the privileged side. The server must refuse them, and
 * must return only what the protocol allows. It runs on a thread, with the rights of the user
 * that runs the test. */

#include "rights/message.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <inttypes.h>
#include <linux/hw_breakpoint.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef struct
{
  int sockets[2]; /* ours, the server's */
  GThread *thread;
} Fixture;

static void *
serve (void *data)
{
  int socket = GPOINTER_TO_INT (data);
  RightsServer server;

  sysprof_rights_server_init (&server);
  while (sysprof_rights_server_handle (&server, socket))
    continue;
  sysprof_rights_server_clear (&server);
  (void) close (socket);
  return NULL;
}

static void
set_up (Fixture *self, const void *data)
{
  g_assert_cmpint (socketpair (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, self->sockets), ==,
                   0);
  self->thread = g_thread_new ("server", serve, GINT_TO_POINTER (self->sockets[1]));
}

static void
tear_down (Fixture *self, const void *data)
{
  (void) close (self->sockets[0]);
  g_thread_join (self->thread);
}

static unsigned
count_descriptors (void)
{
  g_autoptr (GDir) dir = g_dir_open ("/proc/self/fd", 0, NULL);
  unsigned n = 0;

  while (g_dir_read_name (dir) != NULL)
    n++;
  return n;
}

/* The errno of the answer; its descriptor, which is expected with 0 alone. */
static int
ask (Fixture *self, const RightsRequest *request, int fd, int *got)
{
  RightsAnswer answer;

  g_assert_true (sysprof_rights_send (self->sockets[0], request, sizeof *request, fd, 0));
  g_assert_true (sysprof_rights_receive (self->sockets[0], &answer, sizeof answer, got));
  if (answer.error != 0)
    g_assert_cmpint (*got, ==, -1);
  return answer.error;
}

static void
assert_refused (Fixture *self, const RightsRequest *request, int fd, int error)
{
  int got;

  g_assert_cmpint (ask (self, request, fd, &got), ==, error);
}

static RightsRequest
new_event (void)
{
  RightsRequest request = { .kind = ASK_EVENT, .pid = -1 };

  request.event.attr = (struct perf_event_attr){
    .size = sizeof request.event.attr,
    .type = PERF_TYPE_SOFTWARE,
    .config = PERF_COUNT_SW_DUMMY,
    .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
    .disabled = 1,
    .use_clockid = 1,
    .clockid = CLOCK_MONOTONIC,
    .exclude_kernel = 1,
    .exclude_hv = 1,
  };
  return request;
}

/* The kernel may pass anything to a tracepoint. Switches are known, after the server has
 * read their format. */
static void
test_raw_parts_are_of_switches_alone (Fixture *self, const void *data)
{
  RightsRequest request = new_event ();
  const RightsRequest format = { .kind = ASK_SWITCH_FORMAT };
  int got;

  request.event.attr.type = PERF_TYPE_TRACEPOINT;
  request.event.attr.config = 316;
  request.event.attr.sample_type |= PERF_SAMPLE_RAW;
  g_assert_cmpint (sysprof_rights_check_event (&request, false, 316, false), ==, 0);
  g_assert_cmpint (sysprof_rights_check_event (&request, false, 317, false), ==, EPERM);
  g_assert_cmpint (sysprof_rights_check_event (&request, false, 0, false), ==, EPERM);
  request.event.attr.config = 0;
  g_assert_cmpint (sysprof_rights_check_event (&request, false, 0, false), ==, EPERM);
  assert_refused (self, &request, -1, EPERM);

  /* A client that may not read it does not receive it either. */
  if (ask (self, &format, -1, &got) == 0)
    {
      char text[512] = "";

      g_assert_cmpint (got, >=, 0);
      g_assert_cmpint (read (got, text, sizeof text - 1), >, 0);
      g_assert_true (g_str_has_prefix (text, "name: sched_switch\nID: "));
      (void) close (got);
    }
}

/* The type of such devices differs from machine to machine; the server looks it up, this
 * machine may have none. */
static void
test_energy_is_counted_only (Fixture *self, const void *data)
{
  RightsRequest request = new_event ();

  request.event.attr.type = 23;
  request.event.attr.config = 2;
  request.event.attr.sample_type = 0;
  g_assert_cmpint (sysprof_rights_check_event (&request, false, 0, true), ==, 0);
  g_assert_cmpint (sysprof_rights_check_event (&request, false, 0, false), ==, EPERM);
  g_assert_cmpint (sysprof_rights_check_event (&request, true, 0, true), ==, EPERM);
  request.event.attr.sample_type = PERF_SAMPLE_IP;
  g_assert_cmpint (sysprof_rights_check_event (&request, false, 0, true), ==, EPERM);
  request.event.attr.sample_type = 0;
  request.event.attr.sample_period = 1000;
  g_assert_cmpint (sysprof_rights_check_event (&request, false, 0, true), ==, EPERM);
  request.event.attr.sample_period = 0;
  request.event.attr.config = 0x100;
  g_assert_cmpint (sysprof_rights_check_event (&request, false, 0, true), ==, EPERM);
  request.event.attr.config = 2;
  request.pid = 1;
  g_assert_cmpint (sysprof_rights_check_event (&request, false, 0, true), ==, EPERM);
  g_assert_false (sysprof_rights_counts_energy (1000));
}

static void
test_refuses_unknown_events (Fixture *self, const void *data)
{
  const RightsRequest known = new_event ();
  RightsRequest request;

#define ASSERT_REFUSED_WITH(change) \
  request = known;                  \
  request.change;                   \
  assert_refused (self, &request, -1, EPERM)

  g_assert_cmpint (sysprof_rights_check_event (&known, false, 0, false), ==, 0);
  ASSERT_REFUSED_WITH (event.attr.type = PERF_TYPE_BREAKPOINT);
  ASSERT_REFUSED_WITH (event.attr.type = PERF_TYPE_RAW);
  ASSERT_REFUSED_WITH (event.attr.type = 1000); /* some device of /sys/bus/event_source */
  ASSERT_REFUSED_WITH (event.attr.config = PERF_COUNT_SW_BPF_OUTPUT + 1);
  ASSERT_REFUSED_WITH (event.attr.config1 = 1);
  ASSERT_REFUSED_WITH (event.attr.config2 = 1);
  ASSERT_REFUSED_WITH (event.attr.size = 64);
  ASSERT_REFUSED_WITH (event.attr.bp_type = HW_BREAKPOINT_X);
  ASSERT_REFUSED_WITH (event.attr.sample_type |= PERF_SAMPLE_RAW);
  ASSERT_REFUSED_WITH (event.attr.sample_type |= PERF_SAMPLE_PHYS_ADDR);
  ASSERT_REFUSED_WITH (event.attr.sample_stack_user = 65536);
  ASSERT_REFUSED_WITH (event.attr.sigtrap = 1);
  ASSERT_REFUSED_WITH (event.attr.text_poke = 1);
  ASSERT_REFUSED_WITH (event.attr.clockid = CLOCK_REALTIME);
  ASSERT_REFUSED_WITH (event.attr.aux_watermark = 1);
  ASSERT_REFUSED_WITH (event.cpu = -1);
  ASSERT_REFUSED_WITH (event.cpu = INT32_MAX);
  ASSERT_REFUSED_WITH (pid = 0);
  ASSERT_REFUSED_WITH (pid = -2);

  request = known;
  request.event.attr.config = PERF_COUNT_SW_CPU_CLOCK;
  request.event.attr.sample_period = 1;
  assert_refused (self, &request, -1, EPERM);
  request.event.attr.freq = 1;
  request.event.attr.sample_freq = 1000000;
  assert_refused (self, &request, -1, EPERM);
  request.event.attr.sample_freq = 0;
  assert_refused (self, &request, -1, EPERM);
}

static void
test_refuses_unknown_numbers (Fixture *self, const void *data)
{
  const pid_t pid = getpid ();
  const struct
  {
    RightsRequest request;
    int error;
  } cases[] = {
    { { .kind = N_REQUESTS, .pid = pid }, EPERM },
    { { .kind = UINT32_MAX, .pid = pid }, EPERM },
    { { .kind = ASK_PROCESS_FILE, .pid = pid, .number = N_PROCESS_FILES }, EPERM },
    { { .kind = ASK_PROCESS_FILE, .pid = pid, .number = UINT32_MAX }, EPERM },
    { { .kind = ASK_PROCESS_FILE, .pid = 0 }, EPERM },
    { { .kind = ASK_PROCESS_FILE, .pid = -1 }, EPERM },
    { { .kind = ASK_NAMESPACE, .pid = pid, .number = N_PROCESS_NS }, EPERM },
    { { .kind = ASK_NAMESPACE, .pid = 0 }, EPERM },
    { { .kind = ASK_WALKER, .walker = { 100 } }, EPERM }, /* without maps */
    { { .kind = ASK_SLAB, .number = 0 }, EPERM },
    { { .kind = ASK_OUTPUT, .number = 0 }, EPERM },
    { { .kind = ASK_MAPPED_FILE, .mapping = { .pid = 0 } }, EPERM },
    { { .kind = ASK_MAPPED_FILE, .mapping = { .pid = pid, .start = 2, .end = 1 } }, EPERM },
  };

  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++)
    assert_refused (self, &cases[i].request, -1, cases[i].error);
}

/* Also where a descriptor comes along: it is taken for nothing else, and not kept. */
static void
test_keeps_no_descriptor (Fixture *self, const void *data)
{
  RightsRequest request = new_event ();
  int fd = open ("/dev/null", O_RDONLY | O_CLOEXEC);
  unsigned before = count_descriptors ();
  int got;

  /* Descriptors that are no cgroup. */
  g_assert_cmpint (ask (self, &request, fd, &got), !=, 0);
  request = (RightsRequest){ .kind = ASK_OUTPUT };
  assert_refused (self, &request, fd, EPERM);
  request = (RightsRequest){ .kind = N_REQUESTS };
  assert_refused (self, &request, fd, EPERM);
  g_assert_cmpuint (count_descriptors (), ==, before);
  (void) close (fd);
}

static void
send_two_descriptors (int socket, const RightsRequest *request)
{
  union
  {
    struct cmsghdr header;
    char bytes[CMSG_SPACE (2 * sizeof (int))];
  } control = { .header = { .cmsg_len = CMSG_LEN (2 * sizeof (int)),
                            .cmsg_level = SOL_SOCKET,
                            .cmsg_type = SCM_RIGHTS } };
  struct iovec part = { (void *) request, sizeof *request };
  struct msghdr message = {
    .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control
  };
  const int fds[2] = { 0, 1 };

  memcpy (CMSG_DATA (&control.header), fds, sizeof fds);
  g_assert_cmpint (sendmsg (socket, &message, 0), ==, sizeof *request);
}

/* The server ends the connection of a client that breaks the protocol. */
static void
test_ends_with_what_is_no_request (Fixture *self, const void *data)
{
  const char *how = data;
  const RightsRequest request = { .kind = N_REQUESTS };
  unsigned before = count_descriptors ();
  char byte;

  if (g_str_equal (how, "short"))
    g_assert_cmpint (send (self->sockets[0], &request, sizeof request - 1, 0), >, 0);
  else if (g_str_equal (how, "long"))
    {
      uint8_t more[sizeof request + 1] = { 0 };

      g_assert_cmpint (send (self->sockets[0], more, sizeof more, 0), >, 0);
    }
  else
    send_two_descriptors (self->sockets[0], &request);

  g_assert_cmpint (recv (self->sockets[0], &byte, 1, 0), ==, 0);
  g_thread_join (self->thread);
  g_assert_cmpuint (count_descriptors (), ==, before - 1); /* the server's end */

  (void) close (self->sockets[0]);
  set_up (self, NULL);
}

/* --- the file behind a mapping --- */

static ExecutableMapping
describe (const void *bytes, size_t size, const char *path)
{
  struct stat info;

  g_assert_cmpint (stat (path, &info), ==, 0);
  return (ExecutableMapping){
    .pid = getpid (),
    .device_major = major (info.st_dev),
    .device_minor = minor (info.st_dev),
    .inode = info.st_ino,
    .start = (uintptr_t) bytes,
    .end = (uintptr_t) bytes + size,
  };
}

static bool
follows_mappings (void)
{
  bool is_permitted = false;
  GDir *dir = g_dir_open ("/proc/self/map_files", 0, NULL);
  const char *name = dir != NULL ? g_dir_read_name (dir) : NULL;

  if (name != NULL)
    {
      g_autofree char *path = g_build_filename ("/proc/self/map_files", name, NULL);
      int fd = open (path, O_PATH | O_CLOEXEC);

      is_permitted = fd >= 0;
      if (fd >= 0)
        (void) close (fd);
    }
  if (dir != NULL)
    g_dir_close (dir);
  return is_permitted;
}

static int
ask_mapped (Fixture *self, const ExecutableMapping *mapping)
{
  int envelope = sysprof_rights_ask_mapped_file (self->sockets[0], mapping);
  uint8_t byte;
  int fd;

  if (envelope < 0)
    return -errno;
  g_assert_true (sysprof_rights_receive (envelope, &byte, sizeof byte, &fd));
  g_assert_cmpint (fd, >=, 0);
  (void) close (envelope);
  return fd;
}

static void
test_opens_what_is_mapped (Fixture *self, const void *data)
{
  size_t size = (size_t) sysconf (_SC_PAGESIZE);
  g_autofree char *path = NULL;
  int file = g_file_open_tmp ("rights-XXXXXX", &path, NULL);
  ExecutableMapping right, wrong;
  struct stat info;
  void *bytes;
  int fd;

  g_assert_cmpint (ftruncate (file, (off_t) size), ==, 0);
  bytes = mmap (NULL, size, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
  if (bytes == MAP_FAILED || !follows_mappings ())
    {
      g_test_skip ("may not follow mappings, which takes CAP_CHECKPOINT_RESTORE: run as root");
      goto out;
    }

  right = describe (bytes, size, path);
  (void) unlink (path); /* deleted, as a replaced library is */
  fd = ask_mapped (self, &right);
  if (fd == -ESTALE)
    {
      g_test_skip (
          "the file system of temporary files tells other numbers in maps than in stat()");
      goto out;
    }
  g_assert_cmpint (fd, >=, 0);
  g_assert_cmpint (fstat (fd, &info), ==, 0);
  g_assert_cmpuint (info.st_ino, ==, right.inode);
  g_assert_cmpint (fcntl (fd, F_GETFL) & O_ACCMODE, ==, O_RDONLY);
  (void) close (fd);

  wrong = right;
  wrong.inode++;
  g_assert_cmpint (ask_mapped (self, &wrong), ==, -ESTALE);
  wrong = right;
  wrong.device_minor++;
  g_assert_cmpint (ask_mapped (self, &wrong), ==, -ESTALE);
  wrong = right;
  wrong.end += size;
  g_assert_cmpint (ask_mapped (self, &wrong), ==, -ESTALE);

  g_assert_cmpint (mprotect (bytes, size, PROT_READ), ==, 0);
  g_assert_cmpint (ask_mapped (self, &right), ==, -ESTALE);

out:
  if (bytes != MAP_FAILED)
    (void) munmap (bytes, size);
  (void) unlink (path);
  (void) close (file);
}

static void
test_opens_no_device (Fixture *self, const void *data)
{
  size_t size = (size_t) sysconf (_SC_PAGESIZE);
  int device = open ("/dev/zero", O_RDONLY | O_CLOEXEC);
  void *bytes = mmap (NULL, size, PROT_READ | PROT_EXEC, MAP_PRIVATE, device, 0);
  ExecutableMapping mapping;

  if (bytes == MAP_FAILED || !follows_mappings ())
    {
      g_test_skip ("may not follow mappings, or map a device");
      (void) close (device);
      return;
    }

  mapping = describe (bytes, size, "/dev/zero");
  g_assert_cmpint (ask_mapped (self, &mapping), ==, -ESTALE);
  (void) munmap (bytes, size);
  (void) close (device);
}

/* Runs a copy of a program as the user "nobody", who may execute the copy but not read it.
 * Returns its process; `mapping` is that of its code. */
static GPid
run_unreadable (const char *path, ExecutableMapping *mapping)
{
  g_autofree char *copy = g_strdup_printf ("cp /bin/sleep '%s' && chmod 711 '%s'", path, path);
  const char *argv[] = { "setpriv", "--reuid=65534", "--clear-groups", path, "1000", NULL };
  g_autofree char *maps = NULL;
  char access[5] = "";
  bool is_found = false;
  GPid pid;

  g_assert_cmpint (system (copy), ==, 0);
  g_assert_true (g_spawn_async (NULL, (char **) argv, NULL,
                                G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD, NULL, NULL,
                                &pid, NULL));
  maps = g_strdup_printf ("/proc/%d/maps", pid);
  while (!is_found)
    {
      g_autofree char *text = NULL;
      g_auto (GStrv) lines = NULL;

      g_assert_true (g_file_get_contents (maps, &text, NULL, NULL));
      lines = g_strsplit (text, "\n", -1);
      for (size_t i = 0; lines[i] != NULL && !is_found; i++)
        is_found = g_str_has_suffix (lines[i], path) &&
                   sscanf (lines[i], "%" SCNx64 "-%" SCNx64 " %4s %*x %x:%x %" SCNu64,
                           &mapping->start, &mapping->end, access, &mapping->device_major,
                           &mapping->device_minor, &mapping->inode) == 6 &&
                   access[2] == 'x';
    }
  mapping->pid = pid;
  return pid;
}

static void
test_opens_only_readable_programs (Fixture *self, const void *data)
{
  g_autofree char *directory = g_dir_make_tmp ("rights-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (directory, "program", NULL);
  g_autofree char *program = g_find_program_in_path ("setpriv");
  ExecutableMapping mapping;
  GPid pid;
  int fd;

  if (geteuid () != 0 || program == NULL || !follows_mappings ())
    {
      (void) rmdir (directory);
      g_test_skip ("needs root, setpriv, and may follow mappings");
      return;
    }

  g_assert_cmpint (chmod (directory, 0755), ==, 0);
  pid = run_unreadable (path, &mapping);
  g_assert_cmpint (ask_mapped (self, &mapping), ==, -EACCES);
  g_assert_cmpint (chmod (path, 0740), ==, 0); /* of the group of root, which it has kept */
  fd = ask_mapped (self, &mapping);
  g_assert_cmpint (fd, >=, 0);
  (void) close (fd);
  g_assert_cmpint (chmod (path, 0704), ==, 0); /* not of the group */
  g_assert_cmpint (ask_mapped (self, &mapping), ==, -EACCES);
  (void) kill (pid, SIGKILL);
  (void) waitpid (pid, NULL, 0);
  (void) unlink (path);
  (void) rmdir (directory);
}

/* --- the walker --- */

static void
test_makes_one_walker (Fixture *self, const void *data)
{
  WalkProgram program, again;
  int socket = self->sockets[0];
  int promise, fd;

  if (!sysprof_rights_ask_walker_maps (socket, &program))
    {
      g_assert_true (errno == EPERM || errno == ENOSYS);
      g_test_skip (errno == ENOSYS ? "built without BPF" : "not permitted: run as root");
      return;
    }

  g_assert_cmpint (program.slabs_fd, ==, -1);
  g_assert_cmpint (program.events_fd, ==, -1);
  g_assert_false (sysprof_rights_ask_walker_maps (socket, &again));

  fd = sysprof_rights_ask_slab (socket, UNWIND_MOST_SLABS - 1);
  g_assert_cmpint (fd, >=, 0);
  (void) close (fd);
  g_assert_cmpint (sysprof_rights_ask_slab (socket, UNWIND_MOST_SLABS - 1), ==, -1);
  g_assert_cmpint (sysprof_rights_ask_slab (socket, UNWIND_MOST_SLABS), ==, -1);

  /* A descriptor that is no event gets no walker. */
  fd = open ("/dev/null", O_RDONLY | O_CLOEXEC);
  g_assert_false (sysprof_rights_ask_output (socket, 0, fd));
  g_assert_false (sysprof_rights_ask_output (socket, INT32_MAX, fd));
  (void) close (fd);

  g_assert_cmpint (sysprof_rights_ask_walker (socket, UINT32_MAX, false), ==, -1);
  promise = sysprof_rights_ask_walker (socket, 10, false);
  g_assert_cmpint (promise, >=, 0);
  /* It answers while the kernel verifies. */
  fd = sysprof_rights_ask_process_file (socket, getpid (), PROCESS_STATUS);
  g_assert_cmpint (fd, >=, 0);
  (void) close (fd);
  fd = sysprof_rights_wait_for_walker (promise);
  g_assert_cmpint (fd, >=, 0);
  (void) close (fd);
  g_assert_cmpint (sysprof_rights_ask_walker (socket, 10, false), ==, -1);
  sysprof_walk_program_clear (&program);
}

int
main (int argc, char **argv)
{
#define ADD(path, data, func) \
  g_test_add ("/rights/server/" path, Fixture, data, set_up, func, tear_down)

  g_test_init (&argc, &argv, NULL);
  ADD ("refuses-unknown-events", NULL, test_refuses_unknown_events);
  ADD ("raw-parts-are-of-switches-alone", NULL, test_raw_parts_are_of_switches_alone);
  ADD ("energy-is-counted-only", NULL, test_energy_is_counted_only);
  ADD ("refuses-unknown-numbers", NULL, test_refuses_unknown_numbers);
  ADD ("keeps-no-descriptor", NULL, test_keeps_no_descriptor);
  ADD ("ends-with-a-short-request", "short", test_ends_with_what_is_no_request);
  ADD ("ends-with-a-long-request", "long", test_ends_with_what_is_no_request);
  ADD ("ends-with-two-descriptors", "two", test_ends_with_what_is_no_request);
  ADD ("opens-what-is-mapped", NULL, test_opens_what_is_mapped);
  ADD ("opens-no-device", NULL, test_opens_no_device);
  ADD ("opens-only-readable-programs", NULL, test_opens_only_readable_programs);
  ADD ("makes-one-walker", NULL, test_makes_one_walker);
  return g_test_run ();
}
