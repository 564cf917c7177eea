// SPDX-License-Identifier: GPL-3.0-or-later

/* Instruments from settings. */

#include "app/recording/recorder.h"

#include "app/recording/settings.h"
#include "bundle/bundle.h"
#include "record/record.h"

#include <glib/gi18n.h>
#include <string.h>

typedef SysprofInstrument *NewInstrument (void);

static SysprofInstrument *
new_system_bus (void)
{
  return sysprof_dbus_monitor_new (G_BUS_TYPE_SYSTEM);
}

static SysprofInstrument *
new_session_bus (void)
{
  return sysprof_dbus_monitor_new (G_BUS_TYPE_SESSION);
}

static SysprofInstrument *
new_frame_timings (void)
{
  return sysprof_proxied_instrument_new (G_BUS_TYPE_SESSION, "org.gnome.Shell",
                                         "/org/gnome/Sysprof3/Profiler");
}

static SysprofInstrument *
new_output (const char *file, const char *const *command)
{
  SysprofInstrument *self = sysprof_subprocess_output_new ();

  sysprof_subprocess_output_set_stdout_path (SYSPROF_SUBPROCESS_OUTPUT (self), file);
  sysprof_subprocess_output_set_command_argv (SYSPROF_SUBPROCESS_OUTPUT (self), command);
  sysprof_subprocess_output_set_phase (SYSPROF_SUBPROCESS_OUTPUT (self),
                                       SYSPROF_RECORDING_PHASE_AUGMENT);
  return self;
}

/* Commands that describe the machine, if they are installed. */
static const struct
{
  const char *key;
  const char *file;
  const char *command[3];
} outputs[] = {
  { "graphics-info", "eglinfo", { "eglinfo" } },
  { "graphics-info", "glxinfo", { "glxinfo" } },
  { "hardware-info", "lsusb -v", { "lsusb", "-v" } },
  { "hardware-info", "lspci -v", { "lspci", "-v" } },
};

static const struct
{
  const char *key;
  NewInstrument *new;
} instruments[] = {
  { "scheduler-details", sysprof_scheduler_details_new },
  { "cpu-usage", sysprof_cpu_usage_new },
  { "memory-usage", sysprof_memory_usage_new },
  { "disk-usage", sysprof_disk_usage_new },
  { "network-usage", sysprof_network_usage_new },
  { "energy-usage", sysprof_energy_usage_new },
  { "battery-charge", sysprof_battery_charge_new },
  { "system-bus", new_system_bus },
  { "session-bus", new_session_bus },
  { "frame-timings", new_frame_timings },
  { "system-log", sysprof_system_logs_new },
};

static void
add_sampler (SysprofProfiler *profiler, JsonObject *settings, const int *pids, guint n_pids)
{
  SamplerOptions options = { .pids = pids, .n_pids = n_pids };

  if (app_settings_get_switch (settings, "user-stacks"))
    {
      options.unwind = UNWIND_COPY;
      options.stack_size = (guint) app_settings_get_number (settings, "stack-size");
    }
  if (app_settings_get_switch (settings, "native-stacks"))
    sysprof_profiler_add_instrument (profiler, sysprof_sampler_new_with_options (&options));
  if (app_settings_get_switch (settings, "off-cpu"))
    sysprof_profiler_add_instrument (profiler, sysprof_off_cpu_new (&options));
}

