// SPDX-License-Identifier: GPL-3.0-or-later

/* Runs a command and embeds its output.
 *
 * In the phases *prepare* and *augment* the recording waits for the command. In *record* the
 * command runs during the recording and is stopped with it. A command that does not exit in
 * time or prints too much is stopped. Its output so far is kept, and a diagnostic reports
 * that. */

#include "record/instrument.h"
#include "util/util.h"

#include <fcntl.h>
#include <glib-unix.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <sysprof.h>

#define MAX_OUTPUT_SIZE (64 * 1024 * 1024)
#define MAX_WAIT_USEC   (10 * G_USEC_PER_SEC)
#define POLL_MSEC       50

struct _SysprofSubprocessOutput
{
  SysprofInstrument parent_instance;

  SysprofRecordingPhase phase;
  char *stdout_path;
  char *command_cwd;
  char **command_argv;
  char **command_environ;

  /* while the command runs */
  GPid pid; /* 0 = none */
  int out_fd;
  GByteArray *output;
};

SYSPROF_DEFINE_INSTRUMENT (SysprofSubprocessOutput, sysprof_subprocess_output)

enum
{
  PROP_0,
  PROP_COMMAND_ARGV,
  PROP_COMMAND_CWD,
  PROP_COMMAND_ENVIRON,
  PROP_PHASE,
  PROP_STDOUT_PATH,
  N_PROPS
};

static GParamSpec *properties[N_PROPS];

/* --- the command --- */

static bool
start_command (SysprofSubprocessOutput *self, RecordingContext *context, GError **error)
{
  const char *const *argv = (const char *const *) self->command_argv;
  GSpawnFlags flags = G_SPAWN_DO_NOT_REAP_CHILD | G_SPAWN_SEARCH_PATH | G_SPAWN_CLOEXEC_PIPES;
  g_autoptr (GError) cause = NULL;
  bool started;

  sysprof_context_begin_spawn (context);
  started =
      g_spawn_async_with_pipes (self->command_cwd, (char **) argv, self->command_environ, flags,
                                NULL, NULL, &self->pid, NULL, &self->out_fd, NULL, &cause);
  sysprof_context_end_spawn (context);
  if (!started)
    {
      self->out_fd = -1;
      if (g_error_matches (cause, G_SPAWN_ERROR, G_SPAWN_ERROR_NOENT))
        g_set_error (error, SYSPROF_ERROR, SYSPROF_ERROR_UNSUPPORTED,
                     "The output of '%s' is not recorded: there is no such program. Install "
                     "it, or record without it.",
                     argv[0]);
      else
        g_propagate_prefixed_error (error, g_steal_pointer (&cause),
                                    "Cannot run '%s' for '%s': ", argv[0], self->stdout_path);
      return false;
    }

  g_unix_set_fd_nonblocking (self->out_fd, TRUE, NULL);
  self->output = g_byte_array_new ();
  return true;
}

/* Reads the available output. FALSE if there will be no more. */
static bool
read_output (SysprofSubprocessOutput *self)
{
  uint8_t bytes[16384];

  for (;;)
    {
      ssize_t n = read (self->out_fd, bytes, sizeof bytes);

      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0)
        return errno == EAGAIN;
      if (n == 0 || self->output->len + (size_t) n > MAX_OUTPUT_SIZE)
        return false;
      g_byte_array_append (self->output, bytes, (guint) n);
    }
}

static void
wait_for_output (SysprofSubprocessOutput *self, RecordingContext *context)
{
  gint64 deadline = g_get_monotonic_time () + MAX_WAIT_USEC;

  while (read_output (self) && g_get_monotonic_time () < deadline &&
         !sysprof_context_is_augment_skipped (context))
    {
      struct pollfd ready = { .fd = self->out_fd, .events = POLLIN };

      (void) poll (&ready, 1, POLL_MSEC); /* an error shows at the next read */
    }
}

/* Whether the command has exited by itself. It is killed after a grace period. */
static bool
reap_command (SysprofSubprocessOutput *self, int *status)
{
  gint64 deadline = g_get_monotonic_time () + G_USEC_PER_SEC;
  bool by_itself = true;

  /* a command that is still writing gets SIGPIPE */
  sysprof_autofd_close (&self->out_fd);
  self->out_fd = -1;

  while (waitpid (self->pid, status, WNOHANG) == 0)
    {
      if (g_get_monotonic_time () < deadline)
        g_usleep (1000);
      else
        {
          by_itself = false;
          (void) kill (self->pid, SIGKILL); /* it may have exited just now */
          (void) waitpid (self->pid, status, 0);
          break;
        }
    }

  g_spawn_close_pid (self->pid);
  self->pid = 0;
  return by_itself;
}

