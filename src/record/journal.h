// SPDX-License-Identifier: GPL-3.0-or-later

/* The system's journal, as far as a recording wants it: what comes from now on.
 *
 * The library that knows its files (libsystemd) is loaded when one is opened: nothing else needs it, and there are machines
 * without. *Owned* by one thread. */

#pragma once

#include "record/log-text.h"

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Journal Journal;

typedef struct
{
  int64_t time; /* ns, CLOCK_MONOTONIC: when the journal got it */
  int priority; /* of syslog(3); -1 = none */
  bool is_of_kernel;
  LogMessage message; /* valid until the next call */
} JournalEntry;

/* Stands behind all that is there. NULL with `error`. */
Journal *sysprof_journal_open (GError **error);
void sysprof_journal_close (Journal *self); /* may be NULL */

/* Readable when something may have come. Borrowed. */
int sysprof_journal_get_fd (Journal *self);

/* After that, and once a second: files come and go. */
void sysprof_journal_process (Journal *self);

/* The next message of this boot. FALSE when there is none yet. */
bool sysprof_journal_next (Journal *self, JournalEntry *entry);
