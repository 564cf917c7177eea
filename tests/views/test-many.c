// SPDX-License-Identifier: GPL-3.0-or-later

/* Many processes, each with something for every view: every view has as many rows as were put in. Its time grows with their number
 * and not with the square of that, which would take minutes to hours. */

#include "capture/capture.h"
#include "render/render.h"
#include "tests/views/write-waits.h"

#include <string.h>
#include <sys/mman.h>

/* Sanitizers take a multiple of the time, and a quadratic algorithm is as visible with fewer processes. */
#ifdef __SANITIZE_ADDRESS__
#  define N_PROCESSES 25000
#else
#  define N_PROCESSES 100000
#endif
#define FIRST_PID   100
#define N_GROUPS    1000
#define N_FUNCTIONS 7

/* Of views that are not here, and of those without a number, only that they answer. */
static const struct
{
  const char *view;
  uint32_t n_rows;
} expected[] = {
  { "functions", N_FUNCTIONS },
  { "tree", 1 + 2 * N_PROCESSES }, /* the root, each process, its function */
  { "flame", 1 + 2 * N_PROCESSES },
  { "callers", 0 },
  { "callees", 0 },
  { "processes", N_PROCESSES },
  { "threads", N_PROCESSES },
  { "cgroups", N_GROUPS },
  { "samples", N_PROCESSES },
  { "marks", N_PROCESSES },
  { "logs", N_PROCESSES },
  { "metadata", N_PROCESSES },
  { "files", 2 * N_PROCESSES + 1 }, /* and the one of waits */
  { "counters", N_PROCESSES },
  { "allocations", 1 }, /* recorders leave no context: their functions are not known */
  { "leaks", 1 },
  { "temporaries", 0 },
  { "waits", 2 * N_PROCESSES }, /* each waited, and was runnable then */
};

static void
add_text_file (SysprofCaptureWriter *writer, int32_t pid, const char *name, const char *text)
{
  g_autofree char *path = g_strdup_printf ("/proc/%d/%s", pid, name);

  g_assert_true (sysprof_capture_writer_add_file (writer, 1000, -1, pid, path, true,
                                                  (const uint8_t *) text, strlen (text)));
}

static void
add_counter (SysprofCaptureWriter *writer, int64_t time, int32_t pid)
{
  SysprofCaptureCounter counter = { .category = "c", .name = "n" };
  unsigned id = sysprof_capture_writer_request_counter (writer, 1);
  SysprofCaptureCounterValue value = { .v64 = pid };

  counter.id = (uint32_t) id & 0xffffff;
  counter.type = SYSPROF_CAPTURE_COUNTER_INT64;
  g_assert_true (sysprof_capture_writer_define_counters (writer, time, -1, pid, &counter, 1));
  g_assert_true (sysprof_capture_writer_set_counters (writer, time, -1, pid, &id, &value, 1));
}

static void
add_process (SysprofCaptureWriter *writer, GByteArray *waits, uint32_t i)
{
  int32_t pid = FIRST_PID + (int32_t) i;
  int64_t time = 1000 + i;
  uint64_t function = 0x1000 + i % N_FUNCTIONS;
  uint64_t stack[] = { SYSPROF_CAPTURE_JITMAP_MARK + 1 + i % N_FUNCTIONS };
  g_autofree char *command = g_strdup_printf ("/bin/p%u", i);
  g_autofree char *mounts = g_strdup_printf ("1 2 3:4 / /%u rw - ext4 /dev/x rw\n", i);
  g_autofree char *group = g_strdup_printf ("0::/%u\n", i % N_GROUPS);

  sysprof_capture_writer_add_process (writer, time, -1, pid, command);
  sysprof_capture_writer_add_map (writer, time, -1, pid, 0x100000, 0x900000, 0, 0, command);
  sysprof_capture_writer_add_sample (writer, time, 0, pid, pid, stack, 1);
  sysprof_capture_writer_add_allocation_copy (writer, time, 0, pid, pid, 0x10, 8, &function, 1);
  sysprof_capture_writer_add_mark (writer, time, 0, pid, 1, "group", "mark", "");
  sysprof_capture_writer_add_log (writer, time, 0, pid, 16, "domain", "said");
  sysprof_capture_writer_add_metadata (writer, time, -1, pid, "id", "value", -1);
  add_text_file (writer, pid, "mountinfo", mounts);
  add_text_file (writer, pid, "cgroup", group);
  add_counter (writer, time, pid);
  waits_add_thread (waits, pid, pid, "waits");
  waits_add_wait (waits, i == 0 ? time : 1, 8, i, (int) (i % N_FUNCTIONS), (int) i / 2,
                  (int) (i % N_FUNCTIONS), i % N_GROUPS);
}

static Store *
make_store (void)
{
  autofd fd = memfd_create ("many", MFD_CLOEXEC);
  SysprofCaptureWriter *writer = sysprof_capture_writer_new_from_fd (dup (fd), 0);
  GByteArray *waits = waits_new ();
  g_autoptr (GError) error = NULL;
  Store *store;

  for (uint64_t i = 0; i < N_FUNCTIONS; i++)
    waits_add_stack (waits, (uint64_t[]){ SYSPROF_CAPTURE_JITMAP_MARK + 1 + i }, 1);
  for (uint32_t i = 0; i < N_PROCESSES; i++)
    add_process (writer, waits, i);
  waits_write (waits, writer, 1000);
  sysprof_capture_writer_unref (writer);
  store = sysprof_store_open_fd (fd, "many", NULL, &error);
  g_assert_no_error (error);
  g_assert_null (store->damage);
  g_assert_cmpuint (store->samples.n, ==, N_PROCESSES);
  return store;
}

