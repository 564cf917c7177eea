// SPDX-License-Identifier: GPL-3.0-or-later

/* Messages of sysprof-cli and its status line, all on standard error. Nothing is written to
 * standard output, which belongs to the command. *Owned* by the main thread. */

#pragma once

#include "record/record.h"

#include <stdbool.h>
#include <termios.h>

typedef enum
{
  STATUS_NONE, /* --quiet, or no status is needed */
  STATUS_LINE,
  STATUS_JSON,
} StatusForm;

typedef struct
{
  StatusForm form;
  bool is_quiet;
  bool has_line;    /* the cursor is at the end of a status line */
  const char *mark; /* precedes each JSON object, with a blank; NULL: nothing */
  tcflag_t mode;    /* settings of the terminal at the start */
  RecordingStatus last;
} Terminal;

/* A status line needs a terminal that can erase it; otherwise there is none. */
void sysprof_cli_terminal_init (Terminal *self, StatusForm form, bool is_quiet);

/* Errors and diagnostics, also with --quiet. One line each; with STATUS_JSON an object with
 * the single member `message`. */
void sysprof_cli_terminal_print (Terminal *self, const char *format, ...) G_GNUC_PRINTF (2, 3);
/* Messages that --quiet omits. */
void sysprof_cli_terminal_note (Terminal *self, const char *format, ...) G_GNUC_PRINTF (2, 3);
/* Updates the status; call once a second. */
void sysprof_cli_terminal_status (Terminal *self, const RecordingStatus *status, bool is_last);
/* Returns the status line in at most `room` columns, with rates since `self->last`. *(full)* */
char *sysprof_cli_terminal_dup_line (const Terminal *self,
                                     const RecordingStatus *status,
                                     size_t room);
/* Prints the summary of the recording in one sentence. `name` is "-" for standard output, NULL
 * if the recording is not kept. */
void
sysprof_cli_terminal_summary (Terminal *self, const RecordingStatus *status, const char *name);
