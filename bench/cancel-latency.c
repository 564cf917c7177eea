// SPDX-License-Identifier: GPL-3.0-or-later

/* How long it takes until long work that is cancelled has come back.
 *
 *   bench-cancel-latency CAPTURE [TIMES]
 *
 * Opens the capture and names its functions once, which takes T. Then the same TIMES times, cancelled by another thread at moments
 * spread evenly over T; by the engine, which comes back when nothing runs any more, and by the public loader, which answers
 * at once. So for each view, as JSON, and for the long work of the public documents: call graphs, the tree below a function, names to
 * embed, and saving beside the capture. Prints `WAY T median worst` in ms. */

#include "document/document.h"
#include "render/render.h"

#include <gio/gunixoutputstream.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#define MSEC_PER_USEC 1e-3

typedef struct
{
  const char *path;
  GCancellable *cancellable;
  Store *store; /* of an open file */
  SymbolTable *symbols;
  const View *view;
  SysprofDocument *document;
  SysprofCallgraph *callgraph;
  SysprofSymbol *symbol; /* a function with much below it */
} Work;

static bool
by_engine (const Work *work)
{
  Progress progress = { .cancellable = work->cancellable };
  g_autoptr (Store) store = sysprof_store_open_telling (work->path, &progress, NULL);
  g_autoptr (SymbolTable) symbols = NULL;

  if (store != NULL)
    symbols = sysprof_symbolize (store, NULL, work->cancellable, NULL);
  return symbols != NULL;
}

static bool
by_loader (const Work *work)
{
  g_autoptr (SysprofDocumentLoader) loader = sysprof_document_loader_new (work->path);
  g_autoptr (SysprofDocument) document =
      sysprof_document_loader_load (loader, work->cancellable, NULL);

  return document != NULL;
}

static bool
by_view (const Work *work)
{
  g_autoptr (GOutputStream) stream =
      g_unix_output_stream_new (open ("/dev/null", O_WRONLY | O_CLOEXEC), TRUE);
  static const char *const details[] = { "details", NULL };
  Shape shape = { .focus = (work->view->options & OPTIONS_FOCUS) != 0 ? "a" : NULL };
  ViewRequest request = { .store = work->store,
                          .symbols = work->symbols,
                          .shape = &shape,
                          .search = work->view->searches ? "a" : NULL,
                          .switches = details,
                          .cancellable = work->cancellable };

  return sysprof_render_view (work->view, RENDER_JSON, &request, stream, NULL);
}

/* --- the public documents --- */

static void
keep_result (GObject *object, GAsyncResult *result, gpointer data)
{
  GAsyncResult **kept = data;

  (void) object; /* whoever waits knows it */
  *kept = g_object_ref (result);
}

static GAsyncResult *
wait_for (GAsyncResult **result)
{
  while (*result == NULL)
    (void) g_main_context_iteration (NULL, TRUE);
  return *result;
}

static SysprofCallgraph *
make_graph (const Work *work)
{
  g_autoptr (GListModel) samples = sysprof_document_list_samples (work->document);
  g_autoptr (GAsyncResult) result = NULL;

  sysprof_document_callgraph_async (
      work->document,
      SYSPROF_CALLGRAPH_FLAGS_INCLUDE_THREADS | SYSPROF_CALLGRAPH_FLAGS_CATEGORIZE_FRAMES,
      samples, 0, NULL, NULL, NULL, work->cancellable, keep_result, &result);
  return sysprof_document_callgraph_finish (work->document, wait_for (&result), NULL);
}

static bool
by_graph (const Work *work)
{
  g_autoptr (SysprofCallgraph) callgraph = make_graph (work);

  return callgraph != NULL;
}

static bool
by_descendants (const Work *work)
{
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (GListModel) below = NULL;

  sysprof_callgraph_descendants_async (work->callgraph, work->symbol, work->cancellable,
                                       keep_result, &result);
  below = sysprof_callgraph_descendants_finish (work->callgraph, wait_for (&result), NULL);
  return below != NULL;
}

static bool
by_symbols (const Work *work)
{
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (GBytes) bytes = NULL;

  sysprof_document_serialize_symbols_async (work->document, work->cancellable, keep_result,
                                            &result);
  bytes = sysprof_document_serialize_symbols_finish (work->document, wait_for (&result), NULL);
  return bytes != NULL;
}

static bool
by_save (const Work *work)
{
  g_autofree char *path = g_strconcat (work->path, ".saved", NULL);
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_autoptr (GAsyncResult) result = NULL;
  bool is_saved;

  sysprof_document_save_async (work->document, file, work->cancellable, keep_result, &result);
  is_saved = sysprof_document_save_finish (work->document, wait_for (&result), NULL);
  (void) g_file_delete (file, NULL, NULL);
  return is_saved;
}

