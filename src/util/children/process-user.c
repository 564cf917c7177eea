// SPDX-License-Identifier: GPL-3.0-or-later

/* Reads the user of a process so that user and root directory belong to the same process, even
 * if its number is reused. */

#include "util/children/process-user.h"

#include "util/autofd.h"
#include "util/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Bytes of a status: the kernel permits 65,536 groups, of up to ten digits each. */
#define FIRST_STATUS 4096
#define MOST_STATUS  (1 << 20)

/* --- the text --- */

static size_t
size_of (uint32_t n_groups)
{
  return sizeof (ProcessUser) + n_groups * sizeof (uint32_t);
}

static bool
take_u32 (Text *line, uint32_t *value)
{
  Text word;
  uint64_t number;

  if (!sysprof_text_next_word (line, &word) || !sysprof_text_u64 (&word, &number) ||
      number > UINT32_MAX)
    return false;
  *value = (uint32_t) number;
  return true;
}

/* Real, effective, saved, file system: all the same. */
static bool
take_single_id (Text line, uint32_t *id)
{
  uint32_t ids[4];

  for (unsigned i = 0; i < 4; i++)
    if (!take_u32 (&line, &ids[i]) || ids[i] != ids[0])
      return false;
  *id = ids[0];
  return true;
}

static uint32_t
count_words (Text line)
{
  Text word;
  uint32_t n = 0;

  while (sysprof_text_next_word (&line, &word))
    n++;
  return n;
}

ProcessUser *
sysprof_process_user_parse (const char *status, size_t size)
{
  Text text = { status, status + size };
  Text line, groups = { status, status };
  ProcessUser found = { 0 };
  ProcessUser *self;
  bool has_uid = false, has_gid = false, has_groups = false;
  uint32_t pid;

  while (sysprof_text_next_line (&text, &line))
    {
      if (sysprof_text_skip (&line, "Uid:"))
        has_uid = take_single_id (line, &found.uid);
      else if (sysprof_text_skip (&line, "Gid:"))
        has_gid = take_single_id (line, &found.gid);
      else if (sysprof_text_skip (&line, "Groups:"))
        {
          has_groups = true;
          groups = line;
        }
      else if (sysprof_text_skip (&line, "NSpid:")) /* outermost first */
        while (take_u32 (&line, &pid))
          found.inner_pid = (int32_t) pid;
    }

  errno = EPERM;
  if (!has_uid || !has_gid || !has_groups || found.inner_pid <= 0)
    return NULL;
  found.n_groups = count_words (groups);
  self = malloc (size_of (found.n_groups));
  if (self == NULL)
    return NULL;
  *self = found;
  for (uint32_t i = 0; i < found.n_groups; i++)
    if (!take_u32 (&groups, &self->groups[i]))
      {
        free (self);
        errno = EPERM;
        return NULL;
      }
  return self;
}

/* --- processes --- */

/* Returns the complete text, which the caller frees; NULL with errno. */
static char *
read_text (int directory, const char *name, size_t *size)
{
  autofd fd = openat (directory, name, O_RDONLY | O_CLOEXEC);
  size_t room = FIRST_STATUS;
  char *text = fd >= 0 ? malloc (room) : NULL;
  ssize_t n = 0;

  *size = 0;
  while (text != NULL && (n = read (fd, text + *size, room - *size)) > 0)
    {
      char *larger;

      *size += (size_t) n;
      if (*size < room)
        continue;
      room *= 2;
      larger = room <= MOST_STATUS ? realloc (text, room) : NULL;
      if (larger == NULL)
        {
          free (text);
          errno = EFBIG;
          return NULL;
        }
      text = larger;
    }
  if (text != NULL && n < 0)
    {
      int saved = errno;

      free (text);
      errno = saved;
      return NULL;
    }
  return text;
}

/* A number in a file of /proc; `count` = the third one of the first line. 0 if unknown. */
static uint32_t
read_number (const char *path, bool count)
{
  size_t size;
  char *text = read_text (AT_FDCWD, path, &size);
  Text left = { text, text + size };
  uint32_t value = 0;

  for (unsigned i = 0; text != NULL && i < (count ? 3 : 1); i++)
    if (!take_u32 (&left, &value))
      value = 0;
  free (text);
  return value;
}

/* Within a user namespace, the kernel reports IDs that are not mapped there as the overflow ID,
 * which may be another user's. */
static bool
is_mapped (const ProcessUser *self)
{
  if (read_number ("/proc/self/uid_map", true) != UINT32_MAX &&
      self->uid == read_number ("/proc/sys/kernel/overflowuid", false))
    return false;
  if (read_number ("/proc/self/gid_map", true) != UINT32_MAX)
    {
      uint32_t overflow = read_number ("/proc/sys/kernel/overflowgid", false);

      for (uint32_t i = 0; i < self->n_groups; i++)
        if (self->groups[i] == overflow)
          return false;
      return self->gid != overflow;
    }
  return true;
}

static ProcessUser *
read_user (int directory)
{
  size_t size;
  char *status = read_text (directory, "status", &size);
  ProcessUser *self = status != NULL ? sysprof_process_user_parse (status, size) : NULL;
  int saved = errno;

  free (status);
  errno = saved;
  return self;
}

ProcessUser *
sysprof_process_user_read (pid_t pid, int *root)
{
  ProcessUser *self, *again;
  char path[64];
  /* Refers to this process only: after it has ended, nothing can be opened below it. */
  autofd directory = -1;

  if (root != NULL)
    *root = -1;
  (void) snprintf (path, sizeof path, "/proc/%d", pid);
  directory = open (path, O_PATH | O_DIRECTORY | O_CLOEXEC);
  self = directory >= 0 ? read_user (directory) : NULL;
  if (self == NULL)
    return NULL;

  if (!is_mapped (self))
    {
      sysprof_process_user_free (self);
      errno = EOVERFLOW;
      return NULL;
    }
  if (root == NULL)
    return self;

  /* A user may set up a root directory and then execute a set-user-ID program, whose rights
   * must not be combined with that root. */
  *root = openat (directory, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (*root < 0)
    return self;
  again = read_user (directory);
  if (again != NULL && !sysprof_process_user_equal (self, again))
    errno = EAGAIN;
  if (again == NULL || !sysprof_process_user_equal (self, again))
    {
      int saved = errno;

      (void) close (sysprof_steal_fd (root));
      sysprof_process_user_free (self);
      self = NULL;
      errno = saved;
    }
  sysprof_process_user_free (again);
  return self;
}

ProcessUser *
sysprof_process_user_copy (const ProcessUser *self)
{
  ProcessUser *copy = malloc (size_of (self->n_groups));

  if (copy != NULL)
    memcpy (copy, self, size_of (self->n_groups));
  return copy;
}

bool
sysprof_process_user_equal (const ProcessUser *self, const ProcessUser *other)
{
  return self->uid == other->uid && self->gid == other->gid &&
         self->n_groups == other->n_groups &&
         memcmp (self->groups, other->groups, self->n_groups * sizeof *self->groups) == 0;
}

void
sysprof_process_user_free (ProcessUser *self)
{
  free (self);
}
