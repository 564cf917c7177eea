// SPDX-License-Identifier: GPL-3.0-or-later

/* Creates the instruments that the options select. */

#include "cli/instruments.h"

#include "util/util.h"

#include <errno.h>

void
sysprof_cli_add_instruments (SysprofProfiler *profiler,
                             const CliOptions *options,
                             bool ask_debuginfod,
                             DebuginfodQueue *queue)
{
  InstrumentSelection selection = options->instruments;

  selection.sampler = &options->sampler;
  if (!options->no_perf)
    sysprof_profiler_add_instrument (profiler,
                                     sysprof_sampler_new_with_options (&options->sampler));
  sysprof_instrument_selection_add_to (&selection, profiler, options->verbose);
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

/* Variables that make a runtime write the names of its functions where the recorder finds them.
 * What a variable has already is kept, because the last of contradicting switches wins. */
static void
request_runtime_names (SysprofSpawnable *spawnable)
{
  static const struct
  {
    const char *name;
    const char *value;
    bool is_list; /* of words */
  } variables[] = {
    { "PYTHONPERFSUPPORT", "1", false }, /* Python 3.12 */
    { "NODE_OPTIONS", "--perf-basic-prof", true },
    { "JAVA_TOOL_OPTIONS", /* JDK 17; older ones ignore it */
      "-XX:+IgnoreUnrecognizedVMOptions -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit",
      true },
  };

  for (size_t i = 0; i < G_N_ELEMENTS (variables); i++)
    {
      const char *before = sysprof_spawnable_getenv (spawnable, variables[i].name);
      g_autofree char *both = NULL;

      if (variables[i].is_list && before != NULL && before[0] != '\0')
        both = g_strdup_printf ("%s %s", variables[i].value, before);
      sysprof_spawnable_setenv (spawnable, variables[i].name,
                                both != NULL ? both : variables[i].value);
    }
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
  sysprof_spawnable_set_on_host (spawnable, TRUE);
  for (size_t i = 0; options->environment != NULL && options->environment[i] != NULL; i++)
    {
      g_auto (GStrv) parts = g_strsplit (options->environment[i], "=", 2);

      sysprof_spawnable_setenv (spawnable, parts[0], parts[1] != NULL ? parts[1] : "");
    }
  if (options->runtime_names)
    request_runtime_names (spawnable);
  if (options->use_trace_fd)
    add_trace_fd (profiler, spawnable, "SYSPROF_TRACE_FD", terminal);
  if (options->gjs)
    {
      sysprof_spawnable_setenv (spawnable, "GJS_ENABLE_PROFILER", "1");
      add_trace_fd (profiler, spawnable, "GJS_TRACE_FD", terminal);
    }
  return g_steal_pointer (&spawnable);
}
