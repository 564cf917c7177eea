// SPDX-License-Identifier: GPL-3.0-or-later

/* Loads the walker on a thread of its own: some 30 ms and more, while which a recording goes on. */

#pragma once

#include "record/privilege.h"

typedef struct Loading Loading;

/* `maps` are those that were made, and stay the caller's. NULL with errno. */
Loading *sysprof_loading_start (Privilege *privilege,
                                const WalkProgram *maps,
                                unsigned call_depth,
                                bool by_lists);
/* Waits until it is done. NULL is nothing. */
void sysprof_loading_free (Loading *self);

/* Readable when it is done. */
int sysprof_loading_get_fd (const Loading *self);
/* Waits until it is done; once. The descriptor of the program, for the caller; -1 with errno. */
int sysprof_loading_take (Loading *self);
