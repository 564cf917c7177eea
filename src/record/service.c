// SPDX-License-Identifier: GPL-3.0-or-later

/* A call of org.gnome.Sysprof3.Rights. See service.h. The service is this program's own
 * (src/sysprofd). Other generations do not have the interface, and are then requested to read
 * the kernel's symbols. In both cases it is the first call that asks the user. */

#include "record/service.h"

#include "access/access.h"
#include "dbus/dbus.h"
#include "record/record.h"
#include "util/util.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#define SYSTEM_BUS       "unix:path=/run/dbus/system_bus_socket"
#define CONNECT_MSEC     2000
#define STOP_CHECK_MSEC  200
#define SERVICE          "org.gnome.Sysprof3"
#define RIGHTS           "org.gnome.Sysprof3.Rights"
#define MAY_ASK_THE_USER 4u /* flag ALLOW_INTERACTIVE_AUTHORIZATION */

bool
sysprof_may_need_service (void)
{
  return !sysprof_privilege_may_sample_machine ();
}

/* The reply to the call; NULL with errno, ECANCELED if the recording is stopped before. */
static BusMessage *
wait_for_reply (BusConnection *bus, uint32_t serial, Pump *pump)
{
  struct pollfd ready = { .fd = sysprof_dbus_connection_get_fd (bus), .events = POLLIN };

  while (!sysprof_pump_is_stop_requested (pump))
    {
      BusMessage *message;

      if (!sysprof_dbus_connection_flush (bus))
        return NULL;
      ready.events = sysprof_dbus_connection_get_unsent (bus) > 0 ? POLLIN | POLLOUT : POLLIN;
      (void) poll (&ready, 1, STOP_CHECK_MSEC);
      message = sysprof_dbus_connection_receive (bus);
      if (message == NULL && errno != EAGAIN)
        return NULL;
      if (message != NULL && message->reply_serial == serial)
        return message;
      sysprof_dbus_message_free (message);
    }
  errno = ECANCELED;
  return NULL;
}

static bool
is_unknown (const BusMessage *reply)
{
  const char *name = reply->error != NULL ? reply->error : "";

  return g_str_has_suffix (name, ".UnknownMethod") ||
         g_str_has_suffix (name, ".UnknownObject") ||
         g_str_has_suffix (name, ".UnknownInterface");
}

/* NULL = the service is not installed. */
static char *
describe_refusal (BusMessage *reply)
{
  const char *name = reply->error != NULL ? reply->error : "";
  const char *text = reply->signature[0] == 's' ? sysprof_dbus_read_string (&reply->body) : "";

  if (g_str_has_suffix (name, ".ServiceUnknown") || g_str_has_suffix (name, ".NameHasNoOwner"))
    return NULL;
  if (g_str_has_suffix (name, ".AccessDenied"))
    return g_strdup (
        "sysprofd gives no rights: the request was not authorized. Authenticate as "
        "an administrator when you are asked for a password, or let the "
        "administrator permit it without one: see sysprofd(8). The recording "
        "continues with your own rights.");
  if (is_unknown (reply))
    return g_strdup (
        "The sysprofd of this machine is of an older version, and lends no rights. "
        "Update it. The recording continues with your own rights.");
  return g_strdup_printf (
      "sysprofd gives no rights: %s (%s). The recording continues with your "
      "own rights.",
      text, name);
}

static uint32_t
send_request (BusConnection *bus)
{
  const BusHeader header = { .type = BUS_METHOD_CALL,
                             .flags = MAY_ASK_THE_USER,
                             .path = "/org/gnome/Sysprof3/Rights",
                             .interface = RIGHTS,
                             .member = "Connect",
                             .destination = SERVICE,
                             .signature = "a{sv}" };
  BusWriter body = { 0 };
  size_t options = sysprof_dbus_begin_array (&body, 8);
  uint32_t serial;

  sysprof_dbus_end_array (&body, options, 8);
  serial = sysprof_dbus_connection_send (bus, &header, &body, -1);
  sysprof_dbus_writer_clear (&body);
  return serial;
}

int
sysprof_service_connect (Pump *pump, OlderService **older, char **reason)
{
  const char *address = g_getenv ("DBUS_SYSTEM_BUS_ADDRESS");
  BusConnection *bus =
      sysprof_dbus_connection_new (address != NULL ? address : SYSTEM_BUS, true, CONNECT_MSEC);
  BusMessage *reply = NULL;
  int socket = -1, kallsyms = -1;

  *older = NULL;
  *reason = NULL;
  if (bus == NULL)
    return -1; /* without a bus there is no service */
  reply = wait_for_reply (bus, send_request (bus), pump);
  if (reply != NULL && is_unknown (reply))
    {
      sysprof_dbus_message_free (reply);
      reply = wait_for_reply (bus, sysprof_older_service_request_file (bus, "/proc/kallsyms"),
                              pump);
      if (reply != NULL && reply->type == BUS_METHOD_RETURN)
        kallsyms = sysprof_older_service_take_file (reply);
    }

  if (kallsyms >= 0)
    *older = sysprof_older_service_new (g_steal_pointer (&bus), kallsyms);
  else if (reply != NULL && reply->type == BUS_METHOD_RETURN && reply->n_fds == 1)
    socket = fcntl (reply->fds[0], F_DUPFD_CLOEXEC, 3);
  else if (reply != NULL)
    *reason = describe_refusal (reply);
  else if (errno != ECANCELED)
    *reason =
        g_strdup_printf ("The system bus ended the connection: %s. The recording continues "
                         "with your own rights.",
                         g_strerror (errno));
  sysprof_dbus_message_free (reply);
  sysprof_dbus_connection_free (bus);
  return socket;
}
