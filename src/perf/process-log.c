// SPDX-License-Identifier: GPL-3.0-or-later

/* Rings of started and code-generating processes, and a hash table of the namespaces of each
 * process (see process-log.h). No function here reads /proc. */

#include "perf/process-log.h"

#include <glib.h>
#include <string.h>

#define MOST_SETS   4096 /* of namespaces; processes in further sets are read from /proc */
#define FIRST_SLOTS 256

typedef struct ProcessNamespaces
{
  int32_t pid; /* 0 = free */
  uint32_t set;
  int64_t time; /* ns; the rings of several CPUs are not read in order */
} ProcessNamespaces;

void
sysprof_process_log_clear (ProcessLog *self)
{
  g_free (self->only);
  g_free (self->sets);
  g_free (self->namespaces);
  *self = (ProcessLog){ 0 };
}

void
sysprof_process_log_set_only (ProcessLog *self, const int32_t *pids, unsigned n_pids)
{
  g_free (self->only);
  self->only = g_memdup2 (pids, n_pids * sizeof *pids);
  self->n_only = n_pids;
}

static StartedProcess *
get_nth (ProcessLog *self, unsigned i)
{
  return &self->started[(self->first + i) % PROCESS_LOG_SIZE];
}

void
sysprof_process_log_started (ProcessLog *self, int32_t pid, int64_t time)
{
  if (self->n_started == PROCESS_LOG_SIZE)
    {
      self->first = (self->first + 1) % PROCESS_LOG_SIZE;
      self->n_started--;
    }

  *get_nth (self, self->n_started++) = (StartedProcess){ pid, time };
}

/* The slot of the process, or the free slot for it. Pids are allocated in sequence, so the
 * lowest bits are a good hash. */
static ProcessNamespaces *
find_namespaces (const ProcessLog *self, int32_t pid)
{
  unsigned at = (unsigned) pid & (self->n_slots - 1);

  while (self->namespaces[at].pid != 0 && self->namespaces[at].pid != pid)
    at = (at + 1) & (self->n_slots - 1);
  return &self->namespaces[at];
}

static void
grow_namespaces (ProcessLog *self)
{
  ProcessNamespaces *old = self->namespaces;
  unsigned n_old = self->n_slots;

  self->n_slots = MAX (2 * n_old, FIRST_SLOTS);
  self->namespaces = g_new0 (ProcessNamespaces, self->n_slots);
  for (unsigned i = 0; i < n_old; i++)
    if (old[i].pid != 0)
      *find_namespaces (self, old[i].pid) = old[i];
  g_free (old);
}

static void
forget_namespaces (ProcessLog *self, int32_t pid)
{
  ProcessNamespaces *slot = self->n_slots > 0 ? find_namespaces (self, pid) : NULL;
  unsigned free_slot, at;

  if (slot == NULL || slot->pid == 0)
    return;

  /* Delete from a hash table with linear probing: move later entries up that belong at or
   * before the free slot, so that no search stops at a gap. */
  free_slot = at = (unsigned) (slot - self->namespaces);
  self->namespaces[free_slot].pid = 0;
  self->n_known--;
  while (self->namespaces[at = (at + 1) & (self->n_slots - 1)].pid != 0)
    {
      unsigned home = (unsigned) self->namespaces[at].pid & (self->n_slots - 1);

      if (((at - home) & (self->n_slots - 1)) >= ((at - free_slot) & (self->n_slots - 1)))
        {
          self->namespaces[free_slot] = self->namespaces[at];
          self->namespaces[at].pid = 0;
          free_slot = at;
        }
    }
}

static bool
intern_set (ProcessLog *self, const Namespaces *namespaces, uint32_t *set)
{
  for (*set = 0; *set < self->n_sets; ++*set)
    if (memcmp (&self->sets[*set], namespaces, sizeof *namespaces) == 0)
      return true;

  if (self->n_sets == MOST_SETS)
    return false;
  self->sets = g_renew (Namespaces, self->sets, self->n_sets + 1);
  self->sets[self->n_sets++] = *namespaces;
  return true;
}

