// SPDX-License-Identifier: BSD-2-Clause

/* Walks over those frames of a reader that meet a condition. */

#pragma once

#include "sysprof-capture-types.h"

SYSPROF_BEGIN_DECLS

/* False ends the walk. The frame is valid during the call only. */
typedef bool (*SysprofCaptureCursorCallback) (const SysprofCaptureFrame *frame,
                                              void *user_data);

/* The cursor walks over a copy of `reader`. NULL with errno set on failure. */
SYSPROF_AVAILABLE_IN_ALL
SysprofCaptureCursor *sysprof_capture_cursor_new (SysprofCaptureReader *reader);
/* NULL is allowed. */
SYSPROF_AVAILABLE_IN_ALL
void sysprof_capture_cursor_unref (SysprofCaptureCursor *self);
SYSPROF_AVAILABLE_IN_ALL
SysprofCaptureCursor *sysprof_capture_cursor_ref (SysprofCaptureCursor *self);
/* Borrowed. */
SYSPROF_AVAILABLE_IN_ALL
SysprofCaptureReader *sysprof_capture_cursor_get_reader (SysprofCaptureCursor *self);
/* Calls `callback` for each frame that meets one of the conditions; for all frames if there are none. */
SYSPROF_AVAILABLE_IN_ALL
void sysprof_capture_cursor_foreach (SysprofCaptureCursor *self,
                                     SysprofCaptureCursorCallback callback,
                                     void *user_data);
/* Back to where a walk begins. */
SYSPROF_AVAILABLE_IN_ALL
void sysprof_capture_cursor_reset (SysprofCaptureCursor *self);
/* Turns the direction of the walk. */
SYSPROF_AVAILABLE_IN_ALL
void sysprof_capture_cursor_reverse (SysprofCaptureCursor *self);
/* The condition is taken over. */
SYSPROF_AVAILABLE_IN_ALL
void sysprof_capture_cursor_add_condition (SysprofCaptureCursor *self,
                                           SysprofCaptureCondition *condition);

SYSPROF_END_DECLS
