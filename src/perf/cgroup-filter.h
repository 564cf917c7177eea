// SPDX-License-Identifier: GPL-3.0-or-later

/* Accepts only samples of one cgroup and its descendants, when tasks are selected as well. A
 * perf event can be limited to tasks or to a cgroup, but not to both. Samples therefore contain
 * their cgroup, and this filter decides. *Owned* by the pump thread. */

#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct CgroupFilter CgroupFilter;

/* `cgroup_fd`: the cgroup's directory, borrowed. */
CgroupFilter *sysprof_cgroup_filter_new (int cgroup_fd);
void sysprof_cgroup_filter_free (CgroupFilter *self);

/* `id`: the cgroup ID in PERF_SAMPLE_CGROUP, which is the inode of the cgroup's directory. */
bool sysprof_cgroup_filter_accepts (CgroupFilter *self, uint64_t id);
