// SPDX-License-Identifier: GPL-3.0-or-later

/* The capture that somebody else wrote into a descriptor, joined to the recording: first what every reader knows, so that the
 * addresses in it get their symbols, and the rest when these are written. */

#pragma once

#include "capture/capture.h"
#include "record/pump.h"

/* For *augment*. `fd` is borrowed; `who` wrote, as "a program". NULL without `error`: nothing was written, and nothing is
 * left to do. NULL with `error`: it could not be joined. */
SysprofCaptureJoin *sysprof_joined_capture_begin (Pump *pump,
                                                  const char *domain,
                                                  const char *who,
                                                  int fd,
                                                  GError **error);

/* For *append*; `join` may be NULL. */
bool sysprof_joined_capture_finish (SysprofCaptureJoin *join, const char *who, GError **error);
