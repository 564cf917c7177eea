// SPDX-License-Identifier: GPL-3.0-or-later

/* The objects and their methods. A call runs only if its signature is exactly the
 * one of the table. */

#include "sysprofd/sysprofd.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROOT_PATH     "/org/gnome/Sysprof3"
#define SERVICE       "org.gnome.Sysprof3.Service"
#define PROFILER      "org.gnome.Sysprof3.Profiler"
#define UNWINDER      "org.gnome.Sysprof3.Unwinder"
#define RIGHTS        "org.gnome.Sysprof3.Rights"
#define PEER          "org.freedesktop.DBus.Peer"
#define INTROSPECTION "org.freedesktop.DBus.Introspectable"
#define PROPERTIES    "org.freedesktop.DBus.Properties"
#define N_ELEMENTS(a) (sizeof (a) / sizeof (a)[0])

static const struct
{
  const char *path;
  const char *interface;
  const char *introspection;
} objects[] = {
  { ROOT_PATH, SERVICE, sysprof_introspection_service },
  { ROOT_PATH "/RAPL", PROFILER, sysprof_introspection_profiler },
  { ROOT_PATH "/Unwinder", UNWINDER, sysprof_introspection_unwinder },
  { ROOT_PATH "/Rights", RIGHTS, sysprof_introspection_rights },
};

/* --- methods of all objects --- */

static void
run_ping (Call *call)
{
}

static void
run_get_machine_id (Call *call)
{
  char id[40] = "";
  int fd = open ("/etc/machine-id", O_RDONLY | O_CLOEXEC);

  if (fd < 0 || read (fd, id, 32) != 32)
    sysprof_reply_fail (&call->reply, "FileNotFound", "This machine has no ID");
  sysprof_dbus_write_string (&call->reply.body, id);
  if (fd >= 0)
    (void) close (fd);
}

/* Writes the names of the objects directly below `path`. Returns how many there are. */
static unsigned
list_children (const char *path, char *text, size_t size)
{
  size_t length = strcmp (path, "/") == 0 ? 0 : strlen (path);
  size_t n = 0;
  unsigned found = 0;

  for (size_t i = 0; i < N_ELEMENTS (objects); i++)
    {
      const char *rest;
      char node[128];

      if (strncmp (objects[i].path, path, length) != 0 || objects[i].path[length] != '/')
        continue;
      rest = objects[i].path + length;
      (void) snprintf (node, sizeof node, "  <node name=\"%.*s\"/>\n",
                       (int) strcspn (rest + 1, "/"), rest + 1);
      if (strstr (text, node) == NULL)
        n += (size_t) snprintf (text + n, size - n, "%s", node);
      found++;
    }
  return found;
}

static void
run_introspect (Call *call)
{
  const char *path = call->message->path;
  char children[1024] = "";
  char text[8192];
  const char *own = "";

  (void) list_children (path, children, sizeof children);
  for (size_t i = 0; i < N_ELEMENTS (objects); i++)
    if (strcmp (path, objects[i].path) == 0)
      own = objects[i].introspection;
  (void) snprintf (text, sizeof text,
                   "<!DOCTYPE node PUBLIC \"-//freedesktop//DTD D-BUS Object Introspection "
                   "1.0//EN\"\n\"http://www.freedesktop.org/standards/dbus/1.0/"
                   "introspect.dtd\">\n<node>\n%s%s%s</node>\n",
                   *own != '\0' ? sysprof_introspection_standard : "", own, children);
  sysprof_dbus_write_string (&call->reply.body, text);
}

/* Capabilities of RAPL, an empty dictionary, is the only property. */
static bool
has_capabilities (const Call *call, const char *interface)
{
  return strcmp (call->message->path, ROOT_PATH "/RAPL") == 0 &&
         strcmp (interface, PROFILER) == 0;
}

static void
write_capabilities (BusWriter *body)
{
  size_t array;

  sysprof_dbus_write_signature (body, "a{sv}");
  array = sysprof_dbus_begin_array (body, 8);
  sysprof_dbus_end_array (body, array, 8);
}

static void
run_get (Call *call)
{
  const char *interface = sysprof_dbus_read_string (call->values);
  const char *name = sysprof_dbus_read_string (call->values);

  if (has_capabilities (call, interface) && strcmp (name, "Capabilities") == 0)
    write_capabilities (&call->reply.body);
  else
    sysprof_reply_fail (&call->reply, "InvalidArgs", "No such property \"%.100s\"", name);
}

static void
run_get_all (Call *call)
{
  BusWriter *body = &call->reply.body;
  size_t array = sysprof_dbus_begin_array (body, 8);

  if (has_capabilities (call, sysprof_dbus_read_string (call->values)))
    {
      sysprof_dbus_write_string (body, "Capabilities");
      write_capabilities (body);
    }
  sysprof_dbus_end_array (body, array, 8);
}

