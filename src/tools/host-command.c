// SPDX-License-Identifier: GPL-3.0-or-later

/* sysprof-host-command: runs a command outside of the Flatpak sandbox, as if it were a child of
 * this program. Descriptors, signals and the exit status are passed on. If a standard stream is
 * a terminal, the command gets a new terminal as its controlling terminal, because the one of
 * the caller belongs to another session. When this program ends, the command is killed.
 *
 *     sysprof-host-command [--clear-env] [--env=K=V …] [--fd=N …] [--cwd=PATH] -- COMMAND
 *
 * The library starts it in place of the command: see record/host-command.h.
 *
 * Source: org.freedesktop.Flatpak.Development(HostCommand) in Flatpak's D-Bus documentation. */

#include "util/util.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gunixfdlist.h>
#include <glib-unix.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#define NAME      "org.freedesktop.Flatpak"
#define PATH      "/org/freedesktop/Flatpak/Development"
#define INTERFACE "org.freedesktop.Flatpak.Development"

enum
{
  CLEAR_ENVIRONMENT = 1 << 0,
  WATCH_BUS = 1 << 1,
};

typedef struct
{
  gboolean clear_environment;
  char **environment; /* KEY=VALUE; NULL = none */
  char **fds;         /* numbers; NULL = only the standard streams */
  char *cwd;          /* NULL = ours */
  char **command;
} Options;

typedef struct HostCommand HostCommand;

typedef struct
{
  HostCommand *self;
  guint32 number;
} PassedSignal;

static const guint32 passed_signals[] = { SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2 };

struct HostCommand
{
  Options options;
  GDBusConnection *bus;
  GMainLoop *loop;
  guint32 pid;      /* on the host; 0 = not yet started */
  GVariant *exited; /* (uu) pid and status; NULL = still running */
  int terminal;     /* of the caller; -1 = none */
  struct termios modes;
  int master; /* of the command's terminal; -1 = none */
  PassedSignal signals[G_N_ELEMENTS (passed_signals)];
};

static int
fail (const char *reason)
{
  fprintf (stderr, "sysprof-host-command: %s\n", reason);
  return EXIT_FAILURE;
}

static bool
parse (Options *self, int argc, char **argv, GError **error)
{
  const GOptionEntry entries[] = {
    { "clear-env", 0, 0, G_OPTION_ARG_NONE, &self->clear_environment,
      "Begin with an empty environment", NULL },
    { "env", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &self->environment, "Set a variable",
      "KEY=VALUE" },
    { "fd", 0, 0, G_OPTION_ARG_STRING_ARRAY, &self->fds, "Pass this descriptor", "N" },
    { "cwd", 0, 0, G_OPTION_ARG_FILENAME, &self->cwd, "Run the command in this directory",
      "PATH" },
    { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &self->command, NULL, NULL },
    { NULL },
  };
  g_autoptr (GOptionContext) context = g_option_context_new ("-- COMMAND");

  g_option_context_add_main_entries (context, entries, NULL);
  if (!g_option_context_parse (context, &argc, &argv, error))
    return false;
  if (self->command != NULL)
    return true;
  g_set_error_literal (error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED,
                       "No command was given. Write it after --.");
  return false;
}

/* --- terminal --- */

static void
copy_size (HostCommand *self)
{
  struct winsize size;

  if (ioctl (self->terminal, TIOCGWINSZ, &size) == 0)
    (void) ioctl (self->master, TIOCSWINSZ, &size);
}

/* Returns the slave of a new terminal with the modes of the caller's, or -1 with errno. The
 * caller's terminal then passes all keys on, except those that send signals: they interrupt the
 * recorder, too. */
