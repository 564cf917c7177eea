// SPDX-License-Identifier: GPL-3.0-or-later

/* The finding about the critical path of a command with several processes: the process on
 * which most of the time depended. */

#include "document/document.h"
#include "views/overview/findings.h"

#include <string.h>

#define BIG_PART 50 /* percent of the path: least part for a finding */

/* The part of the path that belongs to one process; times in ns. */
typedef struct
{
  const char *comm;
  int64_t pid;
  int64_t time;
  int64_t ran;
  int64_t delayed; /* ready to run, but others had the CPU */
} Part;

static bool
is_selected (const Findings *self, int64_t pid)
{
  const SampleFilter *filter = self->request->filter;

  for (uint32_t i = 0; i < filter->n_processes; i++)
    if (self->store->processes.row[filter->processes[i]].pid == pid)
      return true;
  return false;
}

/* Parts of other processes, such as the kernel's threads, are not the command's. */
static Part
find_longest_part (const Findings *self, const Rows *rows)
{
  size_t duration = sysprof_rows_column (rows, "duration"),
         process = sysprof_rows_column (rows, "process"),
         pid = sysprof_rows_column (rows, "pid"), state = sysprof_rows_column (rows, "state");
  g_autoptr (GHashTable) of_pid = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  const Part *longest = NULL;

  for (uint32_t i = 0; i < rows->n_rows; i++)
    {
      const Cell *cells = sysprof_rows_cells (rows, i);
      void *key = GINT_TO_POINTER ((int) cells[pid].number);
      Part *part = g_hash_table_lookup (of_pid, key);

      if (part == NULL)
        {
          part = g_new0 (Part, 1);
          *part = (Part){ .comm = cells[process].text, .pid = cells[pid].number };
          g_hash_table_insert (of_pid, key, part);
        }
      part->time += cells[duration].number;
      if (strcmp (cells[state].text, "running") == 0)
        part->ran += cells[duration].number;
      else if (strcmp (cells[state].text, "runnable") == 0 ||
               strcmp (cells[state].text, "preempted") == 0)
        part->delayed += cells[duration].number;
      if ((longest == NULL || part->time > longest->time) && is_selected (self, part->pid))
        longest = part;
    }
  return longest != NULL ? *longest : (Part){ 0 };
}

void
sysprof_find_critical_path (Findings *self)
{
  static const char *const switches[] = { "critical-path", NULL };
  const Store *store = self->store;
  ViewRequest request = *self->request;
  const Process *command = &store->processes.row[sysprof_store_find_command (store)];
  Rows rows = { 0 };
  Part part;

  if (request.selection == NULL || !request.selection->command || store->waits.events.n == 0 ||
      sysprof_findings_weigh_waits (self))
    return;
  request.switches = switches;
  request.search = NULL;
  request.sort = NULL;
  request.limit = 0;
  if (!sysprof_view_fill (&sysprof_waits_view, &request, &rows, NULL))
    return;
  part = find_longest_part (self, &rows);
  if (part.time > 0 && part.pid != command->pid &&
      sysprof_percent ((uint64_t) part.time, rows.total) >= BIG_PART)
    {
      g_autofree char *comm = sysprof_dup_one_line (part.comm);
      g_autofree char *name = g_strdup_printf ("%s/%" G_GINT64_FORMAT, comm, part.pid);
      g_autofree char *whole = sysprof_dup_duration ((int64_t) rows.total);
      g_autofree char *time = sysprof_dup_duration (part.time);
      g_autofree char *ran = sysprof_dup_duration (part.ran);
      g_autofree char *delayed = sysprof_dup_duration (part.delayed);
      g_autofree char *delay = part.delayed > part.time / 10
                                   ? g_strdup_printf (" and waited %s for a CPU", delayed)
                                   : g_strdup ("");

      sysprof_findings_add (self,
                            &(Finding){ .kind = "child",
                                        .view = "waits --critical-path",
                                        .process = name,
                                        .share = (double) part.time / (double) rows.total },
                            "%s of %s depended on %s, which ran %s%s.", time, whole, comm, ran,
                            delay);
    }
  sysprof_rows_clear (&rows);
}
