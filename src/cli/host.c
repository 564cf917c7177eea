// SPDX-License-Identifier: GPL-3.0-or-later

/* The local end of a recording on another machine. It starts ssh, writes the capture that ssh
 * returns, prints messages and the status, and decides on the exit status.
 *
 * The remote end is trusted with nothing except its output, and the connection may end at any
 * time. Data that arrived is kept once the remote recording has begun. All functions run on the
 * main thread. */

#include "cli/host-private.h"

#include "cli/results.h"
#include "cli/service-manager.h"
#include "cli/shell-quoting.h"
#include "util/util.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <gio/gunixinputstream.h>
#include <gio/gunixoutputstream.h>
#include <glib-unix.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCK_SIZE   (256 * 1024)
#define HEADER_SIZE  256 /* size of the header of a capture */
#define MOST_BEFORE  (64 * 1024)
#define MOST_OF_LINE (64 * 1024)
#define MSEC_FOR_EXIT \
  2000 /* timeout after the recording has ended; far above the latency of a message */

/* Magic and version, the first bytes of a capture. Output of the remote shell's start-up
 * files may precede them. */
static const uint8_t beginning[] = { 0x5e, 0x97, 0xca, 0xfd, 1 };

static void
local_end_clear (LocalEnd *self)
{
  sysprof_cli_output_clear (&self->output);
  sysprof_cli_output_clear (&self->flame);
  g_clear_handle_id (&self->data_source, g_source_remove);
  g_clear_handle_id (&self->message_source, g_source_remove);
  g_clear_handle_id (&self->exit_source, g_source_remove);
  g_clear_pointer (&self->loop, g_main_loop_unref);
  g_clear_object (&self->ssh);
  g_clear_pointer (&self->before, g_byte_array_unref);
  if (self->line != NULL)
    g_string_free (self->line, TRUE);
  g_free (self->token);
  g_free (self->mark);
  g_free (self->last_line);
  g_clear_error (&self->error);
  sysprof_autofd_close (&self->result_fd);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (LocalEnd, local_end_clear)

static void
quit_when_done (LocalEnd *self)
{
  if (self->has_exited && self->data_source == 0)
    g_main_loop_quit (self->loop);
}

static void
end_ssh (LocalEnd *self)
{
  if (!self->has_exited)
    g_subprocess_send_signal (self->ssh, SIGTERM);
}

static bool
is_all_here (const LocalEnd *self)
{
  return self->is_finished && self->n_bytes >= HEADER_SIZE &&
         self->n_bytes >= self->status.size;
}

static gboolean
on_exit_is_late (gpointer data)
{
  LocalEnd *self = data;

  self->exit_source = 0;
  end_ssh (self);
  return G_SOURCE_REMOVE;
}

/* A command that outlives its recorder keeps standard error open, so the server keeps the
 * connection for it. */
static void
end_when_all_is_here (LocalEnd *self)
{
  if (self->exit_source == 0 && !self->has_exited && self->far_status >= 0 &&
      is_all_here (self))
    self->exit_source = g_timeout_add (MSEC_FOR_EXIT, on_exit_is_late, self);
}

/* --- the capture --- */

/* Keeps everything except bytes that could not be written. */
static void
commit (LocalEnd *self)
{
  g_autoptr (GError) error = NULL;

  if (self->is_committed || self->error != NULL)
    return;
  self->is_committed = true;
  if (!sysprof_cli_output_commit (&self->output, &error))
    self->error = g_steal_pointer (&error);
}

static void
keep (LocalEnd *self, const uint8_t *bytes, size_t size)
{
  if (self->error != NULL || size == 0)
    return;
  if (!sysprof_write_all (self->output.fd, bytes, size))
    {
      int number = errno;
      const char *name = self->output.path != NULL ? self->output.path : "standard output";
      g_autofree char *written = sysprof_text_of_size (self->n_bytes);
      g_autofree char *kept = self->is_committed || self->output.path == NULL
                                  ? g_strdup_printf ("The %s until then are kept.", written)
                                  : g_strdup ("Nothing is kept.");

      g_set_error (&self->error, SYSPROF_ERROR, SYSPROF_ERROR_FAILED,
                   "Cannot write to '%s': %s. The recording ended there. %s %s", name,
                   g_strerror (number), kept, sysprof_advice_on_errno (number));
      end_ssh (self);
      return;
    }
  self->n_bytes += size;
  if (self->result_fd >= 0 && !sysprof_write_all (self->result_fd, bytes, size))
    sysprof_autofd_close (&self->result_fd); /* the error is reported when the file is needed */
}

/* Start-up files of a shell may print to standard output, where only a capture is expected. */
static void
look_for_beginning (LocalEnd *self)
{
  const uint8_t *found =
      memmem (self->before->data, self->before->len, beginning, sizeof beginning);
  g_autoptr (GByteArray) before = NULL;
  size_t n_before = self->before->len;

  if (found == NULL && self->before->len < MOST_BEFORE)
    return;
  if (found != NULL)
    n_before = (size_t) (found - self->before->data);
  before = g_steal_pointer (&self->before);
  if (found == NULL)
    {
      g_set_error (
          &self->error, SYSPROF_ERROR, SYSPROF_ERROR_FAILED,
          "'%s' sent something that is not a capture. Does a start-up file of its shell "
          "print it? 'ssh %s true' should print nothing.",
          self->options->host, self->options->host);
      end_ssh (self);
      return;
    }
  if (n_before > 0)
    sysprof_cli_terminal_print (
        &self->terminal,
        "%s: %" G_GSIZE_FORMAT
        " bytes before the capture were dropped: a start-up file of the shell "
        "there prints them.",
        self->options->host, n_before);
  keep (self, found, before->len - n_before);
}

static void
take_data (LocalEnd *self, const uint8_t *bytes, size_t size)
{
  if (self->before == NULL)
    {
      keep (self, bytes, size);
      return;
    }
  g_byte_array_append (self->before, bytes, (guint) size);
  look_for_beginning (self);
}

static gboolean
on_data (gint fd, GIOCondition condition, gpointer data)
{
  static uint8_t bytes[BLOCK_SIZE];
  LocalEnd *self = data;
  ssize_t size = read (fd, bytes, sizeof bytes);

  if (size < 0 && (errno == EAGAIN || errno == EINTR))
    return G_SOURCE_CONTINUE;
  if (size > 0)
    {
      take_data (self, bytes, (size_t) size);
      end_when_all_is_here (self);
      return G_SOURCE_CONTINUE;
    }
  self->data_source = 0;
  quit_when_done (self);
  return G_SOURCE_REMOVE;
}

/* --- messages and status --- */

/* Reads an object of the remote --json-status, or the last one, which contains only the exit
 * status. Missing members keep their values. */
static void
take_status (LocalEnd *self, Text text)
{
  RecordingStatus *status = &self->status;
  uint64_t time, exit_status;

  if (sysprof_text_u64_after (text, "\"exit-status\": ", &exit_status))
    {
      self->far_status = (int) MIN (exit_status, UINT8_MAX);
      end_when_all_is_here (self);
      return;
    }
  (void) sysprof_text_u64_after (text, "\"samples\": ", &status->n_samples);
  (void) sysprof_text_u64_after (text, "\"lost\": ", &status->n_lost);
  (void) sysprof_text_u64_after (text, "\"lost-samples\": ", &status->n_lost_samples);
  (void) sysprof_text_u64_after (text, "\"lost-records\": ", &status->n_lost_records);
  (void) sysprof_text_u64_after (text, "\"throttled\": ", &status->n_throttled);
  (void) sysprof_text_u64_after (text, "\"frames\": ", &status->n_frames);
  (void) sysprof_text_u64_after (text, "\"size\": ", &status->size);
  if (sysprof_text_u64_after (text, "\"time\": ", &time) && time <= INT64_MAX)
    status->duration = status->counted = (int64_t) time;
  if (sysprof_text_u64_after (text, "\"cpu-time\": ", &time) && time <= INT64_MAX)
    status->cpu_nsec = (int64_t) time;
  status->is_stopped = self->n_signals > 0;

  if (!self->is_begun)
    {
      self->is_begun = true;
      commit (self);
      sysprof_cli_service_manager_notify ("READY=1");
    }
  self->is_finished =
      memmem (text.at, sysprof_text_size (text), "\"finished\": true", 16) != NULL;
  if (!self->is_finished)
    sysprof_cli_terminal_status (&self->terminal, status, false);
}

static void
take_line (LocalEnd *self, const char *line)
{
  const char *status = strstr (line, self->mark);

  /* Output of the command may precede the object without a newline. The token alone also
   * appears in ps. */
  if (status != NULL)
    {
      if (status > line)
        sysprof_cli_terminal_print (&self->terminal, "%.*s", (int) (status - line), line);
      take_status (self, sysprof_text_from_string (status));
      return;
    }
  if (!self->is_begun && strstr (line, "--far-end") != NULL && strstr (line, " -o -") == NULL)
    self->is_too_old = true; /* printed by this program */
  else
    sysprof_cli_terminal_print (&self->terminal, "%s", line);
  if (!self->is_begun && strstr (line, "HOST IDENTIFICATION HAS CHANGED") != NULL)
    self->has_other_key = true;
  g_free (self->last_line);
  self->last_line = g_strdup (line);
}

static void
take_lines (LocalEnd *self)
{
  char *end;

  while ((end = memchr (self->line->str, '\n', self->line->len)) != NULL)
    {
      gssize size = end - self->line->str;

      *end = '\0';
      if (size > 0 && end[-1] == '\r') /* as ssh ends its messages */
        end[-1] = '\0';
      take_line (self, self->line->str);
      g_string_erase (self->line, 0, size + 1);
    }
  if (self->line->len > MOST_OF_LINE)
    {
      take_line (self, self->line->str);
      g_string_truncate (self->line, 0);
    }
}

/* Returns FALSE at the end of the stream. */
static bool
read_messages (LocalEnd *self, int fd)
{
  char bytes[4096];
  ssize_t size = read (fd, bytes, sizeof bytes);

  if (size < 0 && (errno == EAGAIN || errno == EINTR))
    return true;
  if (size <= 0)
    return false;
  /* A command prints arbitrary bytes; without this limit a line without end would block the
   * rest. */
  for (ssize_t i = 0; i < size; i++)
    if (bytes[i] == '\0')
      bytes[i] = '\n';
  g_string_append_len (self->line, bytes, size);
  take_lines (self);
  return true;
}

static gboolean
on_messages (gint fd, GIOCondition condition, gpointer data)
{
  LocalEnd *self = data;

  if (read_messages (self, fd))
    return G_SOURCE_CONTINUE;
  self->message_source = 0;
  return G_SOURCE_REMOVE;
}

/* Reads what is left without waiting for the end: a proxy program of ssh may keep this
 * descriptor open. */
static void
read_last_messages (LocalEnd *self, int fd)
{
  GPollFD ready = { fd, G_IO_IN, 0 };

  g_clear_handle_id (&self->message_source, g_source_remove);
  while (g_poll (&ready, 1, 0) > 0 && read_messages (self, fd))
    ready.revents = 0;
  if (self->line->len > 0)
    take_line (self, self->line->str);
  g_string_truncate (self->line, 0);
}

/* --- ssh --- */

static void
on_exited (GObject *source, GAsyncResult *result, gpointer data)
{
  LocalEnd *self = data;

  (void) g_subprocess_wait_finish (G_SUBPROCESS (source), result, NULL); /* never canceled */
  self->has_exited = true;
  g_clear_handle_id (&self->exit_source, g_source_remove);
  quit_when_done (self);
}

/* ^C goes to all processes of the terminal. ssh must survive it until the capture is
 * complete; it leaves ignored signals ignored. */
static void
ignore_signals_of_terminal (gpointer data)
{
  (void) signal (SIGINT, SIG_IGN);
  (void) signal (SIGHUP, SIG_IGN);
}

static char *
dup_far_command (const CliOptions *options, const char *token)
{
  GString *line = g_string_new (FAR_PROGRAM);
  g_autofree char *far_end = g_strdup_printf ("--far-end=%s", token);

  sysprof_cli_append_shell_word (line, far_end);
  for (size_t i = 0; options->remote_words[i] != NULL; i++)
    sysprof_cli_append_shell_word (line, options->remote_words[i]);
  g_string_append (line, " -o -");
  if (options->command != NULL)
    g_string_append (line, " --");
  for (size_t i = 0; options->command != NULL && options->command[i] != NULL; i++)
    sysprof_cli_append_shell_word (line, options->command[i]);
  return g_string_free (line, FALSE);
}

static bool
start_ssh (LocalEnd *self, GError **error)
{
  g_autoptr (GSubprocessLauncher) launcher = NULL;
  g_autofree char *program = g_find_program_in_path ("ssh");
  g_autofree char *command = dup_far_command (self->options, self->token);
  /* Without a remote terminal, which would change bytes. A dead connection is detected after 45
   * s; a shared connection would not detect it. */
  const char *const words[] = { program, "-T",
                                "-o",    "RemoteCommand=none",
                                "-o",    "ServerAliveInterval=15",
                                "-o",    "ServerAliveCountMax=3",
                                "-o",    "ControlPath=none",
                                "--",    self->options->host,
                                command, NULL };

  if (program == NULL)
    {
      g_set_error (error, SYSPROF_ERROR, SYSPROF_ERROR_FAILED,
                   "--host %s: there is no program 'ssh' in PATH. Install it (package "
                   "openssh-client), or record there and copy the file.",
                   self->options->host);
      return false;
    }
  launcher = g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_STDIN_PIPE |
                                        G_SUBPROCESS_FLAGS_STDOUT_PIPE |
                                        G_SUBPROCESS_FLAGS_STDERR_PIPE);
  g_subprocess_launcher_set_child_setup (launcher, ignore_signals_of_terminal, NULL, NULL);
  self->ssh = g_subprocess_launcher_spawnv (launcher, words, error);
  if (self->ssh == NULL)
    g_prefix_error (error, "--host %s: Cannot start ssh: ", self->options->host);
  return self->ssh != NULL;
}

