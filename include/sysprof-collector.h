// SPDX-License-Identifier: BSD-2-Clause

/* Reports from inside a program while it is being recorded.
 *
 * When nothing records, each call costs one load of a variable. From any thread; not from signal handlers. None of them
 * fails, waits for long or writes messages: what cannot be delivered is dropped.
 */

#pragma once

#include "sysprof-capture-types.h"

#include <stdarg.h>

SYSPROF_BEGIN_DECLS

/* Optional: takes the cost of the first use. */
SYSPROF_AVAILABLE_IN_3_36
void sysprof_collector_init (void);
/* Whether it is worth the work to find out what to report. */
SYSPROF_AVAILABLE_IN_3_38
bool sysprof_collector_is_active (void);
/* `alloc_size` in bytes, 0 or less = freed. */
SYSPROF_AVAILABLE_IN_3_36
void sysprof_collector_allocate (SysprofCaptureAddress alloc_addr,
                                 int64_t alloc_size,
                                 SysprofBacktraceFunc backtrace_func,
                                 void *backtrace_data);
/* A stack of the calling thread, now. */
SYSPROF_AVAILABLE_IN_3_36
void sysprof_collector_sample (SysprofBacktraceFunc backtrace_func, void *backtrace_data);
/* A function was entered, or left. */
SYSPROF_AVAILABLE_IN_45
void sysprof_collector_trace (SysprofBacktraceFunc backtrace_func,
                              void *backtrace_data,
                              bool entering);
/* `time`: begin, `duration`: 0 for a point in time; both in ns. Any text may be NULL. */
SYSPROF_AVAILABLE_IN_3_36
void sysprof_collector_mark (int64_t time,
                             int64_t duration,
                             const char *group,
                             const char *mark,
                             const char *message);
/* The same, with a formatted message. Nothing is formatted when nothing records. */
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
/* The first of `n_counters` consecutive ids; 0 if nothing records. */
SYSPROF_AVAILABLE_IN_3_38
unsigned int sysprof_collector_request_counters (unsigned int n_counters);
/* Their ids must come from sysprof_collector_request_counters(). */
SYSPROF_AVAILABLE_IN_3_38
void sysprof_collector_define_counters (const SysprofCaptureCounter *counters,
                                        unsigned int n_counters);
/* `n_counters` ids and as many values, each of the type that its counter was defined with. */
SYSPROF_AVAILABLE_IN_3_38
void sysprof_collector_set_counters (const unsigned int *counters_ids,
                                     const SysprofCaptureCounterValue *values,
                                     unsigned int n_counters);

SYSPROF_END_DECLS
