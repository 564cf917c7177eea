// SPDX-License-Identifier: GPL-3.0-or-later

/* Gets a connection of org.gnome.Sysprof3.Rights, and prints the rights that it lends. The
 * argument is the ID of a process of another user. */

#include "dbus/dbus.h"
#include "rights/rights.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TIMEOUT_MSEC 60000

static int
connect_to_service (void)
{
  const BusHeader header = { .type = BUS_METHOD_CALL,
                             .path = "/org/gnome/Sysprof3/Rights",
                             .interface = "org.gnome.Sysprof3.Rights",
                             .member = "Connect",
                             .destination = "org.gnome.Sysprof3",
                             .signature = "a{sv}" };
  BusConnection *bus =
      sysprof_dbus_connection_new (getenv ("DBUS_SYSTEM_BUS_ADDRESS"), true, TIMEOUT_MSEC);
  BusWriter body = { 0 };
  size_t options = sysprof_dbus_begin_array (&body, 8);
  BusMessage *reply;
  int fd = -1;

  sysprof_dbus_end_array (&body, options, 8);
  reply = bus != NULL ? sysprof_dbus_connection_call (bus, &header, &body, TIMEOUT_MSEC) : NULL;
  if (reply != NULL && reply->n_fds == 1)
    fd = dup (reply->fds[0]);
  else
    fprintf (stderr, "no connection: %s\n", strerror (errno));
  sysprof_dbus_writer_clear (&body);
  sysprof_dbus_message_free (reply);
  sysprof_dbus_connection_free (bus);
  return fd;
}

/* Whether the first line has an address other than 0. */
static bool
has_addresses (int fd)
{
  FILE *file = fdopen (fd, "r");
  char line[256];

  while (file != NULL && fgets (line, sizeof line, file) != NULL)
    if (strtoull (line, NULL, 16) != 0)
      return true;
  return false;
}

static bool
has_walker (int socket)
{
  WalkProgram maps;
  int promise;

  if (!sysprof_rights_ask_walker_maps (socket, &maps))
    return false;

  promise = sysprof_rights_ask_walker (socket, WALK_MOST_ADDRESSES, false);
  return promise >= 0 && sysprof_rights_wait_for_walker (promise) >= 0;
}

int
main (int argc, char **argv)
{
  struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
                                  .size = sizeof attr,
                                  .config = PERF_COUNT_SW_CPU_CLOCK,
                                  .sample_period = 1000000,
                                  .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN,
                                  .disabled = 1,
                                  .use_clockid = 1,
                                  .clockid = CLOCK_MONOTONIC };
  int socket = connect_to_service ();

  if (socket < 0)
    return 1;
  if (has_addresses (sysprof_rights_ask_kallsyms (socket)))
    puts ("symbols with addresses");
  if (sysprof_rights_ask_event (socket, &attr, -1, 0, -1) >= 0)
    puts ("event");
  if (has_addresses (sysprof_rights_ask_process_file (socket, atoi (argv[1]), PROCESS_MAPS)))
    puts ("mappings");
  if (has_walker (socket))
    puts ("walker");
  return 0;
}