static int
message_fd (LocalEnd *self)
{
  return g_unix_input_stream_get_fd (
      G_UNIX_INPUT_STREAM (g_subprocess_get_stderr_pipe (self->ssh)));
}

static void
ask_to_stop (LocalEnd *self)
{
  int fd = g_unix_output_stream_get_fd (
      G_UNIX_OUTPUT_STREAM (g_subprocess_get_stdin_pipe (self->ssh)));

  (void) !write (fd, "\n", 1); /* the remote end has gone; the end of the stream follows */
}

static gboolean
on_stop_signal (gpointer data)
{
  LocalEnd *self = data;

  self->n_signals++;
  /* Before the recording has begun there is nothing to keep, and ssh may be waiting for a
   * password. */
  if (self->n_signals > 2 || !self->is_begun)
    end_ssh (self);
  else
    ask_to_stop (self);
  return G_SOURCE_CONTINUE;
}

static gboolean
on_hang_up (gpointer data)
{
  LocalEnd *self = data;

  return self->n_signals == 0 ? on_stop_signal (data) : G_SOURCE_CONTINUE;
}

static void
run (LocalEnd *self)
{
  struct sigaction hang_up;
  int data_fd = g_unix_input_stream_get_fd (
      G_UNIX_INPUT_STREAM (g_subprocess_get_stdout_pipe (self->ssh)));

  g_unix_signal_add (SIGINT, on_stop_signal, self);
  g_unix_signal_add (SIGTERM, on_stop_signal, self);
  if (sigaction (SIGHUP, NULL, &hang_up) == 0 && hang_up.sa_handler != SIG_IGN) /* nohup */
    g_unix_signal_add (SIGHUP, on_hang_up, self);
  self->data_source = g_unix_fd_add (data_fd, G_IO_IN | G_IO_HUP | G_IO_ERR, on_data, self);
  self->message_source =
      g_unix_fd_add (message_fd (self), G_IO_IN | G_IO_HUP | G_IO_ERR, on_messages, self);
  g_subprocess_wait_async (self->ssh, NULL, on_exited, self);
  g_main_loop_run (self->loop);
  read_last_messages (self, message_fd (self));
  sysprof_temporary_files_remove_on_signals ();
}

