// SPDX-License-Identifier: GPL-3.0-or-later

/* Settings of the whole machine that clients may change for some time. Before a setting is
 * changed, its former and its new value are written to a file, from which the next start and
 * `sysprofd --restore` restore it. */

#include "sysprofd/sysprofd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HELD_PARENT  "/run/sysprof"
#define HELD         "held" /* below it */
#define CPUS         "/sys/devices/system/cpu"
#define MOST_CPUS    8192
#define PROFILE_MSEC 3000 /* to start and to answer */

/* --- small files --- */

/* Reads one line. */
static bool
read_line (const char *path, char *line, size_t size)
{
  int fd = open (path, O_RDONLY | O_CLOEXEC);
  ssize_t n = fd >= 0 ? read (fd, line, size - 1) : -1;

  if (fd >= 0)
    (void) close (fd);
  if (n < 0)
    return false;
  line[n] = '\0';
  line[strcspn (line, "\n")] = '\0';
  return true;
}

/* `path` is absolute, or below the directory. */
static bool
write_text (int directory, const char *path, int flags, const char *text)
{
  int fd = openat (directory, path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
  ssize_t n = fd >= 0 ? write (fd, text, strlen (text)) : -1;
  int saved = errno;

  if (fd >= 0)
    (void) close (fd);
  errno = saved;
  return n == (ssize_t) strlen (text);
}

/* --- perf_event_paranoid and the CPU frequency governor --- */

#define PARANOID "/proc/sys/kernel/perf_event_paranoid"

static bool
read_paranoid (char value[MOST_SETTING])
{
  return read_line (PARANOID, value, MOST_SETTING);
}

static bool
write_paranoid (const char *value)
{
  return write_text (-1, PARANOID, 0, value);
}

static bool
read_governor (char value[MOST_SETTING])
{
  return read_line (CPUS "/cpu0/cpufreq/scaling_governor", value, MOST_SETTING);
}

static bool
write_governor (const char *value)
{
  bool is_written = false;

  for (unsigned cpu = 0; cpu < MOST_CPUS; cpu++)
    {
      char path[96];

      (void) snprintf (path, sizeof path, CPUS "/cpu%u/cpufreq/scaling_governor", cpu);
      if (access (path, F_OK) == 0)
        is_written = write_text (-1, path, 0, value);
      else if (errno == ENOENT && !is_written)
        break; /* there is no scaling */
    }
  return is_written;
}

bool
sysprof_setting_has_governor (const char *governor)
{
  char available[512];
  size_t length = strlen (governor);

  if (length == 0 || length >= MOST_SETTING || strchr (governor, ' ') != NULL ||
      !read_line (CPUS "/cpu0/cpufreq/scaling_available_governors", available,
                  sizeof available))
    return false;
  for (char *at = available; (at = strstr (at, governor)) != NULL; at++)
    if ((at == available || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
      return true;
  return false;
}

/* --- the power profile, a property on the bus --- */

/* The name is also that of the interface. */
static const struct
{
  const char *name;
  const char *path;
} profiles[] = {
  { "org.freedesktop.UPower.PowerProfiles", "/org/freedesktop/UPower/PowerProfiles" },
  { "net.hadess.PowerProfiles", "/net/hadess/PowerProfiles" }, /* before version 0.20 */
};

#define N_PROFILES (sizeof profiles / sizeof profiles[0])

/* Get returns the value; with `value` set, Set writes it. Borrowed by the reply. */
static BusMessage *
call_profiles (BusConnection *bus, size_t row, const char *value)
{
  const BusHeader header = { .type = BUS_METHOD_CALL,
                             .path = profiles[row].path,
                             .interface = "org.freedesktop.DBus.Properties",
                             .member = value != NULL ? "Set" : "Get",
                             .destination = profiles[row].name,
                             .signature = value != NULL ? "ssv" : "ss" };
  BusWriter body = { 0 };
  BusMessage *reply;

  sysprof_dbus_write_string (&body, profiles[row].name);
  sysprof_dbus_write_string (&body, "ActiveProfile");
  if (value != NULL)
    {
      sysprof_dbus_write_signature (&body, "s");
      sysprof_dbus_write_string (&body, value);
    }
  reply = sysprof_dbus_connection_call (bus, &header, &body, PROFILE_MSEC);
  sysprof_dbus_writer_clear (&body);
  return reply;
}

/* Uses a connection of its own, so that messages of clients are not read here. */
static bool
exchange_profile (const char *set, char value[MOST_SETTING])
{
  BusConnection *bus =
      sysprof_dbus_connection_new (sysprof_service_address (), false, PROFILE_MSEC);
  BusMessage *reply = NULL;
  bool is_valid;
  int saved;

  /* The reply is an error if no daemon has the name. */
  for (size_t row = 0; row < N_PROFILES && bus != NULL && reply == NULL; row++)
    {
      if (row > 0 && errno != EREMOTEIO)
        break;
      reply = call_profiles (bus, row, set);
    }
  is_valid = reply != NULL;
  saved = errno;

  if (reply != NULL && set == NULL)
    {
      const char *found = "";

      if (strcmp (reply->signature, "v") == 0 &&
          strcmp (sysprof_dbus_read_signature (&reply->body), "s") == 0)
        found = sysprof_dbus_read_string (&reply->body);
      is_valid =
          *found != '\0' && strlen (found) < MOST_SETTING && strchr (found, '\n') == NULL;
      saved = EPROTO;
      if (is_valid)
        (void) snprintf (value, MOST_SETTING, "%s", found);
    }
  sysprof_dbus_message_free (reply);
  sysprof_dbus_connection_free (bus);
  errno = saved;
  return is_valid;
}

static bool
read_profile (char value[MOST_SETTING])
{
  return exchange_profile (NULL, value);
}

static bool
write_profile (const char *value)
{
  return exchange_profile (value, NULL);
}

/* --- holding and releasing --- */

static const struct
{
  const char *file;
  bool (*read) (char value[MOST_SETTING]);
  bool (*write) (const char *value);
} settings[] = {
  [SETTING_PARANOID] = { "paranoid", read_paranoid, write_paranoid },
  [SETTING_GOVERNOR] = { "governor", read_governor, write_governor },
  [SETTING_POWER_PROFILE] = { "power-profile", read_profile, write_profile },
};

_Static_assert(sizeof settings / sizeof settings[0] == N_SETTINGS, "a row each");

bool
sysprof_setting_read (Setting setting, char value[MOST_SETTING])
{
  return settings[setting].read (value);
}

/* Whether only this user can have changed the file. */
static bool
is_own (int fd, mode_t type)
{
  struct stat info;

  return fstat (fd, &info) == 0 && (info.st_mode & S_IFMT) == type &&
         info.st_uid == geteuid () && (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/* Follows no links. -1 with errno: EPERM if another user could have changed the contents. */
static int
open_own (int directory, const char *path, int flags, mode_t type)
{
  int fd = openat (directory, path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC | flags);

  if (fd < 0 || is_own (fd, type))
    return fd;

  (void) close (fd);
  errno = EPERM;
  return -1;
}

/* Opens a directory, which it creates if it is missing. */
static int
open_directory (int directory, const char *path)
{
  (void) mkdirat (directory, path, 0700); /* then opening it fails */
  return open_own (directory, path, O_DIRECTORY, S_IFDIR);
}

/* The directory of the former values; -1 with errno. */
static int
open_held (void)
{
  int parent = open_directory (-1, HELD_PARENT);
  int fd = parent >= 0 ? open_directory (parent, HELD) : -1;
  int saved = errno;

  if (parent >= 0)
    (void) close (parent);
  errno = saved;
  return fd;
}

/* Cuts the line at `*text` off. FALSE if it is not a value with its end. */
static bool
take_value (char **text, char value[MOST_SETTING])
{
  char *end = strchr (*text, '\n');

  if (end == NULL || end - *text >= MOST_SETTING)
    return false;
  *end = '\0';
  memcpy (value, *text, (size_t) (end - *text) + 1);
  *text = end + 1;
  return true;
}

/* The file has the former value, then the one that was set, in a line each. */
static bool
read_held (int held, Setting setting, char former[MOST_SETTING], char set[MOST_SETTING])
{
  char text[2 * MOST_SETTING + 1];
  char *at = text;
  int fd = open_own (held, settings[setting].file, 0, S_IFREG);
  ssize_t n = fd >= 0 ? read (fd, text, sizeof text - 1) : -1;

  if (fd >= 0)
    (void) close (fd);
  if (n < 0)
    return false;
  text[n] = '\0';
  return take_value (&at, former) && take_value (&at, set);
}

/* A crash leaves either the old file or the new one. */
static bool
write_held (int held, Setting setting, const char *former, const char *set)
{
  char text[2 * MOST_SETTING + 2];
  char name[32];

  (void) snprintf (text, sizeof text, "%s\n%s\n", former, set);
  (void) snprintf (name, sizeof name, "%s.new", settings[setting].file);
  return write_text (held, name, O_CREAT | O_TRUNC, text) &&
         renameat (held, name, held, settings[setting].file) == 0;
}

static bool
hold (int held, Setting setting, const char *value)
{
  char former[MOST_SETTING], set[MOST_SETTING];
  bool is_held = read_held (held, setting, former, set);
  int saved;

  if (!is_held && !settings[setting].read (former))
    return false;
  if (!write_held (held, setting, former, value))
    return false;
  if (settings[setting].write (value))
    return true;

  saved = errno;
  /* Else the value stays after the last hold. */
  if (is_held)
    (void) write_held (held, setting, former, set);
  else
    (void) unlinkat (held, settings[setting].file, 0);
  errno = saved;
  return false;
}

bool
sysprof_setting_hold (Setting setting, const char *value)
{
  int held = open_held ();
  bool is_set = held >= 0 && hold (held, setting, value);
  int saved = errno;

  if (held >= 0)
    (void) close (held);
  errno = saved;
  return is_set;
}

void
sysprof_setting_release (Setting setting)
{
  char former[MOST_SETTING], set[MOST_SETTING], now[MOST_SETTING];
  int held = open_held ();

  if (held < 0)
    return;
  /* The next start tries again. */
  if (read_held (held, setting, former, set) &&
      (!settings[setting].read (now) ||
       (strcmp (now, set) == 0 && !settings[setting].write (former))))
    sysprof_journal_write ("cannot restore '%s': %s", former, strerror (errno));
  else
    (void) unlinkat (held, settings[setting].file, 0); /* ENOENT if it was not held */
  (void) close (held);
}
