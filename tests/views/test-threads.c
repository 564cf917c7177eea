// SPDX-License-Identifier: GPL-3.0-or-later

/* Several threads at once open the same capture, each on all CPUs; fold and render one store;
 * use one document; and cancel each other's loading. Each must get the same result as a single
 * thread. Most useful under the thread sanitizer. */

#include "capture/capture.h"
#include "document/objects.h"
#include "tests/views/check-views.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#define N_THREADS  4
#define N_SAMPLES  40000 /* enough for two workers each */
#define N_RENDERED 3     /* times that each thread renders all views */

static int capture;

static int
make_capture (void)
{
  int fd = memfd_create ("threads", MFD_CLOEXEC);
  SysprofCaptureWriter *writer = sysprof_capture_writer_new_from_fd (dup (fd), 0);

  for (int pid = 10; pid < 30; pid++)
    sysprof_capture_writer_add_process (writer, 1000, -1, pid, "/bin/program with arguments");
  for (int i = 0; i < N_SAMPLES; i++)
    {
      uint64_t stack[] = { SYSPROF_CAPTURE_JITMAP_MARK + 1 + (uint64_t) (i % 90),
                           0x2000 + 16 * (uint64_t) (i % 700), 0x9000, 0xa000 };
      int pid = 10 + i * 7 % 20;

      sysprof_capture_writer_add_sample (writer, 2000 + i * 7919 % N_SAMPLES, i % 4, pid,
                                         pid + i % 3, stack, G_N_ELEMENTS (stack));
      if (i % 20 == 0)
        sysprof_capture_writer_add_mark (writer, 2000 + i, i % 4, pid, i % 50, "group",
                                         i % 40 == 0 ? "one" : "other", "message");
      if (i % 50 == 0)
        sysprof_capture_writer_add_log (writer, 2000 + i, i % 4, pid, 16, "domain", "message");
    }
  sysprof_capture_writer_unref (writer);
  return fd;
}

static Store *
open_capture (void)
{
  g_autoptr (GError) error = NULL;
  Store *store = sysprof_store_open_fd (capture, "threads", NULL, &error);

  g_assert_no_error (error);
  g_assert_cmpuint (store->samples.n, ==, N_SAMPLES);
  return store;
}

static SymbolTable *
symbolize (Store *store)
{
  SymbolizeOptions options = { .sysroot = "/nonexistent" }; /* this machine plays no part */
  SymbolTable *symbols = sysprof_symbolize (store, &options, NULL, NULL);

  g_assert_nonnull (symbols);
  return symbols;
}

/* All at the same moment. Not by GLib, whose locks the sanitizer does not see. */
static void
run_threads (void *(*run) (void *data), void *data)
{
  pthread_t threads[N_THREADS];

  for (unsigned i = 0; i < N_THREADS; i++)
    g_assert_cmpint (pthread_create (&threads[i], NULL, run, data), ==, 0);
  for (unsigned i = 0; i < N_THREADS; i++)
    pthread_join (threads[i], NULL);
}

/* --- opening --- */

static void *
open_and_compare (void *data)
{
  const Store *expected = data;
  g_autoptr (Store) store = open_capture ();

  sysprof_symbol_table_unref (symbolize (store));
  g_assert_cmpuint (store->stacks.n, ==, expected->stacks.n);
  g_assert_cmpuint (store->addresses.n, ==, expected->addresses.n);
  g_assert_cmpmem (store->samples.time, N_SAMPLES * 8, expected->samples.time, N_SAMPLES * 8);
  g_assert_cmpmem (store->samples.process, N_SAMPLES * 4, expected->samples.process,
                   N_SAMPLES * 4);
  return NULL;
}

static void
test_open (void)
{
  g_autoptr (Store) store = open_capture ();

  run_threads (open_and_compare, store);
}

/* --- one store --- */

typedef struct
{
  Store *store;
  SymbolTable *symbols;
  char *answer;
} Shared;

static void
keep_answer (const View *view, RenderFormat format, const char *text, size_t size, void *data)
{
  g_string_append_len (data, text, (gssize) size);
}

