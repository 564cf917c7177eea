// SPDX-License-Identifier: GPL-3.0-or-later

/* Creates the instruments that the options select. */

#include "cli/instruments.h"

#include "util/util.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

/* Instruments with a switch. The library itself reports the ones that it does not implement
 * yet. */
typedef struct
{
  size_t flag; /* offset of a gboolean in CliOptions */
  SysprofInstrument *(*new) (void);
} SwitchedInstrument;

static const SwitchedInstrument switched[] = {
  { offsetof (CliOptions, rapl), sysprof_energy_usage_new },
  { offsetof (CliOptions, memprof), sysprof_malloc_tracing_new },
  { offsetof (CliOptions, scheduler), sysprof_scheduler_details_new },
  { offsetof (CliOptions, kernel_log), sysprof_kernel_log_new },
  { offsetof (CliOptions, thermal), sysprof_thermal_new },
};

/* Default counters. An unavailable counter is reported only if its switch was given. */
typedef struct
{
  size_t left_out;  /* offset of a gboolean in CliOptions; NO_FLAG = none */
  size_t asked_for; /* same; an unavailable counter is then reported */
  bool may_lack;
  SysprofInstrument *(*new) (void);
} UsualInstrument;

#define NO_FLAG SIZE_MAX

static const UsualInstrument usual[] = {
  { offsetof (CliOptions, no_cpu), NO_FLAG, true, sysprof_cpu_usage_new },
  { offsetof (CliOptions, no_disk), NO_FLAG, false, sysprof_disk_usage_new },
  { offsetof (CliOptions, no_memory), NO_FLAG, false, sysprof_memory_usage_new },
  { offsetof (CliOptions, no_network), NO_FLAG, false, sysprof_network_usage_new },
  { offsetof (CliOptions, no_battery), NO_FLAG, true, sysprof_battery_charge_new },
  { offsetof (CliOptions, no_pressure), offsetof (CliOptions, pressure), true,
    sysprof_pressure_new },
  { offsetof (CliOptions, no_gpu), offsetof (CliOptions, gpu), true, sysprof_gpu_usage_new },
  { offsetof (CliOptions, no_recorder), NO_FLAG, false, sysprof_own_usage_new },
};

/* Switches of instruments that the library does not have yet. */
typedef struct
{
  size_t flag;
  const char *domain;
} MissingInstrument;

static const MissingInstrument missing[] = {
  { offsetof (CliOptions, speedtrack), "speedtrack" },
};

static gboolean
is_on (const CliOptions *options, size_t flag)
{
  gboolean value;

  if (flag == NO_FLAG)
    return FALSE;
  memcpy (&value, (const char *) options + flag, sizeof value);
  return value;
}

/* Marks a default instrument as implicit; --verbose reports unavailable ones, too. */
static void
make_optional (SysprofInstrument *instrument, const CliOptions *options)
{
  sysprof_instrument_set_optional (instrument, !options->verbose);
}

static void
add_usual (SysprofProfiler *profiler, const CliOptions *options)
{
  for (size_t i = 0; i < G_N_ELEMENTS (usual); i++)
    {
      SysprofInstrument *instrument;

      if (is_on (options, usual[i].left_out))
        continue;
      instrument = usual[i].new();
      if (usual[i].may_lack && !is_on (options, usual[i].asked_for))
        make_optional (instrument, options);
      sysprof_profiler_add_instrument (profiler, instrument);
    }
}

static void
add_asked_for (SysprofProfiler *profiler, const CliOptions *options, Terminal *terminal)
{
  for (size_t i = 0; i < G_N_ELEMENTS (switched); i++)
    if (is_on (options, switched[i].flag))
      sysprof_profiler_add_instrument (profiler, switched[i].new());
  for (size_t i = 0; i < G_N_ELEMENTS (missing); i++)
    if (is_on (options, missing[i].flag))
      sysprof_cli_terminal_print (
          terminal,
          "%s: not recorded: this version does not have it yet. The recording continues without it; "
          "omit the option to avoid this message.",
          missing[i].domain);
  if (options->session_bus)
    sysprof_profiler_add_instrument (profiler, sysprof_dbus_monitor_new (G_BUS_TYPE_SESSION));
  if (options->system_bus)
    sysprof_profiler_add_instrument (profiler, sysprof_dbus_monitor_new (G_BUS_TYPE_SYSTEM));
  for (size_t i = 0; options->monitor_buses != NULL && options->monitor_buses[i] != NULL; i++)
    sysprof_profiler_add_instrument (
        profiler, sysprof_dbus_monitor_new_for_bus_address (options->monitor_buses[i]));
  if (options->power_profile != NULL)
    sysprof_profiler_add_instrument (profiler,
                                     sysprof_power_profile_new (options->power_profile));
  if (options->gnome_shell)
    sysprof_profiler_add_instrument (
        profiler, sysprof_proxied_instrument_new (G_BUS_TYPE_SESSION, "org.gnome.Shell",
                                                  "/org/gnome/Sysprof3/Profiler"));
}

