// SPDX-License-Identifier: GPL-3.0-or-later

/* Truncates and changes a capture in reproducible ways, and reads the result as all our
 * programs do, in this process.
 *
 *     change-captures cut|change|bytes|folded FILE SEED FIRST END
 *         tries the numbers FIRST to END - 1
 *     change-captures cut|change|bytes|folded FILE SEED NUMBER
 *         writes FILE with the changes of that number to standard output
 *
 * For each number it first writes `NUMBER\n`, so that the number is known if the process
 * crashes. It then writes `NUMBER VIEW SIZE\n` and a JSON report of that size, which the test
 * parses with another JSON parser. */

#include "tests/e2e/change-bytes.h"
#include "tests/store/check-store.h"
#include "tests/views/check-views.h"

#include "document/document.h"
#include "import/import.h"
#include "join/join.h"

#include <stdio.h>
#include <sys/mman.h>

#define SECONDS_EACH 60 /* far above what any takes, also where the machine is busy */

static int
fill_memfd (const uint8_t *bytes, size_t size)
{
  int fd = memfd_create ("changed", MFD_CLOEXEC);

  g_assert_cmpint (fd, >=, 0);
  g_assert_cmpint (write (fd, bytes, size), ==, (ssize_t) size);
  return fd;
}

static void
hand_out (const View *view, RenderFormat format, const char *text, size_t size, void *data)
{
  const uint64_t *number = data;

  if (format != RENDER_JSON)
    return;
  printf ("%" G_GUINT64_FORMAT " %s %zu\n", *number, view->name, size);
  fwrite (text, 1, size, stdout);
}

/* Few look at the files and the kernel of this machine, too: with captures of that size it is what takes longest. */
static bool
uses_machine (uint64_t number)
{
  return number % 100 == 0;
}

/* Recorded before this machine's start, the capture is none of its kernel. */
static void
make_old (uint8_t *bytes, size_t size)
{
  if (size >= 256 && bytes[8] == '2')
    memcpy (bytes + 8, "2001", 4);
}

static SysprofDocument *
open_document (int fd, uint64_t number, GError **error)
{
  SymbolizeOptions options = { .sysroot = uses_machine (number) ? NULL : "/nonexistent" };
  g_autoptr (SysprofDocumentLoader) loader = sysprof_document_loader_new_for_fd (fd, error);

  g_assert_nonnull (loader);
  sysprof_document_loader_set_symbolize_options (loader, &options);
  return sysprof_document_loader_load (loader, NULL, error);
}

static void
check_objects (SysprofDocument *document)
{
  GListModel *frames = G_LIST_MODEL (document);
  g_autoptr (GListModel) counters = sysprof_document_list_counters (document);
  guint n_counters = g_list_model_get_n_items (counters);
  guint n = g_list_model_get_n_items (frames);

  for (guint i = 0; i < n_counters; i += 1 + n_counters / 64)
    {
      g_autoptr (SysprofDocumentCounter) counter = g_list_model_get_item (counters, i);
      g_autofree char *key = sysprof_document_counter_dup_key (counter);

      g_assert_true (g_utf8_validate (key, -1, NULL));
    }

  for (guint i = 0; i < n; i += 1 + n / 64)
    {
      g_autoptr (SysprofDocumentFrame) frame = g_list_model_get_item (frames, i);
      g_autofree char *tooltip = sysprof_document_frame_dup_tooltip (frame);
      guint64 address[16];

      g_assert_true (tooltip == NULL || g_utf8_validate (tooltip, -1, NULL));
      if (SYSPROF_IS_DOCUMENT_TRACEABLE (frame))
        g_assert_cmpuint (sysprof_document_traceable_get_stack_addresses (
                              SYSPROF_DOCUMENT_TRACEABLE (frame), address, 16),
                          <=, 16);
    }
}

/* NULL if it cannot be opened, which it says. */
static SysprofDocument *
check_document (int fd, uint64_t number)
{
  static const char *const details[] = { "details", NULL };
  SysprofDocument *document;
  g_autoptr (GError) error = NULL;
  Shape shape = { .focus = "main" };
  SymbolizeOptions options = { .sysroot = "/nonexistent" }; /* this machine plays no part */
  ViewRequest request;

  document = open_document (fd, number, &error);
  if (document == NULL)
    {
      check_one_line (error->message);
      return NULL;
    }
  g_assert_no_error (error);

  request = (ViewRequest){
    .store = sysprof_document_get_store (document),
    .symbols = sysprof_document_get_symbols (document),
    .symbolize = &options,
    .shape = number % 2 == 0 ? &shape : NULL,
    .path = "changed.syscap",
    .limit = number % 8 == 0 ? 0 : 20,
    .switches = number % 3 == 0 ? details : NULL,
    .left_heavy = number % 5 == 0,
    .terminal_width = number % 7 == 0 ? 80 : 0,
  };
  check_store (request.store);
  check_objects (document);
  check_views (&request, number * (N_RENDER_FORMATS + 1), hand_out, &number);
  return document;
}