/* A capture may have several such instruments, so a failure is recorded under the name of the
 * missing file. */
static void
tell_lack (SysprofSubprocessOutput *self, RecordingContext *context, const char *reason)
{
  SysprofInstrument *instrument = SYSPROF_INSTRUMENT (self);

  sysprof_instrument_report_missing (
      instrument, context,
      instrument->is_optional ? self->stdout_path : SYSPROF_INSTRUMENT_GET_CLASS (self)->name,
      reason);
}

static void
keep_output (SysprofSubprocessOutput *self, RecordingContext *context)
{
  bool has_ended = !read_output (self); /* including output since the last read */
  g_autoptr (GByteArray) output = g_steal_pointer (&self->output);
  g_autoptr (GError) error = NULL;
  const char *name = SYSPROF_INSTRUMENT_GET_CLASS (self)->name;
  int status = 0;

  if (!has_ended)
    (void) kill (self->pid, SIGTERM); /* reap_command() kills it if it ignores this */
  if (!reap_command (self, &status) || !has_ended)
    {
      if (self->phase != SYSPROF_RECORDING_PHASE_RECORD)
        sysprof_context_report (context, name, false,
                                "'%s' did not exit in time and was stopped: '%s' contains its "
                                "output so far. Use a command that exits by itself.",
                                self->command_argv[0], self->stdout_path);
    }
  else if (!g_spawn_check_wait_status (status, &error))
    {
      g_autofree char *reason = g_strdup_printf (
          "'%s' failed: %s. Its output is kept as '%s'; run it separately to see its errors.",
          self->command_argv[0], error->message, self->stdout_path);

      tell_lack (self, context, reason);
    }

  /* sysprof_context_add_file() counts a failure. */
  (void) sysprof_context_add_file (context, SYSPROF_CAPTURE_CURRENT_TIME, -1, self->stdout_path,
                                   output->data, output->len, true);
}

static void
output_ready (RecordingContext *context, int fd, void *data)
{
  SysprofSubprocessOutput *self = data;

  if (read_output (self))
    return;

  sysprof_pump_unwatch_fd (context->pump, fd);
  keep_output (self, context);
}

/* --- the phases --- */

static bool
start_or_tell (SysprofSubprocessOutput *self, RecordingContext *context)
{
  g_autoptr (GError) error = NULL;

  if (start_command (self, context, &error))
    return true;
  tell_lack (self, context, error->message);
  return false;
}

static gboolean
sysprof_subprocess_output_prepare (SysprofInstrument *instrument,
                                   RecordingContext *context,
                                   GError **error)
{
  SysprofSubprocessOutput *self = SYSPROF_SUBPROCESS_OUTPUT (instrument);

  if (self->command_argv == NULL || self->command_argv[0] == NULL || self->stdout_path == NULL)
    {
      g_set_error_literal (error, SYSPROF_ERROR, SYSPROF_ERROR_FAILED,
                           "Cannot record the output of a command: the command or the name "
                           "of its file is missing. Set both 'command-argv' and "
                           "'stdout-path'.");
      return FALSE;
    }

  if (self->phase != SYSPROF_RECORDING_PHASE_PREPARE)
    return TRUE;

  if (start_or_tell (self, context))
    wait_for_output (self, context);
  return TRUE;
}

static void
sysprof_subprocess_output_record (SysprofInstrument *instrument, RecordingContext *context)
{
  SysprofSubprocessOutput *self = SYSPROF_SUBPROCESS_OUTPUT (instrument);

  if (self->phase == SYSPROF_RECORDING_PHASE_PREPARE && self->pid != 0)
    keep_output (self, context);
  else if (self->phase == SYSPROF_RECORDING_PHASE_RECORD && start_or_tell (self, context))
    sysprof_pump_watch_fd (context->pump, self->out_fd, output_ready, self);
}

static void
sysprof_subprocess_output_stop (SysprofInstrument *instrument, RecordingContext *context)
{
  SysprofSubprocessOutput *self = SYSPROF_SUBPROCESS_OUTPUT (instrument);

  if (self->pid == 0)
    return;

  sysprof_pump_unwatch_fd (context->pump, self->out_fd);
  keep_output (self, context);
}

