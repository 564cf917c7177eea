// SPDX-License-Identifier: GPL-3.0-or-later

/* How many descriptors this process may have. Events can be many, and so can the files of counters: who may need many asks for
 * them beforehand. The program that is recorded shall not notice. From any thread. */

#pragma once

#include <stdbool.h>

/* Raises the soft limit, as far as the hard one lets us, so that there is room for `n` more than what others asked for. */
void sysprof_descriptor_limit_ask (unsigned long n);
/* They are not needed any more. */
void sysprof_descriptor_limit_give_back (unsigned long n);

/* Around starting a program: it gets the limit that we were given. */
void sysprof_descriptor_limit_restore (void);
void sysprof_descriptor_limit_raise_again (void);

/* Whether `fd`, which was just opened, leaves less than others need, because the limit could not be raised. What can be left out is
 * to be closed again then. */
bool sysprof_descriptor_limit_is_near (int fd);
