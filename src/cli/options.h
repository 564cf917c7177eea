// SPDX-License-Identifier: GPL-3.0-or-later

/* The parsed and checked command line of sysprof-cli.
 *
 * Checks everything that can be checked before a file is opened, so that a mistyped number
 * never costs a capture. */

#pragma once

#include "cli/output.h"
#include "record/record.h"

#include <stdint.h>

typedef struct
{
  /* other tasks than recording */
  gboolean version;
  char *help; /* text to print, or NULL */
  gboolean merge;
  char **files; /* NULL-terminated positional arguments: the captures of --merge */

  /* another machine */
  char *host; /* [USER@]HOST that records, or NULL: this machine */
  char **
      remote_words; /* NULL-terminated options for the remote sysprof-cli; NULL without `host` */
  char *
      far_end; /* this process is the remote end: the token before each status; otherwise NULL */

  /* the capture */
  char *output; /* "-" = standard output; default capture.syscap; NULL = --top without a file */
  OutputOldFile old_file; /* what happens to an existing capture */
  gboolean force;
  guint buffer_pages; /* 0 = the default of 8 MiB */
  uint64_t max_size;  /* bytes, 0 = no limit */
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
  gboolean runtime_names;
  gboolean exit_status;

  /* sampling */
  SamplerOptions sampler; /* `numbers` owns its arrays */
  GArray *pids;
  GArray *tids;
  GArray *cpus;
  char *cgroup;
  char *user;
  char **events;
  gboolean no_perf;
  gboolean no_sysprofd;

  InstrumentSelection instruments; /* in addition to the sampler */

  /* messages and reports */
  gboolean quiet;
  gboolean verbose;
  gboolean json_status;
  gboolean top;
  gboolean report;
  char *flame; /* file name, or NULL */
} CliOptions;

/* Fills `options` from the arguments of main(). Returns FALSE with `error`, one line that
 * names the option, if they are invalid. */
gboolean sysprof_cli_options_parse (CliOptions *options, int argc, char **argv, GError **error);
void sysprof_cli_options_clear (CliOptions *options);
