// SPDX-License-Identifier: GPL-3.0-or-later

/* The system's journal: the entries that are added during the recording.
 *
 * libsystemd, which reads the journal files, is loaded when a journal is opened: nothing else
 * needs it, and some machines do not have it. *Owned* by one thread. */

#pragma once

#include "record/logs/log-text.h"

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Journal Journal;

typedef struct
{
  int64_t time; /* ns, CLOCK_MONOTONIC: when the journal received it */
  int priority; /* of syslog(3); -1 = none */
  bool is_of_kernel;
  LogMessage message; /* valid until the next call */
} JournalEntry;

/* Opens the journal positioned after its last entry. NULL with `error`. */
Journal *sysprof_journal_open (GError **error);
void sysprof_journal_close (Journal *self); /* may be NULL */

/* Readable when there may be new entries. Borrowed. */
int sysprof_journal_get_fd (Journal *self);

/* Call this when the descriptor is readable, and once a second, because journal files are added
 * and removed. */
void sysprof_journal_process (Journal *self);

/* The next entry of this boot. FALSE if there is none yet. */
bool sysprof_journal_next (Journal *self, JournalEntry *entry);