/* With --kernel-log the kernel's messages come from the kernel only, not also from the
 * journal. */
static void
add_system_logs (SysprofProfiler *profiler, const CliOptions *options)
{
  SysprofInstrument *instrument = options->kernel_log
                                      ? sysprof_system_logs_new_without_kernel ()
                                      : sysprof_system_logs_new ();

  make_optional (instrument, options);
  sysprof_profiler_add_instrument (profiler, instrument);
}

/* Graphics hardware, as these programs describe it. Their output is embedded under their
 * names. */
static void
add_graphics_info (SysprofProfiler *profiler, const CliOptions *options)
{
  static const char *const programs[] = { "eglinfo", "glxinfo" };

  for (size_t i = 0; i < G_N_ELEMENTS (programs); i++)
    {
      const char *const argv[] = { programs[i], NULL };
      SysprofInstrument *instrument = sysprof_subprocess_output_new ();

      sysprof_subprocess_output_set_command_argv (SYSPROF_SUBPROCESS_OUTPUT (instrument), argv);
      sysprof_subprocess_output_set_stdout_path (SYSPROF_SUBPROCESS_OUTPUT (instrument),
                                                 programs[i]);
      make_optional (instrument, options);
      sysprof_profiler_add_instrument (profiler, instrument);
    }
}

void
sysprof_cli_add_instruments (SysprofProfiler *profiler,
                             const CliOptions *options,
                             bool ask_debuginfod,
                             DebuginfodQueue *queue,
                             Terminal *terminal)
{
  if (!options->no_perf)
    sysprof_profiler_add_instrument (profiler,
                                     sysprof_sampler_new_with_options (&options->sampler));
  if (options->off_cpu)
    sysprof_profiler_add_instrument (profiler, sysprof_off_cpu_new (&options->sampler));
  add_usual (profiler, options);
  if (!options->no_system_log)
    add_system_logs (profiler, options);
  add_asked_for (profiler, options, terminal);
  if (!options->no_graphics_info)
    add_graphics_info (profiler, options);
  if (!options->no_decode)
    {
      SysprofInstrument *symbols = sysprof_symbols_bundle_new ();

      sysprof_symbols_bundle_set_enable_debuginfod (SYSPROF_SYMBOLS_BUNDLE (symbols),
                                                    ask_debuginfod);
      sysprof_symbols_bundle_set_debuginfod_queue (SYSPROF_SYMBOLS_BUNDLE (symbols), queue);
      sysprof_profiler_add_instrument (profiler, symbols);
    }
}

/* The command writes its own capture to this file, which is joined to the recording at the
 * end. */
static void
add_trace_fd (SysprofProfiler *profiler,
              SysprofSpawnable *spawnable,
              const char *variable,
              Terminal *terminal)
{
  int fd = sysprof_spawnable_add_trace_fd (spawnable, variable);

  if (fd < 0)
    sysprof_cli_terminal_print (
        terminal, "%s: not given to the command: cannot make a temporary file: %s. %s",
        variable, g_strerror (errno), sysprof_advice_on_errno (errno));
  else
    sysprof_profiler_add_instrument (profiler, sysprof_tracefd_consumer_new (fd));
}

SysprofSpawnable *
sysprof_cli_new_spawnable (SysprofProfiler *profiler,
                           const CliOptions *options,
                           const char *const *environment,
                           Terminal *terminal)
{
  g_autoptr (SysprofSpawnable) spawnable = NULL;

  if (options->command == NULL)
    return NULL;
  spawnable = sysprof_spawnable_new ();
  sysprof_spawnable_set_environ (spawnable, environment);
  sysprof_spawnable_append_args (spawnable, (const char *const *) options->command);
  sysprof_spawnable_set_flags (spawnable, G_SUBPROCESS_FLAGS_STDIN_INHERIT);
  for (size_t i = 0; options->environment != NULL && options->environment[i] != NULL; i++)
    {
      g_auto (GStrv) parts = g_strsplit (options->environment[i], "=", 2);

      sysprof_spawnable_setenv (spawnable, parts[0], parts[1] != NULL ? parts[1] : "");
    }
  if (options->use_trace_fd)
    add_trace_fd (profiler, spawnable, "SYSPROF_TRACE_FD", terminal);
  if (options->gjs)
    {
      sysprof_spawnable_setenv (spawnable, "GJS_ENABLE_PROFILER", "1");
      add_trace_fd (profiler, spawnable, "GJS_TRACE_FD", terminal);
    }
  return g_steal_pointer (&spawnable);
}
