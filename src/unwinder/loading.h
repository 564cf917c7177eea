// SPDX-License-Identifier: GPL-3.0-or-later

/* Loads the BPF walker on a thread of its own, because loading takes 30 ms or more and the
 * recording should start meanwhile. */

#pragma once

#include "access/access.h"

typedef struct Loading Loading;

/* `maps` are the walker's maps, which exist already; the caller keeps them. NULL with errno. */
Loading *sysprof_loading_start (Privilege *privilege,
                                const WalkProgram *maps,
                                unsigned call_depth,
                                bool by_lists);
/* Waits until loading has ended. NULL is allowed. */
void sysprof_loading_free (Loading *self);

/* A descriptor that becomes readable when loading has ended. */
int sysprof_loading_get_fd (const Loading *self);
/* Waits until loading has ended and returns the program's descriptor *(full)*; -1 with errno.
 * Call it once. */
int sysprof_loading_take (Loading *self);
