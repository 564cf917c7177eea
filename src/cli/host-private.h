// SPDX-License-Identifier: GPL-3.0-or-later

/* The state of the local end, shared by host.c and host-failures.c. */

#pragma once

#include "cli/host.h"
#include "cli/output.h"
#include "cli/terminal.h"

#include <gio/gio.h>

#define FAILED_SSH  255 /* exit status of ssh itself */
#define FAR_PROGRAM "sysprof-cli"

typedef struct
{
  const CliOptions *options;
  Terminal terminal;
  OutputFile output;
  OutputFile flame;
  GMainLoop *loop;
  GSubprocess *ssh; /* NULL: not started */
  char *token;
  char *mark;         /* the token, followed by text that only precedes a status */
  GByteArray *before; /* output before the capture; NULL once the capture has begun */
  GString *line;      /* incomplete last line of standard error */
  char *last_line;    /* last complete line */
  guint64 n_bytes;    /* bytes of the capture */
  /* second descriptor of the capture for reading it at the end; -1 = not needed */
  int result_fd;
  guint n_signals;
  guint data_source;
  guint message_source;
  guint exit_source; /* time at which waiting for ssh ends */
  bool has_exited;
  bool is_begun;
  bool is_finished; /* as reported by the remote end */
  int far_status;   /* exit status of the remote recorder; -1 = unknown */
  bool is_committed;
  bool is_too_old;    /* the remote version does not know the option */
  bool has_other_key; /* larger than the exit status of ssh */
  RecordingStatus status;
  GError *error; /* on this machine */
} LocalEnd;

/* These functions print why a recording is missing or incomplete. `status`: exit status of ssh;
 * -1 = a signal ended it. */

/* No data arrived; prints nothing if the remote end explained it itself. */
void sysprof_cli_host_explain_nothing (LocalEnd *self, int status);
/* The connection ended during the recording. */
void sysprof_cli_host_explain_cut (LocalEnd *self, int status);
/* The recording is complete, but the exit status of the remote recorder, and so of its command,
 * is unknown. */
void sysprof_cli_host_explain_left (LocalEnd *self);
