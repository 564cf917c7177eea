// SPDX-License-Identifier: GPL-3.0-or-later

/* Where the separate debug file of an ELF file may be on this machine, and what belongs to its debug information. */

#pragma once

#include "symbolize/elf-worker.h"
#include "symbolize/symbolizer.h"
#include "util/util.h"

/* Where a debug file of `path` may be. */
typedef struct
{
  int root; /* borrowed */
  char *path;
} DebugCandidate;

/* Where Flatpak's installations, the user's and the system's, have the files of their `.Debug` runtimes. NULL-terminated; free
 * with g_strfreev(). */
char **sysprof_list_flatpak_debug_dirs (void);

/* GArray of DebugCandidate, the likeliest first. `flatpak_dirs` as listed above, or NULL. */
GArray *sysprof_list_debug_candidates (const Symbolization *symbolization,
                                       Opener *opener,
                                       const char *const *flatpak_dirs,
                                       int root,
                                       const char *path,
                                       const ElfFacts *facts);

/* The same for the supplement that dwz made of what several files share: of the file at `path`, which has the debug information. */
GArray *sysprof_list_supplement_candidates (const Symbolization *symbolization,
                                            Opener *opener,
                                            const char *const *flatpak_dirs,
                                            int root,
                                            const char *path,
                                            const ElfFacts *facts);

/* Where a file is of which a part is looked for, and where that is of it which has the debug information: itself or its debug file. */
typedef struct
{
  int root;
  const char *path;
  int debug_root;
  const char *debug_path;
} FilePlaces;

/* The same for the package of its split units. */
GArray *sysprof_list_package_candidates (const Symbolization *symbolization,
                                         const char *const *flatpak_dirs,
                                         const FilePlaces *places,
                                         const ElfFacts *facts);

/* The same for a file with split units that was compiled in `directory` as `name`. */
GArray *sysprof_list_split_candidates (const Symbolization *symbolization,
                                       const FilePlaces *places,
                                       const char *directory,
                                       const char *name);
