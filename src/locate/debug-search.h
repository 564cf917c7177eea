// SPDX-License-Identifier: GPL-3.0-or-later

/* Tries the paths where a debug file or a further part of debug information may be, until one
 * of them fits. */

#pragma once

#include "locate/file-locator.h"

/* Returns whether the search ends. */
typedef bool (*TryPathFunc) (int root, const char *path, void *data);

/* `candidates`: GArray of DebugCandidate. These functions return whether the search ended. */
bool sysprof_try_candidates (const GArray *candidates, TryPathFunc try_path, void *data);
/* Tries the paths where the file's processes, which have exited, saw `path`. */
bool sysprof_try_translations (FileLocator *self,
                               const FileBatch *batch,
                               const char *path,
                               TryPathFunc try_path,
                               void *data);
/* Likewise, for all paths of `candidates`. */
bool sysprof_try_translated_candidates (FileLocator *self,
                                        const FileBatch *batch,
                                        const GArray *candidates,
                                        TryPathFunc try_path,
                                        void *data);
