// SPDX-License-Identifier: GPL-3.0-or-later

/* The limit of open files of this process. Events and counter files can be many; a module that
 * needs many descriptors reserves them first. Spawned programs must not inherit a changed
 * limit. From any thread. */

#pragma once

#include <stdbool.h>

/* Reserves `n` descriptors: raises the soft limit up to the hard limit, so that there is space
 * for all reservations. */
void sysprof_descriptor_limit_ask (unsigned long n);
/* Releases a reservation of `n` descriptors. */
void sysprof_descriptor_limit_give_back (unsigned long n);

/* Call these around spawning a program, which then inherits the original limit. */
void sysprof_descriptor_limit_restore (void);
void sysprof_descriptor_limit_raise_again (void);

/* Whether `fd`, which was just opened, uses up descriptors that other modules need, because the
 * limit could not be raised. The caller then closes descriptors that it can spare. */
bool sysprof_descriptor_limit_is_near (int fd);
