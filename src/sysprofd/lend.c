// SPDX-License-Identifier: GPL-3.0-or-later

/* The interface Rights, and the methods that change settings. */

#include "rights/rights.h"
#include "sysprofd/sysprofd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MONITOR_MSEC 3000
#define BUS_ITSELF   "org.freedesktop.DBus"

/* --- connections --- */

/* Serves until the client closes its end. The child has no descriptors of the service but
 * `lease`, which is closed when it exits. */
_Noreturn static void
serve_recorder (int socket, int lease)
{
  RightsServer server;

  if (dup2 (socket, 0) < 0 || dup2 (lease, 1) < 0 ||
      syscall (SYS_close_range, 2U, ~0U, 0U) != 0)
    _exit (1);
  sysprof_rights_server_init (&server);
  while (sysprof_rights_server_handle (&server, 0))
    continue;
  sysprof_rights_server_clear (&server);
  _exit (0);
}

static bool
start_server (int socket, int lease)
{
  int child = sysprof_child_fork ();

  if (child == 0)
    serve_recorder (socket, lease);
  return child > 0;
}

void
sysprof_run_connect (Call *call)
{
  int sockets[2], lease[2];

  if (!sysprof_hold_is_permitted (call->service, call->client))
    {
      sysprof_reply_fail (&call->reply, "LimitsExceeded", "This user has too many connections");
      return;
    }
  if (pipe2 (lease, O_CLOEXEC) != 0)
    {
      sysprof_reply_fail (&call->reply, "LimitsExceeded", "Cannot connect: %s",
                          strerror (errno));
      return;
    }
  if (socketpair (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0)
    {
      sysprof_reply_fail (&call->reply, "LimitsExceeded", "Cannot connect: %s",
                          strerror (errno));
      (void) close (lease[0]);
      (void) close (lease[1]);
      return;
    }

  if (start_server (sockets[1], lease[1]) &&
      sysprof_hold_for_fd (call->service, call->client, N_SETTINGS, "", lease[0]))
    sysprof_reply_set_fd (&call->reply, sockets[0]);
  else
    {
      sysprof_reply_fail (&call->reply, "LimitsExceeded", "Cannot start a process: %s",
                          strerror (errno));
      (void) close (sockets[0]);
    }
  (void) close (sockets[1]);
  (void) close (lease[1]);
}

/* The socket does not take descriptors: those in messages of other clients belong to them. */
void
sysprof_run_open_monitor (Call *call)
{
  static const BusHeader header = { .type = BUS_METHOD_CALL,
                                    .path = "/org/freedesktop/DBus",
                                    .interface = "org.freedesktop.DBus.Monitoring",
                                    .member = "BecomeMonitor",
                                    .destination = BUS_ITSELF,
                                    .signature = "asu" };
  BusConnection *bus =
      sysprof_dbus_connection_new (sysprof_service_address (), false, MONITOR_MSEC);
  BusWriter body = { 0 };
  size_t array = sysprof_dbus_begin_array (&body, 4);
  BusMessage *reply;

  sysprof_dbus_end_array (&body, array, 4);
  sysprof_dbus_write_u32 (&body, 0);
  reply = bus != NULL ? sysprof_dbus_connection_call (bus, &header, &body, MONITOR_MSEC) : NULL;
  sysprof_dbus_writer_clear (&body);
  if (reply != NULL)
    sysprof_reply_set_fd (&call->reply, sysprof_dbus_connection_steal_socket (bus));
  else
    {
      sysprof_reply_fail (&call->reply, "Failed", "The system bus permits no monitor: %s",
                          strerror (errno));
      sysprof_dbus_connection_free (bus);
    }
  sysprof_dbus_message_free (reply);
}

/* --- settings --- */

static void
hold (Call *call, Setting setting, const char *value)
{
  int sockets[2];

  if (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
    {
      sysprof_reply_fail (&call->reply, "LimitsExceeded", "%s", strerror (errno));
      return;
    }
  if (sysprof_hold_for_fd (call->service, call->client, setting, value, sockets[0]))
    sysprof_reply_set_fd (&call->reply, sockets[1]);
  else
    {
      sysprof_reply_fail (&call->reply, errno == ENOSPC ? "LimitsExceeded" : "Failed",
                          "Cannot set it to '%s': %s", value, strerror (errno));
      (void) close (sockets[1]);
    }
}

/* If the child of the call fails, the client gets no descriptor, which ends the hold. */
void
sysprof_prepare_power_profile (Call *call)
{
  static const char *const profiles[] = { "power-saver", "balanced", "performance" };
  BusReader values = *call->values;
  const char *wanted = sysprof_dbus_read_string (&values);

  for (size_t i = 0; i < sizeof profiles / sizeof profiles[0]; i++)
    if (strcmp (wanted, profiles[i]) == 0)
      {
        hold (call, SETTING_POWER_PROFILE, wanted);
        return;
      }
  sysprof_reply_fail (&call->reply, "InvalidArgs",
                      "The profile is none of power-saver, balanced, performance");
}

void
sysprof_run_hold_power_profile (Call *call)
{
  const char *wanted = sysprof_dbus_read_string (call->values);

  if (!sysprof_setting_hold (SETTING_POWER_PROFILE, wanted))
    sysprof_reply_fail (&call->reply, "Failed", "Cannot set it to '%s': %s", wanted,
                        strerror (errno));
}

static const char *
format_paranoid (int32_t wanted, char value[MOST_SETTING])
{
  (void) snprintf (value, MOST_SETTING, "%d", wanted < -1 ? -1 : wanted > 2 ? 2 : wanted);
  return value;
}

void
sysprof_run_hold_paranoid (Call *call)
{
  char value[MOST_SETTING];

  hold (call, SETTING_PARANOID,
        format_paranoid ((int32_t) sysprof_dbus_read_u32 (call->values), value));
}

void
sysprof_run_set_paranoid (Call *call)
{
  int32_t wanted = (int32_t) sysprof_dbus_read_u32 (call->values);
  char former[MOST_SETTING], value[MOST_SETTING];
  int32_t old = 0;

  if (!sysprof_setting_read (SETTING_PARANOID, former) || sscanf (former, "%d", &old) != 1 ||
      !sysprof_hold_for_client (call->service, call->client, SETTING_PARANOID,
                                format_paranoid (wanted, value)))
    sysprof_reply_fail (&call->reply, "Failed", "Failed to set paranoid: %s", strerror (errno));
  else
    sysprof_dbus_write_u32 (&call->reply.body, (uint32_t) old);
}

void
sysprof_run_set_governor (Call *call)
{
  const char *governor = sysprof_dbus_read_string (call->values);
  char former[MOST_SETTING] = "unknown";

  if (!sysprof_setting_has_governor (governor) ||
      !sysprof_setting_read (SETTING_GOVERNOR, former) ||
      !sysprof_hold_for_client (call->service, call->client, SETTING_GOVERNOR, governor))
    sysprof_reply_fail (&call->reply, "Failed", "Failed to set governor");
  else
    sysprof_reply_write_text (&call->reply.body, former);
}
