// SPDX-License-Identifier: GPL-3.0-or-later

/* Resolves names with debug files from debuginfod servers and from the cache of earlier
 * downloads. It runs after all other sources, and requests files that still have unresolved
 * names, those with the most samples, waits and allocations first. */

#include "symbolize/fetched-files.h"
#include "symbolize/vmlinux.h"

#include <string.h>

#define LEAST_SHARE 0.005 /* of all events; files with less are not requested from servers */

/* --- weights --- */

/* Counts everything with a stack, because views of waits or allocations show function names,
 * too. */
typedef struct
{
  const StackEvents *row[4];
} AllEvents;

static AllEvents
list_events (const Store *store)
{
  return (AllEvents){
    { &store->samples, &store->allocations, &store->traces, &store->waits.events },
  };
}

static uint64_t
count_events (const Store *store)
{
  AllEvents events = list_events (store);
  uint64_t n = 0;

  for (size_t i = 0; i < G_N_ELEMENTS (events.row); i++)
    n += events.row[i]->n;
  return n;
}

/* [store->stacks.n] */
static uint64_t *
count_events_of_stacks (const Store *store)
{
  AllEvents events = list_events (store);
  uint64_t *counts = g_new0 (uint64_t, store->stacks.n + 1);

  for (size_t i = 0; i < G_N_ELEMENTS (events.row); i++)
    for (uint32_t j = 0; j < events.row[i]->n; j++)
      counts[events.row[i]->stack[j]]++;
  return counts;
}

static const WantedModule *
get_module (const Symbolization *self, guint i)
{
  return &g_array_index (self->wanted_modules, WantedModule, i);
}

/* Counts the events with a function of each file [batches->n]. Two kinds follow: events with an
 * unnamed function of the kernel, and of each module. The counts only decide which files are
 * requested from servers. */
static uint64_t *
weigh (const Symbolization *self, const FileBatches *batches)
{
  const Store *store = self->store;
  g_autofree uint32_t *file_of = g_new0 (uint32_t, store->addresses.n + 1); /* 1 + index */
  g_autofree uint64_t *n_events = count_events_of_stacks (store);
  guint n_modules = self->wanted_modules->len;
  g_autofree StackId *seen_in = g_new0 (StackId, batches->n + 1 + n_modules);
  uint64_t *weights = g_new0 (uint64_t, batches->n + 1 + n_modules);

  for (AddressId i = 1; self->wanted_kernel[0] != 0 && i < store->addresses.n; i++)
    if (store->addresses.kind[i] == ADDRESS_KERNEL && sysprof_symbolization_is_open (self, i))
      file_of[i] = batches->n + 1;
  for (guint i = 0; i < n_modules; i++)
    {
      const GArray *addresses = get_module (self, i)->addresses;

      for (guint j = 0; j < addresses->len; j++)
        file_of[g_array_index (addresses, AddressId, j)] = batches->n + 2 + i;
    }
  for (uint32_t i = 0; i < batches->n; i++)
    for (uint32_t j = 0; j < batches->row[i].n_items; j++)
      file_of[batches->row[i].items[j].address] = i + 1;

  for (StackId stack = 1; stack < store->stacks.n; stack++)
    {
      if (n_events[stack] == 0)
        continue;
      if (sysprof_progress_is_cancelled (self->progress))
        break;
      for (StackId at = stack; store->stacks.depth[at] > 0; at = store->stacks.parent[at])
        {
          uint32_t file = file_of[store->stacks.address[at]];

          if (file == 0 || seen_in[file - 1] == stack)
            continue;
          seen_in[file - 1] = stack;
          weights[file - 1] += n_events[stack];
        }
    }
  return weights;
}

/* --- files --- */

static const WantedFile *
find_wanted (const Symbolization *self, const FileBatch *batch)
{
  for (guint i = 0; i < self->wanted->len; i++)
    {
      const WantedFile *wanted = &g_array_index (self->wanted, WantedFile, i);

      if (wanted->inode == batch->inode && strcmp (wanted->path, batch->path) == 0 &&
          strcmp (wanted->recorded_id, batch->build_id) == 0)
        return wanted;
    }
  return NULL;
}