static int
open_terminal (HostCommand *self)
{
  struct termios raw;
  int slave;

  self->master = posix_openpt (O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (self->master < 0 || grantpt (self->master) != 0 || unlockpt (self->master) != 0 ||
      tcgetattr (self->terminal, &self->modes) != 0)
    return -1;
  slave = open (ptsname (self->master), O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (slave < 0)
    return -1;
  (void) tcsetattr (slave, TCSANOW, &self->modes);
  copy_size (self);
  raw = self->modes;
  cfmakeraw (&raw);
  raw.c_lflag |= ISIG;
  (void) tcsetattr (self->terminal, TCSADRAIN, &raw);
  return slave;
}

/* Returns whether there may be more. */
static gboolean
relay (int from, int to)
{
  char data[4096];
  ssize_t size = read (from, data, sizeof data);

  if (size < 0 && (errno == EAGAIN || errno == EINTR))
    return TRUE;
  for (ssize_t done = 0, n; done < size; done += n)
    {
      n = write (to, data + done, (size_t) (size - done));
      if (n < 0)
        return FALSE;
    }
  return size > 0; /* a master gives EIO when the terminal is not open elsewhere */
}

static gboolean
on_input (gint fd, GIOCondition condition, gpointer data)
{
  HostCommand *self = data;

  return relay (fd, self->master);
}

static gboolean
on_output (gint fd, GIOCondition condition, gpointer data)
{
  HostCommand *self = data;

  return relay (fd, self->terminal);
}

/* What the command has written before it ended. Its children may still have the terminal. */
static void
relay_rest (HostCommand *self)
{
  struct pollfd poll_master = { .fd = self->master, .events = POLLIN };

  while (self->master >= 0 && poll (&poll_master, 1, 0) > 0 &&
         relay (self->master, self->terminal))
    ;
}

/* --- the command --- */

/* Passes `fd` as `number`. */
static bool
add_fd (GVariantBuilder *numbers, GUnixFDList *list, int fd, guint32 number, GError **error)
{
  int handle = g_unix_fd_list_append (list, fd, error);

  if (handle < 0)
    {
      g_prefix_error (error, "Cannot pass descriptor %u to the command: ", number);
      return false;
    }
  g_variant_builder_add (numbers, "{uh}", number, handle);
  return true;
}

static bool
add_fds (HostCommand *self, GVariantBuilder *numbers, GUnixFDList *list, GError **error)
{
  autofd slave = -1;

  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
    {
      if (isatty (fd) && slave < 0)
        {
          self->terminal = fd;
          slave = open_terminal (self);
          if (slave < 0)
            {
              sysprof_set_error_errno (error, "Cannot open a terminal for the command");
              return false;
            }
        }
      if (!add_fd (numbers, list, isatty (fd) ? slave : fd, (guint32) fd, error))
        return false;
    }
  for (size_t i = 0; self->options.fds != NULL && self->options.fds[i] != NULL; i++)
    {
      int fd = atoi (self->options.fds[i]);

      if (!add_fd (numbers, list, fd, (guint32) fd, error))
        return false;
    }
  return true;
}

static GVariant *
environment (const Options *options)
{
  g_auto (GVariantBuilder) pairs = G_VARIANT_BUILDER_INIT (G_VARIANT_TYPE ("a{ss}"));

  for (size_t i = 0; options->environment != NULL && options->environment[i] != NULL; i++)
    {
      g_auto (GStrv) parts = g_strsplit (options->environment[i], "=", 2);

      if (g_utf8_validate (options->environment[i], -1, NULL)) /* D-Bus carries nothing else */
        g_variant_builder_add (&pairs, "{ss}", parts[0], parts[1] != NULL ? parts[1] : "");
    }
  return g_variant_builder_end (&pairs);
}

static bool
start (HostCommand *self, GError **error)
{
  const Options *options = &self->options;
  g_auto (GVariantBuilder) numbers = G_VARIANT_BUILDER_INIT (G_VARIANT_TYPE ("a{uh}"));
  g_autoptr (GUnixFDList) list = g_unix_fd_list_new ();
  g_autofree char *here = g_get_current_dir ();
  g_autoptr (GVariant) reply = NULL;

  if (!add_fds (self, &numbers, list, error))
    return false;
  reply = g_dbus_connection_call_with_unix_fd_list_sync (
      self->bus, NAME, PATH, INTERFACE, "HostCommand",
      g_variant_new ("(^ay^aay@a{uh}@a{ss}u)", options->cwd != NULL ? options->cwd : here,
                     options->command, g_variant_builder_end (&numbers), environment (options),
                     WATCH_BUS | (options->clear_environment ? CLEAR_ENVIRONMENT : 0)),
      G_VARIANT_TYPE ("(u)"), G_DBUS_CALL_FLAGS_NONE, G_MAXINT, list, NULL, NULL, error);
  if (reply == NULL)
    {
      g_dbus_error_strip_remote_error (*error);
      g_prefix_error (error, "Cannot run '%s' on the host: ", options->command[0]);
      return false;
    }
  g_variant_get (reply, "(u)", &self->pid);
  return true;
}

static void
on_exited (GDBusConnection *bus,
           const char *sender,
           const char *path,
           const char *interface,
           const char *name,
           GVariant *parameters,
           gpointer data)
{
  HostCommand *self = data;
  guint32 pid;

  if (!g_variant_is_of_type (parameters, G_VARIANT_TYPE ("(uu)")))
    return;
  g_variant_get (parameters, "(uu)", &pid, NULL);
  if (pid != self->pid || self->exited != NULL)
    return;
  self->exited = g_variant_ref (parameters);
  g_main_loop_quit (self->loop);
}

static void
on_service_gone (GDBusConnection *bus, const char *name, gpointer data)
{
  HostCommand *self = data;

  g_main_loop_quit (self->loop);
}

static gboolean
pass_signal (gpointer data)
{
  const PassedSignal *passed = data;
  gboolean to_all = passed->number == SIGINT; /* a key interrupts all processes of a terminal */

  g_dbus_connection_call (passed->self->bus, NAME, PATH, INTERFACE, "HostCommandSignal",
                          g_variant_new ("(uub)", passed->self->pid, passed->number, to_all),
                          NULL, G_DBUS_CALL_FLAGS_NONE, -1, NULL, NULL, NULL);
  return G_SOURCE_CONTINUE;
}

static gboolean
on_resized (gpointer data)
{
  copy_size (data);
  return G_SOURCE_CONTINUE;
}

static void
watch_signals (HostCommand *self)
{
  for (size_t i = 0; i < G_N_ELEMENTS (passed_signals); i++)
    {
      self->signals[i] = (PassedSignal){ self, passed_signals[i] };
      g_unix_signal_add ((int) passed_signals[i], pass_signal, &self->signals[i]);
    }
  g_unix_signal_add (SIGWINCH, on_resized, self);
}

static void
clear (HostCommand *self)
{
  g_strfreev (self->options.environment);
  g_strfreev (self->options.fds);
  g_free (self->options.cwd);
  g_strfreev (self->options.command);
  g_clear_pointer (&self->exited, g_variant_unref);
  g_clear_pointer (&self->loop, g_main_loop_unref);
  g_clear_object (&self->bus);
}

/* Ends as the command did. */
static int
end (HostCommand *self)
{
  guint32 status;

  if (self->exited == NULL)
    return fail ("Flatpak's service on the host has ended, and with it the command.");
  g_variant_get (self->exited, "(uu)", NULL, &status);
  clear (self);
  if (WIFEXITED ((int) status))
    return WEXITSTATUS ((int) status);
  (void) signal (WTERMSIG ((int) status), SIG_DFL);
  (void) raise (WTERMSIG ((int) status));
  return EXIT_FAILURE;
}

int
main (int argc, char **argv)
{
  HostCommand self = { .terminal = -1, .master = -1 };
  g_autoptr (GError) error = NULL;

  if (!parse (&self.options, argc, argv, &error))
    return fail (error->message);
  self.bus = g_bus_get_sync (G_BUS_TYPE_SESSION, NULL, &error);
  if (self.bus == NULL)
    return fail (error->message);
  self.loop = g_main_loop_new (NULL, FALSE);
  g_dbus_connection_signal_subscribe (self.bus, NAME, INTERFACE, "HostCommandExited", PATH,
                                      NULL, G_DBUS_SIGNAL_FLAGS_NONE, on_exited, &self, NULL);
  watch_signals (
      &self); /* those that arrive before the command runs are passed on afterwards */
  if (start (&self, &error))
    {
      g_bus_watch_name_on_connection (self.bus, NAME, G_BUS_NAME_WATCHER_FLAGS_NONE, NULL,
                                      on_service_gone, &self, NULL);
      if (self.master >= 0)
        {
          g_unix_fd_add (self.master, G_IO_IN | G_IO_HUP, on_output, &self);
          if (isatty (STDIN_FILENO))
            g_unix_fd_add (STDIN_FILENO, G_IO_IN | G_IO_HUP, on_input, &self);
        }
      g_main_loop_run (self.loop);
      relay_rest (&self);
    }
  if (self.master >= 0)
    (void) tcsetattr (self.terminal, TCSADRAIN, &self.modes);
  return error != NULL ? fail (error->message) : end (&self);
}
