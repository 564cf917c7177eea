// SPDX-License-Identifier: GPL-3.0-or-later

/* Charts of spans: which rows they have, in which order, and what is left of them on few
 * pixels. */

#include "capture/capture.h"
#include "views/tracks/span-chart.h"
#include "views/tracks/tracks.h"

#include <sys/mman.h>

#define START 1000

typedef struct
{
  int64_t time;
  uint64_t duration;
  const char *group, *name, *message;
} TestMark;

static Store *
make_store (const TestMark *marks, size_t n)
{
  autofd fd = memfd_create ("marks", MFD_CLOEXEC);
  SysprofCaptureWriter *writer = sysprof_capture_writer_new_from_fd (dup (fd), 0);
  g_autoptr (GError) error = NULL;
  Store *store;

  sysprof_capture_writer_add_process (writer, START, -1, 7, "/bin/first --fast");
  for (size_t i = 0; i < n; i++)
    sysprof_capture_writer_add_mark (writer, START + marks[i].time, 0, 7, marks[i].duration,
                                     marks[i].group, marks[i].name, marks[i].message);
  sysprof_capture_writer_unref (writer);
  store = sysprof_store_open_fd (fd, "marks", NULL, &error);
  g_assert_no_error (error);
  store->begin = START; /* of the recording, not of this test */
  return store;
}

static SpanChart *
make_chart (const char *name, Store *store, int64_t begin, int64_t end)
{
  ViewRequest request = { .store = store };
  SpanChart *chart = sysprof_span_chart_new (name, begin, end, &request);

  g_assert_nonnull (chart);
  return chart;
}

static void
check_titles (const SpanChart *chart, const char *const *titles)
{
  uint32_t n = 0;

  for (; titles[n] != NULL; n++)
    {
      g_autofree char *title = NULL;

      g_assert_cmpuint (n, <, chart->n_rows);
      title = sysprof_span_chart_dup_title (chart, n);
      g_assert_cmpstr (title, ==, titles[n]);
    }
  g_assert_cmpuint (n, ==, chart->n_rows);
}

static void
test_groups_and_names_are_ordered (void)
{
  const TestMark marks[] = {
    { 0, 10, "zoo", "CPU 10", "" }, { 5, 10, "zoo", "CPU 2", "" },   { 6, 1, "ape", "x", "" },
    { 7, 1, "zoo", "CPU 10", "" },  { 500, 10, "late", "none", "" },
  };
  g_autoptr (Store) store = make_store (marks, G_N_ELEMENTS (marks));
  g_autoptr (SpanChart) chart = make_chart ("marks", store, 0, 100);

  check_titles (chart, (const char *const[]){ "ape", "x", "zoo", "CPU 2", "CPU 10", NULL });
  g_assert_cmpuint (chart->rows[0].n, ==, 0);
  g_assert_cmpuint (chart->rows[4].n, ==, 2);
}

static void
test_waterfall_has_a_row_per_mark (void)
{
  const TestMark marks[] = { { 50, 10, "a", "last", "" },
                             { 0, 10, "a", "first", "m" },
                             { 0, 30, "a", "outer", "" } };
  g_autoptr (Store) store = make_store (marks, G_N_ELEMENTS (marks));
  g_autoptr (SpanChart) chart = make_chart ("waterfall", store, 0, 100);
  static const char *const labels[] = { "outer", "first – m", "last" };

  g_assert_cmpuint (chart->n_rows, ==, 3);
  for (uint32_t i = 0; i < 3; i++)
    {
      g_autofree char *label = sysprof_span_chart_dup_label (chart, chart->spans[i].item);

      g_assert_cmpstr (label, ==, labels[i]);
    }
}

static void
test_processes_have_their_command_line (void)
{
  g_autoptr (Store) store = make_store (NULL, 0);
  g_autoptr (SpanChart) chart = make_chart ("processes", store, 0, 100);
  g_autofree char *label = NULL;

  check_titles (chart, (const char *const[]){ "7", NULL });
  label = sysprof_span_chart_dup_label (chart, chart->spans[0].item);
  g_assert_cmpstr (label, ==, "/bin/first --fast");
}

