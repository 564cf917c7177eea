// SPDX-License-Identifier: GPL-3.0-or-later

/* Passes children that were forked in advance (sysprof_confined_children_prepare()) to another
 * thread. */

#pragma once

#include <sys/types.h>

typedef struct
{
  pid_t pid;
  int socket;
} PreparedChild;

/* Takes up to `n` of this thread's children. They end with this thread, so the thread that uses
 * them must end earlier. */
unsigned sysprof_prepared_children_lend (PreparedChild *lent, unsigned n);
/* Gives them to this thread, which ends those that it does not use. */
void sysprof_prepared_children_take (const PreparedChild *lent, unsigned n);
