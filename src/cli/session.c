// SPDX-License-Identifier: GPL-3.0-or-later

/* One recording, from opening its file to showing its results.
 *
 * The recording runs on the library's threads. The main loop handles signals, prints the
 * status, and renames the finished file. All functions run on the main thread. */

#include "cli/session.h"

#include "cli/command.h"
#include "cli/instruments.h"
#include "cli/output.h"
#include "cli/results.h"
#include "cli/sandbox.h"
#include "cli/service-manager.h"
#include "cli/terminal.h"
#include "cli/text-agent.h"
#include "cli/top.h"
#include "document/document.h"
#include "util/util.h"

#include <errno.h>
#include <fcntl.h>
#include <glib-unix.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define STATUS_INTERVAL_MSEC 1000
/* Interval of the check whether the recording has begun, so that its file may replace an old
 * one. */
#define COMMIT_INTERVAL_MSEC 20
#define DEFAULT_BUFFER_SIZE  (8 * 1024 * 1024)
#define FLATPAK_INFO         "/.flatpak-info" /* exists in Flatpak sandboxes only */
#define SIGNAL_STATUS        128 /* exit status of a shell, plus the number of the signal */

typedef struct
{
  const CliOptions *options;
  char **environment; /* the inherited environment, for the command */
  bool ask_debuginfod;
  DebuginfodQueue *queue; /* debug files to download at the end; NULL = none */
  Terminal terminal;
  OutputFile output;
  OutputFile flame;
  GMainLoop *loop;
  SysprofRecording *recording;
  Top *top;           /* NULL: not requested, or finished */
  GSubprocess *agent; /* asks for a password; NULL = none, or not any more */
  guint n_shown;      /* diagnostics */
  guint n_signals;
  bool is_committed;
  bool has_commit_failed;
  GError *error; /* of the recording */
} Session;

static void
session_clear (Session *self)
{
  g_clear_pointer (&self->top, sysprof_cli_top_free);
  g_clear_pointer (&self->environment, g_strfreev);
  g_clear_pointer (&self->queue, sysprof_debuginfod_queue_free);
  sysprof_cli_output_clear (&self->output);
  sysprof_cli_output_clear (&self->flame);
  g_clear_pointer (&self->loop, g_main_loop_unref);
  g_clear_object (&self->recording);
  sysprof_cli_text_agent_end (&self->agent);
  g_clear_error (&self->error);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Session, session_clear)

static int
fail (Session *self, const GError *error)
{
  sysprof_cli_terminal_print (&self->terminal, "sysprof-cli: %s", error->message);
  return EXIT_FAILURE;
}

/* Returns whether the capture or a report of it is needed. */
static bool
is_kept (const CliOptions *options)
{
  return options->output != NULL || options->report || options->flame != NULL;
}

static void
print_diagnostic (const char *domain, const char *message, gpointer data)
{
  Session *self = data;

  sysprof_cli_terminal_print (&self->terminal, "%s: %s", domain, message);
}

static void
show_diagnostics (Session *self)
{
  self->n_shown = sysprof_recording_report_diagnostics (self->recording, self->n_shown,
                                                        print_diagnostic, self);
}

static void
on_diagnostics_changed (GListModel *model,
                        guint position,
                        guint removed,
                        guint added,
                        gpointer data)
{
  Session *self = data;

  if (!sysprof_cli_top_is_shown (
          self->top)) /* it would cover the live view, so it is printed at the end */
    show_diagnostics (self);
}

/* Returns whether there is something to keep: the recording and its command have begun. */
static bool
has_begun (Session *self)
{
  RecordingStatus status;

  sysprof_recording_get_status (self->recording, &status);
  if (status.duration <= 0)
    return false;
  return self->options->command == NULL ||
         sysprof_recording_get_subprocess (self->recording) != NULL;
}

static gboolean
show_status (gpointer data)
{
  Session *self = data;
  RecordingStatus status;

  if (self->terminal.form == STATUS_LINE && sysprof_cli_top_is_shown (self->top))
    return G_SOURCE_CONTINUE; /* a regular file has a name */
  sysprof_recording_get_status (self->recording, &status);
  sysprof_cli_terminal_status (&self->terminal, &status, false);
  return G_SOURCE_CONTINUE;
}