static gboolean
sysprof_subprocess_output_augment (SysprofInstrument *instrument,
                                   RecordingContext *context,
                                   GError **error)
{
  SysprofSubprocessOutput *self = SYSPROF_SUBPROCESS_OUTPUT (instrument);

  if (self->phase != SYSPROF_RECORDING_PHASE_AUGMENT || !start_or_tell (self, context))
    return TRUE;

  wait_for_output (self, context);
  keep_output (self, context);
  return TRUE;
}

/* --- the object --- */

static void
sysprof_subprocess_output_finalize (GObject *object)
{
  SysprofSubprocessOutput *self = SYSPROF_SUBPROCESS_OUTPUT (object);
  int status;

  if (self->pid != 0)
    {
      (void) kill (self->pid, SIGKILL); /* it may have exited just now */
      (void) reap_command (self, &status);
    }
  g_clear_pointer (&self->output, g_byte_array_unref);
  g_free (self->stdout_path);
  g_free (self->command_cwd);
  g_strfreev (self->command_argv);
  g_strfreev (self->command_environ);
  G_OBJECT_CLASS (sysprof_subprocess_output_parent_class)->finalize (object);
}

static void
sysprof_subprocess_output_get_property (GObject *object,
                                        guint id,
                                        GValue *value,
                                        GParamSpec *pspec)
{
  SysprofSubprocessOutput *self = SYSPROF_SUBPROCESS_OUTPUT (object);

  switch (id)
    {
    case PROP_COMMAND_ARGV:
      g_value_set_boxed (value, self->command_argv);
      break;
    case PROP_COMMAND_CWD:
      g_value_set_string (value, self->command_cwd);
      break;
    case PROP_COMMAND_ENVIRON:
      g_value_set_boxed (value, self->command_environ);
      break;
    case PROP_PHASE:
      g_value_set_enum (value, self->phase);
      break;
    case PROP_STDOUT_PATH:
      g_value_set_string (value, self->stdout_path);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
sysprof_subprocess_output_set_property (GObject *object,
                                        guint id,
                                        const GValue *value,
                                        GParamSpec *pspec)
{
  SysprofSubprocessOutput *self = SYSPROF_SUBPROCESS_OUTPUT (object);

  switch (id)
    {
    case PROP_COMMAND_ARGV:
      sysprof_subprocess_output_set_command_argv (self, g_value_get_boxed (value));
      break;
    case PROP_COMMAND_CWD:
      sysprof_subprocess_output_set_command_cwd (self, g_value_get_string (value));
      break;
    case PROP_COMMAND_ENVIRON:
      sysprof_subprocess_output_set_command_environ (self, g_value_get_boxed (value));
      break;
    case PROP_PHASE:
      sysprof_subprocess_output_set_phase (self, g_value_get_enum (value));
      break;
    case PROP_STDOUT_PATH:
      sysprof_subprocess_output_set_stdout_path (self, g_value_get_string (value));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
sysprof_subprocess_output_class_init (SysprofSubprocessOutputClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  SysprofInstrumentClass *instrument_class = SYSPROF_INSTRUMENT_CLASS (klass);
  const GParamFlags flags =
      G_PARAM_READWRITE | G_PARAM_EXPLICIT_NOTIFY | G_PARAM_STATIC_STRINGS;

  object_class->finalize = sysprof_subprocess_output_finalize;
  object_class->get_property = sysprof_subprocess_output_get_property;
  object_class->set_property = sysprof_subprocess_output_set_property;

  instrument_class->name = "Subprocess Output";
  instrument_class->prepare = sysprof_subprocess_output_prepare;
  instrument_class->record = sysprof_subprocess_output_record;
  instrument_class->stop = sysprof_subprocess_output_stop;
  instrument_class->augment = sysprof_subprocess_output_augment;

  properties[PROP_COMMAND_ARGV] =
      g_param_spec_boxed ("command-argv", NULL, NULL, G_TYPE_STRV, flags);
  properties[PROP_COMMAND_CWD] = g_param_spec_string ("command-cwd", NULL, NULL, NULL, flags);
  properties[PROP_COMMAND_ENVIRON] =
      g_param_spec_boxed ("command-environ", NULL, NULL, G_TYPE_STRV, flags);
  properties[PROP_PHASE] = g_param_spec_enum ("phase", NULL, NULL, SYSPROF_TYPE_RECORDING_PHASE,
                                              SYSPROF_RECORDING_PHASE_AUGMENT, flags);
  properties[PROP_STDOUT_PATH] = g_param_spec_string ("stdout-path", NULL, NULL, NULL, flags);
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
sysprof_subprocess_output_init (SysprofSubprocessOutput *self)
{
  self->phase = SYSPROF_RECORDING_PHASE_AUGMENT;
  self->out_fd = -1;
}

SysprofInstrument *
sysprof_subprocess_output_new (void)
{
  return g_object_new (SYSPROF_TYPE_SUBPROCESS_OUTPUT, NULL);
}

/* `new` may be the same pointer as `*old`. */
static void
replace_string (SysprofSubprocessOutput *self, char **old, const char *new, guint prop_id)
{
  g_autofree char *before = *old;

  if (g_strcmp0 (before, new) == 0)
    {
      before = NULL;
      return;
    }
  *old = g_strdup (new);
  g_object_notify_by_pspec (G_OBJECT (self), properties[prop_id]);
}

static void
replace_strings (SysprofSubprocessOutput *self,
                 char ***old,
                 const char *const *new,
                 guint prop_id)
{
  /* copy first: `new` may be the array that is freed */
  char **copy = g_strdupv ((char **) new);

  g_strfreev (*old);
  *old = copy;
  g_object_notify_by_pspec (G_OBJECT (self), properties[prop_id]);
}

SysprofRecordingPhase
sysprof_subprocess_output_get_phase (SysprofSubprocessOutput *self)
{
  g_return_val_if_fail (SYSPROF_IS_SUBPROCESS_OUTPUT (self), SYSPROF_RECORDING_PHASE_AUGMENT);

  return self->phase;
}

void
sysprof_subprocess_output_set_phase (SysprofSubprocessOutput *self, SysprofRecordingPhase phase)
{
  g_return_if_fail (SYSPROF_IS_SUBPROCESS_OUTPUT (self));

  if (self->phase == phase)
    return;
  self->phase = phase;
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_PHASE]);
}

const char *
sysprof_subprocess_output_get_stdout_path (SysprofSubprocessOutput *self)
{
  g_return_val_if_fail (SYSPROF_IS_SUBPROCESS_OUTPUT (self), NULL);

  return self->stdout_path;
}

void
sysprof_subprocess_output_set_stdout_path (SysprofSubprocessOutput *self,
                                           const char *stdout_path)
{
  g_return_if_fail (SYSPROF_IS_SUBPROCESS_OUTPUT (self));

  replace_string (self, &self->stdout_path, stdout_path, PROP_STDOUT_PATH);
}

const char *
sysprof_subprocess_output_get_command_cwd (SysprofSubprocessOutput *self)
{
  g_return_val_if_fail (SYSPROF_IS_SUBPROCESS_OUTPUT (self), NULL);

  return self->command_cwd;
}

void
sysprof_subprocess_output_set_command_cwd (SysprofSubprocessOutput *self,
                                           const char *command_cwd)
{
  g_return_if_fail (SYSPROF_IS_SUBPROCESS_OUTPUT (self));

  replace_string (self, &self->command_cwd, command_cwd, PROP_COMMAND_CWD);
}

const char *const *
sysprof_subprocess_output_get_command_argv (SysprofSubprocessOutput *self)
{
  g_return_val_if_fail (SYSPROF_IS_SUBPROCESS_OUTPUT (self), NULL);

  return (const char *const *) self->command_argv;
}

void
sysprof_subprocess_output_set_command_argv (SysprofSubprocessOutput *self,
                                            const char *const *command_argv)
{
  g_return_if_fail (SYSPROF_IS_SUBPROCESS_OUTPUT (self));

  replace_strings (self, &self->command_argv, command_argv, PROP_COMMAND_ARGV);
}

const char *const *
sysprof_subprocess_output_get_command_environ (SysprofSubprocessOutput *self)
{
  g_return_val_if_fail (SYSPROF_IS_SUBPROCESS_OUTPUT (self), NULL);

  return (const char *const *) self->command_environ;
}

void
sysprof_subprocess_output_set_command_environ (SysprofSubprocessOutput *self,
                                               const char *const *command_environ)
{
  g_return_if_fail (SYSPROF_IS_SUBPROCESS_OUTPUT (self));

  replace_strings (self, &self->command_environ, command_environ, PROP_COMMAND_ENVIRON);
}
