// SPDX-License-Identifier: GPL-3.0-or-later

/* Lists where the separate debug file of an ELF file may be on this machine, and the further
 * files of its debug information. */

#pragma once

#include "locate/file-locator.h"

/* A path where a debug file may be. */
typedef struct
{
  int root; /* borrowed */
  char *path;
} DebugCandidate;

#define BUILD_ID_TEXT_SIZE 129 /* at most 128 hex digits, and a NUL */

/* Whether the untrusted text may be a build ID: lower-case hex of at least two bytes. It
 * becomes part of paths and of requests to servers. */
bool sysprof_is_build_id (Text hex);

/* How a file refers to another one. */
typedef struct
{
  const char *build_id; /* lower-case hex; "" = none */
  const char *name;     /* "" = none */
} DebugLink;

/* Lists where the debug file may be of a file that was found below `root` at `path`. Returns a
 * GArray of DebugCandidate, the most likely one first. `with_flatpak`: also in the debug
 * runtimes of Flatpak. */
GArray *sysprof_list_debug_candidates (FileLocator *self,
                                       int root,
                                       const char *path,
                                       const DebugLink *debug,
                                       bool with_flatpak);

/* Likewise, for the supplement that dwz made from several files. `path` is the file that
 * contains the debug information. */
GArray *sysprof_list_supplement_candidates (FileLocator *self,
                                            int root,
                                            const char *path,
                                            const DebugLink *supplement,
                                            bool with_flatpak);

/* Where a file was found, and where the file with its debug information was found, which is
 * itself or its debug file. */
typedef struct
{
  int root;
  const char *path;
  int debug_root;
  const char *debug_path;
} FoundFile;

/* Likewise, for the package of its split units. */
GArray *sysprof_list_package_candidates (FileLocator *self,
                                         const FoundFile *file,
                                         const char *build_id);

/* Likewise, for a file with split units that was compiled in `directory` as `name`. */
GArray *sysprof_list_split_candidates (const FileLocator *self,
                                       const FoundFile *file,
                                       const char *directory,
                                       const char *name);
