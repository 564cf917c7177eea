// SPDX-License-Identifier: GPL-3.0-or-later

/* Findings about runtimes: most samples of such a process have no function of its language,
 * because the runtime does not name its functions unless it is told to. */

#include "views/overview/findings.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

/* Percent. */
#define BIG_PROCESS  20 /* least share of the weight */
#define MOST_UNNAMED 50 /* least share of its samples without a function of the language */

#define FIRST_PYTHON 12 /* 3.12 is the first that writes a perf map */

static const struct
{
  const char *pattern; /* of the process name */
  const char *language;
  const char *remedy;
} runtimes[] = {
  { "python3*", "Python",
    "Record with sysprof-cli --runtime-names, or start it with python3 -X perf "
    "(Python 3.12 or later)." },
  { "python", "Python",
    "Record with sysprof-cli --runtime-names, or start it with python3 -X perf "
    "(Python 3.12 or later)." },
  { "node", "JavaScript",
    "Record with sysprof-cli --runtime-names, or start it with node --perf-basic-prof." },
  { "java", "Java",
    "Record with sysprof-cli --runtime-names, or start it with java -XX:+DumpPerfMapAtExit "
    "(JDK 17 or later)." },
  { "ruby*", "Ruby", "Start it with ruby --yjit-perf (Ruby 3.3 or later)." },
  { "gjs*", "JavaScript", "Record with sysprof-cli --gjs." },
};

#define N_RUNTIMES G_N_ELEMENTS (runtimes)

/* 1 + index of the runtime; 0 = none. */
static size_t
runtime_of_process (const Store *store, ProcessId process)
{
  const char *comm = sysprof_store_string (store, store->processes.row[process].comm);

  for (size_t i = 0; i < N_RUNTIMES; i++)
    if (fnmatch (runtimes[i].pattern, comm, 0) == 0)
      return i + 1;
  return 0;
}

/* [stacks.n] 1 where a function is on the stack that a runtime has named. *(full)* */
static uint8_t *
find_named_stacks (const Store *store, const SymbolTable *symbols)
{
  const StackTree *stacks = &store->stacks;
  uint8_t *is_named = g_new0 (uint8_t, MAX (stacks->n, 1));

  /* Parents come before their children. */
  for (StackId i = 0; i < stacks->n && sysprof_is_wanted_at (i); i++)
    if (stacks->depth[i] > 0)
      {
        const Symbol *row = &symbols->row[symbols->of_address[stacks->address[i]]];

        is_named[i] = is_named[stacks->parent[i]] | (row->kind == SYMBOL_JIT);
      }
  return is_named;
}

/* The N of Python 3.N, from the name of its program or library; 0 = unknown. */
static unsigned
find_python_version (const Store *store, ProcessId process)
{
  for (uint32_t i = 1; i < store->n_mappings && sysprof_is_wanted_at (i); i++)
    {
      const char *path = sysprof_store_string (store, store->mappings[i].path);
      const char *name = strrchr (path, '/');
      unsigned version;

      if (store->mappings[i].process == process && name != NULL &&
          (sscanf (name, "/python3.%3u", &version) == 1 ||
           sscanf (name, "/libpython3.%3u", &version) == 1))
        return version;
    }
  return 0;
}

/* *(full)* */
static char *
dup_remedy (const Store *store, size_t runtime, ProcessId process)
{
  unsigned version = strcmp (runtimes[runtime].language, "Python") == 0
                         ? find_python_version (store, process)
                         : 0;

  if (version == 0 || version >= FIRST_PYTHON)
    return g_strdup (runtimes[runtime].remedy);
  return g_strdup_printf ("Python 3.%u cannot name them: run it with Python 3.%u or later, and "
                          "record with sysprof-cli --runtime-names.",
                          version, FIRST_PYTHON);
}

void
sysprof_find_interpreters (Findings *self)
{
  const Store *store = self->store;
  g_autofree ProcessId *process_of = sysprof_processes_of_stacks (store);
  g_autofree uint8_t *is_named = find_named_stacks (store, self->symbols);
  g_autofree size_t *runtime_of = g_new0 (size_t, MAX (store->processes.n, 1));
  uint64_t weight[N_RUNTIMES] = { 0 }, unnamed[N_RUNTIMES] = { 0 };
  ProcessId example[N_RUNTIMES] = { 0 };

  for (ProcessId i = 0; i < store->processes.n; i++)
    runtime_of[i] = runtime_of_process (store, i);
  for (StackId i = 0; i < store->stacks.n && sysprof_is_wanted_at (i); i++)
    {
      size_t runtime = runtime_of[process_of[i]];

      if (runtime == 0 || self->weights.self[i] == 0)
        continue;
      weight[runtime - 1] += self->weights.self[i];
      unnamed[runtime - 1] += is_named[i] ? 0 : self->weights.self[i];
      example[runtime - 1] = process_of[i];
    }
  for (size_t i = 0; i < N_RUNTIMES; i++)
    if (sysprof_findings_percent (self, weight[i]) >= BIG_PROCESS &&
        sysprof_percent (unnamed[i], weight[i]) >= MOST_UNNAMED)
      {
        const Process *row = &store->processes.row[example[i]];
        g_autofree char *comm = sysprof_dup_one_line (sysprof_store_string (store, row->comm));
        g_autofree char *name = g_strdup_printf ("%s/%d", comm, row->pid);
        g_autofree char *remedy = dup_remedy (store, i, example[i]);

        sysprof_findings_add (
            self,
            &(Finding){ .kind = "interpreter",
                        .process = name,
                        .remedy = remedy,
                        .share = sysprof_percent (unnamed[i], weight[i]) / 100 },
            "%.1f %% of the samples of %s show no %s function.",
            sysprof_percent (unnamed[i], weight[i]), comm, runtimes[i].language);
      }
}
