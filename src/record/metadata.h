// SPDX-License-Identifier: GPL-3.0-or-later

/* The metadata of a capture: the machine, the system, the recorder and the spawned program. */

#pragma once

#include <stdbool.h>
#include <sysprof.h>

/* Writes the metadata frames of a recording that starts, and a copy of /etc/os-release.
 * `spawnable` is the spawned program, or NULL. Its environment may contain secrets and is only
 * written if `record_environment` is set. A value that does not fit a frame is truncated and
 * gets a remark about that. */
void sysprof_record_metadata_write (SysprofCaptureWriter *writer,
                                    SysprofSpawnable *spawnable,
                                    bool record_environment);
