// SPDX-License-Identifier: GPL-3.0-or-later

/* Tries candidate paths one after the other until one of them is the file that is searched
 * for. */

#include "locate/debug-search.h"

#include "locate/debug-candidates.h"

bool
sysprof_try_candidates (const GArray *candidates, TryPathFunc try_path, void *data)
{
  bool is_found = false;

  for (guint i = 0; i < candidates->len && !is_found; i++)
    {
      const DebugCandidate *candidate = &g_array_index (candidates, DebugCandidate, i);

      is_found = try_path (candidate->root, candidate->path, data);
    }
  return is_found;
}

bool
sysprof_try_translations (FileLocator *self,
                          const FileBatch *batch,
                          const char *path,
                          TryPathFunc try_path,
                          void *data)
{
  g_autoptr (GPtrArray) paths = NULL;
  bool is_found = false, is_ours;

  if (self->mounts == NULL || path[0] != '/')
    return false;

  paths = sysprof_list_translations (self, batch, path, &is_ours);
  for (guint i = 0; i < paths->len && !is_found; i++)
    is_found = try_path (-1, paths->pdata[i], data);
  return is_found;
}

bool
sysprof_try_translated_candidates (FileLocator *self,
                                   const FileBatch *batch,
                                   const GArray *candidates,
                                   TryPathFunc try_path,
                                   void *data)
{
  bool is_found = false;

  for (guint i = 0; i < candidates->len && !is_found; i++)
    is_found = sysprof_try_translations (
        self, batch, g_array_index (candidates, DebugCandidate, i).path, try_path, data);
  return is_found;
}
