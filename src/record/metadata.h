// SPDX-License-Identifier: GPL-3.0-or-later

/* What the capture says about where and how it was made. */

#pragma once

#include <stdbool.h>
#include <sysprof.h>

/* Writes the metadata frames of a recording that begins, and a copy of /etc/os-release. `spawnable` is the program
 * that is started with it, or NULL; its environment holds secrets and is left out unless `record_environment`.
 * A value that does not fit a frame is cut and ends in a remark that says so. */
void sysprof_record_metadata_write (SysprofCaptureWriter *writer,
                                    SysprofSpawnable *spawnable,
                                    bool record_environment);
