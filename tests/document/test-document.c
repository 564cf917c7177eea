// SPDX-License-Identifier: GPL-3.0-or-later

/* Checks a document of a capture that was not written by our writer (make-capture.py), in both
 * byte orders.
 *
 * usage: test-document LITTLE BIG */

#include "document/document.h"

#include <fcntl.h>
#include <unistd.h>

static SysprofDocument *
load (gconstpointer path)
{
  g_autoptr (SysprofDocumentLoader) loader = sysprof_document_loader_new (path);
  g_autoptr (SysprofDocument) document = NULL;
  g_autoptr (GError) error = NULL;

  sysprof_document_loader_set_symbolizer (loader, sysprof_no_symbolizer_get ());
  document = sysprof_document_loader_load (loader, NULL, &error);
  g_assert_no_error (error);
  g_assert_nonnull (document);
  return g_steal_pointer (&document);
}

static void
test_lists_frames (gconstpointer path)
{
  static const struct
  {
    const char *type_name;
    gint64 time;
    gint64 offset;
    int pid;
    int cpu;
  } frames[] = {
    { "Process", 999000, 0, 10, -1 },   { "Counter Definition", 999500, 0, -1, -1 },
    { "Sample", 1001000, 1000, 10, 0 }, { "Counter Values", 1002000, 2000, -1, -1 },
    { "Sample", 1003000, 3000, 10, 1 }, { "Counter Values", 1004000, 4000, -1, -1 },
    { "Mark", 1005000, 5000, 10, 2 },   { "Mark", 4661000000000, 4660999000000, 20, -1 },
  };
  g_autoptr (SysprofDocument) document = load (path);
  GListModel *model = G_LIST_MODEL (document);

  g_assert_true (g_list_model_get_item_type (model) == SYSPROF_TYPE_DOCUMENT_FRAME);
  g_assert_cmpuint (g_list_model_get_n_items (model), ==, G_N_ELEMENTS (frames));
  g_assert_null (g_list_model_get_item (model, G_N_ELEMENTS (frames)));
  for (guint i = 0; i < G_N_ELEMENTS (frames); i++)
    {
      g_autoptr (SysprofDocumentFrame) frame = g_list_model_get_item (model, i);
      g_autoptr (SysprofDocumentFrame) again = g_list_model_get_item (model, i);
      g_autoptr (SysprofDocumentFrame) other =
          g_list_model_get_item (model, (i + 1) % G_N_ELEMENTS (frames));
      g_autofree char *type_name = NULL;

      g_object_get (frame, "type-name", &type_name, NULL);
      g_assert_cmpstr (type_name, ==, frames[i].type_name);
      g_assert_cmpint (sysprof_document_frame_get_time (frame), ==, frames[i].time);
      g_assert_cmpint (sysprof_document_frame_get_time_offset (frame), ==, frames[i].offset);
      g_assert_cmpint (sysprof_document_frame_get_pid (frame), ==, frames[i].pid);
      g_assert_cmpint (sysprof_document_frame_get_cpu (frame), ==, frames[i].cpu);
      g_assert_true (sysprof_document_frame_equal (frame, again));
      g_assert_false (sysprof_document_frame_equal (frame, other));
    }
}

