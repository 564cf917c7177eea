// SPDX-License-Identifier: GPL-3.0-or-later

/* --top: the hottest functions and what the counters say, of the last seconds, anew each second.
 *
 * A thread of its own reads what the recorder has written, so that neither recording nor signals wait for names of
 * functions. All calls are the main thread's. */

#pragma once

#include "record/record.h"

#include <stdbool.h>

typedef struct Top Top;

typedef struct
{
  int fd;          /* where it is shown; borrowed */
  bool takes_keys; /* q on standard input ends the recording; else a command reads there */
  bool gives_back; /* nobody wants the recording: its file need not keep what was shown */
} TopOptions;

/* NULL with `error` where no thread can be started. `recording` is referenced. */
Top *
sysprof_cli_top_new (SysprofRecording *recording, const TopOptions *options, GError **error);
/* Gives the terminal back; at once where nothing is waited for, else when the thread has ended. NULL is fine. */
void sysprof_cli_top_free (Top *self);
/* Whether it still draws. FALSE for NULL. */
bool sysprof_cli_top_is_shown (const Top *self);
/* The terminal alone, for who is about to leave without further ado. NULL is fine. */
void sysprof_cli_top_give_terminal_back (Top *self);
