// SPDX-License-Identifier: GPL-3.0-or-later

/* sysprof_profiler_record_async() as documented, and as a published example spells it, with the
 * callback third. Compiled as strict C17; what arrives is what the function itself would see. */

#include <sysprof.h>

static struct
{
  GCancellable *cancellable;
  GAsyncReadyCallback callback;
  gpointer user_data;
} seen;

void (sysprof_profiler_record_async) (SysprofProfiler *self,
                                      SysprofCaptureWriter *writer,
                                      GCancellable *cancellable,
                                      GAsyncReadyCallback callback,
                                      gpointer user_data)
{
  (void) self;
  (void) writer;
  seen.cancellable = cancellable;
  seen.callback = callback;
  seen.user_data = user_data;
}

static void
record_cb (GObject *object, GAsyncResult *result, gpointer user_data)
{
  (void) object;
  (void) result;
  (void) user_data;
}

static void
test_documented_order (void)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  SysprofProfiler *profiler = NULL;
  SysprofCaptureWriter *writer = NULL;
  int data;

  sysprof_profiler_record_async (profiler, writer, cancellable, record_cb, &data);
  g_assert_true (seen.cancellable == cancellable);
  g_assert_true (seen.callback == record_cb);
  g_assert_true (seen.user_data == &data);

  sysprof_profiler_record_async (profiler, writer, NULL, record_cb, NULL);
  g_assert_null (seen.cancellable);
  g_assert_true (seen.callback == record_cb);

  sysprof_profiler_record_async (profiler, writer, NULL, NULL, NULL);
  g_assert_null (seen.callback);
}

static void
test_callback_first (void)
{
  SysprofProfiler *profiler = NULL;
  SysprofCaptureWriter *writer = NULL;

  seen.cancellable = (GCancellable *) &seen;
  sysprof_profiler_record_async (profiler, writer, record_cb, NULL, NULL);
  g_assert_null (seen.cancellable);
  g_assert_true (seen.callback == record_cb);
  g_assert_null (seen.user_data);

  seen.callback = NULL;
  sysprof_profiler_record_async (profiler, writer, &record_cb, NULL, NULL);
  g_assert_true (seen.callback == record_cb);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/lib/record-async/documented-order", test_documented_order);
  g_test_add_func ("/lib/record-async/callback-first", test_callback_first);
  return g_test_run ();
}
