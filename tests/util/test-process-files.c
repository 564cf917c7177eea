// SPDX-License-Identifier: GPL-3.0-or-later

/* Files are opened with the rights of a process's user: what that user may not read stays closed, whatever the path leads to. Expected
 * results are those that the kernel gives that user. */

#include "util/util.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <grp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define USER  54321u /* no account has it */
#define GROUP 54322u
#define EXTRA 54323u

#define TEXT "what the file says"

/* --- texts --- */

static ProcessUser *
parse (const char *text)
{
  return sysprof_process_user_parse (text, strlen (text));
}

static void
test_reads_status (void)
{
  ProcessUser *user = parse ("Name:\tx\nUid:\t1\t1\t1\t1\nGid:\t2\t2\t2\t2\n"
                             "Groups:\t3 4294967294 \nNSpid:\t700\t30\t1\nVmPeak:\t9 kB\n");

  g_assert_nonnull (user);
  g_assert_cmpuint (user->uid, ==, 1);
  g_assert_cmpuint (user->gid, ==, 2);
  g_assert_cmpint (user->inner_pid, ==, 1);
  g_assert_cmpuint (user->n_groups, ==, 2);
  g_assert_cmpuint (user->groups[0], ==, 3);
  g_assert_cmpuint (user->groups[1], ==, 4294967294u);
  sysprof_process_user_free (user);
}

/* Each differs from a complete text in one thing. */
static void
test_refuses_status (void)
{
  static const char *const texts[] = {
    "Uid:\t1\t0\t1\t1\nGid:\t2\t2\t2\t2\nGroups:\t3 \nNSpid:\t7\n", /* effective user */
    "Uid:\t1\t1\t1\t0\nGid:\t2\t2\t2\t2\nGroups:\t3 \nNSpid:\t7\n", /* file system's */
    "Uid:\t1\t1\t1\t1\nGid:\t2\t2\t0\t2\nGroups:\t3 \nNSpid:\t7\n", /* saved group */
    "Uid:\t1\t1\t1\t1\nGid:\t2\t2\t2\t2\nNSpid:\t7\n",
    "Uid:\t1\t1\t1\t1\nGid:\t2\t2\t2\t2\nGroups:\t3 \n",
    "Uid:\t1\t1\t1\t1\nGid:\t2\t2\t2\t2\nGroups:\t3 x\nNSpid:\t7\n",
    "Uid:\t1\t1\t1\t1\nGid:\t2\t2\t2\t2\nGroups:\t4294967296 \nNSpid:\t7\n",
    "",
  };

  for (size_t i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_assert_null (parse (texts[i]));
      g_assert_cmpint (errno, ==, EPERM);
    }
}

/* --- processes --- */

/* A process of that user with `n_groups` groups, which waits until it is killed. */
static pid_t
start_process (uint32_t uid, uint32_t gid, const gid_t *groups, size_t n_groups)
{
  int ready[2];
  uint8_t byte;
  pid_t pid;

  g_assert_no_errno (pipe (ready));
  pid = fork ();
  if (pid == 0)
    {
      (void) prctl (PR_SET_PDEATHSIG, SIGKILL);
      if (setgroups (n_groups, groups) != 0 || setresgid (gid, gid, gid) != 0 ||
          setresuid (uid, uid, uid) != 0 || write (ready[1], "", 1) != 1)
        _exit (1);
      for (;;)
        pause ();
    }
  g_assert_cmpint (pid, >, 0);
  close (ready[1]);
  g_assert_cmpint (read (ready[0], &byte, 1), ==, 1);
  close (ready[0]);
  return pid;
}

static void
end_process (pid_t pid)
{
  (void) kill (pid, SIGKILL);
  (void) waitpid (pid, NULL, 0);
}

#define MANY_GROUPS 2000

static void
test_reads_process_of_many_groups (void)
{
  gid_t groups[MANY_GROUPS];
  ProcessUser *user;
  int root;
  pid_t pid;

  for (gid_t i = 0; i < MANY_GROUPS; i++)
    groups[i] = 1000000 + i;
  pid = start_process (USER, GROUP, groups, MANY_GROUPS);
  user = sysprof_process_user_read (pid, &root);
  end_process (pid);

  g_assert_nonnull (user);
  g_assert_cmpint (root, >=, 0);
  g_assert_cmpuint (user->uid, ==, USER);
  g_assert_cmpuint (user->gid, ==, GROUP);
  g_assert_cmpint (user->inner_pid, ==, pid);
  g_assert_cmpuint (user->n_groups, ==, MANY_GROUPS);
  g_assert_cmpuint (user->groups[MANY_GROUPS - 1], ==, 1000000 + MANY_GROUPS - 1);
  g_assert_null (sysprof_process_user_read (pid, NULL)); /* it has ended */
  close (root);
  sysprof_process_user_free (user);
}

