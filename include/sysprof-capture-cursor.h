// SPDX-License-Identifier: BSD-2-Clause

/* Iterates over the frames of a reader that match a condition. */

#pragma once

#include "sysprof-capture-types.h"

SYSPROF_BEGIN_DECLS

/* Returns false to stop the iteration. The frame is valid only during the call. */
typedef bool (*SysprofCaptureCursorCallback) (const SysprofCaptureFrame *frame,
                                              void *user_data);

/* The cursor uses a copy of `reader`. Returns NULL with errno set on failure. */
SYSPROF_AVAILABLE_IN_ALL
SysprofCaptureCursor *sysprof_capture_cursor_new (SysprofCaptureReader *reader);
/* NULL is allowed. */
SYSPROF_AVAILABLE_IN_ALL
void sysprof_capture_cursor_unref (SysprofCaptureCursor *self);
SYSPROF_AVAILABLE_IN_ALL
SysprofCaptureCursor *sysprof_capture_cursor_ref (SysprofCaptureCursor *self);
/* The reader is owned by the cursor. */
SYSPROF_AVAILABLE_IN_ALL
SysprofCaptureReader *sysprof_capture_cursor_get_reader (SysprofCaptureCursor *self);
/* Calls `callback` for each frame that matches one of the conditions, or for all frames if
 * there are none. */
SYSPROF_AVAILABLE_IN_ALL
void sysprof_capture_cursor_foreach (SysprofCaptureCursor *self,
                                     SysprofCaptureCursorCallback callback,
                                     void *user_data);
/* Restarts the iteration at its first frame. */
SYSPROF_AVAILABLE_IN_ALL
void sysprof_capture_cursor_reset (SysprofCaptureCursor *self);
/* Reverses the direction of the iteration. */
SYSPROF_AVAILABLE_IN_ALL
void sysprof_capture_cursor_reverse (SysprofCaptureCursor *self);
/* Takes ownership of the condition. */
SYSPROF_AVAILABLE_IN_ALL
void sysprof_capture_cursor_add_condition (SysprofCaptureCursor *self,
                                           SysprofCaptureCondition *condition);

SYSPROF_END_DECLS
