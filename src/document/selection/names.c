// SPDX-License-Identifier: GPL-3.0-or-later

/* --process, --process-tree, --command, --thread and --cpu. */

#include "document/selection/parts.h"

#include <fnmatch.h>

#define FRAME_PROCESS     4  /* type of the frames that name a process */
#define FRAME_HEADER_SIZE 24 /* their text comes right behind */
#define CPU_MAX           INT16_MAX

static bool
is_number (const char *text, int32_t *number)
{
  Text rest = sysprof_text_from_string (text);
  uint64_t value;

  if (!sysprof_text_u64 (&rest, &value) || sysprof_text_size (rest) > 0 || value > INT32_MAX)
    return false;

  *number = (int32_t) value;
  return true;
}

static bool
matches (const char *pattern, const char *name)
{
  return g_str_equal (pattern, name) || fnmatch (pattern, name, 0) == 0;
}

/* The base name of argv[0], if blanks delimit it. */
static bool
matches_program (const char *pattern, const char *command_line)
{
  g_autofree char *program = g_strndup (command_line, strcspn (command_line, " "));
  const char *slash = strrchr (program, '/');

  return matches (pattern, slash != NULL ? slash + 1 : program);
}

/* A name that the process bore at some time: each has a frame of its own. */
static bool
bore_name (const Store *store, FrameNo number, const char *pattern)
{
  uint64_t offset = store->frames.offset[number];
  uint16_t size;
  g_autofree char *name = NULL;

  memcpy (&size, store->bytes + offset, sizeof size);
  if (store->is_swapped)
    size = GUINT16_SWAP_LE_BE (size);
  if (size <= FRAME_HEADER_SIZE)
    return false;

  name = g_strndup ((const char *) store->bytes + offset + FRAME_HEADER_SIZE,
                    size - FRAME_HEADER_SIZE);
  return matches (pattern, name) || matches_program (pattern, name);
}

/* Notes the processes that bear, or bore, such a name in is_in[processes.n]. */
static void
find_named (const Store *store, const char *pattern, bool *is_in)
{
  const FrameList *names = &store->frames_of_type[FRAME_PROCESS];

  for (ProcessId i = 1; i < store->processes.n; i++)
    {
      const Process *process = &store->processes.row[i];

      is_in[i] = is_in[i] || matches (pattern, sysprof_store_string (store, process->comm)) ||
                 matches_program (pattern, sysprof_store_string (store, process->command_line));
    }

  for (uint32_t i = 0; i < names->n; i++)
    {
      ProcessId process =
          sysprof_store_find_process (store, store->frames.pid[names->frame[i]]);

      if (process != 0 && !is_in[process])
        is_in[process] = bore_name (store, names->frame[i], pattern);
    }
}

static gboolean
refuse_empty (const char *option, const char *what, const char *name, GError **error)
{
  if (name[0] != 0)
    return TRUE;

  g_set_error (error, SYSPROF_ERROR, SYSPROF_ERROR_FAILED, "%s '': give %s", option, what);
  return FALSE;
}

/* Sets is_in[processes.n] for the processes of the names with "!", or of those without it. */
static bool
find_marked (const char *option,
             char **names,
             bool wants_inverse,
             const Store *store,
             bool *is_in,
             GError **error)
{
  for (; names != NULL && *names != NULL; names++)
    {
      bool is_inverse = (*names)[0] == '!';
      const char *name = *names + is_inverse;
      int32_t pid;

      if (!refuse_empty (option, "a process ID, or a name like 'make' or 'gnome-*'", name,
                         error))
        return false;
      if (is_inverse != wants_inverse)
        continue;
      if (is_number (name, &pid))
        is_in[sysprof_store_find_process (store, pid)] = true;
      else
        find_named (store, name, is_in);
    }
  return true;
}

/* The processes of all names; all processes if there are none but with "!". Without those with
 * "!". */
static bool
find_all_named (const char *option,
                char **names,
                const Store *store,
                bool *is_in,
                GError **error)
{
  uint32_t n = MAX (store->processes.n, 1);
  g_autofree bool *is_out = g_new0 (bool, n);
  bool has_wanted = false;

  for (char **name = names; name != NULL && *name != NULL; name++)
    has_wanted |= (*name)[0] != '!';
  if (!find_marked (option, names, false, store, is_in, error) ||
      !find_marked (option, names, true, store, is_out, error))
    return false;
  for (ProcessId i = 0; i < n; i++)
    is_in[i] = (is_in[i] || !has_wanted) && !is_out[i];
  return true;
}