/* --- the result --- */

/* Returns whether the whole recording arrived and the remote recorder succeeded. Reports
 * failures. */
static bool
judge (LocalEnd *self, int ssh_status)
{
  bool is_cut_off = self->far_status < 0 && (ssh_status < 0 || ssh_status == FAILED_SSH);
  int status = self->far_status >= 0 ? self->far_status : ssh_status;
  g_autoptr (GError) error = NULL;

  /* A connection that was lost before the first status may have delivered frames. */
  if (is_cut_off && self->n_bytes > HEADER_SIZE && self->n_signals == 0)
    commit (self);
  if (!sysprof_cli_output_close (&self->output, &error) && self->error == NULL)
    self->error = g_steal_pointer (&error);
  if (self->error != NULL)
    {
      sysprof_cli_terminal_print (&self->terminal, "sysprof-cli: %s", self->error->message);
      return false;
    }
  if (!self->is_committed)
    sysprof_cli_host_explain_nothing (self, ssh_status);
  else if (!is_all_here (self))
    sysprof_cli_host_explain_cut (self, ssh_status);
  else if (is_cut_off)
    sysprof_cli_host_explain_left (self);
  return is_all_here (self) && !is_cut_off && (status == 0 || self->options->exit_status);
}

static bool
show_results (LocalEnd *self, GError **error)
{
  if (!self->options->report && self->options->flame == NULL)
    return true;
  if (self->result_fd < 0)
    {
      g_set_error (
          error, SYSPROF_ERROR, SYSPROF_ERROR_FAILED,
          "Cannot keep a copy for --report or --flame in '%s'. Make room, or set TMPDIR to another directory.",
          g_get_tmp_dir ());
      return false;
    }
  (void) lseek (self->result_fd, 0, SEEK_SET); /* cannot fail for a file of this program */
  return sysprof_cli_show_results (self->options, self->result_fd, &self->flame, error);
}

