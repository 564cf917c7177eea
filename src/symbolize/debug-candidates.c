// SPDX-License-Identifier: GPL-3.0-or-later

#include "symbolize/debug-candidates.h"

#include "symbolize/file-locator.h"

#include <string.h>

#define SYSTEM_DEBUG_DIR "/usr/lib/debug"

static void
add_candidate (GArray *candidates, int root, char *path)
{
  DebugCandidate candidate = { root, path };

  for (guint i = 0; i < candidates->len; i++)
    {
      const DebugCandidate *known = &g_array_index (candidates, DebugCandidate, i);

      if (known->root == root && strcmp (known->path, path) == 0)
        {
          g_free (path);
          return;
        }
    }
  g_array_append_val (candidates, candidate);
}

static void
clear_candidate (void *candidate)
{
  g_free (((DebugCandidate *) candidate)->path);
}

static void
add_by_build_id (GArray *candidates, int root, const char *debug_dir, const ElfFacts *facts)
{
  GString *path;

  if (facts->build_id_size < 2)
    return;

  path = g_string_new (debug_dir);
  g_string_append_printf (path, "/.build-id/%02x/", facts->build_id[0]);
  for (uint32_t i = 1; i < facts->build_id_size; i++)
    g_string_append_printf (path, "%02x", facts->build_id[i]);
  g_string_append (path, ".debug");
  add_candidate (candidates, root, g_string_free (path, FALSE));
}

static void
add_by_link (GArray *candidates,
             const SymbolizeOptions *options,
             int root,
             const char *directory,
             const ElfFacts *facts)
{
  if (facts->link[0] == 0)
    return;

  add_candidate (candidates, root, g_build_filename (directory, facts->link, NULL));
  add_candidate (candidates, root, g_build_filename (directory, ".debug", facts->link, NULL));
  add_candidate (candidates, root,
                 g_build_filename (SYSTEM_DEBUG_DIR, directory, facts->link, NULL));
  for (size_t i = 0; options->debug_dirs != NULL && options->debug_dirs[i] != NULL; i++)
    add_candidate (candidates, -1,
                   g_build_filename (options->debug_dirs[i], directory, facts->link, NULL));
  for (size_t i = 0; options->inner_debug_dirs != NULL && options->inner_debug_dirs[i] != NULL;
       i++)
    add_candidate (
        candidates, root,
        g_build_filename (options->inner_debug_dirs[i], directory, facts->link, NULL));
}

GArray *
sysprof_list_debug_candidates (const Symbolization *symbolization,
                               Opener *opener,
                               int root,
                               const char *path,
                               const ElfFacts *facts)
{
  const SymbolizeOptions *options = symbolization->options;
  GArray *candidates = g_array_new (FALSE, FALSE, sizeof (DebugCandidate));
  g_autofree char *directory = g_path_get_dirname (path);

  g_array_set_clear_func (candidates, clear_candidate);
  add_by_build_id (candidates, root, SYSTEM_DEBUG_DIR, facts);
  for (size_t i = 0; options->debug_dirs != NULL && options->debug_dirs[i] != NULL; i++)
    add_by_build_id (candidates, -1, options->debug_dirs[i], facts);
  for (size_t i = 0; options->inner_debug_dirs != NULL && options->inner_debug_dirs[i] != NULL;
       i++)
    add_by_build_id (candidates, root, options->inner_debug_dirs[i], facts);
  /* A container without debug files may run what is installed here, too. */
  if (root >= 0 && options->sysroot == NULL)
    add_by_build_id (candidates, -1, SYSTEM_DEBUG_DIR, facts);

  add_by_link (candidates, options, root, directory, facts);
  if (root < 0 && facts->link[0] != 0)
    {
      g_autofree char *real = sysprof_find_real_path (opener, path);
      g_autofree char *real_directory = real != NULL ? g_path_get_dirname (real) : NULL;

      if (real != NULL)
        add_by_link (candidates, options, root, real_directory, facts);
    }

  return candidates;
}
