// SPDX-License-Identifier: GPL-3.0-or-later

/* --top: a live view of the hottest functions and the counters of the last seconds, updated
 * every second.
 *
 * A thread reads the frames that the recorder has written, so that neither the recording nor
 * signals wait for symbols. All calls are made on the main thread. */

#pragma once

#include "record/record.h"

#include <stdbool.h>

typedef struct Top Top;

typedef struct
{
  int fd; /* where it is drawn; borrowed */
  bool
      takes_keys; /* `q` on standard input ends the recording; FALSE if a command reads standard input */
  bool
      gives_back; /* the recording is not kept, so parts of its file that were shown may be freed */
} TopOptions;

/* Returns NULL with `error` if no thread can be started. References `recording`. */
Top *
sysprof_cli_top_new (SysprofRecording *recording, const TopOptions *options, GError **error);
/* Restores the terminal, at once if nothing is pending, otherwise when the thread has ended.
 * NULL is allowed. */
void sysprof_cli_top_free (Top *self);
/* Returns whether the view is still drawn. FALSE for NULL. */
bool sysprof_cli_top_is_shown (const Top *self);
/* Restores the terminal only, before the process ends. NULL is allowed. */
void sysprof_cli_top_give_terminal_back (Top *self);
