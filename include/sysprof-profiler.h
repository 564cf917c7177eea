// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofProfiler: starts recordings.
 *
 *     profiler = sysprof_profiler_new ();
 *     writer = sysprof_capture_writer_new ("capture.syscap", 0);
 *     sysprof_profiler_add_instrument (profiler, sysprof_sampler_new ());
 *     sysprof_profiler_record_async (profiler, writer, NULL, record_cb, NULL);
 */

#pragma once

#include <gio/gio.h>

#include "sysprof-capture.h"
#include "sysprof-instrument.h"
#include "sysprof-recording.h"
#include "sysprof-spawnable.h"
#include "sysprof-version-macros.h"

G_BEGIN_DECLS

#define SYSPROF_TYPE_PROFILER (sysprof_profiler_get_type ())

SYSPROF_AVAILABLE_IN_ALL
G_DECLARE_FINAL_TYPE (SysprofProfiler, sysprof_profiler, SYSPROF, PROFILER, GObject)

/* *(full)* */
SYSPROF_AVAILABLE_IN_ALL
SysprofProfiler *sysprof_profiler_new (void);

/**
 * sysprof_profiler_add_instrument:
 * @self: a profiler
 * @instrument: (transfer full): an instrument
 *
 * Takes ownership of the instrument. Instruments run in the order in which they were added.
 */
SYSPROF_AVAILABLE_IN_ALL
void sysprof_profiler_add_instrument (SysprofProfiler *self, SysprofInstrument *instrument);

/* The program that is started with the recording; NULL starts none. Property "spawnable".
 * *(none, nullable)* */
SYSPROF_AVAILABLE_IN_ALL
SysprofSpawnable *sysprof_profiler_get_spawnable (SysprofProfiler *self);
SYSPROF_AVAILABLE_IN_ALL
void sysprof_profiler_set_spawnable (SysprofProfiler *self, SysprofSpawnable *spawnable);

/* FALSE uses only the privileges of this process, and not the privileged helper. Property
 * "acquire-privileges", default TRUE. Since 49. */
SYSPROF_AVAILABLE_IN_49
gboolean sysprof_profiler_get_acquire_privileges (SysprofProfiler *self);
SYSPROF_AVAILABLE_IN_49
void sysprof_profiler_set_acquire_privileges (SysprofProfiler *self,
                                              gboolean acquire_privileges);

/**
 * sysprof_profiler_record_async: (skip)
 * @self: a profiler
 * @writer: the writer of the capture; the recording uses it exclusively until it has ended
 * @cancellable: (nullable): ends the recording early
 * @callback: called when the recording has started
 * @user_data: for @callback
 *
 * Starts a recording and completes immediately. Errors at the start are reported by its
 * diagnostics or by sysprof_recording_wait_finish().
 */
SYSPROF_AVAILABLE_IN_ALL
void sysprof_profiler_record_async (SysprofProfiler *self,
                                    SysprofCaptureWriter *writer,
                                    GCancellable *cancellable,
                                    GAsyncReadyCallback callback,
                                    gpointer user_data);

/* The same, into a file that is created or replaced. Since 51. */
SYSPROF_AVAILABLE_IN_51
void sysprof_profiler_record_to_path_async (SysprofProfiler *self,
                                            const char *path,
                                            GCancellable *cancellable,
                                            GAsyncReadyCallback callback,
                                            gpointer user_data);

/* Finishes both kinds. *(full)*; NULL with `error` set on failure. */
SYSPROF_AVAILABLE_IN_ALL
SysprofRecording *
sysprof_profiler_record_finish (SysprofProfiler *self, GAsyncResult *result, GError **error);

/* A published example calls sysprof_profiler_record_async (profiler, writer, callback, NULL,
 * NULL), with the callback in place of the cancellable. This macro makes that example compile
 * and run. Both branches name functions, so the compiler checks only the arguments of the
 * selected one. The name in parentheses is the function itself. */
#if !defined(__cplusplus) && !defined(__GI_SCANNER__) && defined(__STDC_VERSION__) && \
    __STDC_VERSION__ >= 201112L
G_GNUC_UNUSED static inline void
sysprof_profiler_record_callback_first (SysprofProfiler *self,
                                        SysprofCaptureWriter *writer,
                                        GAsyncReadyCallback callback,
                                        GCancellable *cancellable,
                                        gpointer user_data)
{
  sysprof_profiler_record_async (self, writer, cancellable, callback, user_data);
}

#  define sysprof_profiler_record_async(profiler, writer, third, fourth, user_data) \
    _Generic((third), GAsyncReadyCallback                                           \
             : sysprof_profiler_record_callback_first, default                      \
             : sysprof_profiler_record_async) (profiler, writer, third, fourth, user_data)
#endif

G_END_DECLS