static void
check_number (const View *view, const Rows *rows)
{
  for (size_t i = 0; i < G_N_ELEMENTS (expected); i++)
    if (g_str_equal (expected[i].view, view->name))
      {
        if (rows->n_rows != expected[i].n_rows)
          g_error ("%s: %u rows, not %u", view->name, rows->n_rows, expected[i].n_rows);
        return;
      }
}

static const Cell *
cell_of (const Rows *rows, uint32_t row, const char *column)
{
  for (uint32_t i = 0; i < rows->n_columns; i++)
    if (g_str_equal (rows->columns[i].name, column))
      return rows->cells + (size_t) row * rows->n_columns + i;
  g_assert_not_reached ();
}

/* Each has its own, and no other's. */
static void
check_details (const Rows *rows)
{
  for (uint32_t row = 0; row < rows->n_rows; row++)
    {
      int64_t i = cell_of (rows, row, "pid")->number - FIRST_PID;
      const char *const *maps = cell_of (rows, row, "maps")->texts;
      const char *const *mounts = cell_of (rows, row, "mounts")->texts;
      g_autofree char *map = g_strdup_printf ("100000-900000 0 /bin/p%" G_GINT64_FORMAT, i);
      g_autofree char *mount =
          g_strdup_printf ("1 2 3:4 / /%" G_GINT64_FORMAT " rw - ext4 /dev/x rw", i);

      g_assert_cmpstr (maps[0], ==, map);
      g_assert_null (maps[1]);
      g_assert_cmpstr (mounts[0], ==, mount);
      g_assert_null (mounts[1]);
    }
}

static void
check_look (const View *view, RenderFormat format, const ViewRequest *request, const Rows *rows)
{
  g_autoptr (GOutputStream) stream = g_memory_output_stream_new_resizable ();
  g_autoptr (GError) error = NULL;
  bool is_done = sysprof_render (format, view, request, rows, stream, &error);

  g_assert_no_error (error);
  g_assert_true (is_done);
  g_assert_cmpuint (g_memory_output_stream_get_data_size (G_MEMORY_OUTPUT_STREAM (stream)), >,
                    0);
}

static void
test_processes (void)
{
  static const char *const details[] = { "details", NULL };
  SymbolizeOptions options = { .sysroot = "/nonexistent" }; /* this machine plays no part */
  g_autoptr (Store) store = make_store ();
  g_autoptr (SymbolTable) symbols = sysprof_symbolize (store, &options, NULL, NULL);
  Shape shape = { 0 };
  ViewRequest request = { .store = store,
                          .symbols = symbols,
                          .symbolize = &options,
                          .shape = &shape,
                          .switches = details };

  for (const View *const *view = sysprof_view_list (); *view != NULL; view++)
    {
      g_autoptr (GError) error = NULL;
      Rows rows = { 0 };

      shape.focus =
          strstr ("callers callees source disassembly", (*view)->name) != NULL ? "0x" : NULL;
      request.search = (*view)->searches ? "p4711" : NULL;
      sysprof_view_fill (*view, &request, &rows, &error);
      g_assert_no_error (error);
      check_number (*view, &rows);
      if (g_str_equal ((*view)->name, "processes"))
        check_details (&rows);
      check_look (*view, RENDER_JSON, &request, &rows);
      check_look (*view, RENDER_TEXT, &request, &rows);
      sysprof_rows_clear (&rows);
    }
}

/* The other forms of the view of waits. */
static void
test_forms_of_waits (void)
{
  SymbolizeOptions options = { .sysroot = "/nonexistent" };
  g_autoptr (Store) store = make_store ();
  g_autoptr (SymbolTable) symbols = sysprof_symbolize (store, &options, NULL, NULL);
  const int32_t tids[] = { FIRST_PID + N_PROCESSES - 1 };
  const SampleFilter last = { .tids = tids, .n_tids = 1, .has_tids = true };
  const ViewRequest requests[] = {
    { .store = store,
      .symbols = symbols,
      .switches = (const char *const[]){ "by-thread", NULL } },
    { .store = store,
      .symbols = symbols,
      .switches = (const char *const[]){ "by-lock", NULL } },
    { .store = store,
      .symbols = symbols,
      .switches = (const char *const[]){ "critical-path", NULL },
      .filter = &last },
  };

  for (size_t i = 0; i < G_N_ELEMENTS (requests); i++)
    {
      g_autoptr (GError) error = NULL;
      Rows rows = { 0 };

      sysprof_view_fill (sysprof_view_find ("waits"), &requests[i], &rows, &error);
      g_assert_no_error (error);
      if (i < 2)
        g_assert_cmpuint (rows.n_rows, ==, N_PROCESSES);
      else
        g_assert_cmpuint (rows.n_rows, >, 0);
      sysprof_rows_clear (&rows);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/views/many/processes", test_processes);
  g_test_add_func ("/views/many/forms-of-waits", test_forms_of_waits);
  return g_test_run ();
}