/* Returns the output of all views. *(full)* */
static char *
render (const Shared *self)
{
  static const char *const details[] = { "details", NULL };
  Shape shape = { .focus = "0x" };
  SampleFilter filter = { .weigh_one = true };
  SymbolizeOptions options = { .sysroot = "/nonexistent" }; /* this machine plays no part */
  ViewRequest request = { .store = self->store,
                          .symbols = self->symbols,
                          .symbolize = &options,
                          .filter = &filter,
                          .shape = &shape,
                          .search = "one",
                          .switches = details };
  GString *answer = g_string_new (NULL);

  for (const View *const *view = sysprof_view_list (); *view != NULL; view++)
    if (strcmp ((*view)->name, "samples") != 0) /* long, and like the others */
      check_view (*view, RENDER_JSON, &request, keep_answer, answer);
  return g_string_free (answer, FALSE);
}

static void *
render_and_compare (void *data)
{
  const Shared *self = data;

  for (unsigned i = 0; i < N_RENDERED; i++)
    {
      g_autofree char *answer = render (self);

      g_assert_cmpstr (answer, ==, self->answer);
    }
  return NULL;
}

static void
test_fold (void)
{
  g_autoptr (Store) store = open_capture ();
  g_autoptr (SymbolTable) symbols = symbolize (store);
  Shared shared = { store, symbols, NULL };
  g_autoptr (Store) fresh = open_capture ();
  g_autoptr (SymbolTable) fresh_symbols = symbolize (fresh);

  /* Of another one, so that the first to ask anything of the shared one are the threads. */
  shared.answer = render (&(Shared){ fresh, fresh_symbols, NULL });
  run_threads (render_and_compare, &shared);
  g_free (shared.answer);
}

/* --- one document --- */

static void *
ask_document (void *data)
{
  SysprofDocument *document = data;
  g_autoptr (GListModel) processes = sysprof_document_list_processes (document);
  g_autoptr (GListModel) samples = sysprof_document_list_samples (document);
  g_autoptr (GBytes) times =
      sysprof_document_dup_column (document, samples, SYSPROF_DOCUMENT_COLUMN_TIME);

  g_assert_cmpuint (g_list_model_get_n_items (processes), ==, 20);
  g_assert_cmpuint (g_bytes_get_size (times), ==, N_SAMPLES * 8);
  for (guint i = 0; i < 20; i++)
    {
      g_autoptr (SysprofDocumentProcess) process = g_list_model_get_item (processes, i);

      g_assert_cmpstr (sysprof_document_process_get_command_line (process), ==,
                       "/bin/program with arguments");
    }
  for (guint i = 0; i < N_SAMPLES; i += 97)
    {
      g_autoptr (SysprofDocumentTraceable) sample = g_list_model_get_item (samples, i);
      g_autoptr (GListModel) symbols =
          sysprof_document_list_symbols_in_traceable (document, sample);
      g_autoptr (SysprofSymbol) symbol = g_list_model_get_item (symbols, 0);

      g_assert_cmpuint (strlen (sysprof_symbol_get_name (symbol)), >, 0);
    }
  return NULL;
}

static void
test_document (void)
{
  Store *stores[] = { open_capture (), open_capture () };
  /* Not by the loader, for the same reason. */
  g_autoptr (SysprofDocument) first =
      sysprof_document_new (stores[0], symbolize (stores[0]), NULL);
  g_autoptr (SysprofDocument) document =
      sysprof_document_new (stores[1], symbolize (stores[1]), NULL);

  /* So that all classes are there: GObject's locks are not seen either. */
  ask_document (first);
  run_threads (ask_document, document);
}

/* --- cancel --- */

static void *
open_until_cancelled (void *data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Store) store = sysprof_store_open_fd (capture, "threads", data, &error);

  g_assert_true ((store == NULL) == (error != NULL));
  if (error != NULL)
    g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  return NULL;
}

static void
test_cancel (void)
{
  for (gulong delay = 1; delay < 100000; delay *= 4) /* us */
    {
      g_autoptr (GCancellable) cancellable = g_cancellable_new ();
      pthread_t threads[N_THREADS];

      for (unsigned i = 0; i < N_THREADS; i++)
        g_assert_cmpint (pthread_create (&threads[i], NULL, open_until_cancelled, cancellable),
                         ==, 0);
      g_usleep (delay); /* anywhere: the result is correct wherever it stops */
      g_cancellable_cancel (cancellable);
      for (unsigned i = 0; i < N_THREADS; i++)
        pthread_join (threads[i], NULL);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  capture = make_capture ();

  g_test_add_func ("/views/threads/open", test_open);
  g_test_add_func ("/views/threads/fold", test_fold);
  g_test_add_func ("/views/threads/document", test_document);
  g_test_add_func ("/views/threads/cancel", test_cancel);
  return g_test_run ();
}
