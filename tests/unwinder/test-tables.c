// SPDX-License-Identifier: GPL-3.0-or-later

/* Files and processes with pending samples: the order in which tables are published, and the
 * reasons for missing tables. */

#include "access/proc-text.h"
#include "tests/unwinder/builders.h"
#include "unwinder/mapping-events.h"
#include "unwinder/processes.h"

#include <dlfcn.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <gnu/libc-version.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define NOBODY_PID 4194303 /* which was not reported, and which does not exist */

typedef struct
{
  UnwindIndex *index;
  Privilege *privilege;
  UnwindPublisher *publisher;
  CodeFiles *files;
  CodeProcesses *processes;
  MappingEvents *mapping_events;
  int wake_fd;
} Fixture;

static void
set_up (Fixture *self, gconstpointer data)
{
  self->index = g_new0 (UnwindIndex, 1);
  self->privilege = sysprof_privilege_new ();
  self->wake_fd = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);
  self->mapping_events = sysprof_mapping_events_new (self->wake_fd);
  self->publisher = sysprof_unwind_publisher_new (self->index, NULL, NULL);
  self->files = sysprof_code_files_new (self->publisher, self->privilege, self->mapping_events,
                                        self->wake_fd, NULL);
  self->processes = sysprof_code_processes_new (self->publisher, self->files, self->privilege,
                                                self->mapping_events);
}

static void
tear_down (Fixture *self, gconstpointer data)
{
  sysprof_code_processes_free (self->processes);
  sysprof_code_files_free (self->files);
  sysprof_mapping_events_free (self->mapping_events);
  sysprof_unwind_publisher_free (self->publisher);
  sysprof_privilege_unref (self->privilege);
  (void) close (self->wake_fd);
  g_free (self->index);
}

static CodeState
ask (Fixture *self, int32_t pid)
{
  uint32_t walk_as;

  return sysprof_code_processes_ask (self->processes, pid, INT64_MAX, &walk_as);
}

static uint32_t
n_mappings (Fixture *self)
{
  return sysprof_unwind_publisher_get_use (self->publisher).n_mappings;
}

/* Each sample of a process that waits asks; what is published in vain stays taken for a while. */
static void
test_published_once_until_tables_come (Fixture *self, gconstpointer data)
{
  uint32_t n;
  CodeState state = ask (self, getpid ());

  g_assert_cmpint (state, ==, CODE_PENDING); /* no table was collected */
  n = n_mappings (self);
  g_assert_cmpuint (n, >, 0);
  for (unsigned i = 0; i < 100; i++)
    g_assert_cmpint (ask (self, getpid ()), ==, CODE_PENDING);
  g_assert_cmpuint (n_mappings (self), ==, n);

  while (state == CODE_PENDING)
    {
      (void) sysprof_code_processes_publish (self->processes,
                                             collect_when_told (self->files, self->wake_fd),
                                             g_get_monotonic_time ());
      state = ask (self, getpid ());
    }
  g_assert_cmpint (state, ==, CODE_READY);
  g_assert_cmpuint (sysprof_code_files_get_status (self->files).n_failed, ==, 0);
}

static void
test_nobody_is_looked_for_once_a_look (Fixture *self, gconstpointer data)
{
  for (unsigned look = 0; look < 3; look++)
    {
      for (unsigned i = 0; i < 100; i++)
        g_assert_cmpint (ask (self, NOBODY_PID), ==, CODE_UNHEARD_OF);
      (void) sysprof_code_processes_publish (self->processes, false, g_get_monotonic_time ());
    }

  /* MappingEvents of since. */
  sysprof_code_processes_apply (
      self->processes, &(TaskEvent){ .kind = TASK_EXECUTED, .pid = NOBODY_PID, .time = 1 });
  g_assert_cmpint (ask (self, NOBODY_PID), ==, CODE_READY);
}

/* Not what a file without rules is: it may have some. */
static void
test_unreadable_file_has_failed (Fixture *self, gconstpointer data)
{
  const LiveMapping mapping = { NOBODY_PID, 0x1000, 0x2000, 77, 254, 1, "/no/such/file" };
  UnwindProcessMapping published = { .start = 0x1000, .end = 0x2000 };
  CodeFile *file = sysprof_code_files_get (self->files, &mapping, 0, true, 1);

  sysprof_code_file_describe (file, 0, &published);
  g_assert_true (published.has_failed);
  g_assert_false (published.is_pending);
  g_assert_cmpuint (sysprof_code_files_get_status (self->files).n_failed, ==, 1);
  sysprof_code_file_unref (file);
  g_assert_cmpstr (sysprof_walk_reason_to_string (WALK_TABLE_FAILED), ==, "table-failed");
  g_assert_false (sysprof_walk_reason_is_whole (WALK_TABLE_FAILED));

  sysprof_code_file_describe (NULL, 0, &published);
  g_assert_false (published.has_failed);
}

