// SPDX-License-Identifier: GPL-3.0-or-later

/* Joins a capture that another process wrote to a descriptor with the recording. First come the
 * frames that every reader knows, so that their addresses get symbols. The other frames are
 * appended at the end of the recording. */

#pragma once

#include "join/join.h"
#include "record/recording-context.h"

/* For *augment*. `fd` is borrowed; `who` names the process in messages, like "a program". NULL
 * without `error`: the capture is empty, and there is nothing to do. NULL with `error`: it
 * could not be joined. */
SysprofCaptureJoin *sysprof_joined_capture_begin (RecordingContext *context,
                                                  const char *domain,
                                                  const char *who,
                                                  int fd,
                                                  GError **error);

/* For *append*; `join` may be NULL. */
bool sysprof_joined_capture_finish (SysprofCaptureJoin *join, const char *who, GError **error);