static void
test_lists_samples (gconstpointer path)
{
  const guint64 expected[] = { -128, 0xffffffff81000000, -512, 0x1000, 0x2000 };
  g_autoptr (SysprofDocument) document = load (path);
  g_autoptr (GListModel) samples = sysprof_document_list_samples (document);
  g_autoptr (SysprofDocumentSample) first = g_list_model_get_item (samples, 0);
  g_autoptr (SysprofDocumentSample) second = g_list_model_get_item (samples, 1);
  SysprofDocumentTraceable *traceable = SYSPROF_DOCUMENT_TRACEABLE (first);
  guint64 addresses[8];
  guint depth;

  g_assert_true (g_list_model_get_item_type (samples) == SYSPROF_TYPE_DOCUMENT_SAMPLE);
  g_assert_cmpuint (g_list_model_get_n_items (samples), ==, 2);

  g_assert_cmpint (sysprof_document_sample_get_tid (first), ==, 10);
  g_assert_cmpint (sysprof_document_sample_get_tid (second), ==, 11);
  g_assert_cmpint (sysprof_document_traceable_get_thread_id (traceable), ==, 10);
  g_object_get (first, "stack-depth", &depth, NULL);
  g_assert_cmpuint (depth, ==, 5);
  g_assert_cmpuint (sysprof_document_traceable_get_stack_depth (traceable), ==, 5);
  g_assert_cmpuint (sysprof_document_traceable_get_stack_addresses (traceable, addresses, 8),
                    ==, 5);
  g_assert_cmpmem (addresses, sizeof expected, expected, sizeof expected);
  g_assert_cmpuint (sysprof_document_traceable_get_stack_addresses (traceable, addresses, 2),
                    ==, 2);
  g_assert_cmphex (sysprof_document_traceable_get_stack_address (traceable, 4), ==, 0x2000);
  g_assert_cmphex (sysprof_document_traceable_get_stack_address (traceable, 5), ==, 0);
}

static void
test_lists_marks (gconstpointer path)
{
  g_autoptr (SysprofDocument) document = load (path);
  g_autoptr (GListModel) marks = sysprof_document_list_marks (document);
  g_autoptr (SysprofDocumentMark) span = g_list_model_get_item (marks, 0);
  g_autoptr (SysprofDocumentMark) instant = g_list_model_get_item (marks, 1);
  g_autofree char *tooltip = sysprof_document_frame_dup_tooltip (SYSPROF_DOCUMENT_FRAME (span));
  g_autofree char *time =
      sysprof_document_frame_dup_time_string (SYSPROF_DOCUMENT_FRAME (instant));

  g_assert_cmpuint (g_list_model_get_n_items (marks), ==, 2);
  g_assert_cmpstr (sysprof_document_mark_get_group (span), ==, "Compositor");
  g_assert_cmpstr (sysprof_document_mark_get_name (span), ==, "Dispatch");
  g_assert_cmpstr (sysprof_document_mark_get_message (span), ==, "with a message");
  g_assert_cmpint (sysprof_document_mark_get_duration (span), ==, 2000000);
  g_assert_cmpint (sysprof_document_mark_get_end_time (span), ==, 3005000);
  g_assert_cmpstr (tooltip, ==,
                   "00:00:00.0000: Compositor / Dispatch (2.000ms): with a message");

  /* A text that fills its field loses its last byte to the NUL. */
  g_assert_true (
      g_str_has_prefix (sysprof_document_mark_get_group (instant), "ggggggggggggggggggggggg"));
  g_assert_cmpuint (strlen (sysprof_document_mark_get_group (instant)), <=, 24);
  g_assert_cmpuint (strlen (sysprof_document_mark_get_name (instant)), <=, 40);
  g_assert_cmpstr (sysprof_document_mark_get_message (instant), ==, "");
  g_assert_cmpint (sysprof_document_mark_get_duration (instant), ==, 0);
  g_assert_cmpstr (time, ==, "01:17:40.9990");
}

