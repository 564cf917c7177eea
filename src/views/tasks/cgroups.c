// SPDX-License-Identifier: GPL-3.0-or-later

/* Control groups with their processes and shares. One row is for processes whose group was
 * not recorded, such as kernel threads and processes that exited before it was read. */

#include "document/document.h"
#include "views/sample-rows.h"
#include "views/tasks/cgroup-name.h"

#include <string.h>

#define UNKNOWN "unknown" /* real paths start with a slash */

enum
{
  CGROUP,
  NAME,
  PROCESSES,
  SELF,
  TOTAL,
  N_COLUMNS,
};

static const Column columns[] = {
  [CGROUP] = { "cgroup", "CONTROL GROUP", COLUMN_TEXT, .is_long = true },
  [NAME] = { "name", "NAME", COLUMN_TEXT },
  [PROCESSES] = { "processes", "PROCESSES", COLUMN_COUNT },
  [SELF] = { "self", "SELF", COLUMN_COUNT, .json_only = true },
  [TOTAL] = { "total", "SAMPLES", COLUMN_COUNT, .share = true, .title_of_time = "TIME" },
};

typedef struct
{
  const char *name;
  uint64_t n_processes;
  uint64_t weight;
} Group;

static int
compare_groups (const void *a, const void *b, void *data)
{
  const Group *left = a, *right = b;

  if (left->weight != right->weight)
    return left->weight < right->weight ? 1 : -1;
  return strcmp (left->name, right->name);
}

static int
compare_names (const void *a, const void *b, void *data)
{
  return strcmp (((const Group *) a)->name, ((const Group *) b)->name);
}

/* Merges groups with the same path. */
static uint32_t
join_groups (Group *groups, uint32_t n)
{
  uint32_t n_joined = 0;

  if (n == 0)
    return 0;

  if (!sysprof_sort_if_wanted (groups, n, sizeof *groups, compare_names, NULL))
    return 0;
  for (uint32_t i = 0; i < n; i++)
    if (n_joined > 0 && strcmp (groups[n_joined - 1].name, groups[i].name) == 0)
      {
        groups[n_joined - 1].n_processes += groups[i].n_processes;
        groups[n_joined - 1].weight += groups[i].weight;
      }
    else
      groups[n_joined++] = groups[i];
  (void) sysprof_sort_if_wanted (groups, n_joined, sizeof *groups, compare_groups, NULL);
  return n_joined;
}

static bool
has_groups (const Store *store, char **group_of_process)
{
  for (ProcessId i = 1; i < store->processes.n; i++)
    if (group_of_process[i][0])
      return true;
  return false;
}

static bool
fill_cgroups (const ViewRequest *request, Rows *rows, GError **error)
{
  const Store *store = request->store;
  g_auto (GStrv) group_of_process = sysprof_store_dup_cgroups (store);
  g_autofree ProcessId *process_of = sysprof_processes_of_stacks (store);
  g_autofree uint64_t *weight = g_new0 (uint64_t, MAX (store->processes.n, 1));
  g_autofree Group *groups = g_new0 (Group, MAX (store->processes.n, 1));
  bool is_whole = sysprof_request_is_whole (request);
  bool is_known = has_groups (store, group_of_process);
  StackWeights weights;
  uint32_t n = 0;

  sysprof_request_fold (request, false, &weights);
  for (StackId i = 0; i < store->stacks.n && sysprof_is_wanted_at (i); i++)
    weight[process_of[i]] += weights.self[i];
  sysprof_rows_init (rows, columns, N_COLUMNS, weights.total);
  sysprof_stack_weights_clear (&weights);

  for (ProcessId i = 1; i < store->processes.n; i++)
    if (group_of_process[i][0] && (weight[i] > 0 || is_whole))
      groups[n++] = (Group){ group_of_process[i], 1, weight[i] };
  /* Add a row of unknown processes, so that shares add up, unless the capture has no groups
   * at all. */
  for (ProcessId i = 1; i < store->processes.n && is_known; i++)
    if (!group_of_process[i][0] && weight[i] > 0)
      groups[n++] = (Group){ UNKNOWN, 1, weight[i] };
  n = join_groups (groups, n);
  for (uint32_t i = 0; i < n; i++)
    {
      g_autofree char *name = sysprof_dup_cgroup_name (groups[i].name);
      Cell *cells = sysprof_rows_add (rows);

      cells[NAME].text = sysprof_rows_dup (rows, name);
      cells[CGROUP].text = sysprof_rows_dup (rows, groups[i].name);
      cells[PROCESSES].count = groups[i].n_processes;
      cells[SELF].count = cells[TOTAL].count = groups[i].weight;
    }
  return true;
}

const View sysprof_cgroups_view = {
  .name = "cgroups",
  .title = "Control groups",
  .summary = "shares and processes of the control groups",
  .recorded_by = RECORDED_AS_SAMPLES,
  .options = OPTIONS_SAMPLES | OPTIONS_SHARES,
  .fill = fill_cgroups,
};
