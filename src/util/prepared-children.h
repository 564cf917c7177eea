// SPDX-License-Identifier: GPL-3.0-or-later

/* Children that were forked before the process grew (sysprof_confined_children_prepare()), for another thread. */

#pragma once

#include <sys/types.h>

typedef struct
{
  pid_t pid;
  int socket;
} PreparedChild;

/* Takes up to `n` of this thread's. Whoever has them must have ended when this thread does: they end with it. */
unsigned sysprof_prepared_children_lend (PreparedChild *lent, unsigned n);
/* For whatever this thread starts next; those that nobody took it ends. */
void sysprof_prepared_children_take (const PreparedChild *lent, unsigned n);
