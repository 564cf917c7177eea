// SPDX-License-Identifier: BSD-2-Clause

/* Reports data from inside a program while it is recorded.
 *
 * Without a recorder each call costs one load of a variable. Call these functions from any
 * thread, but not from signal handlers. They do not fail, do not block for long, and print no
 * messages: data that cannot be delivered is dropped. */

#pragma once

#include "sysprof-capture-types.h"

#include <stdarg.h>

SYSPROF_BEGIN_DECLS

/* Optional: pays the cost of the first use in advance. */
SYSPROF_AVAILABLE_IN_3_36
void sysprof_collector_init (void);
/* Returns whether a recorder receives the data. Use it to skip expensive preparations. */
SYSPROF_AVAILABLE_IN_3_38
bool sysprof_collector_is_active (void);
/* `alloc_size` in bytes, 0 or less = freed. */
SYSPROF_AVAILABLE_IN_3_36
void sysprof_collector_allocate (SysprofCaptureAddress alloc_addr,
                                 int64_t alloc_size,
                                 SysprofBacktraceFunc backtrace_func,
                                 void *backtrace_data);
/* Records the current stack of the calling thread. */
SYSPROF_AVAILABLE_IN_3_36
void sysprof_collector_sample (SysprofBacktraceFunc backtrace_func, void *backtrace_data);
/* Records that a function was entered or left. */
SYSPROF_AVAILABLE_IN_45
void sysprof_collector_trace (SysprofBacktraceFunc backtrace_func,
                              void *backtrace_data,
                              bool entering);
/* `time` is the start; `duration` is 0 for a point in time; both in ns. Any text may be NULL.
 */
SYSPROF_AVAILABLE_IN_3_36
void sysprof_collector_mark (int64_t time,
                             int64_t duration,
                             const char *group,
                             const char *mark,
                             const char *message);
/* The same, with a formatted message. The message is formatted only while a recorder runs. */
SYSPROF_AVAILABLE_IN_3_38
void sysprof_collector_mark_printf (int64_t time,
                                    int64_t duration,
                                    const char *group,
                                    const char *mark,
                                    const char *message_format,
                                    ...) SYSPROF_PRINTF (5, 6);
SYSPROF_AVAILABLE_IN_3_38
void sysprof_collector_mark_vprintf (int64_t time,
                                     int64_t duration,
                                     const char *group,
                                     const char *mark,
                                     const char *message_format,
                                     va_list args) SYSPROF_PRINTF (5, 0);
/* `severity` is one of GLib's log level flags. */
SYSPROF_AVAILABLE_IN_3_36
void sysprof_collector_log (int severity, const char *domain, const char *message);
/* The same, with a formatted message. */
SYSPROF_AVAILABLE_IN_3_38
void sysprof_collector_log_printf (int severity, const char *domain, const char *format, ...)
    SYSPROF_PRINTF (3, 4);
/* Returns the first of `n_counters` consecutive IDs, or 0 if no recorder runs. */
SYSPROF_AVAILABLE_IN_3_38
unsigned int sysprof_collector_request_counters (unsigned int n_counters);
/* The IDs must come from sysprof_collector_request_counters(). */
SYSPROF_AVAILABLE_IN_3_38
void sysprof_collector_define_counters (const SysprofCaptureCounter *counters,
                                        unsigned int n_counters);
/* Sets `n_counters` counters. Each value has the type with which its counter was defined. */
SYSPROF_AVAILABLE_IN_3_38
void sysprof_collector_set_counters (const unsigned int *counters_ids,
                                     const SysprofCaptureCounterValue *values,
                                     unsigned int n_counters);

SYSPROF_END_DECLS
