// SPDX-License-Identifier: GPL-3.0-or-later

/* A privileged parent lends its rights to a recorder: this program again, as an unprivileged
 * user.
 *
 *     lend-rights PID SECONDS CAPTURE [off-cpu]
 *
 * The recorder first tries forbidden requests about process PID of root and about the kernel.
 * It then installs a filter that kills it when it opens an event or uses BPF itself. Finally it
 * records: everything, or only that process and where it waits. */

#include "record/recorder.h"
#include "rights/rights.h"

#include <grp.h>
#include <linux/audit.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define NOBODY 65534
#define SOCKET 3
#define SECOND 1e9

/* --- the recorder --- */

static void
expect_refused (const char *what, long result)
{
  if (result >= 0 || (errno != EPERM && errno != EACCES))
    {
      fprintf (stderr, "%s: %s\n", what, result >= 0 ? "permitted" : g_strerror (errno));
      exit (1);
    }
  printf ("refused: %s\n", what);
}

static void
print_status (void)
{
  g_autofree char *status = NULL;
  g_auto (GStrv) lines = NULL;

  if (!g_file_get_contents ("/proc/self/status", &status, NULL, NULL))
    exit (1);
  lines = g_strsplit (status, "\n", -1);
  for (size_t i = 0; lines[i] != NULL; i++)
    if (g_str_has_prefix (lines[i], "Uid:") || g_str_has_prefix (lines[i], "Gid:") ||
        g_str_has_prefix (lines[i], "Groups:") || g_str_has_prefix (lines[i], "Cap"))
      printf ("%s\n", lines[i]);
}

static void
try_alone (int pid)
{
  struct perf_event_attr event = {
    .size = sizeof event,
    .type = PERF_TYPE_SOFTWARE,
    .config = PERF_COUNT_SW_CPU_CLOCK,
    .sample_period = 1000000,
  };
  union bpf_attr map = {
    .map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4, .max_entries = 1
  };
  const struct bpf_insn nothing[] = { { .code = BPF_ALU64 | BPF_MOV | BPF_K },
                                      { .code = BPF_JMP | BPF_EXIT } };
  union bpf_attr program = {
    .prog_type = BPF_PROG_TYPE_PERF_EVENT,
    .insns = (uintptr_t) nothing,
    .insn_cnt = G_N_ELEMENTS (nothing),
    .license = (uintptr_t) "GPL",
  };
  g_autofree char *maps = g_strdup_printf ("/proc/%d/maps", pid);
  g_autofree char *exe = g_strdup_printf ("/proc/%d/exe", pid);

  print_status ();
  expect_refused ("event of a CPU", syscall (SYS_perf_event_open, &event, -1, 0, -1, 0));
  expect_refused ("event of a process of root",
                  syscall (SYS_perf_event_open, &event, pid, -1, -1, 0));
  expect_refused ("program in the kernel",
                  syscall (SYS_bpf, BPF_PROG_LOAD, &program, sizeof program));
  expect_refused ("map in the kernel", syscall (SYS_bpf, BPF_MAP_CREATE, &map, sizeof map));
  expect_refused ("mappings of a process of root", open (maps, O_RDONLY | O_CLOEXEC));
  expect_refused ("program of a process of root", open (exe, O_RDONLY | O_CLOEXEC));
  expect_refused ("file of root", open ("/etc/shadow", O_RDONLY | O_CLOEXEC));
}

/* Requests that the parent must refuse in each form. */
static void
try_parent (int pid)
{
  struct perf_event_attr breakpoint = { .size = sizeof breakpoint,
                                        .type = PERF_TYPE_BREAKPOINT };

  expect_refused ("breakpoint, of the parent",
                  sysprof_rights_ask_event (SOCKET, &breakpoint, pid, 0, -1));
  expect_refused ("unknown file, of the parent",
                  sysprof_rights_ask_process_file (SOCKET, pid, N_PROCESS_FILES));
}

