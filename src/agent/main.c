// SPDX-License-Identifier: GPL-3.0-or-later

/* sysprof-agent: records a command for a development environment, which controls it over D-Bus
 * and takes the exit status of the agent for that of the command. */

#include "agent/options.h"
#include "agent/remote.h"
#include "record/record.h"
#include "util/util.h"

#include <glib-unix.h>
#include <locale.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#define DOMAIN             "sysprof-agent"
#define POLL_INTERVAL_MSEC 10 /* until the command has started */

typedef struct
{
  AgentOptions options;
  GMainLoop *loop;
  SysprofRecording *recording; /* NULL = not yet begun */
  AgentRemote *remote;         /* NULL = none */
  guint n_shown;               /* diagnostics */
  guint n_signals;
  GSubprocess *command; /* NULL = none, or not yet started */
  char pid[16];         /* of the command */
  bool command_runs;
  bool is_done;   /* the capture is complete, or has failed */
  bool is_closed; /* the other end of the connection is gone */
  GError *error;
} Agent;

static void
agent_clear (Agent *self)
{
  sysprof_agent_options_clear (&self->options);
  g_clear_pointer (&self->loop, g_main_loop_unref);
  g_clear_object (&self->recording);
  g_clear_object (&self->command);
  g_clear_pointer (&self->remote, sysprof_agent_remote_free);
  g_clear_error (&self->error);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Agent, agent_clear)

static void
show (const char *domain, const char *message, gpointer data)
{
  const Agent *self = data;
  g_autofree char *text = g_strdup_printf ("%s: %s", domain, message);

  if (self->remote != NULL)
    sysprof_agent_remote_log (self->remote, text);
  else
    fprintf (stderr, "%s\n", text);
}

static int
fail (const GError *error)
{
  fprintf (stderr, DOMAIN ": %s\n", error->message);
  return EXIT_FAILURE;
}

/* Development environments show these sentences of version 3.46. */
static void
tell_of_process (Agent *self, const char *before, const char *after)
{
  g_autofree char *text = g_strconcat (before, self->pid, after, NULL);

  if (self->remote != NULL)
    sysprof_agent_remote_log (self->remote, text);
}

static void
show_diagnostics (Agent *self)
{
  self->n_shown =
      sysprof_recording_report_diagnostics (self->recording, self->n_shown, show, self);
}

static void
stop (Agent *self)
{
  if (self->recording != NULL)
    sysprof_recording_stop_async (self->recording, NULL, NULL, NULL);
}

static void
quit_if_ended (Agent *self)
{
  if (self->is_done && (!self->command_runs || self->is_closed))
    g_main_loop_quit (self->loop);
}

/* The third signal ends the agent at once: what was written is kept. */
static gboolean
on_signal (gpointer data)
{
  Agent *self = data;

  if (!sysprof_recording_interrupt (self->recording, ++self->n_signals))
    _exit (EXIT_FAILURE);
  return G_SOURCE_CONTINUE;
}

/* Nobody reads the messages or waits for the command any more. The capture is completed. */
static void
on_closed (Agent *self)
{
  self->is_closed = true;
  g_clear_pointer (&self->remote, sysprof_agent_remote_free);
  stop (self);
  quit_if_ended (self);
}

static void
on_command_ended (GObject *source, GAsyncResult *result, gpointer data)
{
  Agent *self = data;

  self->command_runs = false;
  tell_of_process (self, "Process ", " exited");
  quit_if_ended (self);
}

/* Controls the command from now on. */
static void
take_command (Agent *self)
{
  self->command = sysprof_recording_get_subprocess (self->recording);
  if (self->command != NULL)
    {
      const char *pid = g_subprocess_get_identifier (self->command);

      g_object_ref (self->command);
      g_strlcpy (self->pid, pid != NULL ? pid : "", sizeof self->pid);
      tell_of_process (self, "Created process ", "");
      self->command_runs = true;
      g_subprocess_wait_async (self->command, NULL, on_command_ended, self);
    }
  if (self->remote != NULL)
    sysprof_agent_remote_start (self->remote, self->command);
}