/* AND between the options. */
gboolean
sysprof_selection_find_processes (const Selection *self,
                                  const Store *store,
                                  GArray *processes,
                                  GError **error)
{
  uint32_t n = MAX (store->processes.n, 1);
  g_autofree bool *is_in = g_new0 (bool, n);
  g_autofree bool *is_in_tree = g_new0 (bool, n);
  g_autofree bool *is_of_command = g_new0 (bool, n);

  if (!find_all_named ("--process", self->processes, store, is_in, error) ||
      !find_marked ("--process-tree", self->process_trees, false, store, is_in_tree, error))
    return FALSE;
  is_of_command[sysprof_store_find_command (store)] = self->command;
  is_in_tree[0] = is_of_command[0] = false; /* the result for a pid without a process */
  sysprof_store_add_descendants (store, is_in_tree);
  sysprof_store_add_descendants (store, is_of_command);

  for (ProcessId i = 1; i < store->processes.n; i++)
    if ((self->processes == NULL || is_in[i]) &&
        (self->process_trees == NULL || is_in_tree[i]) && (!self->command || is_of_command[i]))
      g_array_append_val (processes, i);
  return TRUE;
}

static void
append_tid (GArray *tids, int32_t tid)
{
  g_array_append_val (tids, tid);
}

/* Threads that have, or had, a name of their own: tids → 1 + whether it matches. */
static GHashTable *
match_own_names (const Store *store, const char *pattern)
{
  const Processes *processes = &store->processes;
  GHashTable *own = g_hash_table_new (NULL, NULL);

  for (uint32_t i = 0; i < processes->n_thread_names; i++)
    {
      const ThreadName *row = &processes->thread_names[i];
      void *tid = GINT_TO_POINTER (row->tid);

      if (matches (pattern, sysprof_store_string (store, row->name)))
        g_hash_table_insert (own, tid, GINT_TO_POINTER (2));
      else if (!g_hash_table_contains (own, tid))
        g_hash_table_insert (own, tid, GINT_TO_POINTER (1));
    }
  return own;
}

/* A process's name is that of its first thread, and of all that have no other. Captures without names of threads
 * do not say which have. */
static void
find_named_threads (const Store *store, const char *pattern, GArray *tids)
{
  const Processes *processes = &store->processes;
  g_autofree bool *is_in = g_new0 (bool, MAX (processes->n, 1));
  g_autoptr (GHashTable) own = match_own_names (store, pattern);
  GHashTableIter iter;
  void *tid, *match;

  find_named (store, pattern, is_in);
  g_hash_table_iter_init (&iter, own);
  while (g_hash_table_iter_next (&iter, &tid, &match))
    if (GPOINTER_TO_INT (match) == 2)
      append_tid (tids, GPOINTER_TO_INT (tid));

  for (ProcessId i = 1; i < processes->n; i++)
    for (uint32_t j = 0; is_in[i] && j < processes->row[i].n_threads; j++)
      {
        int32_t other = processes->thread_ids[processes->row[i].first_thread + j];

        if (other == processes->row[i].pid ||
            (processes->n_thread_names > 0 &&
             !g_hash_table_contains (own, GINT_TO_POINTER (other))))
          append_tid (tids, other);
      }
}

gboolean
sysprof_selection_find_threads (char **names, const Store *store, GArray *tids, GError **error)
{
  for (guint i = 0; names[i] != NULL; i++)
    {
      int32_t tid;

      if (!refuse_empty ("--thread", "a thread id, or a name like 'make' or 'gnome-*'",
                         names[i], error))
        return FALSE;

      if (is_number (names[i], &tid))
        append_tid (tids, tid);
      else
        find_named_threads (store, names[i], tids);
    }
  return TRUE;
}

/* "2-3" or "2". */
static bool
parse_cpu_range (const char *text, uint64_t *first, uint64_t *last)
{
  Text rest = sysprof_text_from_string (text);

  if (!sysprof_text_u64 (&rest, first))
    return false;

  *last = *first;
  if (sysprof_text_skip (&rest, "-") && !sysprof_text_u64 (&rest, last))
    return false;
  return sysprof_text_size (rest) == 0 && *first <= *last && *last <= CPU_MAX;
}

gboolean
sysprof_selection_parse_cpus (char **lists, const Store *store, GArray *cpus, GError **error)
{
  bool is_in[CPU_MAX + 1] = { false };

  for (guint i = 0; lists[i] != NULL; i++)
    {
      g_auto (GStrv) parts = g_strsplit (lists[i], ",", -1);

      for (guint j = 0; j == 0 || parts[j] != NULL; j++)
        {
          uint64_t first, last;

          if (parts[j] == NULL || !parse_cpu_range (parts[j], &first, &last))
            {
              g_set_error (error, SYSPROF_ERROR, SYSPROF_ERROR_FAILED,
                           "--cpu %s: give CPU numbers and ranges of them, like 0,2-3",
                           lists[i]);
              return FALSE;
            }
          for (uint64_t cpu = first; cpu <= last; cpu++)
            is_in[cpu] = true;
        }
    }

  for (int32_t cpu = 0; cpu <= CPU_MAX; cpu++)
    if (is_in[cpu])
      g_array_append_val (cpus, cpu);
  return TRUE;
}