/* From here on whoever tries dies of it. */
static void
forbid_for_good (void)
{
  struct sock_filter filter[] = {
    BPF_STMT (BPF_LD | BPF_W | BPF_ABS, offsetof (struct seccomp_data, nr)),
    BPF_JUMP (BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 1, 0),
    BPF_JUMP (BPF_JMP | BPF_JEQ | BPF_K, SYS_bpf, 0, 1),
    BPF_STMT (BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    BPF_STMT (BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const struct sock_fprog program = { G_N_ELEMENTS (filter), filter };

  if (prctl (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0)
    exit (1);
}

static int
record (int pid, double seconds, const char *path, bool with_waits)
{
  const gint32 pids[] = { pid };
  const SamplerOptions options = {
    .unwind = UNWIND_TABLES,
    .pids = with_waits ? pids : NULL,
    .n_pids = with_waits ? 1 : 0,
  };
  g_autoptr (SysprofProfiler) profiler = sysprof_profiler_new ();
  SysprofCaptureWriter *writer = sysprof_capture_writer_new (path, 0);
  Recorded recorded = { 0 };
  g_autoptr (GListModel) diagnostics = NULL;
  bool has_failed;

  try_alone (pid);
  try_parent (pid);
  if (writer == NULL)
    return 1;

  forbid_for_good ();
  sysprof_profiler_add_instrument (profiler, sysprof_sampler_new_with_options (&options));
  sysprof_profiler_add_instrument (profiler, sysprof_scheduler_details_new ());
  if (with_waits)
    sysprof_profiler_add_instrument (profiler, sysprof_off_cpu_new (&options));
  sysprof_profiler_set_helper (profiler, SOCKET);
  sysprof_profiler_set_max_duration (profiler, (gint64) (seconds * SECOND));
  record_and_wait (&recorded, profiler, writer);

  diagnostics = sysprof_recording_list_diagnostics (recorded.recording);
  for (guint i = 0; i < g_list_model_get_n_items (diagnostics); i++)
    {
      g_autoptr (SysprofDiagnostic) diagnostic = g_list_model_get_item (diagnostics, i);

      printf ("told: %s\n", sysprof_diagnostic_get_message (diagnostic));
    }
  has_failed = recorded.error != NULL;
  if (has_failed)
    fprintf (stderr, "%s\n", recorded.error->message);
  recorded_clear (&recorded);
  return has_failed;
}

/* --- the parent --- */

_Noreturn static void
become_recorder (char **argv, int socket)
{
  struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
  struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { 0 };
  char *const words[] = { argv[0], (char *) "--recorder", argv[1], argv[2], argv[3], argv[4],
                          NULL };

  if (dup2 (socket, SOCKET) < 0 || (socket == SOCKET && fcntl (SOCKET, F_SETFD, 0) != 0) ||
      syscall (SYS_close_range, SOCKET + 1, ~0U, 0) != 0 || setgroups (0, NULL) != 0 ||
      setresgid (NOBODY, NOBODY, NOBODY) != 0 || setresuid (NOBODY, NOBODY, NOBODY) != 0 ||
      syscall (SYS_capset, &header, none) != 0)
    _exit (1);
  (void) execv (argv[0], words);
  _exit (1);
}

static int
lend (char **argv)
{
  RightsServer server;
  int sockets[2];
  int status;
  pid_t recorder;

  if (socketpair (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0)
    return 1;
  recorder = fork ();
  if (recorder == 0)
    become_recorder (argv, sockets[1]);
  (void) close (sockets[1]);

  sysprof_rights_server_init (&server);
  while (sysprof_rights_server_handle (&server, sockets[0]))
    continue;
  sysprof_rights_server_clear (&server);

  if (recorder < 0 || waitpid (recorder, &status, 0) != recorder)
    return 1;
  if (WIFSIGNALED (status))
    fprintf (stderr, "the recorder died of signal %d\n", WTERMSIG (status));
  return WIFEXITED (status) ? WEXITSTATUS (status) : 1;
}

int
main (int argc, char **argv)
{
  setvbuf (stdout, NULL, _IOLBF, 0);
  if (argc >= 5 && strcmp (argv[1], "--recorder") == 0)
    return record (atoi (argv[2]), atof (argv[3]), argv[4], argc == 6);
  if (argc == 4 || (argc == 5 && strcmp (argv[4], "off-cpu") == 0))
    return lend (argv);

  fprintf (stderr, "usage: lend-rights PID SECONDS CAPTURE [off-cpu]\n");
  return 2;
}
