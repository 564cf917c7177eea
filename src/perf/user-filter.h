// SPDX-License-Identifier: GPL-3.0-or-later

/* Accepts only samples of one user, because perf events cannot be limited to a user. The user
 * of each process is looked up once. Its children inherit the result until they execute a
 * program. *Owned* by the pump thread. */

#pragma once

#include "access/access.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct UserFilter UserFilter;

UserFilter *sysprof_user_filter_new (uid_t uid, Privilege *privilege);
void sysprof_user_filter_free (UserFilter *self);

bool sysprof_user_filter_accepts (UserFilter *self, int32_t pid);

void sysprof_user_filter_forked (UserFilter *self, int32_t parent, int32_t child);
/* The process has executed a program and may now run as another user. */
void sysprof_user_filter_started (UserFilter *self, int32_t pid);
void sysprof_user_filter_ended (UserFilter *self, int32_t pid);
