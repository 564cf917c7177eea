// SPDX-License-Identifier: GPL-3.0-or-later

/* The command line of sysprof-cli, read and checked: what it asks for, ready to be done.
 *
 * Everything that can be found wrong before anything is opened is found here, so that a mistyped
 * number never costs a capture. */

#pragma once

#include "record/record.h"

#include <stdint.h>

typedef struct
{
  /* other things to do than record */
  gboolean version;
  char *help; /* to be printed, or NULL */
  gboolean merge;
  char **files; /* NULL-terminated: positional arguments; of --merge the captures */

  /* another machine */
  char *host; /* [USER@]HOST where it is recorded, or NULL: here */
  char **
      far_words; /* NULL-terminated: what was asked for, for the sysprof-cli there; NULL without `host` */
  char *far_end; /* we are the one there: what stands before each status; else NULL */

  /* the capture */
  char *
      output; /* "-" = standard output; default capture.syscap; NULL = --top, and nothing is kept */
  gboolean force;
  int buffer_pages;  /* 0 = the default of 8 MiB */
  uint64_t max_size; /* bytes, 0 = no limit */
  int64_t duration_nsec;
  gboolean no_decode;
  gboolean debuginfod; /* as typed */
  gboolean no_debuginfod;
  gboolean record_environment;

  /* the command */
  char **command;     /* NULL-terminated, or NULL: none */
  char **environment; /* NULL-terminated VAR=VALUE, or NULL */
  gboolean use_trace_fd;
  gboolean gjs;
  gboolean exit_status;

  /* what is recorded */
  SamplerOptions sampler; /* its arrays are `numbers` */
  GArray *pids;
  GArray *tids;
  GArray *cpus;
  char *cgroup;
  char *user;
  char **events;
  gboolean no_battery;
  gboolean no_gpu;
  gboolean no_pressure;
  gboolean no_cpu;
  gboolean no_disk;
  gboolean no_memory;
  gboolean no_network;
  gboolean no_recorder;
  gboolean no_perf;
  gboolean no_sysprofd;
  gboolean no_system_log;
  gboolean no_graphics_info;

  /* instruments that are asked for, some of them not built yet */
  gboolean gnome_shell;
  gboolean rapl;
  gboolean memprof;
  gboolean speedtrack;
  gboolean scheduler;
  gboolean session_bus;
  gboolean system_bus;
  char **monitor_buses; /* NULL-terminated, or NULL */
  char *power_profile;
  gboolean off_cpu;
  gboolean pressure;
  gboolean gpu;
  gboolean thermal;
  gboolean kernel_log;

  /* what the person sees */
  gboolean quiet;
  gboolean verbose;
  gboolean json_status;
  gboolean top;
  gboolean report;
  char *flame; /* file name, or NULL */
} CliOptions;

/* Fills `options` from the arguments of main(). FALSE with `error`, one line that names the option, if
 * they ask for nothing that can be done. */
gboolean sysprof_cli_options_parse (CliOptions *options, int argc, char **argv, GError **error);
void sysprof_cli_options_clear (CliOptions *options);
