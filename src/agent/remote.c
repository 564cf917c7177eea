// SPDX-License-Identifier: GPL-3.0-or-later

/* The interface org.gnome.Sysprof.Agent. See remote.h. */

#include "agent/remote.h"

#include <agent-dbus.h>

#include <gio/gunixinputstream.h>
#include <gio/gunixoutputstream.h>
#include <glib-unix.h>
#include <signal.h>

struct AgentRemote
{
  GDBusConnection *connection;
  AgentDBusAgent *object;
  GSubprocess *command; /* NULL = none, or not yet */
};

static gboolean
on_force_exit (AgentDBusAgent *object, GDBusMethodInvocation *invocation, gpointer data)
{
  AgentRemote *self = data;

  if (self->command != NULL)
    g_subprocess_force_exit (self->command);
  agent_dbus_agent_complete_force_exit (object, invocation);
  return TRUE;
}

static gboolean
on_send_signal (AgentDBusAgent *object,
                GDBusMethodInvocation *invocation,
                gint number,
                gpointer data)
{
  AgentRemote *self = data;

  if (number <= 0 || number > SIGRTMAX)
    {
      g_dbus_method_invocation_return_error (
          invocation, G_DBUS_ERROR, G_DBUS_ERROR_INVALID_ARGS,
          "%d is not the number of a signal: they are 1 to %d.", number, SIGRTMAX);
      return TRUE;
    }
  if (self->command != NULL)
    g_subprocess_send_signal (self->command, number);
  agent_dbus_agent_complete_send_signal (object, invocation);
  return TRUE;
}

AgentRemote *
sysprof_agent_remote_new (int read_fd,
                          int write_fd,
                          AgentRemoteClosed closed,
                          gpointer data,
                          GError **error)
{
  AgentRemote *self = g_new0 (AgentRemote, 1);
  g_autoptr (GInputStream) input = g_unix_input_stream_new (read_fd, TRUE);
  g_autoptr (GOutputStream) output = g_unix_output_stream_new (write_fd, read_fd != write_fd);
  g_autoptr (GIOStream) stream = g_simple_io_stream_new (input, output);

  if (!g_unix_set_fd_nonblocking (read_fd, TRUE, error) ||
      !g_unix_set_fd_nonblocking (write_fd, TRUE, error))
    {
      g_free (self);
      return NULL;
    }
  self->connection = g_dbus_connection_new_sync (
      stream, NULL, G_DBUS_CONNECTION_FLAGS_DELAY_MESSAGE_PROCESSING, NULL, NULL, error);
  self->object = agent_dbus_agent_skeleton_new ();
  g_signal_connect (self->object, "handle-force-exit", G_CALLBACK (on_force_exit), self);
  g_signal_connect (self->object, "handle-send-signal", G_CALLBACK (on_send_signal), self);
  if (self->connection == NULL ||
      !g_dbus_interface_skeleton_export (G_DBUS_INTERFACE_SKELETON (self->object),
                                         self->connection, "/", error))
    {
      sysprof_agent_remote_free (self);
      return NULL;
    }
  g_signal_connect_swapped (self->connection, "closed", G_CALLBACK (closed), data);
  return self;
}

void
sysprof_agent_remote_free (AgentRemote *self)
{
  g_clear_object (&self->object);
  g_clear_object (&self->connection);
  g_clear_object (&self->command);
  g_free (self);
}

void
sysprof_agent_remote_start (AgentRemote *self, GSubprocess *command)
{
  g_set_object (&self->command, command);
  g_dbus_connection_start_message_processing (self->connection);
}

void
sysprof_agent_remote_log (AgentRemote *self, const char *message)
{
  agent_dbus_agent_emit_log (self->object, message);
}

void
sysprof_agent_remote_flush (AgentRemote *self)
{
  (void) g_dbus_connection_flush_sync (self->connection, NULL, NULL); /* the end is gone */
}