/* 1000 marks of 1 ns in 10 pixels are 10 bars of 100 marks. */
static void
test_bars_are_at_most_pixels (void)
{
  TestMark marks[1000];
  g_autoptr (Store) store = NULL;
  g_autoptr (SpanChart) chart = NULL;
  g_autoptr (GArray) bars = g_array_new (FALSE, FALSE, sizeof (TrackSpan));

  for (int i = 0; i < 1000; i++)
    marks[i] = (TestMark){ 2 * i, 1, "g", "n", "" };
  store = make_store (marks, 1000);
  chart = make_chart ("marks", store, 0, 2000);
  sysprof_span_chart_cut (chart, 1, 0, 2000, 10, bars);
  g_assert_cmpuint (bars->len, ==, 10);
  for (guint i = 0; i < bars->len; i++)
    g_assert_cmpuint (g_array_index (bars, TrackSpan, i).n, ==, 100);

  g_array_set_size (bars, 0);
  sysprof_span_chart_cut (chart, 1, 100, 104, 1000,
                          bars); /* at 100, 102, 104; the one at 98 ends at 99 */
  g_assert_cmpuint (bars->len, ==, 3);
}

/* A long mark that began before is found behind many short ones. */
static void
test_long_mark_is_found (void)
{
  const TestMark marks[] = { { 0, 1000, "g", "n", "long" },
                             { 10, 5, "g", "n", "short" },
                             { 30, 5, "g", "n", "next" } };
  g_autoptr (Store) store = make_store (marks, G_N_ELEMENTS (marks));
  g_autoptr (SpanChart) chart = make_chart ("marks", store, 0, 1000);
  g_autoptr (GArray) bars = g_array_new (FALSE, FALSE, sizeof (TrackSpan));

  g_assert_cmpint (sysprof_span_chart_find (chart, 1, 12, 0), ==,
                   1); /* inside of both: the inner one */
  g_assert_cmpint (sysprof_span_chart_find (chart, 1, 20, 0), ==, 0);
  g_assert_cmpint (sysprof_span_chart_find (chart, 1, 500, 0), ==, 0);
  g_assert_cmpint (sysprof_span_chart_find (chart, 1, 1005, 4), ==, -1);
  g_assert_cmpint (sysprof_span_chart_find (chart, 1, 1003, 4), ==, 0);
  sysprof_span_chart_cut (chart, 1, 500, 600, 100, bars);
  g_assert_cmpuint (bars->len, ==, 1);
}

/* Marks of GTK can have begun with the machine. */
static void
test_track_ends_with_the_mark (void)
{
  const TestMark marks[] = { { -900, 950, "gtk", "mapped window", "" } };
  g_autoptr (Store) store = make_store (marks, G_N_ELEMENTS (marks));
  const ViewRequest request = { .store = store };
  const TrackQuery query = {
    .names = (const char *const[]){ "marks", NULL }, .begin = 0, .end = 100, .n_bins = 100
  };
  g_autoptr (TrackSet) set = sysprof_tracks_new (&query, &request);

  g_assert_cmpuint (set->tracks[0].n_spans, ==, 1);
  g_assert_cmpint (set->tracks[0].spans[0].begin, ==, 0);
  g_assert_cmpint (set->tracks[0].spans[0].end, ==, 50);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/views/span-chart/groups-and-names-are-ordered",
                   test_groups_and_names_are_ordered);
  g_test_add_func ("/views/span-chart/waterfall-has-a-row-per-mark",
                   test_waterfall_has_a_row_per_mark);
  g_test_add_func ("/views/span-chart/processes-have-their-command-line",
                   test_processes_have_their_command_line);
  g_test_add_func ("/views/span-chart/bars-are-at-most-pixels", test_bars_are_at_most_pixels);
  g_test_add_func ("/views/span-chart/long-mark-is-found", test_long_mark_is_found);
  g_test_add_func ("/views/span-chart/track-ends-with-the-mark", test_track_ends_with_the_mark);
  return g_test_run ();
}