static gboolean
take_command_once_started (gpointer data)
{
  Agent *self = data;

  if (self->is_done)
    return G_SOURCE_REMOVE;
  if (self->options.command != NULL &&
      sysprof_recording_get_subprocess (self->recording) == NULL)
    return G_SOURCE_CONTINUE;
  take_command (self);
  return G_SOURCE_REMOVE;
}

static void
on_recorded (GObject *source, GAsyncResult *result, gpointer data)
{
  Agent *self = data;

  (void) sysprof_recording_wait_finish (SYSPROF_RECORDING (source), result, &self->error);
  self->is_done = true;
  if (self->command == NULL)
    take_command (self); /* it ended at once */
  quit_if_ended (self);
}

static void
on_begun (GObject *source, GAsyncResult *result, gpointer data)
{
  Agent *self = data;
  g_autoptr (GListModel) diagnostics = NULL;

  self->recording =
      sysprof_profiler_record_finish (SYSPROF_PROFILER (source), result, &self->error);
  if (self->recording == NULL)
    {
      g_main_loop_quit (self->loop);
      return;
    }
  diagnostics = sysprof_recording_list_diagnostics (self->recording);
  g_signal_connect_swapped (diagnostics, "items-changed", G_CALLBACK (show_diagnostics), self);
  show_diagnostics (self);
  g_timeout_add (POLL_INTERVAL_MSEC, take_command_once_started, self);
  sysprof_recording_wait_async (self->recording, NULL, on_recorded, self);
  if (self->n_signals > 0 || self->is_closed)
    stop (self);
}

static bool
record (Agent *self)
{
  const AgentOptions *options = &self->options;
  g_autoptr (SysprofProfiler) profiler =
      sysprof_agent_options_create_profiler (options, &self->error);

  if (profiler == NULL)
    return false;
  if (options->read_fd >= 0)
    {
      self->remote =
          sysprof_agent_remote_new (options->read_fd, options->write_fd,
                                    (AgentRemoteClosed) on_closed, self, &self->error);
      if (self->remote == NULL)
        return false;
    }
  sysprof_profiler_record_to_path_async (profiler, options->capture, NULL, on_begun, self);
  g_main_loop_run (self->loop);
  if (self->recording != NULL)
    show_diagnostics (self);
  if (self->remote != NULL)
    sysprof_agent_remote_flush (self->remote);
  return self->error == NULL;
}

/* Ends as the command did: with its exit status, or by its signal. */
static int
end_as_command (Agent *self)
{
  struct rlimit none = { 0, 0 };

  if (self->command == NULL)
    return self->options.command == NULL && self->error == NULL ? EXIT_SUCCESS : EXIT_FAILURE;
  if (self->command_runs)
    return EXIT_SUCCESS; /* it is left behind */
  if (g_subprocess_get_if_exited (self->command))
    return g_subprocess_get_exit_status (self->command);
  (void) setrlimit (RLIMIT_CORE, &none); /* the command has written its core file */
  (void) signal (g_subprocess_get_term_sig (self->command), SIG_DFL);
  (void) raise (g_subprocess_get_term_sig (self->command));
  return EXIT_FAILURE; /* the signal is blocked */
}

int
main (int argc, char **argv)
{
  g_auto (Agent) self = { 0 };

  setlocale (LC_ALL, "");
  if (!sysprof_agent_options_parse (&self.options, argc, argv, &self.error))
    return fail (self.error);
  if (self.options.version || self.options.help != NULL)
    {
      fputs (self.options.help != NULL ? self.options.help : "Sysprof " SYSPROF_VERSION_S "\n",
             stdout);
      return EXIT_SUCCESS;
    }
  self.loop = g_main_loop_new (NULL, FALSE);
  (void) signal (SIGPIPE, SIG_IGN); /* the other end may close the connection */
  g_unix_signal_add (SIGINT, on_signal, &self);
  g_unix_signal_add (SIGTERM, on_signal, &self);
  if (!record (&self))
    (void) fail (self.error);
  return self.recording != NULL ? end_as_command (&self) : EXIT_FAILURE;
}
