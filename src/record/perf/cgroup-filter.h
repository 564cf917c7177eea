// SPDX-License-Identifier: GPL-3.0-or-later

/* Only the samples of one cgroup and those below it, where tasks are chosen as well: a kernel event is for one or the other, so that
 * each sample names its cgroup, and is taken or not. *Owned* by the pump thread. */

#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct CgroupFilter CgroupFilter;

/* `cgroup_fd`: its directory, borrowed. */
CgroupFilter *sysprof_cgroup_filter_new (int cgroup_fd);
void sysprof_cgroup_filter_free (CgroupFilter *self);

/* `id`: as PERF_SAMPLE_CGROUP tells it, which is the directory's inode. */
bool sysprof_cgroup_filter_accepts (CgroupFilter *self, uint64_t id);