/* Files that were mapped under several names are requested once. */
static void
want (GArray *files, const char *build_id, bool is_executable, uint64_t weight)
{
  DebuginfodFile file = { .build_id = build_id,
                          .is_executable = is_executable,
                          .weight = weight };

  for (guint i = 0; i < files->len; i++)
    {
      DebuginfodFile *known = &g_array_index (files, DebuginfodFile, i);

      if (known->is_executable == is_executable && strcmp (known->build_id, build_id) == 0)
        {
          known->weight += weight;
          return;
        }
    }
  g_array_append_val (files, file);
}

static const char *
find_path (const GArray *files, const char *build_id, bool is_executable)
{
  for (guint i = 0; i < files->len; i++)
    {
      const DebuginfodFile *file = &g_array_index (files, DebuginfodFile, i);

      if (file->is_executable == is_executable && strcmp (file->build_id, build_id) == 0)
        return file->path;
    }
  return NULL;
}

static bool
is_wanted (const char *path)
{
  return path[0] == '/';
}

static void
choose_asked (const Symbolization *self, GArray *files)
{
  double least = LEAST_SHARE * (double) count_events (self->store);

  for (guint i = 0; i < files->len; i++)
    {
      DebuginfodFile *file = &g_array_index (files, DebuginfodFile, i);

      file->may_ask = file->weight > 0 && (double) file->weight >= least;
    }
}

/* Files of small weight, and all files if `weights` is NULL, are only looked up in the
 * cache. */
static GArray *
list_files (const Symbolization *self, const FileBatches *batches, const uint64_t *weights)
{
  GArray *files = g_array_new (FALSE, FALSE, sizeof (DebuginfodFile));

  for (uint32_t i = 0; i < batches->n; i++)
    {
      const WantedFile *wanted = find_wanted (self, &batches->row[i]);

      if (wanted == NULL)
        continue;
      want (files, wanted->build_id, false, weights != NULL ? weights[i] : 0);
      if (wanted->is_missing)
        want (files, wanted->build_id, true, weights != NULL ? weights[i] : 0);
    }
  if (self->wanted_kernel[0] != 0)
    want (files, self->wanted_kernel, false, weights != NULL ? weights[batches->n] : 0);
  for (guint i = 0; i < self->wanted_modules->len; i++)
    want (files, get_module (self, i)->build_id, false,
          weights != NULL ? weights[batches->n + 1 + i] : 0);
  choose_asked (self, files);
  return files;
}

/* --- supplements made by dwz --- */

static void
add_status (DebuginfodStatus *self, DebuginfodStatus *more)
{
  self->n_cached += more->n_cached;
  self->n_known_missing += more->n_known_missing;
  self->n_asked += more->n_asked;
  self->n_done += more->n_done;
  self->n_found += more->n_found;
  self->n_not_found += more->n_not_found;
  self->n_failed += more->n_failed;
  self->n_too_large += more->n_too_large;
  self->bytes += more->bytes;
  self->seconds += more->seconds;
  self->first_error = self->first_error != 0 ? self->first_error : more->first_error;
  self->is_out_of_time |= more->is_out_of_time;
  if (self->problem == NULL)
    self->problem = g_steal_pointer (&more->problem);
  g_clear_pointer (&more->problem, g_free);
}

/* Fetches supplements into the cache, where the line lookup finds them; names do not need them.
 * Debug files of one package often share a supplement. */
static void
fetch_supplements (const Symbolization *self,
                   const FileBatches *batches,
                   const FetchedFile *fetched,
                   const uint64_t *weights,
                   DebuginfodStatus *status)
{
  g_autoptr (GArray) files = g_array_new (FALSE, FALSE, sizeof (DebuginfodFile));
  DebuginfodStatus more;

  for (uint32_t i = 0; i < batches->n; i++)
    if (fetched[i].supplement[0] != 0)
      want (files, fetched[i].supplement, false, weights[i]);
  if (files->len == 0)
    return;

  choose_asked (self, files);
  sysprof_debuginfod_fetch ((DebuginfodFile *) (void *) files->data, files->len, self->progress,
                            self->options->debuginfod_queue, self->options->tell_debuginfod,
                            self->options->tell_debuginfod_data, &more);
  add_status (status, &more);
  sysprof_debuginfod_files_clear ((DebuginfodFile *) (void *) files->data, files->len);
}

