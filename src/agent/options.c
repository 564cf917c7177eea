// SPDX-License-Identifier: GPL-3.0-or-later

/* Options, and the instruments that they select. See options.h. */

#include "agent/options.h"

#include "record/record.h"
#include "util/util.h"

#include <errno.h>
#include <fcntl.h>

typedef SysprofInstrument *NewInstrument (void);

extern const InstrumentRow sysprof_graphics_info_row;

static SysprofInstrument *
new_compositor (void)
{
  return sysprof_proxied_instrument_new (G_BUS_TYPE_SESSION, "org.gnome.Shell",
                                         "/org/gnome/Sysprof3/Profiler");
}

static SysprofInstrument *
new_session_bus (void)
{
  return sysprof_dbus_monitor_new (G_BUS_TYPE_SESSION);
}

static SysprofInstrument *
new_system_bus (void)
{
  return sysprof_dbus_monitor_new (G_BUS_TYPE_SYSTEM);
}

static const struct
{
  const char *option;
  const char *help;
  NewInstrument *new;
} instruments[] = {
  { "perf", "Record call stacks of all processes", sysprof_sampler_new },
  { "cpu", "Record the usage and frequency of CPUs", sysprof_cpu_usage_new },
  { "memory", "Record the usage of memory", sysprof_memory_usage_new },
  { "disk", "Record reads and writes of disks", sysprof_disk_usage_new },
  { "net", "Record network traffic", sysprof_network_usage_new },
  { "battery", "Record the charge of batteries", sysprof_battery_charge_new },
  { "energy", "Record energy", sysprof_energy_usage_new },
  { "compositor", "Record frame timings of GNOME Shell", new_compositor },
  { "scheduler", "Record which process runs on which CPU", sysprof_scheduler_details_new },
  { "session-bus", "Record messages on the session bus", new_session_bus },
  { "system-bus", "Record messages on the system bus", new_system_bus },
  { "memprof", "Record memory allocations of the command", sysprof_malloc_tracing_new },
};

static gboolean
parse_fd (const char *option, const char *value, void *data, GError **error)
{
  AgentOptions *self = data;
  char *end;
  gint64 fd = g_ascii_strtoll (value, &end, 10);

  if (*end != '\0' || end == value || fd < 0 || fd > G_MAXINT || fcntl ((int) fd, F_GETFD) < 0)
    {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                   "%s %s: this is not an open descriptor. Pass the descriptor to "
                   "sysprof-agent, and give its number.",
                   option, value);
      return FALSE;
    }
  if (g_str_equal (option, "--read-fd"))
    self->read_fd = (int) fd;
  else if (g_str_equal (option, "--write-fd"))
    self->write_fd = (int) fd;
  else
    {
      int number = (int) fd;

      g_array_append_val (self->forwarded, number);
    }
  return TRUE;
}

static gboolean
check (const AgentOptions *self, GError **error)
{
  static const char *const profiles[] = { "power-saver", "balanced", "performance", NULL };

  if (self->version || self->help != NULL)
    return TRUE;
  if (self->capture == NULL)
    g_set_error_literal (error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED,
                         "You must provide --capture=PATH");
  else if ((self->read_fd < 0) != (self->write_fd < 0))
    g_set_error_literal (error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED,
                         "--read-fd and --write-fd belong together: give both or none.");
  else if (self->power_profile == NULL ||
           sysprof_usage_check_choice ("power-profile", self->power_profile, profiles, NULL,
                                       error))
    return TRUE;
  return FALSE;
}

gboolean
sysprof_agent_options_parse (AgentOptions *self, int argc, char **argv, GError **error)
{
  gboolean help = FALSE;
  const GOptionEntry entries[] = {
    { "capture", 0, 0, G_OPTION_ARG_FILENAME, &self->capture, "Write the capture to PATH",
      "PATH" },
    { "read-fd", 0, 0, G_OPTION_ARG_CALLBACK, (void *) parse_fd,
      "Read D-Bus messages from this descriptor", "FD" },
    { "write-fd", 0, 0, G_OPTION_ARG_CALLBACK, (void *) parse_fd,
      "Write D-Bus messages to this descriptor", "FD" },
    { "forward-fd", 0, 0, G_OPTION_ARG_CALLBACK, (void *) parse_fd,
      "Pass this descriptor to the command, under the same number; may be repeated", "FD" },
    { "directory", 0, 0, G_OPTION_ARG_FILENAME, &self->directory,
      "Run the command in this directory", "PATH" },
    { "env", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &self->environment,
      "Set a variable of the command; may be repeated", "KEY=VALUE" },
    { "clear-env", 0, 0, G_OPTION_ARG_NONE, &self->clear_environment,
      "Begin with an empty environment", NULL },
    { "gjs", 0, 0, G_OPTION_ARG_NONE, &self->gjs, "Let GJS programs record JavaScript stacks",
      NULL },
    { "tracefd", 0, 0, G_OPTION_ARG_NONE, &self->use_trace_fd,
      "Let the command write its own capture (SYSPROF_TRACE_FD)", NULL },
    { "power-profile", 0, 0, G_OPTION_ARG_STRING, &self->power_profile,
      "Use a power profile: power-saver, balanced or performance", "PROFILE" },
    { "no-throttle", 0, 0, G_OPTION_ARG_NONE, &self->no_throttle,
      "Deprecated: --power-profile=performance", NULL },
    { "decode", 0, 0, G_OPTION_ARG_NONE, &self->decode,
      "Add the names of functions to the capture", NULL },
    { "version", 0, 0, G_OPTION_ARG_NONE, &self->version, "Print the version", NULL },
    { "help", 'h', 0, G_OPTION_ARG_NONE, &help, "Print this help", NULL },
    { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &self->command, NULL, NULL },
    { NULL },
  };
  g_autoptr (GOptionContext) context = g_option_context_new ("[-- COMMAND ARGUMENTS]");
  GOptionGroup *group = g_option_group_new (NULL, NULL, NULL, self, NULL);
  GOptionEntry switches[G_N_ELEMENTS (instruments) + 1] = { { NULL } };

  *self = (AgentOptions){ .read_fd = -1, .write_fd = -1 };
  self->forwarded = g_array_new (FALSE, FALSE, sizeof (int));
  self->selected = g_new0 (gboolean, G_N_ELEMENTS (instruments));
  for (size_t i = 0; i < G_N_ELEMENTS (instruments); i++)
    switches[i] = (GOptionEntry){ .long_name = instruments[i].option,
                                  .arg_data = &self->selected[i],
                                  .description = instruments[i].help };
  g_option_group_add_entries (group, entries);
  g_option_group_add_entries (group, switches);
  g_option_context_set_main_group (context, group);
  g_option_context_set_help_enabled (context, FALSE);
  g_option_context_set_summary (
      context, "Records a command for a development environment. See sysprof-agent(1).");
  if (!g_option_context_parse (context, &argc, &argv, error))
    return FALSE;
  if (help)
    self->help = g_option_context_get_help (context, TRUE, NULL);
  return check (self, error);
}