static void
test_lists_counters (gconstpointer path)
{
  g_autoptr (SysprofDocument) document = load (path);
  g_autoptr (GListModel) counters = sysprof_document_list_counters (document);
  g_autoptr (SysprofDocumentCounter) total = g_list_model_get_item (counters, 0);
  g_autoptr (SysprofDocumentCounter) reads =
      sysprof_document_find_counter (document, "Disk", "Reads");
  g_autoptr (SysprofDocumentCounterValue) last =
      g_list_model_get_item (G_LIST_MODEL (total), 1);
  g_autoptr (SysprofDocumentCounterValue) first_read =
      g_list_model_get_item (G_LIST_MODEL (reads), 0);
  g_autofree char *key = sysprof_document_counter_dup_key (total);
  g_autofree char *last_text = sysprof_document_counter_value_format (last);
  g_autofree char *first_read_text = sysprof_document_counter_value_format (first_read);
  g_auto (GValue) value = G_VALUE_INIT;
  g_auto (GValue) as_text = G_VALUE_INIT;
  gint64 time;

  g_assert_cmpuint (g_list_model_get_n_items (counters), ==, 2);
  g_assert_null (sysprof_document_find_counter (document, "Disk", "Total"));

  g_assert_cmpstr (key, ==, "CPU Percent/Total");
  g_assert_cmpstr (sysprof_document_counter_get_description (total), ==, "Use of all CPUs");
  g_assert_cmpuint (sysprof_document_counter_get_id (total), ==, 1);
  g_assert_true (sysprof_document_counter_get_value_type (total) == G_TYPE_DOUBLE);
  g_assert_cmpuint (sysprof_document_counter_get_n_values (total), ==, 2);
  g_assert_cmpfloat (sysprof_document_counter_get_value_double (total, 0, &time), ==, 12.5);
  g_assert_cmpint (time, ==, 1002000);
  g_assert_cmpint (sysprof_document_counter_get_value_int64 (total, 1, NULL), ==, 99);
  g_assert_cmpfloat (sysprof_document_counter_get_min_value (total), ==, 12.5);
  g_assert_cmpfloat (sysprof_document_counter_get_max_value (total), ==, 99.25);
  sysprof_document_counter_get_value (total, 1, NULL, &value);
  g_assert_cmpfloat (g_value_get_double (&value), ==, 99.25);
  g_value_init (&as_text, G_TYPE_STRING);
  sysprof_document_counter_get_value (reads, 1, NULL, &as_text);
  g_assert_cmpstr (g_value_get_string (&as_text), ==, "-3");

  g_assert_true (sysprof_document_counter_get_value_type (reads) == G_TYPE_INT64);
  g_assert_cmpint (sysprof_document_counter_get_value_int64 (reads, 0, &time), ==,
                   G_GINT64_CONSTANT (1) << 40);
  g_assert_cmpint (sysprof_document_counter_get_value_int64 (reads, 2, &time), ==, 0);
  g_assert_cmpint (time, ==, 0);
  g_assert_cmpfloat (sysprof_document_counter_get_min_value (reads), ==, -3);

  g_assert_true (sysprof_document_counter_value_get_counter (last) == total);
  g_assert_cmpint (sysprof_document_counter_value_get_time (last), ==, 1004000);
  g_assert_cmpint (sysprof_document_counter_value_get_time_offset (last), ==, 4000);
  g_assert_cmpstr (last_text, ==, "99.250");
  g_assert_cmpstr (first_read_text, ==, "1099511627776");
}

static void
test_knows_title_and_time (gconstpointer path)
{
  g_autoptr (SysprofDocument) document = load (path);
  g_autofree char *title = sysprof_document_dup_title (document);
  g_autofree char *subtitle = sysprof_document_dup_subtitle (document);
  g_autofree char *base_name = g_path_get_basename (path);
  const SysprofTimeSpan *span = sysprof_document_get_time_span (document);

  g_assert_cmpstr (title, ==, base_name);
  g_assert_true (g_str_has_prefix (subtitle, "Recording at "));
  g_assert_nonnull (strstr (subtitle, ":07"));
  g_assert_cmpint (span->begin_nsec, ==, 1000000);
  /* The latest time of any frame, a mark's end: the header has an earlier one. */
  g_assert_cmpint (span->end_nsec, ==, 4661000000000);
}