/* The library that others link and the engine count the same frames. */
static void
check_counts (SysprofCaptureReader *reader, const Store *store)
{
  SysprofCaptureStat stat;

  g_assert_true (sysprof_capture_reader_get_stat (reader, &stat));
  for (unsigned type = 2; type < G_N_ELEMENTS (stat.frame_count); type++)
    g_assert_cmpuint (stat.frame_count[type], ==, store->n_frames_by_type[type]);
}

/* The joined capture is valid, and contains everything twice. */
static void
check_join (SysprofCaptureReader *reader)
{
  SysprofCaptureReader *const readers[] = { reader, reader };
  int fd = memfd_create ("joined", MFD_CLOEXEC);
  SysprofCaptureWriter *writer = sysprof_capture_writer_new_from_fd (fd, 0);
  g_autoptr (GError) error = NULL;
  g_autoptr (Store) store = NULL;
  SysprofCaptureStat stat;

  g_assert_nonnull (writer);
  g_assert_true (sysprof_capture_writer_join (writer, readers, 2, NULL, NULL));
  g_assert_true (sysprof_capture_writer_flush (writer));
  store = sysprof_store_open_fd (fd, "joined", NULL, &error);
  sysprof_capture_writer_unref (writer);

  g_assert_no_error (error);
  g_assert_cmpstr (store->damage, ==, NULL);
  g_assert_true (sysprof_capture_reader_get_stat (reader, &stat));
  g_assert_cmpuint (store->n_frames_by_type[SYSPROF_CAPTURE_FRAME_SAMPLE], ==,
                    2 * stat.frame_count[SYSPROF_CAPTURE_FRAME_SAMPLE]);
}

/* The loader must accept each capture that the reader accepts. */
static void
check_capture (const uint8_t *bytes, size_t size, uint64_t number)
{
  autofd fd = fill_memfd (bytes, size);
  SysprofCaptureReader *reader = sysprof_capture_reader_new_from_fd (dup (fd));
  g_autoptr (SysprofDocument) document = check_document (fd, number);

  g_assert_true (reader == NULL || document != NULL);
  if (reader == NULL) /* the loader may have unpacked it */
    return;
  check_counts (reader, sysprof_document_get_store (document));
  check_join (reader);
  sysprof_capture_reader_unref (reader);
}

static void
check_folded (const uint8_t *bytes, size_t size, uint64_t number)
{
  autofd text = fill_memfd (bytes, size);
  g_autofree char *path = g_strdup_printf ("/proc/self/fd/%d", text);
  g_autoptr (GError) error = NULL;
  ImportReport report;
  autofd fd = sysprof_import_open (path, &report, NULL, &error);
  g_autoptr (SysprofDocument) document = NULL;

  if (fd < 0)
    {
      check_one_line (error->message);
      return;
    }
  document = check_document (fd, number);
  g_assert_true (report.format == NULL || document != NULL);
}

int
main (int argc, char **argv)
{
  g_autofree char *base = NULL;
  gsize size;
  uint64_t seed, first, end;

  if (argc < 5 || argc > 6 || !g_file_get_contents (argv[2], &base, &size, NULL))
    return 2;
  seed = g_ascii_strtoull (argv[3], NULL, 10);
  first = g_ascii_strtoull (argv[4], NULL, 10);
  end = argc > 5 ? g_ascii_strtoull (argv[5], NULL, 10) : first + 1;

  for (uint64_t number = first; number < end; number++)
    {
      g_autofree uint8_t *bytes = NULL;
      size_t changed;

      changed = change_bytes (argv[1], (const uint8_t *) base, size, seed, number, &bytes);
      if (argc == 5)
        return fwrite (bytes, 1, changed, stdout) == changed ? 0 : 1;

      if (!uses_machine (number) && strcmp (argv[1], "folded") != 0)
        make_old (bytes, changed);
      printf ("%" G_GUINT64_FORMAT "\n", number);
      fflush (stdout);
      alarm (SECONDS_EACH);
      if (strcmp (argv[1], "folded") == 0)
        check_folded (bytes, changed, number);
      else
        check_capture (bytes, changed, number);
    }
  return 0;
}
