// SPDX-License-Identifier: GPL-3.0-or-later

/* Only the samples of one user: kernel events know no users, so that each process is asked once, and its children
 * have its answer until they start a program of their own. *Owned* by the pump thread. */

#pragma once

#include "record/privilege.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct UserFilter UserFilter;

UserFilter *sysprof_user_filter_new (uid_t uid, Privilege *privilege);
void sysprof_user_filter_free (UserFilter *self);

bool sysprof_user_filter_accepts (UserFilter *self, int32_t pid);

void sysprof_user_filter_forked (UserFilter *self, int32_t parent, int32_t child);
void sysprof_user_filter_started (UserFilter *self,
                                  int32_t pid); /* a program: it may be another user's now */
void sysprof_user_filter_ended (UserFilter *self, int32_t pid);
