// SPDX-License-Identifier: GPL-3.0-or-later

/* Replaces journal.c in builds without the libsystemd headers: opening the journal always
 * fails. */

#include "record/logs/journal.h"

#include "util/util.h"

Journal *
sysprof_journal_open (GError **error)
{
  g_set_error_literal (error, SYSPROF_ERROR, SYSPROF_ERROR_UNSUPPORTED,
                       "this program was built without journal support. Build it where "
                       "libsystemd-dev is installed.");
  return NULL;
}

void
sysprof_journal_close (Journal *self)
{
}

int
sysprof_journal_get_fd (Journal *self)
{
  return -1;
}

void
sysprof_journal_process (Journal *self)
{
}

bool
sysprof_journal_next (Journal *self, JournalEntry *entry)
{
  return false;
}
