// SPDX-License-Identifier: GPL-3.0-or-later

/* What a capture says of where its processes saw their files: tables of mounts, namespaces, overlays, what sandboxes tell. *Owned* by the
 * thread that symbolizes; each text is read when it is first needed. */

#pragma once

#include "symbolize/path-translation.h"
#include "symbolize/symbolizer.h"

typedef struct CaptureMounts CaptureMounts;

/* `stop_fd` (borrowed, -1 = none): once it is readable, no file is waited for any more. */
CaptureMounts *sysprof_capture_mounts_new (const Symbolization *symbolization, int stop_fd);
void sysprof_capture_mounts_free (CaptureMounts *self);

/* Where the file may be on this machine that the process knows as `path`; see sysprof_translate_path(). `is_identified`: as
 * PathFacts has it. `is_known` is set where the capture says anything of what the process saw. */
GPtrArray *sysprof_capture_mounts_translate (CaptureMounts *self,
                                             ProcessId process,
                                             const char *path,
                                             bool is_identified,
                                             bool *is_known);