/* --- files --- */

typedef struct
{
  ProcessFiles files;
  ProcessUser *user; /* USER, GROUP, EXTRA */
  char *folder;      /* that user's */
  int root;          /* the folder */
} Fixture;

static ProcessUser *
make_user (uint32_t uid, uint32_t gid, uint32_t extra)
{
  ProcessUser *user = malloc (sizeof *user + sizeof *user->groups);

  *user = (ProcessUser){ .uid = uid, .gid = gid, .inner_pid = 1, .n_groups = 1 };
  user->groups[0] = extra;
  return user;
}

static void
set_up (Fixture *self, const void *data)
{
  (void) data;
  *self = (Fixture){ .user = make_user (USER, GROUP, EXTRA),
                     .folder = g_dir_make_tmp ("process-files-XXXXXX", NULL) };
  g_assert_nonnull (self->folder);
  g_assert_no_errno (chmod (self->folder, 0755));
  self->root = open (self->folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* Ends the children, and forgets which were shunned. */
static void
clear_files (ProcessFiles *files)
{
  for (unsigned i = 0; i < PROCESS_FILES_MOST_USERS; i++)
    if (files->users[i].user != NULL)
      {
        sysprof_opener_clear (&files->users[i].opener);
        sysprof_process_user_free (files->users[i].user);
      }
  *files = (ProcessFiles){ 0 };
}

static void
tear_down (Fixture *self, const void *data)
{
  g_autofree char *remove = g_strdup_printf ("rm -r '%s'", self->folder);

  (void) data;
  clear_files (&self->files);
  sysprof_process_user_free (self->user);
  close (self->root);
  g_assert_cmpint (system (remove), ==, 0);
  g_free (self->folder);
}

static char *
path_of (const Fixture *self, const char *name)
{
  return g_build_filename (self->folder, name, NULL);
}

static void
put (const Fixture *self, const char *name, uid_t uid, gid_t gid, mode_t mode)
{
  g_autofree char *path = path_of (self, name);

  g_assert_true (g_file_set_contents (path, TEXT, -1, NULL));
  g_assert_no_errno (chown (path, uid, gid));
  g_assert_no_errno (chmod (path, mode));
}

static int
open_copy (Fixture *self, const char *name, ProcessFileFlags flags, struct stat *info)
{
  return sysprof_process_files_open (&self->files, self->user, self->root, name, flags, 100,
                                     info);
}

static void
assert_readable (Fixture *self, const char *name, ProcessFileFlags flags)
{
  static const size_t copied[] = { 0, 100, 4 };
  struct stat info;

  for (size_t i = 0; i < G_N_ELEMENTS (copied); i++)
    {
      autofd envelope = sysprof_process_files_open (&self->files, self->user, self->root, name,
                                                    flags, copied[i], &info);
      autofd fd = envelope >= 0 ? sysprof_envelope_open (envelope) : -1;
      size_t expected = copied[i] == 4 ? 4 : strlen (TEXT);
      char text[100];

      g_assert_cmpint (fd, >=, 0);
      g_assert_cmpint (info.st_size, ==, strlen (TEXT));
      g_assert_cmpint (pread (fd, text, sizeof text, 0), ==, expected);
      g_assert_cmpmem (text, expected, TEXT, expected);
    }
}

static void
assert_refused (Fixture *self, const char *name, int error)
{
  struct stat info;

  for (size_t most = 0; most <= 100; most += 100)
    {
      int envelope = sysprof_process_files_open (&self->files, self->user, self->root, name, 0,
                                                 most, &info);

      if (errno != error || envelope != -1)
        g_error ("'%s': %d, %s", name, envelope, g_strerror (errno));
    }
}

static void
test_rights_are_those_of_the_user (Fixture *self, const void *data)
{
  (void) data;
  put (self, "everybody", 0, 0, 0644);
  put (self, "own", USER, 0, 0400);
  put (self, "of-group", 0, GROUP, 0040);
  put (self, "of-extra-group", 0, EXTRA, 0040);
  put (self, "secret", 0, 0, 0640);
  put (self, "not-for-extra-group", 0, EXTRA, 0604);
  assert_readable (self, "everybody", 0);
  assert_readable (self, "/everybody", 0);
  assert_readable (self, "../../everybody", 0); /* it cannot leave the root */
  assert_readable (self, "own", 0);
  assert_readable (self, "of-group", 0);
  assert_readable (self, "of-extra-group", 0);
  assert_refused (self, "secret", EACCES);
  assert_refused (self, "not-for-extra-group", EACCES);
  assert_refused (self, "missing", ENOENT);

  /* Nor is it enough that root has passed the directory. */
  g_assert_no_errno (chmod (self->folder, 0700));
  assert_refused (self, "everybody", EACCES);
}

/* Of root's processes, too, only what their user may do counts: a capability is a process's. */
static void
test_root_has_no_capabilities (Fixture *self, const void *data)
{
  (void) data;
  sysprof_process_user_free (self->user);
  self->user = make_user (0, 0, 0);
  put (self, "own", 0, 0, 0400);
  put (self, "of-another", USER, GROUP, 0600);
  put (self, "of-nobody", 0, 0, 0000);
  assert_readable (self, "own", 0);
  assert_refused (self, "of-another", EACCES);
  assert_refused (self, "of-nobody", EACCES);
}

static void
test_follows_links_only_on_request (Fixture *self, const void *data)
{
  g_autofree char *link = path_of (self, "link");
  g_autofree char *magic = path_of (self, "magic");
  struct stat info;

  (void) data;
  put (self, "target", USER, GROUP, 0400);
  g_assert_no_errno (symlink ("/target", link));
  g_assert_no_errno (symlink ("/proc/self/exe", magic));
  assert_refused (self, "link", ELOOP);
  assert_readable (self, "link", PROCESS_FILE_FOLLOW_LINKS);
  g_assert_cmpint (open_copy (self, "magic", PROCESS_FILE_FOLLOW_LINKS, &info), ==, -1);
  g_assert_cmpint (errno, ==, ENOENT); /* there is no /proc below the root */
}

static void
test_refuses_what_stores_no_data (Fixture *self, const void *data)
{
  static const char *const pseudo[] = { "/proc/1/status", "/proc/version",
                                        "/sys/kernel/notes" };
  g_autofree char *fifo = path_of (self, "fifo");
  g_autofree char *directory = path_of (self, "directory");
  struct stat info;
  int writer;

  (void) data;
  g_assert_no_errno (mkfifo (fifo, 0666));
  g_assert_no_errno (chown (fifo, USER, GROUP));
  g_assert_no_errno (mkdir (directory, 0755));
  assert_refused (self, "fifo", ENOTSUP);
  assert_refused (self, "directory", ENOTSUP);
  writer = open (fifo, O_WRONLY | O_NONBLOCK); /* it was not opened for reading */
  g_assert_cmpint (writer, ==, -1);
  g_assert_cmpint (errno, ==, ENXIO);

  for (size_t i = 0; i < G_N_ELEMENTS (pseudo); i++)
    if (access (pseudo[i], R_OK) == 0)
      {
        g_assert_cmpint (
            sysprof_process_files_open (&self->files, self->user, -1, pseudo[i], 0, 0, &info),
            ==, -1);
        g_assert_cmpint (errno, ==, ENOTSUP);
      }
  g_assert_cmpint (sysprof_process_files_open (&self->files, self->user, -1, "/dev/null",
                                               PROCESS_FILE_FOLLOW_LINKS, 0, &info),
                   ==, -1);
  g_assert_cmpint (errno, ==, ENOTSUP);
}

static void
test_reports_growth (Fixture *self, const void *data)
{
  g_autofree char *path = path_of (self, "own");
  struct stat info;
  autofd envelope = -1;

  (void) data;
  put (self, "own", USER, GROUP, 0600);
  envelope =
      sysprof_process_files_open (&self->files, self->user, self->root, "own", 0, 0, &info);
  g_assert_cmpint (envelope, >=, 0);
  g_assert_no_errno (truncate (path, 12345));
  g_assert_no_errno (unlink (path));
  g_assert_true (sysprof_process_files_stat (&self->files, self->user, envelope, &info));
  g_assert_cmpint (info.st_size, ==, 12345);
}

static pid_t
child_of (const Fixture *self)
{
  for (unsigned i = 0; i < PROCESS_FILES_MOST_USERS; i++)
    if (self->files.users[i].user != NULL &&
        sysprof_process_user_equal (self->files.users[i].user, self->user))
      return self->files.users[i].opener.child.pid;
  return 0;
}

/* As the kernel reports it. */
static void
test_child_has_nothing_else (Fixture *self, const void *data)
{
  g_autofree char *status_path = NULL, *status = NULL, *fd_path = NULL;
  g_autoptr (GDir) descriptors = NULL;
  struct stat info;
  unsigned n = 0;
  int kept = open ("/dev/null", O_RDONLY);

  (void) data;
  assert_refused (self, "missing", ENOENT);
  status_path = g_strdup_printf ("/proc/%d/status", child_of (self));
  fd_path = g_strdup_printf ("/proc/%d/fd", child_of (self));
  g_assert_true (g_file_get_contents (status_path, &status, NULL, NULL));
  g_assert_nonnull (strstr (status, "\nUid:\t54321\t54321\t54321\t54321\n"));
  g_assert_nonnull (strstr (status, "\nGid:\t54322\t54322\t54322\t54322\n"));
  g_assert_nonnull (strstr (status, "\nGroups:\t54323 \n"));
  g_assert_nonnull (strstr (status, "\nCapInh:\t0000000000000000\nCapPrm:\t0000000000000000\n"
                                    "CapEff:\t0000000000000000\n"));
  g_assert_nonnull (strstr (status, "\nNoNewPrivs:\t1\n"));

  descriptors = g_dir_open (fd_path, 0, NULL);
  g_assert_nonnull (descriptors);
  while (g_dir_read_name (descriptors) != NULL)
    n++;
  g_assert_cmpuint (n, ==, 1); /* the socket */

  /* Files of a process that is not dumpable belong to root. */
  g_assert_no_errno (stat (status_path, &info));
  g_assert_cmpuint (info.st_uid, ==, 0);
  close (kept);
}

/* A user may kill or stop the child, which has this user's ID. */
static void
test_death_costs_only_this_user (Fixture *self, const void *data)
{
  ProcessUser *victim = self->user;
  pid_t pid;

  (void) data;
  put (self, "everybody", 0, 0, 0644);
  for (int number = SIGKILL;; number = SIGSTOP)
    {
      assert_readable (self, "everybody", 0);
      pid = child_of (self);
      g_assert_cmpint (pid, >, 0);
      g_assert_no_errno (kill (pid, number));
      assert_refused (self, "everybody", ETIMEDOUT);

      self->user = make_user (USER + 1, GROUP, EXTRA);
      assert_readable (self, "everybody", 0);
      sysprof_process_user_free (self->user);
      self->user = victim;
      if (number == SIGSTOP)
        break;
      clear_files (&self->files);
    }
}

/* More users than children: the least recently used one makes room. */
static void
test_serves_many_users (Fixture *self, const void *data)
{
  (void) data;
  put (self, "of-extra-group", 0, EXTRA, 0040);
  for (uint32_t i = 0; i < 3 * PROCESS_FILES_MOST_USERS; i++)
    {
      sysprof_process_user_free (self->user);
      self->user = make_user (USER + i, GROUP, EXTRA);
      assert_readable (self, "of-extra-group", 0);
    }
}

static void
add (const char *name, void (*test) (Fixture *, const void *))
{
  g_autofree char *path = g_strconcat ("/util/children/process-files/", name, NULL);

  g_test_add (path, Fixture, NULL, set_up, test, tear_down);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/util/children/process-files/reads-status", test_reads_status);
  g_test_add_func ("/util/children/process-files/refuses-status", test_refuses_status);
  if (geteuid () != 0) /* only root becomes another user */
    return g_test_run ();

  g_test_add_func ("/util/children/process-files/reads-process-of-many-groups",
                   test_reads_process_of_many_groups);
  add ("rights-are-those-of-the-user", test_rights_are_those_of_the_user);
  add ("root-has-no-capabilities", test_root_has_no_capabilities);
  add ("follows-links-only-on-request", test_follows_links_only_on_request);
  add ("refuses-what-stores-no-data", test_refuses_what_stores_no_data);
  add ("reports-growth", test_reports_growth);
  add ("child-has-nothing-else", test_child_has_nothing_else);
  add ("death-costs-only-this-user", test_death_costs_only_this_user);
  add ("serves-many-users", test_serves_many_users);
  return g_test_run ();
}
