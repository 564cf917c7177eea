// SPDX-License-Identifier: GPL-3.0-or-later

/* A message bus of the test's own, which is both the session's and the system's, and services on it. They live in the main
 * context of the test, which runs while it records. */

#pragma once

#include "../recorder.h"

#include <gio/gio.h>
#include <gio/gunixfdlist.h>
#include <string.h>

typedef struct
{
  GTestDBus *bus;
  GDBusConnection *connection; /* of the services and callers */
} PrivateBus;

static GDBusConnection *
connect_to (const char *address)
{
  g_autoptr (GError) error = NULL;
  GDBusConnection *connection = g_dbus_connection_new_for_address_sync (
      address,
      G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT |
          G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION,
      NULL, NULL, &error);

  g_assert_no_error (error);
  return connection;
}

/* FALSE, and the test is skipped, where there is no dbus-daemon. */
G_GNUC_UNUSED static gboolean
private_bus_start (PrivateBus *self)
{
  g_autofree char *daemon = g_find_program_in_path ("dbus-daemon");

  if (daemon == NULL)
    {
      g_test_skip ("dbus-daemon is not installed");
      return FALSE;
    }

  self->bus = g_test_dbus_new (G_TEST_DBUS_NONE);
  g_test_dbus_up (self->bus);
  g_setenv ("DBUS_SYSTEM_BUS_ADDRESS", g_test_dbus_get_bus_address (self->bus), TRUE);
  self->connection = connect_to (g_test_dbus_get_bus_address (self->bus));
  return TRUE;
}

G_GNUC_UNUSED static void
private_bus_stop (PrivateBus *self)
{
  g_clear_object (&self->connection);
  g_test_dbus_stop (self->bus);
  g_clear_object (&self->bus);
}

/* An object with the interface in `xml`. `table` lives as long as it. */
G_GNUC_UNUSED static guint
serve (PrivateBus *self,
       const char *path,
       const char *xml,
       const GDBusInterfaceVTable *table,
       gpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GDBusNodeInfo) node = g_dbus_node_info_new_for_xml (xml, &error);
  guint id;

  g_assert_no_error (error);
  id = g_dbus_connection_register_object (self->connection, path, node->interfaces[0], table,
                                          data, NULL, &error);
  g_assert_no_error (error);
  return id;
}

G_GNUC_UNUSED static void
own_name (PrivateBus *self, const char *name)
{
  g_autoptr (GError) error = NULL;
  GVariant *reply = g_dbus_connection_call_sync (
      self->connection, "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
      "RequestName", g_variant_new ("(su)", name, 0), NULL, G_DBUS_CALL_FLAGS_NONE, -1, NULL,
      &error);

  g_assert_no_error (error);
  g_variant_unref (reply);
}

G_GNUC_UNUSED static void
request_stop (SysprofRecording *recording)
{
  sysprof_recording_stop_async (recording, NULL, NULL, NULL);
}

static gboolean
request_stop_once (gpointer recording)
{
  request_stop (recording);
  return G_SOURCE_REMOVE;
}

/* Gives what others do meanwhile some time to show. */
G_GNUC_UNUSED static void
request_stop_soon (SysprofRecording *recording, gpointer data)
{
  g_timeout_add (100, request_stop_once, recording);
}

/* Takes `instrument`. Returns the capture, which the caller closes. Calls the function in
 * `recorded`. */
G_GNUC_UNUSED static int
record_instrument (Recorded *recorded, SysprofInstrument *instrument)
{
  g_autoptr (SysprofProfiler) profiler = sysprof_profiler_new ();
  int fd = new_memory_file ();

  sysprof_profiler_add_instrument (profiler, instrument);
  record_and_wait (recorded, profiler, new_writer_for (fd));
  g_assert_no_error (recorded->error);
  return fd;
}

/* If the service is missing or unusable, the recording contains these words and is otherwise
 * complete. */
G_GNUC_UNUSED static void
check_told (SysprofInstrument *instrument, const char *words)
{
  Recorded recorded = { .began = request_stop_soon };
  int fd = record_instrument (&recorded, instrument);

  g_assert_true (recorded_has_told (&recorded, words));
  recorded_clear (&recorded);
  (void) close (fd);
}
