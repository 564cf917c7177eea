// SPDX-License-Identifier: GPL-3.0-or-later

/* The D-Bus connection of sysprof-agent to the program that started it: messages over two
 * descriptors, without a bus and without authentication. */

#pragma once

#include <gio/gio.h>

typedef struct AgentRemote AgentRemote;
typedef void (*AgentRemoteClosed) (gpointer data);

/* Takes the descriptors. Nothing is processed before sysprof_agent_remote_start(). `closed` is
 * called when the other end closes the connection. *(full)*; NULL with `error`. */
AgentRemote *sysprof_agent_remote_new (int read_fd,
                                       int write_fd,
                                       AgentRemoteClosed closed,
                                       gpointer data,
                                       GError **error);
void sysprof_agent_remote_free (AgentRemote *self);

/* Calls control `command` from now on; NULL if none runs. */
void sysprof_agent_remote_start (AgentRemote *self, GSubprocess *command);

/* Shows a message to the user of the other end. */
void sysprof_agent_remote_log (AgentRemote *self, const char *message);

/* Waits until everything is sent. */
void sysprof_agent_remote_flush (AgentRemote *self);