void
sysprof_agent_options_clear (AgentOptions *self)
{
  g_free (self->capture);
  g_free (self->directory);
  g_strfreev (self->environment);
  g_clear_pointer (&self->forwarded, g_array_unref);
  g_free (self->power_profile);
  g_free (self->help);
  g_strfreev (self->command);
  g_free (self->selected);
  *self = (AgentOptions){ .read_fd = -1, .write_fd = -1 };
}

/* The command writes its own capture, which is joined to the recording at the end. */
static gboolean
add_trace_fd (SysprofProfiler *profiler,
              SysprofSpawnable *spawnable,
              const char *variable,
              GError **error)
{
  int fd = sysprof_spawnable_add_trace_fd (spawnable, variable);

  if (fd < 0)
    {
      sysprof_set_error_errno (error, "Cannot make a temporary file for %s", variable);
      return FALSE;
    }
  sysprof_profiler_add_instrument (profiler, sysprof_tracefd_consumer_new (fd));
  return TRUE;
}

static gboolean
forward_fds (const AgentOptions *self, SysprofSpawnable *spawnable, GError **error)
{
  for (guint i = 0; i < self->forwarded->len; i++)
    {
      int number = g_array_index (self->forwarded, int, i);
      int fd = fcntl (number, F_DUPFD_CLOEXEC, 3);

      if (fd < 0)
        {
          sysprof_set_error_errno (error, "Cannot pass descriptor %d to the command", number);
          return FALSE;
        }
      sysprof_spawnable_take_fd (spawnable, fd, number);
    }
  return TRUE;
}

static gboolean
add_command (const AgentOptions *self, SysprofProfiler *profiler, GError **error)
{
  g_autoptr (SysprofSpawnable) spawnable = NULL;
  g_auto (GStrv) inherited = g_get_environ ();

  if (self->command == NULL)
    return TRUE;
  spawnable = sysprof_spawnable_new ();
  sysprof_spawnable_append_args (spawnable, (const char *const *) self->command);
  sysprof_spawnable_set_flags (spawnable, G_SUBPROCESS_FLAGS_STDIN_INHERIT);
  sysprof_spawnable_set_environ (
      spawnable, self->clear_environment ? NULL : (const char *const *) inherited);
  if (self->directory != NULL)
    sysprof_spawnable_set_cwd (spawnable, self->directory);
  for (size_t i = 0; self->environment != NULL && self->environment[i] != NULL; i++)
    {
      g_auto (GStrv) parts = g_strsplit (self->environment[i], "=", 2);

      sysprof_spawnable_setenv (spawnable, parts[0], parts[1] != NULL ? parts[1] : "");
    }
  if (!forward_fds (self, spawnable, error) ||
      (self->use_trace_fd && !add_trace_fd (profiler, spawnable, "SYSPROF_TRACE_FD", error)) ||
      (self->gjs && !add_trace_fd (profiler, spawnable, "GJS_TRACE_FD", error)))
    return FALSE;
  sysprof_profiler_set_spawnable (profiler, spawnable);
  return TRUE;
}

SysprofProfiler *
sysprof_agent_options_create_profiler (const AgentOptions *self, GError **error)
{
  g_autoptr (SysprofProfiler) profiler = sysprof_profiler_new ();
  g_autoptr (GPtrArray) always = g_ptr_array_new ();
  const char *profile = self->no_throttle ? "performance" : self->power_profile;

  if (!add_command (self, profiler, error))
    return NULL;
  for (size_t i = 0; i < G_N_ELEMENTS (instruments); i++)
    if (self->selected[i])
      sysprof_profiler_add_instrument (profiler, instruments[i].new());
  if (profile != NULL)
    sysprof_profiler_add_instrument (profiler, sysprof_power_profile_new (profile));
  sysprof_graphics_info_row.create (NULL, always);
  g_ptr_array_add (always, sysprof_system_logs_new ());
  for (guint i = 0; i < always->len; i++)
    {
      sysprof_instrument_set_optional (always->pdata[i], TRUE);
      sysprof_profiler_add_instrument (profiler, always->pdata[i]);
    }
  if (self->decode)
    sysprof_profiler_add_instrument (profiler, sysprof_symbols_bundle_new ());
  return g_steal_pointer (&profiler);
}
