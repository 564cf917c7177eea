// SPDX-License-Identifier: GPL-3.0-or-later

/* How long it takes until long work that is cancelled has come back.
 *
 *   bench-cancel-latency CAPTURE [TIMES]
 *
 * Opens the capture and names its functions once, which takes T. Then the same TIMES times, cancelled by another thread at moments
 * spread evenly over T; by the engine, which comes back when nothing runs any more, and by the public loader, which answers
 * at once. So for each view, as JSON. Prints `WAY T median worst` in ms. */

#include "document/document.h"
#include "views/views.h"

#include <gio/gunixoutputstream.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#define MSEC_PER_USEC 1e-3

typedef struct
{
  const char *path;
  GCancellable *cancellable;
  Store *store; /* of what is opened already */
  SymbolTable *symbols;
  const View *view;
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
  TreeShape shape = { .focus = work->view->uses_focus ? "a" : NULL };
  ViewRequest request = { .store = work->store,
                          .symbols = work->symbols,
                          .shape = &shape,
                          .search = work->view->searches ? "a" : NULL,
                          .details = true,
                          .cancellable = work->cancellable };

  return sysprof_view_render (work->view, RENDER_JSON, &request, stream, NULL);
}

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
  return 0;
}