static gboolean
commit_once_begun (gpointer data)
{
  Session *self = data;
  g_autoptr (GError) error = NULL;

  if (!has_begun (self))
    return G_SOURCE_CONTINUE;
  sysprof_cli_text_agent_end (&self->agent);
  if (!sysprof_cli_output_commit (&self->output, &error))
    {
      sysprof_cli_terminal_print (&self->terminal, "sysprof-cli: %s", error->message);
      self->has_commit_failed = true;
    }
  self->is_committed = true;
  if (self->options->far_end != NULL)
    (void) show_status (self); /* at once, because the local end keeps nothing before */
  if (self->options->command == NULL && self->n_signals == 0 && self->top == NULL)
    sysprof_cli_terminal_note (&self->terminal, "Recording, press ^C to exit");
  if (self->options->sampler.n_pids == 0 && self->options->sampler.n_tids == 0)
    sysprof_cli_service_manager_notify ("READY=1");
  return G_SOURCE_REMOVE;
}

static gboolean
stop_if_removed (gpointer data)
{
  Session *self = data;

  if (!sysprof_cli_output_is_removed (&self->output))
    return G_SOURCE_CONTINUE;
  sysprof_recording_stop_async (self->recording, NULL, NULL, NULL);
  return G_SOURCE_REMOVE; /* closing the output reports the error */
}

static bool
is_stopped (Session *self)
{
  RecordingStatus status = { 0 };

  if (self->recording != NULL)
    sysprof_recording_get_status (self->recording, &status);
  return status.is_stopped;
}

static gboolean
on_stop_signal (gpointer data)
{
  Session *self = data;

  /* The recording has ended by itself and symbols are being added; this interrupts that. */
  if (self->n_signals == 0 && is_stopped (self))
    self->n_signals = 1;
  if (!sysprof_recording_interrupt (self->recording, ++self->n_signals))
    {
      /* Keeps what was flushed and waits for nothing. */
      sysprof_temporary_files_remove ();
      _exit (EXIT_FAILURE);
    }
  g_clear_pointer (&self->top, sysprof_cli_top_free);
  sysprof_cli_terminal_note (
      &self->terminal,
      self->n_signals == 2
          ? "Finishing the file with the symbols found so far. ^C again exits at once."
      : self->options->no_decode
          ? "Stopping."
          : "Stopping; adding symbols. Press ^C again to stop looking them up.");
  return G_SOURCE_CONTINUE;
}

/* The remote end of --host reads one byte for each ^C of the local end. When the local end
 * has gone, no symbols are needed. */
static gboolean
on_near_end (gint fd, GIOCondition condition, gpointer data)
{
  char bytes[16];
  ssize_t size = read (fd, bytes, sizeof bytes);

  if (size < 0 && (errno == EINTR || errno == EAGAIN))
    return G_SOURCE_CONTINUE;
  for (ssize_t i = 0; i < size; i++)
    (void) on_stop_signal (data);
  if (size > 0)
    return G_SOURCE_CONTINUE;
  while (((Session *) data)->n_signals < 2)
    (void) on_stop_signal (data);
  return G_SOURCE_REMOVE;
}

