// SPDX-License-Identifier: GPL-3.0-or-later

/* Which files the recorded processes saw at their paths, according to the capture: mount
 * tables, namespaces, overlays, and sandbox descriptions. *Owned* by the thread that
 * symbolizes. Each embedded file is read when it is first needed. */

#pragma once

#include "locate/path-translation.h"
#include "locate/recorded-file.h"

typedef struct CaptureMounts CaptureMounts;

/* Both borrowed. `stop_fd` (-1 = none): once it is readable, waits for files end. */
CaptureMounts *sysprof_capture_mounts_new (const LocateOptions *options, int stop_fd);
void sysprof_capture_mounts_free (CaptureMounts *self);

/* Lists where a file that the process knows as `path` may be on this machine; see
 * sysprof_translate_path(). `is_identified` is as in PathFacts. Sets `is_known` if the capture
 * records anything about the process's view of files. */
GPtrArray *sysprof_capture_mounts_translate (CaptureMounts *self,
                                             ProcessId process,
                                             const char *path,
                                             bool is_identified,
                                             bool *is_known);
