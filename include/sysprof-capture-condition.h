// SPDX-License-Identifier: BSD-2-Clause

/* Selects frames of a capture. Conditions are reference counted and immutable. */

#pragma once

#include "sysprof-capture-types.h"

SYSPROF_BEGIN_DECLS

SYSPROF_AVAILABLE_IN_ALL
SysprofCaptureCondition *sysprof_capture_condition_copy (const SysprofCaptureCondition *self);
/* NULL is allowed. */
SYSPROF_AVAILABLE_IN_ALL
void sysprof_capture_condition_unref (SysprofCaptureCondition *self);
SYSPROF_AVAILABLE_IN_ALL
SysprofCaptureCondition *sysprof_capture_condition_ref (SysprofCaptureCondition *self);

/* Takes ownership of both parts. */
SYSPROF_AVAILABLE_IN_ALL
SysprofCaptureCondition *sysprof_capture_condition_new_and (SysprofCaptureCondition *left,
                                                            SysprofCaptureCondition *right);
SYSPROF_AVAILABLE_IN_ALL
SysprofCaptureCondition *sysprof_capture_condition_new_or (SysprofCaptureCondition *left,
                                                           SysprofCaptureCondition *right);

/* The arrays are copied. Returns NULL with errno set if memory is exhausted. */
SYSPROF_AVAILABLE_IN_ALL
SysprofCaptureCondition *
sysprof_capture_condition_new_where_type_in (unsigned int n_types,
                                             const SysprofCaptureFrameType *types);
/* Times are ns; both ends are included. */
SYSPROF_AVAILABLE_IN_ALL
SysprofCaptureCondition *sysprof_capture_condition_new_where_time_between (int64_t begin_time,
                                                                           int64_t end_time);
SYSPROF_AVAILABLE_IN_ALL
SysprofCaptureCondition *sysprof_capture_condition_new_where_pid_in (unsigned int n_pids,
                                                                     const int32_t *pids);
/* Matches definitions and values of these counters. */
SYSPROF_AVAILABLE_IN_ALL
SysprofCaptureCondition *
sysprof_capture_condition_new_where_counter_in (unsigned int n_counters,
                                                const unsigned int *counters);
/* Matches the chunks of one embedded file. */
SYSPROF_AVAILABLE_IN_ALL
SysprofCaptureCondition *sysprof_capture_condition_new_where_file (const char *path);

/* `frame` was returned by a reader. */
SYSPROF_AVAILABLE_IN_ALL
bool sysprof_capture_condition_match (const SysprofCaptureCondition *self,
                                      const SysprofCaptureFrame *frame);

SYSPROF_END_DECLS
