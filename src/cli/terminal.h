// SPDX-License-Identifier: GPL-3.0-or-later

/* What the person who records sees, all of it on standard error: messages, and one line that says how
 * it goes. Nothing is ever written to standard output, which belongs to the command.
 * *Owned* by the main thread. */

#pragma once

#include "record/record.h"

#include <stdbool.h>
#include <termios.h>

typedef enum
{
  STATUS_NONE, /* --quiet, or nobody watches */
  STATUS_LINE,
  STATUS_JSON,
} StatusForm;

typedef struct
{
  StatusForm form;
  bool is_quiet;
  bool has_line;    /* the cursor stands behind a status line */
  const char *mark; /* stands before each JSON object, with a blank; NULL: nothing does */
  tcflag_t mode;    /* of the terminal, before anybody changed it */
  RecordingStatus last;
} Terminal;

/* A status line is only for a terminal that can show one; else there is none. */
void sysprof_cli_terminal_init (Terminal *self, StatusForm form, bool is_quiet);

/* What needs no quiet: errors, diagnostics. One line each; with STATUS_JSON an object that has only `message`. */
void sysprof_cli_terminal_print (Terminal *self, const char *format, ...) G_GNUC_PRINTF (2, 3);
/* What --quiet leaves out. */
void sysprof_cli_terminal_note (Terminal *self, const char *format, ...) G_GNUC_PRINTF (2, 3);
/* Once a second. */
void sysprof_cli_terminal_status (Terminal *self, const RecordingStatus *status, bool is_last);
/* The status line in at most `room` columns, with what happened since `self->last`. To be freed. */
char *sysprof_cli_terminal_dup_line (const Terminal *self,
                                     const RecordingStatus *status,
                                     size_t room);
/* How it went, in a sentence. `name` may be NULL: standard output. */
void
sysprof_cli_terminal_summary (Terminal *self, const RecordingStatus *status, const char *name);