void
sysprof_process_log_set_namespaces (ProcessLog *self,
                                    int32_t pid,
                                    int64_t time,
                                    const Namespaces *namespaces)
{
  ProcessNamespaces *slot;
  uint32_t set;

  if (pid <= 0)
    return;
  if (!intern_set (self, namespaces, &set))
    {
      forget_namespaces (self, pid);
      return;
    }

  if (self->n_known >= self->n_slots / 2)
    grow_namespaces (self);
  slot = find_namespaces (self, pid);
  if (slot->pid != 0 && slot->time > time)
    return;
  self->n_known += slot->pid == 0;
  *slot = (ProcessNamespaces){ pid, set, time };
}

const Namespaces *
sysprof_process_log_get_namespaces (const ProcessLog *self, int32_t pid)
{
  const ProcessNamespaces *slot =
      self->n_slots > 0 && pid > 0 ? find_namespaces (self, pid) : NULL;

  return slot != NULL && slot->pid != 0 ? &self->sets[slot->set] : NULL;
}

static bool
starts_with (const char *path, size_t size, const char *prefix)
{
  return size >= strlen (prefix) && memcmp (path, prefix, strlen (prefix)) == 0;
}

/* All language runtimes that write a jitdump name it jit-PID.dump. */
static bool
is_dump (const char *path, size_t size)
{
  const char *name = path + size;

  while (name > path && name[-1] != '/')
    name--;
  size -= (size_t) (name - path);
  return size > strlen ("jit-.dump") && starts_with (name, size, "jit-") &&
         memcmp (name + size - strlen (".dump"), ".dump", strlen (".dump")) == 0;
}

CodeMappingKind
sysprof_code_mapping_kind (const char *path, size_t size)
{
  if (size == 0 || starts_with (path, size, "//anon") || starts_with (path, size, "[anon") ||
      starts_with (path, size, "/memfd:") || starts_with (path, size, "/dev/zero"))
    return CODE_MAPPING_GENERATED;
  return is_dump (path, size) ? CODE_MAPPING_OF_DUMP : CODE_MAPPING_OF_FILE;
}

void
sysprof_process_log_mapped (ProcessLog *self, int32_t pid, const char *path, size_t size)
{
  CodeMappingKind kind = sysprof_code_mapping_kind (path, size);
  int32_t *known =
      &self->known_generating[(uint32_t) pid % G_N_ELEMENTS (self->known_generating)];
  GeneratingProcess *process;

  if (kind == CODE_MAPPING_OF_FILE || size >= GENERATING_PATH ||
      self->n_generating == GENERATING_LOG_SIZE ||
      (kind == CODE_MAPPING_GENERATED && *known == pid))
    return;

  if (kind == CODE_MAPPING_GENERATED)
    *known = pid;
  process =
      &self->generating[(self->first_generating + self->n_generating++) % GENERATING_LOG_SIZE];
  process->pid = pid;
  memcpy (process->path, path, size);
  process->path[size] = '\0';
}

const GeneratingProcess *
sysprof_process_log_take_generating (ProcessLog *self)
{
  const GeneratingProcess *process = &self->generating[self->first_generating];

  if (self->n_generating == 0)
    return NULL;
  self->first_generating = (self->first_generating + 1) % GENERATING_LOG_SIZE;
  self->n_generating--;
  return process;
}

void
sysprof_process_log_ended (ProcessLog *self, int32_t pid)
{
  int32_t *known =
      &self->known_generating[(uint32_t) pid % G_N_ELEMENTS (self->known_generating)];

  if (*known == pid)
    *known = 0;
  forget_namespaces (self, pid);
  for (unsigned i = self->n_started; i > 0; i--)
    if (get_nth (self, i - 1)->pid == pid)
      get_nth (self, i - 1)->pid = 0;

  while (self->n_started > 0 && get_nth (self, self->n_started - 1)->pid == 0)
    self->n_started--;
}

bool
sysprof_process_log_take (ProcessLog *self, int64_t before, StartedProcess *process)
{
  while (self->n_started > 0)
    {
      *process = *get_nth (self, 0);
      if (process->pid != 0 && process->time >= before)
        return false;

      self->first = (self->first + 1) % PROCESS_LOG_SIZE;
      self->n_started--;
      if (process->pid != 0)
        return true;
    }
  return false;
}