/* --- all files --- */

static void
add_kernel_file (GArray *fetched, const GArray *files, const char *build_id)
{
  FetchedKernelFile file = { .build_id = build_id, .path = find_path (files, build_id, false) };

  if (file.path != NULL)
    g_array_append_val (fetched, file);
}

static void
use_kernel_files (Symbolization *self, const GArray *files, DebuginfodStatus *status)
{
  g_autoptr (GArray) fetched = g_array_new (FALSE, FALSE, sizeof (FetchedKernelFile));

  if (self->wanted_kernel[0] != 0)
    add_kernel_file (fetched, files, self->wanted_kernel);
  for (guint i = 0; i < self->wanted_modules->len; i++)
    add_kernel_file (fetched, files, get_module (self, i)->build_id);
  if (fetched->len == 0)
    return;
  sysprof_vmlinux_resolve_fetched (self, (FetchedKernelFile *) (void *) fetched->data,
                                   fetched->len);
  for (guint i = 0; i < fetched->len; i++)
    status->n_unfit += !g_array_index (fetched, FetchedKernelFile, i).is_fit;
}

static void
use_files (Symbolization *self,
           const FileBatches *batches,
           const GArray *files,
           const uint64_t *weights,
           DebuginfodStatus *status)
{
  g_autofree FetchedFile *fetched = g_new0 (FetchedFile, batches->n + 1);
  uint32_t n = 0;

  for (uint32_t i = 0; i < batches->n; i++)
    {
      const WantedFile *wanted = find_wanted (self, &batches->row[i]);

      if (wanted == NULL)
        continue;
      fetched[i].build_id = wanted->build_id;
      if (wanted->is_missing)
        fetched[i].executable = find_path (files, wanted->build_id, true);
      fetched[i].debug = find_path (files, wanted->build_id, false);
      n += fetched[i].debug != NULL || fetched[i].executable != NULL;
    }
  if (n > 0)
    sysprof_elf_resolve_fetched (self, batches, fetched);
  if (n > 0 && weights != NULL && !sysprof_progress_is_cancelled (self->progress))
    fetch_supplements (self, batches, fetched, weights, status);
  use_kernel_files (self, files, status);
  for (uint32_t i = 0; i < batches->n; i++)
    status->n_unfit += fetched[i].is_unfit;
}

static bool
resolve (Symbolization *self, GError **error)
{
  g_autoptr (FileBatches) batches = NULL;
  g_autofree uint64_t *weights = NULL;
  g_autoptr (GArray) files = NULL;
  DebuginfodStatus status;

  /* With a sysroot, files of this machine are only used if the options request it. */
  if ((self->wanted->len == 0 && self->wanted_kernel[0] == 0 &&
       self->wanted_modules->len == 0) ||
      (self->options->sysroot != NULL && !self->options->ask_debuginfod &&
       !self->options->was_asked_debuginfod))
    return true;

  batches = sysprof_file_batches_new (self, is_wanted);
  if (self->options->ask_debuginfod)
    weights = weigh (self, batches);
  files = list_files (self, batches, weights);
  sysprof_debuginfod_fetch ((DebuginfodFile *) (void *) files->data, files->len, self->progress,
                            self->options->debuginfod_queue, self->options->tell_debuginfod,
                            self->options->tell_debuginfod_data, &status);
  if (!sysprof_progress_is_cancelled (self->progress))
    use_files (self, batches, files, weights, &status);
  status.is_done = true;
  if (self->options->ask_debuginfod && self->options->tell_debuginfod != NULL)
    self->options->tell_debuginfod (&status, self->options->tell_debuginfod_data);

  sysprof_debuginfod_files_clear ((DebuginfodFile *) (void *) files->data, files->len);
  g_free (status.problem);
  return true;
}

const Symbolizer sysprof_debuginfod_symbolizer = { "debuginfod", resolve };