static void
run_set (Call *call)
{
  sysprof_reply_fail (&call->reply, "PropertyReadOnly", "No property can be set");
}

static void
run_list_processes (Call *call)
{
  sysprof_reply_fail (&call->reply, "NotSupported",
                      "ListProcesses is not supported. Use GetProcessInfo.");
}

static void
run_unwind (Call *call)
{
  sysprof_reply_fail (&call->reply, "NotSupported",
                      "This service has no unwinder: it unwinds in the kernel, see the method "
                      "Connect of " RIGHTS ". Record without --stack-size.");
}

/* clang-format off */
static const Method methods[] = {
  { SERVICE, "PerfEventOpen", "a{sv}iiht", "h", RUNS_IN_CHILD, sysprof_run_perf_event_open },
  { SERVICE, "GetProcFile", "ay", "ay", RUNS_IN_CHILD, sysprof_run_get_proc_file },
  { SERVICE, "GetProcFd", "ay", "h", RUNS_IN_CHILD, sysprof_run_get_proc_fd },
  { SERVICE, "GetProcessInfo", "s", "aa{sv}", RUNS_IN_CHILD, sysprof_run_get_process_info },
  { SERVICE, "ListProcesses", "", "ai", RUNS_HERE, run_list_processes },
  { SERVICE, "SetGovernor", "s", "s", RUNS_HERE, sysprof_run_set_governor },
  { SERVICE, "SetParanoid", "i", "i", RUNS_HERE, sysprof_run_set_paranoid },
  { PROFILER, "Start", "a{sv}h", "", RUNS_HERE, sysprof_run_rapl_start },
  { PROFILER, "Stop", "", "", RUNS_HERE, sysprof_run_rapl_stop },
  { UNWINDER, "Unwind", "ua(hi)hh", "", RUNS_HERE, run_unwind },
  { RIGHTS, "Connect", "a{sv}", "h", RUNS_HERE, sysprof_run_connect },
  { RIGHTS, "OpenSystemBusMonitor", "", "h", RUNS_IN_CHILD, sysprof_run_open_monitor },
  { RIGHTS, "HoldPowerProfile", "s", "h", RUNS_IN_TURN, sysprof_run_hold_power_profile,
    sysprof_prepare_power_profile },
  { RIGHTS, "HoldParanoid", "i", "h", RUNS_HERE, sysprof_run_hold_paranoid },
  { PEER, "Ping", "", "", RUNS_FREE, run_ping },
  { PEER, "GetMachineId", "", "s", RUNS_FREE, run_get_machine_id },
  { INTROSPECTION, "Introspect", "", "s", RUNS_FREE, run_introspect },
  { PROPERTIES, "Get", "ss", "v", RUNS_FREE, run_get },
  { PROPERTIES, "GetAll", "s", "a{sv}", RUNS_FREE, run_get_all },
  { PROPERTIES, "Set", "ssv", "", RUNS_FREE, run_set },
};
/* clang-format on */

uint64_t
sysprof_method_bit (const Method *method)
{
  return UINT64_C (1) << (method - methods);
}

/* --- finding --- */

/* The interface of the object; NULL if it has none of its own. */
static const char *
find_object (const char *path, bool *is_known)
{
  char children[1024] = "";

  for (size_t i = 0; i < N_ELEMENTS (objects); i++)
    if (strcmp (path, objects[i].path) == 0)
      {
        *is_known = true;
        return objects[i].interface;
      }
  *is_known = list_children (path, children, sizeof children) > 0;
  return NULL;
}

const Method *
sysprof_method_find (const BusMessage *message, Reply *reply)
{
  bool is_known = false;
  const char *interface = message->path != NULL ? find_object (message->path, &is_known) : NULL;
  const char *member = message->member != NULL ? message->member : "";

  for (size_t i = 0; i < N_ELEMENTS (methods); i++)
    {
      const Method *method = &methods[i];
      bool is_own = interface != NULL && strcmp (method->interface, interface) == 0;

      if (strcmp (method->name, member) != 0 ||
          (message->interface != NULL && strcmp (method->interface, message->interface) != 0) ||
          !(is_own || (method->kind == RUNS_FREE && is_known)))
        continue;
      if (message->is_too_long || strcmp (method->in, message->signature) == 0)
        return method;
      sysprof_reply_fail (reply, "InvalidArgs", "The method has other types of arguments");
      return NULL;
    }
  if (!is_known)
    sysprof_reply_fail (reply, "UnknownObject", "There is no such object");
  else
    sysprof_reply_fail (reply, "UnknownMethod", "This object has no such method");
  return NULL;
}
