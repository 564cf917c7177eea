// SPDX-License-Identifier: GPL-3.0-or-later

/* Recording to a path, for language bindings that cannot create a capture writer. */

#include <sysprof.h>

#include "util/util.h"

void
sysprof_profiler_record_to_path_async (SysprofProfiler *self,
                                       const char *path,
                                       GCancellable *cancellable,
                                       GAsyncReadyCallback callback,
                                       gpointer user_data)
{
  SysprofCaptureWriter *writer;

  g_return_if_fail (SYSPROF_IS_PROFILER (self));
  g_return_if_fail (path != NULL);

  writer = sysprof_capture_writer_new (path, 0);
  if (writer == NULL)
    {
      GError *error = NULL;

      sysprof_set_error_errno (&error, "Cannot write a recording to '%s'", path);
      g_task_report_error (self, callback, user_data, sysprof_profiler_record_to_path_async,
                           error);
      return;
    }

  sysprof_profiler_record_async (self, writer, cancellable, callback, user_data);
  sysprof_capture_writer_unref (writer);
}
