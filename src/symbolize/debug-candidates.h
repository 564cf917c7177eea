// SPDX-License-Identifier: GPL-3.0-or-later

/* Lists where the separate debug file of an ELF file may be on this machine, and the further
 * files of its debug information. */

#pragma once

#include "symbolize/elf-worker.h"
#include "symbolize/symbolizer.h"
#include "util/util.h"

/* A path where a debug file may be. */
typedef struct
{
  int root; /* borrowed */
  char *path;
} DebugCandidate;

/* Lists the directories of the `.Debug` runtimes in Flatpak's installations, both the user's
 * and the system's. NULL-terminated; free with g_strfreev(). */
char **sysprof_list_flatpak_debug_dirs (void);

/* Returns a GArray of DebugCandidate, the most likely one first. `flatpak_dirs` is the list
 * from above, or NULL. */
GArray *sysprof_list_debug_candidates (const Symbolization *symbolization,
                                       Opener *opener,
                                       const char *const *flatpak_dirs,
                                       int root,
                                       const char *path,
                                       const ElfFacts *facts);

/* Likewise, for the supplement that dwz made from several files. `path` is the file that
 * contains the debug information. */
GArray *sysprof_list_supplement_candidates (const Symbolization *symbolization,
                                            Opener *opener,
                                            const char *const *flatpak_dirs,
                                            int root,
                                            const char *path,
                                            const ElfFacts *facts);

/* Where a file was found, and where the file with its debug information was found, which is
 * itself or its debug file. */
typedef struct
{
  int root;
  const char *path;
  int debug_root;
  const char *debug_path;
} FilePlaces;

/* Likewise, for the package of its split units. */
GArray *sysprof_list_package_candidates (const Symbolization *symbolization,
                                         const char *const *flatpak_dirs,
                                         const FilePlaces *places,
                                         const ElfFacts *facts);

/* Likewise, for a file with split units that was compiled in `directory` as `name`. */
GArray *sysprof_list_split_candidates (const Symbolization *symbolization,
                                       const FilePlaces *places,
                                       const char *directory,
                                       const char *name);