static bool
add_command (SysprofProfiler *profiler, JsonObject *settings, GError **error)
{
  const char *line = app_settings_get_text (settings, "command-line");
  const char *cwd = app_settings_get_text (settings, "cwd");
  g_auto (GStrv) argv = NULL;
  g_auto (GStrv) variables = app_settings_dup_list (settings, "environ");
  g_autoptr (SysprofSpawnable) spawnable = NULL;
  g_auto (GStrv) inherited = g_get_environ ();
  static const char *const nothing[] = { NULL };

  if (line[strspn (line, " \t")] == '\0')
    return true;
  if (!g_shell_parse_argv (line, NULL, &argv, error))
    {
      g_prefix_error (error, _ ("The command line “%s” cannot be used: "), line);
      return false;
    }
  spawnable = sysprof_spawnable_new ();
  sysprof_spawnable_append_args (spawnable, (const char *const *) argv);
  sysprof_spawnable_set_on_host (spawnable, TRUE);
  sysprof_spawnable_set_environ (spawnable, app_settings_get_switch (settings, "clear-environ")
                                                ? nothing
                                                : (const char *const *) inherited);
  for (size_t i = 0; variables[i] != NULL; i++)
    {
      g_auto (GStrv) parts = g_strsplit (variables[i], "=", 2);

      if (parts[0] != NULL)
        sysprof_spawnable_setenv (spawnable, parts[0], parts[1] != NULL ? parts[1] : "");
    }
  if (cwd[0] != '\0')
    sysprof_spawnable_set_cwd (spawnable, cwd);
  if (app_settings_get_switch (settings, "javascript-stacks"))
    {
      int fd = sysprof_spawnable_add_trace_fd (spawnable, "GJS_TRACE_FD");

      sysprof_spawnable_setenv (spawnable, "GJS_ENABLE_PROFILER", "1");
      if (fd >= 0)
        sysprof_profiler_add_instrument (profiler, sysprof_tracefd_consumer_new (fd));
    }
  sysprof_profiler_set_spawnable (profiler, spawnable);
  return true;
}

/* Instruments that are on by default fail without a message, as on virtual machines. */
static void
add_instrument (SysprofProfiler *profiler,
                JsonObject *settings,
                const char *key,
                NewInstrument *new_instrument)
{
  SysprofInstrument *instrument;

  if (!app_settings_get_switch (settings, key))
    return;
  instrument = new_instrument ();
  sysprof_instrument_set_optional (instrument, app_settings_is_default (settings, key));
  sysprof_profiler_add_instrument (profiler, instrument);
}

SysprofProfiler *
app_profiler_new (JsonObject *settings, GError **error)
{
  g_autoptr (GArray) pids = app_settings_dup_pids (settings);
  g_autoptr (SysprofProfiler) self = sysprof_profiler_new ();
  const char *profile = app_settings_get_text (settings, "power-profile");

  if (!add_command (self, settings, error))
    return NULL;
  add_sampler (self, settings, (const int *) pids->data, pids->len);
  for (size_t i = 0; i < G_N_ELEMENTS (instruments); i++)
    add_instrument (self, settings, instruments[i].key, instruments[i].new);
  for (size_t i = 0; i < G_N_ELEMENTS (outputs); i++)
    {
      g_autofree char *program = g_find_program_in_path (outputs[i].command[0]);

      if (program != NULL && app_settings_get_switch (settings, outputs[i].key))
        sysprof_profiler_add_instrument (self,
                                         new_output (outputs[i].file, outputs[i].command));
    }
  if (profile[0] != '\0')
    sysprof_profiler_add_instrument (self, sysprof_power_profile_new (profile));
  if (app_settings_get_switch (settings, "bundle-symbols"))
    {
      SysprofInstrument *bundle = sysprof_symbols_bundle_new ();
      g_auto (GStrv) debug_dirs = app_settings_dup_list (settings, "debugdirs");

      sysprof_symbols_bundle_set_debug_dirs (SYSPROF_SYMBOLS_BUNDLE (bundle),
                                             (const char *const *) debug_dirs);
      sysprof_symbols_bundle_set_enable_debuginfod (
          SYSPROF_SYMBOLS_BUNDLE (bundle), app_settings_get_switch (settings, "debuginfod") &&
                                               g_getenv ("DEBUGINFOD_URLS") != NULL);
      sysprof_profiler_add_instrument (self, bundle);
    }
  return g_steal_pointer (&self);
}

char *
app_profiler_dup_name (void)
{
  g_autoptr (GDateTime) now = g_date_time_new_now_local ();
  g_autofree char *time = g_date_time_format (now, "%Y-%m-%d %H:%M:%S");

  return g_strdup_printf (_ ("System Capture from %s.syscap"), time);
}