static void
test_loads_descriptor (gconstpointer path)
{
  g_autoptr (GError) error = NULL;
  autofd fd = open (path, O_RDONLY | O_CLOEXEC);
  g_autoptr (SysprofDocumentLoader) loader = sysprof_document_loader_new_for_fd (fd, &error);
  g_autoptr (SysprofDocument) document = NULL;
  g_autofree char *title = NULL;

  g_assert_no_error (error);
  sysprof_document_loader_set_symbolizer (loader, sysprof_no_symbolizer_get ());
  document = sysprof_document_loader_load (loader, NULL, &error);
  g_assert_no_error (error);
  title = sysprof_document_dup_title (document);
  g_assert_true (g_str_has_prefix (title, "Recording at "));
  g_assert_null (sysprof_document_dup_subtitle (document));
  g_assert_cmpint (lseek (fd, 0, SEEK_CUR), ==, 0);

  g_assert_null (sysprof_document_loader_new_for_fd (-1, &error));
  g_assert_error (error, SYSPROF_ERROR, SYSPROF_ERROR_FAILED);
}

static void
count_notification (GObject *object, GParamSpec *pspec, gpointer data)
{
  double fraction = sysprof_document_loader_get_fraction (SYSPROF_DOCUMENT_LOADER (object));
  double *last = data;

  g_assert_cmpfloat (fraction, >=, *last);
  *last = fraction;
}

static void
test_shows_progress (gconstpointer path)
{
  g_autoptr (SysprofDocumentLoader) loader = sysprof_document_loader_new (path);
  g_autoptr (SysprofDocument) document = NULL;
  double fraction = 0;

  g_signal_connect (loader, "notify::fraction", G_CALLBACK (count_notification), &fraction);
  document = sysprof_document_loader_load (loader, NULL, NULL);
  g_assert_nonnull (document);
  g_assert_cmpfloat (fraction, ==, 1);
  g_assert_null (sysprof_document_loader_get_symbolizer (loader));
}

static void
test_reports_errors (void)
{
  g_autoptr (SysprofDocumentLoader) loader =
      sysprof_document_loader_new ("/nonexistent/a.syscap");
  g_autoptr (SysprofDocumentLoader) other =
      sysprof_document_loader_new ("/nonexistent/a.syscap");
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;

  g_assert_null (sysprof_document_loader_load (loader, NULL, &error));
  g_assert_nonnull (error);
  g_assert_nonnull (strstr (error->message, "/nonexistent/a.syscap"));
  g_clear_error (&error);

  g_cancellable_cancel (cancellable);
  g_assert_null (sysprof_document_loader_load (other, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

static gpointer
load_on_thread (gpointer path)
{
  return load (path);
}

/* The main context belongs to the thread that waits here: loading must not wait for it. */
static void
test_loads_on_other_thread (gconstpointer path)
{
  g_autoptr (SysprofDocument) document = NULL;

  g_assert_true (g_main_context_acquire (NULL));
  document = g_thread_join (g_thread_new ("load", load_on_thread, (gpointer) path));
  g_main_context_release (NULL);
  g_assert_nonnull (document);
}

int
main (int argc, char **argv)
{
  static const struct
  {
    const char *name;
    GTestDataFunc test;
  } tests[] = {
    { "lists-frames", test_lists_frames },
    { "lists-samples", test_lists_samples },
    { "lists-marks", test_lists_marks },
    { "lists-counters", test_lists_counters },
    { "knows-title-and-time", test_knows_title_and_time },
    { "loads-descriptor", test_loads_descriptor },
    { "shows-progress", test_shows_progress },
    { "loads-on-other-thread", test_loads_on_other_thread },
  };

  g_test_init (&argc, &argv, NULL);
  g_assert_cmpint (argc, ==, 3);
  for (size_t i = 0; i < G_N_ELEMENTS (tests); i++)
    for (int order = 1; order < 3; order++)
      {
        g_autofree char *name = g_strdup_printf ("/document/%s/%s", tests[i].name,
                                                 order == 1 ? "little-endian" : "big-endian");

        g_test_add_data_func (name, argv[order], tests[i].test);
      }
  g_test_add_func ("/document/reports-errors", test_reports_errors);
  return g_test_run ();
}