static void
wait_for_tables (Fixture *self)
{
  while (sysprof_code_files_get_status (self->files).n_waiting > 0)
    (void) collect_when_told (self->files, self->wake_fd);
}

/* Killed for want of memory, say: no fault of the file that is given to them next. */
static void
test_dead_builders_are_replaced (Fixture *self, gconstpointer data)
{
  if (!can_find_builders ())
    {
      g_test_skip ("the kernel does not list children");
      return;
    }
  kill_builders ();
  g_assert_cmpint (ask (self, getpid ()), ==, CODE_PENDING);
  wait_for_tables (self);
  g_assert_cmpuint (sysprof_code_files_get_status (self->files).n_failed, ==, 0);
  g_assert_cmpuint (sysprof_code_files_get_status (self->files).n_tables, >, 0);
}

/* A path can be anything, and a line is a file's. */
static void
test_contradictions_are_escaped (Fixture *self, gconstpointer data)
{
  g_autofree char *folder = g_dir_make_tmp ("tables-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "a\nb\\c", NULL);
  g_autofree char *expected = g_strdup_printf (" %s/a\\012b\\134c\n", folder);
  g_autoptr (GFile) from = NULL, to = g_file_new_for_path (path);
  const char *found;
  Dl_info libc;
  struct stat info;

  /* A function that sanitizers do not replace. */
  g_assert_cmpint (dladdr ((void *) (uintptr_t) gnu_get_libc_version, &libc), !=, 0);
  from = g_file_new_for_path (libc.dli_fname);
  g_assert_true (g_file_copy (from, to, G_FILE_COPY_NONE, NULL, NULL, NULL, NULL));
  g_assert_cmpint (stat (path, &info), ==, 0);
  sysprof_code_file_unref (sysprof_code_files_get (self->files,
                                                   &(LiveMapping){
                                                       .pid = getpid (),
                                                       .start = 0x1000,
                                                       .end = 0x2000,
                                                       .inode = info.st_ino,
                                                       .device_major = major (info.st_dev),
                                                       .device_minor = minor (info.st_dev),
                                                       .path = path,
                                                   },
                                                   0, true, 1));
  wait_for_tables (self);
  (void) g_unlink (path);
  (void) g_rmdir (folder);

  g_assert_cmpuint (sysprof_code_files_get_status (self->files).n_failed, ==, 0);
  found = sysprof_code_files_get_status (self->files).contradictions;
  if (found[0] == '\0')
    g_test_skip ("no rule of this C library contradicts its instructions");
  else
    g_assert_true (g_str_has_suffix (found, expected));
}

static pid_t
reader_of (UnwindWorker *worker, uid_t owner)
{
  autofd fd = memfd_create ("file", MFD_CLOEXEC);
  UnwindTable table = { 0 };
  struct stat info;
  autofd envelope = -1;

  g_assert_cmpint (fchown (fd, owner, (gid_t) -1), ==, 0);
  envelope = sysprof_live_files_wrap (fd, &info);
  g_assert_cmpint (sysprof_unwind_worker_build (worker, envelope, -1, &info, &table), !=,
                   ELF_OK); /* empty */
  return worker->child.pid;
}

/* A worker that reads one owner's file must not decide about the file of another owner. */
static void
test_owners_are_kept_apart (void)
{
  UnwindWorker worker = UNWIND_WORKER_INIT;
  pid_t first, second;

  if (geteuid () != 0)
    {
      g_test_skip ("only root can give files away");
      return;
    }

  first = reader_of (&worker, 0);
  g_assert_cmpint (first, >, 0);
  g_assert_cmpint (reader_of (&worker, 1001), ==, first); /* root is believed */
  g_assert_cmpint (reader_of (&worker, 1001), ==, first);
  second = reader_of (&worker, 1002);
  g_assert_cmpint (second, !=, first);
  g_assert_cmpint (reader_of (&worker, 1002), ==, second);
  g_assert_cmpint (reader_of (&worker, 0), !=, second);
  sysprof_unwind_worker_clear (&worker);
}

/* The first file that this program executes, as the walker in the kernel names it. */
static UnwindFileKey
find_own_file (void)
{
  g_autofree char *text = NULL;
  ProcMapping mapping;
  gsize size;
  Text maps;

  g_assert_true (g_file_get_contents ("/proc/self/maps", &text, &size, NULL));
  maps = (Text){ text, text + size };
  while (sysprof_proc_next_mapping (&maps, &mapping))
    if (mapping.is_executable && mapping.inode != 0)
      return (UnwindFileKey){
        .inode = mapping.inode,
        .device = UNWIND_DEVICE (mapping.device_major, mapping.device_minor),
        .generation = 7,
      };
  g_assert_not_reached ();
}

/* No event has reported the file: the pump's rings have not been drained yet. */
static void
test_reported_file_gets_its_table (Fixture *self, gconstpointer data)
{
  const UnwindFileKey file = find_own_file ();
  UnwindFileKey other = file;
  uint32_t n_waiting;

  g_assert_false (sysprof_code_files_is_building (self->files, &file));
  sysprof_code_processes_build_tables (self->processes, getpid (), &file);
  n_waiting = sysprof_code_files_get_status (self->files).n_waiting;
  g_assert_cmpuint (n_waiting, >, 0);
  g_assert_true (sysprof_code_files_is_building (self->files, &file));

  /* The walker reports it again until the table is there. Another file can have its inode. */
  sysprof_code_processes_build_tables (self->processes, getpid (), &file);
  g_assert_cmpuint (sysprof_code_files_get_status (self->files).n_waiting, ==, n_waiting);
  other.generation++;
  g_assert_false (sysprof_code_files_is_building (self->files, &other));

  wait_for_tables (self);
  g_assert_false (sysprof_code_files_is_building (self->files, &file));
  g_assert_cmpuint (sysprof_code_files_get_status (self->files).n_tables, >, 0);

  /* The process may have exited since. */
  sysprof_code_processes_build_tables (self->processes, NOBODY_PID, &other);
  g_assert_cmpuint (sysprof_code_files_get_status (self->files).n_waiting, ==, 0);
}

/* With --pid: a child of a wanted process whose number an earlier child had a moment ago is wanted, too. */
static void
test_reused_number_stays_wanted (Fixture *self, gconstpointer data)
{
  const int32_t parent = getpid (), child = NOBODY_PID;
  const TaskEvent events[] = {
    { .kind = TASK_FORKED, .pid = child, .parent_pid = parent, .time = 1 },
    { .kind = TASK_EXECUTED, .pid = child, .time = 2 },
    { .kind = TASK_EXITED, .pid = child, .time = 3 },
    { .kind = TASK_FORKED, .pid = child, .parent_pid = parent, .time = 4 },
  };
  g_autoptr (GArray) wanted = NULL;
  bool is_wanted = false;

  sysprof_code_processes_narrow (self->processes, parent);
  for (size_t i = 0; i < G_N_ELEMENTS (events); i++)
    sysprof_code_processes_apply (self->processes, &events[i]);

  wanted = sysprof_code_processes_list_wanted (self->processes);
  for (guint i = 0; i < wanted->len; i++)
    is_wanted |= g_array_index (wanted, int32_t, i) == child;
  g_assert_true (is_wanted);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add ("/unwinder/tables/published-once", Fixture, NULL, set_up,
              test_published_once_until_tables_come, tear_down);
  g_test_add ("/unwinder/tables/nobody", Fixture, NULL, set_up,
              test_nobody_is_looked_for_once_a_look, tear_down);
  g_test_add ("/unwinder/tables/unreadable", Fixture, NULL, set_up,
              test_unreadable_file_has_failed, tear_down);
  g_test_add ("/unwinder/tables/reused-number", Fixture, NULL, set_up,
              test_reused_number_stays_wanted, tear_down);
  g_test_add ("/unwinder/tables/reported", Fixture, NULL, set_up,
              test_reported_file_gets_its_table, tear_down);
  g_test_add ("/unwinder/tables/dead-builders", Fixture, NULL, set_up,
              test_dead_builders_are_replaced, tear_down);
  g_test_add ("/unwinder/tables/escaped", Fixture, NULL, set_up,
              test_contradictions_are_escaped, tear_down);
  g_test_add_func ("/unwinder/tables/owners", test_owners_are_kept_apart);
  return g_test_run ();
}