static bool
open_outputs (LocalEnd *self, GError **error)
{
  const CliOptions *options = self->options;

  if (!sysprof_cli_output_open (&self->output, options->output, options->old_file,
                                OUTPUT_AT_ONCE, error))
    return false;
  if (options->report || options->flame != NULL)
    self->result_fd = sysprof_temporary_file_open_unnamed ();
  return options->flame == NULL ||
         sysprof_cli_output_open (&self->flame, options->flame,
                                  options->force ? OUTPUT_REPLACE_OLD : OUTPUT_REFUSE_OLD,
                                  OUTPUT_WHEN_DONE, error);
}

int
sysprof_cli_record_there (const CliOptions *options)
{
  g_auto (LocalEnd) self = { .options = options,
                             .output = OUTPUT_INIT,
                             .flame = OUTPUT_INIT,
                             .result_fd = -1,
                             .far_status = -1 };
  g_autoptr (GError) error = NULL;
  int status;
  bool is_whole;

  sysprof_cli_terminal_init (&self.terminal, options->json_status ? STATUS_JSON : STATUS_LINE,
                             options->quiet);
  self.loop = g_main_loop_new (NULL, FALSE);
  self.before = g_byte_array_new ();
  self.line = g_string_new (NULL);
  self.token = g_uuid_string_random ();
  self.mark = g_strconcat (self.token, " {", NULL);
  sysprof_cli_fail_refused_writes ();
  sysprof_temporary_files_remove_on_signals ();

  if (!sysprof_check_threads (&error) || !open_outputs (&self, &error) ||
      !start_ssh (&self, &error))
    {
      sysprof_cli_terminal_print (&self.terminal, "sysprof-cli: %s", error->message);
      return EXIT_FAILURE;
    }
  run (&self);
  status = g_subprocess_get_if_exited (self.ssh) ? g_subprocess_get_exit_status (self.ssh) : -1;
  is_whole = judge (&self, status);
  if (!self.is_committed)
    return EXIT_FAILURE;

  sysprof_cli_terminal_status (&self.terminal, &self.status, true);
  if (is_whole)
    sysprof_cli_terminal_summary (&self.terminal, &self.status, options->output);
  if (self.error == NULL && !show_results (&self, &error))
    {
      is_whole = false;
      sysprof_cli_terminal_print (&self.terminal, "sysprof-cli: %s", error->message);
    }
  if (!is_whole)
    return EXIT_FAILURE;
  return self.far_status >= 0 ? self.far_status : status;
}