/* Standard input belongs to the local end, so the command gets an empty one. */
static bool
watch_near_end (Session *self, GError **error)
{
  int control = fcntl (STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
  autofd nothing = open ("/dev/null", O_RDONLY | O_CLOEXEC);

  if (control < 0 || nothing < 0 || dup2 (nothing, STDIN_FILENO) < 0)
    {
      sysprof_set_error_errno (error,
                               "Cannot receive stop requests from the remote sysprof-cli");
      return false;
    }
  g_unix_fd_add (control, G_IO_IN | G_IO_HUP | G_IO_ERR, on_near_end, self);
  return true;
}

/* The kernel and the shell both report the end of a terminal, so these signals come in
 * groups. */
static gboolean
on_hang_up (gpointer data)
{
  Session *self = data;

  return self->n_signals == 0 && !is_stopped (self) ? on_stop_signal (data) : G_SOURCE_CONTINUE;
}

static void
on_ended (GObject *source, GAsyncResult *result, gpointer data)
{
  Session *self = data;

  (void) sysprof_recording_wait_finish (SYSPROF_RECORDING (source), result, &self->error);
  g_main_loop_quit (self->loop);
}

static void
start_top (Session *self)
{
  g_autoptr (GError) error = NULL;
  const CliOptions *options = self->options;
  const TopOptions top = {
    /* As for --report. Standard output may be the capture. */
    .fd = options->command != NULL || g_strcmp0 (options->output, "-") == 0 ? STDERR_FILENO
                                                                            : STDOUT_FILENO,
    .takes_keys = options->command == NULL,
    .gives_back = !is_kept (options),
  };

  self->top = sysprof_cli_top_new (self->recording, &top, &error);
  if (self->top == NULL)
    sysprof_cli_terminal_print (&self->terminal, "--top: %s. The recording continues.",
                                error->message);
}

static void
on_begun (GObject *source, GAsyncResult *result, gpointer data)
{
  Session *self = data;
  g_autoptr (GListModel) diagnostics = NULL;

  self->recording =
      sysprof_profiler_record_finish (SYSPROF_PROFILER (source), result, &self->error);
  if (self->recording == NULL)
    {
      g_main_loop_quit (self->loop);
      return;
    }
  if (self->n_signals > 0)
    sysprof_recording_stop_async (self->recording, NULL, NULL, NULL);
  diagnostics = sysprof_recording_list_diagnostics (self->recording);
  g_signal_connect (diagnostics, "items-changed", G_CALLBACK (on_diagnostics_changed), self);
  show_diagnostics (self);
  g_timeout_add (COMMIT_INTERVAL_MSEC, commit_once_begun, self);
  g_timeout_add (STATUS_INTERVAL_MSEC, stop_if_removed, self);
  if (self->terminal.form != STATUS_NONE)
    g_timeout_add (STATUS_INTERVAL_MSEC, show_status, self);
  if (self->options->top && self->n_signals == 0)
    start_top (self);
  sysprof_recording_wait_async (self->recording, NULL, on_ended, self);
}

static bool
open_outputs (Session *self, GError **error)
{
  const CliOptions *options = self->options;

  if (!sysprof_cli_find_command (options, error))
    return false;
  if (options->output == NULL)
    self->output.fd = sysprof_temporary_file_open_unnamed ();
  if (options->output == NULL && self->output.fd < 0)
    {
      sysprof_set_error_errno (error, "Cannot make a temporary file in '%s'", g_get_tmp_dir ());
      return false;
    }
  if (options->output != NULL &&
      !sysprof_cli_output_open (&self->output, options->output, options->old_file,
                                OUTPUT_AT_ONCE, error))
    return false;
  return options->flame == NULL ||
         sysprof_cli_output_open (&self->flame, options->flame,
                                  options->force ? OUTPUT_REPLACE_OLD : OUTPUT_REFUSE_OLD,
                                  OUTPUT_WHEN_DONE, error);
}

static SysprofProfiler *
new_profiler (Session *self)
{
  const CliOptions *options = self->options;
  SysprofProfiler *profiler = sysprof_profiler_new ();
  g_autoptr (SysprofSpawnable) spawnable = NULL;

  sysprof_profiler_set_acquire_privileges (profiler, sysprof_cli_asks_service (options));
  sysprof_profiler_set_max_size (profiler, options->max_size);
  sysprof_profiler_set_max_duration (profiler, options->duration_nsec);
  sysprof_profiler_set_record_environment (profiler, options->record_environment);
  sysprof_cli_add_instruments (profiler, options, self->ask_debuginfod, self->queue);
  spawnable = sysprof_cli_new_spawnable (
      profiler, options, (const char *const *) self->environment, &self->terminal);
  sysprof_profiler_set_spawnable (profiler, spawnable);
  return profiler;
}

/* Each of these ends the recording. SIGHUP arrives when the terminal or the ssh connection
 * is closed. */
static const int stop_signals[] = { SIGINT, SIGTERM, SIGHUP };

static void
watch_signals (Session *self)
{
  for (size_t i = 0; i < G_N_ELEMENTS (stop_signals); i++)
    {
      g_autoptr (GSource) source = NULL;
      struct sigaction before;

      /* nohup: the recording must outlive the terminal. */
      if (stop_signals[i] == SIGHUP && sigaction (SIGHUP, NULL, &before) == 0 &&
          before.sa_handler == SIG_IGN)
        continue;
      source = g_unix_signal_source_new (stop_signals[i]);
      g_source_set_callback (source, stop_signals[i] == SIGHUP ? on_hang_up : on_stop_signal,
                             self, NULL);
      g_source_attach (source, NULL);
    }
}

/* Runs the recording to its end. Returns FALSE if it could not begin; `self->error` has the
 * reason. */
static bool
run (Session *self)
{
  g_autoptr (SysprofProfiler) profiler = NULL;
  SysprofCaptureWriter *writer;
  gsize buffer_size = DEFAULT_BUFFER_SIZE;

  /* The file exists now and must be removed if the recording fails. */
  watch_signals (self);
  self->agent = sysprof_cli_text_agent_start (self->options);
  profiler = new_profiler (self);
  if (self->options->buffer_pages > 0)
    buffer_size = (gsize) self->options->buffer_pages * (gsize) sysconf (_SC_PAGESIZE);
  writer =
      sysprof_capture_writer_new_from_fd (sysprof_steal_fd (&self->output.fd), buffer_size);
  if (writer == NULL)
    {
      g_autofree char *name = self->output.path != NULL
                                  ? g_strdup_printf ("'%s'", self->output.path)
                                  : g_strdup ("standard output");

      sysprof_set_error_errno (&self->error, "Cannot write to %s", name);
      return false;
    }

  sysprof_profiler_record_async (profiler, writer, NULL, on_begun, self);
  sysprof_capture_writer_unref (writer);
  g_main_loop_run (self->loop);
  g_clear_pointer (&self->top, sysprof_cli_top_free);

  /* From here on ^C ends the program and removes incomplete files. The sources stay, because
   * without them GLib would restore the default action, which removes nothing. */
  sysprof_temporary_files_remove_on_signals ();
  return self->recording != NULL;
}

/* Returns FALSE, and reports it, if the capture is incomplete. A failed command does not
 * matter here. */
static bool
finish (Session *self)
{
  g_autoptr (GError) error = NULL;
  bool command_ran = self->options->command == NULL ||
                     sysprof_recording_get_subprocess (self->recording) != NULL;
  bool is_whole = self->error == NULL && command_ran;

  show_diagnostics (self);
  if (!self->is_committed && has_begun (self))
    (void) commit_once_begun (self); /* has reported the failure */

  is_whole = is_whole && !self->has_commit_failed;

  /* The compressor knows the reason; the recorder only sees a closed pipe. */
  if (!sysprof_cli_output_close (&self->output, &error))
    {
      is_whole = false;
      fail (self, error);
    }
  else if (self->error != NULL)
    fail (self, self->error);
  return is_whole;
}

/* A signal, a limit or a full disk ends the recording, but never a process that was
 * recorded. */
static int
leave_command (Session *self)
{
  GSubprocess *subprocess = sysprof_recording_get_subprocess (self->recording);
  const char *running = sysprof_cli_get_running_command (subprocess);

  if (running != NULL)
    sysprof_cli_terminal_note (
        &self->terminal, "'%s' (process %s) %s.", self->options->command[0], running,
        self->options->exit_status ? "is still running; waiting for its exit status"
                                   : "continues without being recorded");
  if (!self->options->exit_status || subprocess == NULL)
    return EXIT_SUCCESS;
  (void) g_subprocess_wait (subprocess, NULL, NULL); /* fails only when canceled */
  if (g_subprocess_get_if_exited (subprocess))
    return g_subprocess_get_exit_status (subprocess);
  return SIGNAL_STATUS + g_subprocess_get_term_sig (subprocess);
}

static bool
show_results (Session *self, GError **error)
{
  autofd fd = -1;

  if (!self->options->report && self->options->flame == NULL)
    return true;
  fd = sysprof_recording_dup_fd (self->recording);
  if (fd < 0)
    {
      sysprof_set_error_errno (error, "Cannot read the recording back for --report or --flame");
      return false;
    }
  return sysprof_cli_show_results (self->options, fd, &self->flame, error);
}

/* libdebuginfod reads its servers from the environment. It is changed before there are other
 * threads; the command gets the original. */
static void
choose_servers (Session *self)
{
  const CliOptions *options = self->options;

  self->environment = g_get_environ ();
  self->ask_debuginfod =
      !options->no_decode &&
      sysprof_debuginfod_may_ask (options->debuginfod, options->no_debuginfod);
  if (self->ask_debuginfod && !options->debuginfod)
    self->queue = sysprof_debuginfod_queue_new ();
}

static void
tell_debuginfod (const DebuginfodStatus *status, void *data)
{
  Session *self = data;
  g_autofree char *text = status->is_done ? sysprof_debuginfod_describe (status) : NULL;

  if (text != NULL)
    sysprof_cli_terminal_note (&self->terminal, "debuginfod: %s", text);
}

/* Downloads debug files for later reports on this machine, so not at the remote end of --host.
 * The capture is already complete, and a reader of a pipe has seen its end. */
static void
download_queued (Session *self)
{
  uint32_t n = self->queue != NULL ? sysprof_debuginfod_queue_get_n (self->queue) : 0;
  int null = n > 0 ? open ("/dev/null", O_WRONLY | O_CLOEXEC) : -1;

  if (n == 0 || self->options->far_end != NULL)
    return;
  if (null >= 0)
    {
      (void) dup2 (null, STDOUT_FILENO); /* otherwise the reader of the pipe waits */
      (void) close (null);
    }
  sysprof_cli_terminal_note (
      &self->terminal,
      "The capture is complete. Downloading %u file%s from debuginfod servers, for reports; ^C "
      "cancels. With --debuginfod their names are in the capture.",
      n, n == 1 ? "" : "s");
  sysprof_debuginfod_queue_fetch (self->queue, tell_debuginfod, self);
}

int
sysprof_cli_record (const CliOptions *options)
{
  g_auto (Session) self = { .options = options, .output = OUTPUT_INIT, .flame = OUTPUT_INIT };
  g_autofree char *sandbox_warning = sysprof_cli_dup_sandbox_warning (FLATPAK_INFO);
  g_autoptr (GError) error = NULL;
  RecordingStatus status;
  bool is_whole;
  int command_status, exit_status;

  choose_servers (&self);
  sysprof_cli_terminal_init (&self.terminal,
                             options->json_status || options->far_end != NULL ? STATUS_JSON
                                                                              : STATUS_LINE,
                             options->quiet);
  self.terminal.mark = options->far_end;
  self.loop = g_main_loop_new (NULL, FALSE);
  sysprof_cli_fail_refused_writes ();

  sysprof_temporary_files_remove_on_signals ();
  if (!sysprof_check_threads (&error) ||
      (options->far_end != NULL && !watch_near_end (&self, &error)) ||
      !open_outputs (&self, &error))
    return fail (&self, error);
  if (sandbox_warning != NULL)
    sysprof_cli_terminal_print (&self.terminal, "%s", sandbox_warning);
  if (!run (&self))
    return fail (&self, self.error);

  is_whole = finish (&self);
  if (!self.is_committed)
    return EXIT_FAILURE;
  sysprof_recording_get_status (self.recording, &status);
  sysprof_cli_terminal_status (&self.terminal, &status, true);
  /* After a truncated recording the error has reported what is kept. */
  if (is_whole)
    sysprof_cli_terminal_summary (&self.terminal, &status, options->output);
  if (!show_results (&self, &error))
    {
      is_whole = false;
      fail (&self, error);
    }
  command_status = leave_command (&self);
  if (is_whole)
    download_queued (&self);
  exit_status = is_whole ? command_status : EXIT_FAILURE;
  /* Messages of ssh wait for all holders of standard error, as a command that outlives the
   * recording. */
  if (options->far_end != NULL)
    sysprof_cli_terminal_print (&self.terminal, "%s {\"exit-status\": %d}", options->far_end,
                                exit_status);
  return exit_status;
}