/* The function below which most happens. */
static SysprofSymbol *
choose_symbol (SysprofCallgraph *callgraph)
{
  g_autoptr (GListModel) symbols = sysprof_callgraph_list_symbols (callgraph);
  SysprofSymbol *chosen = NULL;
  guint64 most = 0;

  for (guint i = 0; i < g_list_model_get_n_items (symbols); i++)
    {
      g_autoptr (SysprofCallgraphSymbol) row = g_list_model_get_item (symbols, i);
      SysprofSymbol *symbol = sysprof_callgraph_symbol_get_symbol (row);
      const guint64 below = sysprof_callgraph_symbol_get_total (row);

      if (sysprof_symbol_get_kind (symbol) == SYSPROF_SYMBOL_KIND_USER && below > most)
        {
          chosen = symbol;
          most = below;
        }
    }
  return chosen;
}

/* --- cancelling --- */

typedef struct
{
  GCancellable *cancellable;
  gulong delay; /* us */
  gint64 cancelled_at;
} Canceller;

static gpointer
cancel (gpointer data)
{
  Canceller *self = data;

  g_usleep (self->delay);
  self->cancelled_at = g_get_monotonic_time ();
  g_cancellable_cancel (self->cancellable);
  return NULL;
}

static int
compare (const void *a, const void *b)
{
  const gint64 *left = a, *right = b;

  return (*left > *right) - (*left < *right);
}

static void
measure (const char *way, bool (*load) (const Work *work), Work work, unsigned n_times)
{
  gint64 begin = g_get_monotonic_time ();
  g_autofree gint64 *late = g_new (gint64, n_times);
  unsigned n = 0;
  gint64 whole;

  if (!load (&work))
    {
      fprintf (stderr, "%s: '%s' cannot be read.\n", way, work.path);
      exit (1);
    }
  whole = g_get_monotonic_time () - begin;

  for (unsigned i = 0; i < n_times; i++)
    {
      g_autoptr (GCancellable) cancellable = g_cancellable_new ();
      Canceller canceller = { cancellable, (gulong) ((double) whole * (i + 0.5) / n_times), 0 };
      GThread *thread = g_thread_new ("cancel", cancel, &canceller);
      bool is_done;
      gint64 end;

      work.cancellable = cancellable;
      is_done = load (&work);
      end = g_get_monotonic_time ();
      g_thread_join (thread);
      if (!is_done)
        late[n++] = end - canceller.cancelled_at;
    }

  if (n == 0)
    return;
  qsort (late, n, sizeof *late, compare);
  printf ("%s %.0f %.2f %.2f\n", way, (double) whole * MSEC_PER_USEC,
          (double) late[n / 2] * MSEC_PER_USEC, (double) late[n - 1] * MSEC_PER_USEC);
}

static void
measure_document (Work work, unsigned n_times)
{
  g_autoptr (SysprofDocumentLoader) loader = sysprof_document_loader_new (work.path);
  g_autoptr (SysprofDocument) document = sysprof_document_loader_load (loader, NULL, NULL);
  g_autoptr (SysprofCallgraph) callgraph = NULL;

  work.document = document;
  measure ("callgraph", by_graph, work, n_times);
  measure ("serialize-symbols", by_symbols, work, n_times);
  measure ("save", by_save, work, n_times);
  callgraph = make_graph (&work);
  work.callgraph = callgraph;
  work.symbol = choose_symbol (callgraph);
  if (work.symbol != NULL)
    measure ("descendants", by_descendants, work, n_times);
}

int
main (int argc, char **argv)
{
  unsigned n_times = argc > 2 ? (unsigned) strtoul (argv[2], NULL, 10) : 50;
  Work work = { 0 };

  if (argc < 2 || n_times == 0)
    {
      fprintf (stderr, "usage: bench-cancel-latency CAPTURE [TIMES]\n");
      return 2;
    }
  work.path = argv[1];
  measure ("engine", by_engine, work, n_times);
  measure ("loader", by_loader, work, n_times);

  work.store = sysprof_store_open (work.path, NULL, NULL);
  work.symbols = sysprof_symbolize (work.store, NULL, NULL, NULL);
  for (const View *const *view = sysprof_view_list (); *view != NULL; view++)
    {
      work.view = *view;
      measure ((*view)->name, by_view, work, n_times);
    }
  sysprof_symbol_table_unref (work.symbols);
  sysprof_store_unref (work.store);
  work.store = NULL;
  work.symbols = NULL;
  measure_document (work, n_times);
  return 0;
}
