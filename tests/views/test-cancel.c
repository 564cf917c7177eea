// SPDX-License-Identifier: GPL-3.0-or-later

/* Every request can be canceled at each moment at which it checks for cancellation. It then
 * reports this and frees partial results, which the sanitizers check. The test counts these
 * moments first, and then cancels at one after the other. */

#include "capture/capture.h"
#include "document/document.h"
#include "document/objects.h"
#include "render/render.h"
#include "tests/views/write-waits.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/mman.h>

#define N_SAMPLES    9000 /* enough for a look amid each pass */
#define LEAST_LOOKS  3    /* of what passes over the samples: some before and after */
#define MOST_MOMENTS 10

/* Replaces GLib's function for all code that is linked here. */
static unsigned n_looks;   /* atomic: some work has threads of its own */
static unsigned cancel_in; /* the look to cancel in; 0 = none */

gboolean
g_cancellable_is_cancelled (GCancellable *cancellable)
{
  static gboolean (*is_cancelled) (GCancellable *);

  if (cancellable == NULL)
    return FALSE;
  if (g_once_init_enter (&is_cancelled))
    g_once_init_leave (&is_cancelled, dlsym (RTLD_NEXT, "g_cancellable_is_cancelled"));
  if (__atomic_add_fetch (&n_looks, 1, __ATOMIC_RELAXED) == cancel_in)
    g_cancellable_cancel (cancellable);
  return is_cancelled (cancellable);
}

typedef struct
{
  Store *store;
  SymbolTable *symbols;
  const View *view;
  RenderFormat format;
} Question;

typedef bool (*AskFunc) (const Question *question, GCancellable *cancellable, GError **error);

static void
ask (AskFunc func, const Question *question, unsigned look)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;
  bool is_answered;

  /* The store keeps this after the first request; every request must compute it here. */
  g_clear_pointer (&question->store->heap.freed, g_free);
  n_looks = 0;
  cancel_in = look;
  is_answered = func (question, cancellable, &error);
  cancel_in = 0;
  g_assert_null (g_cancellable_get_current ());
  g_assert_true (is_answered == (error == NULL));
  if (look > 0)
    g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

static void
cancel_in_each_look (AskFunc func, const Question *question, unsigned least)
{
  unsigned n;

  ask (func, question, 0);
  n = n_looks;
  g_assert_cmpuint (n, >=, least);
  for (unsigned i = 0; i < MIN (n, MOST_MOMENTS); i++)
    ask (func, question, n <= MOST_MOMENTS ? i + 1 : 1 + (n - 1) * i / (MOST_MOMENTS - 1));
}

/* --- captures --- */

static Store *
open_capture (int fd)
{
  g_autoptr (GError) error = NULL;
  Store *store = sysprof_store_open_fd (fd, "capture", NULL, &error);

  g_assert_no_error (error);
  return store;
}

static Store *
make_capture (void)
{
  autofd fd = memfd_create ("cancel", MFD_CLOEXEC);
  SysprofCaptureWriter *writer = sysprof_capture_writer_new_from_fd (dup (fd), 0);
  GByteArray *waits = waits_new ();
  Store *store;

  for (int pid = 10; pid < 40; pid++)
    sysprof_capture_writer_add_process (writer, 1000, -1, pid, "/bin/program with arguments");
  for (unsigned i = 0; i < N_SAMPLES; i++)
    {
      uint64_t stack[] = { SYSPROF_CAPTURE_JITMAP_MARK + 1 + (uint64_t) (i % 90),
                           0x2000 + 16 * (uint64_t) i, 0x9000, 0xa000 };
      int pid = 10 + (int) (i * 7 % 30);
      g_autofree char *name = g_strdup_printf ("name %u", i % 2000);

      waits_add_thread (waits, pid + (int) i % 300, pid, name);
      waits_add_stack (waits, stack, G_N_ELEMENTS (stack));
      waits_add_wait (waits, i == 0 ? 2000 : 1, 5, i, (int) i, (int) i / 2, (int) i / 2,
                      i % 700);
      sysprof_capture_writer_add_sample (writer, 2000 + i * 7919 % N_SAMPLES, i % 4, pid,
                                         pid + (int) i % 300, stack, G_N_ELEMENTS (stack));
      sysprof_capture_writer_add_mark (writer, 2000 + i, i % 4, pid, i % 50, "group", name,
                                       "message");
      sysprof_capture_writer_add_log (writer, 2000 + i, i % 4, pid, 16, "domain", name);
    }
  waits_write (waits, writer, 2000);
  sysprof_capture_writer_unref (writer);
  store = open_capture (fd);
  g_assert_cmpuint (store->samples.n, ==, N_SAMPLES);
  g_assert_cmpuint (store->waits.events.n, ==, N_SAMPLES);
  return store;
}

static Question
question_of (Store *store)
{
  SymbolizeOptions options = { .sysroot = "/nonexistent" }; /* this machine plays no part */
  SymbolTable *symbols = sysprof_symbolize (store, &options, NULL, NULL);

  g_assert_nonnull (symbols);
  return (Question){ .store = store, .symbols = symbols };
}

static void
question_clear (Question *self)
{
  sysprof_symbol_table_unref (self->symbols);
  sysprof_store_unref (self->store);
}

/* --- views --- */

static bool
render (const Question *question, GCancellable *cancellable, GError **error)
{
  g_autoptr (GOutputStream) stream = g_memory_output_stream_new_resizable ();
  SampleFilter filter = { 0 };
  Shape shape = { .focus = (question->view->options & OPTIONS_FOCUS) != 0 ? "0x" : NULL,
                  .threads = true };
  SymbolizeOptions options = { .sysroot = "/nonexistent" }; /* this machine plays no part */
  static const char *const switches[] = { "by-name", "by-member", "details", "live", NULL };
  ViewRequest request = { .store = question->store,
                          .symbols = question->symbols,
                          .symbolize = &options,
                          .filter = &filter,
                          .shape = &shape,
                          .search = "0 n",
                          .switches = switches + (question->format % 2 != 0 ? 0 : 2),
                          .cancellable = cancellable };

  return sysprof_render_view (question->view, question->format, &request, stream, error);
}

/* The same, but for parts that a first request omits: sorting, and a search. */
static bool
render_sorted (const Question *question, GCancellable *cancellable, GError **error)
{
  g_autoptr (GOutputStream) stream = g_memory_output_stream_new_resizable ();
  ViewRequest request = { .store = question->store,
                          .symbols = question->symbols,
                          .sort = "self",
                          .limit = 5000,
                          .min_percent = 1e-6,
                          .terminal_width = 100,
                          .cancellable = cancellable };

  return sysprof_render_view (question->view, question->format, &request, stream, error);
}

static void
render_all (Question *question)
{
  unsigned turn = 0;

  for (const View *const *view = sysprof_view_list (); *view != NULL; view++, turn++)
    {
      question->view = *view;
      question->format = (RenderFormat) (turn % N_RENDER_FORMATS);
      cancel_in_each_look (render, question, 1);
    }
}

static void
test_views (void)
{
  Question question = question_of (make_capture ());

  render_all (&question);
  question_clear (&question);
}

/* Few of each kind, but there are all. */
static void
test_all_kinds (const void *path)
{
  Question question = question_of (sysprof_store_open (path, NULL, NULL));

  render_all (&question);
  question_clear (&question);
}

/* The other forms of waits, and all of them as weights. */
static bool
weigh_waits (const Question *question, GCancellable *cancellable, GError **error)
{
  WeighedWaits time, wall;
  bool is_known;

  g_cancellable_push_current (cancellable);
  sysprof_waits_weigh (&time, question->store, question->symbols,
                       &(SampleFilter){ .no_idle = true });
  is_known = sysprof_waits_weigh_wall (&wall, question->store, question->symbols, NULL);
  g_cancellable_pop_current (cancellable);
  sysprof_weighed_waits_clear (&time);
  sysprof_weighed_waits_clear (&wall);
  g_assert_false (is_known);
  return !g_cancellable_set_error_if_cancelled (cancellable, error);
}

static bool
render_waits (const Question *question, GCancellable *cancellable, GError **error)
{
  g_autoptr (GOutputStream) stream = g_memory_output_stream_new_resizable ();
  int32_t tids[] = { 20 };
  const char *switches[] = { question->format == RENDER_JSON  ? "by-thread"
                             : question->format == RENDER_CSV ? "by-lock"
                                                              : "critical-path",
                             NULL };
  SampleFilter filter = { .tids = tids,
                          .n_tids = 1,
                          .has_tids = question->format == RENDER_TEXT };
  ViewRequest request = { .store = question->store,
                          .symbols = question->symbols,
                          .filter = &filter,
                          .switches = switches,
                          .cancellable = cancellable };

  return sysprof_render_view (question->view, question->format, &request, stream, error);
}

static void
test_waits (void)
{
  static const RenderFormat formats[] = { RENDER_JSON, RENDER_CSV, RENDER_TEXT };
  Question question = question_of (make_capture ());

  question.view = sysprof_view_find ("waits");
  for (size_t i = 0; i < G_N_ELEMENTS (formats); i++)
    {
      question.format = formats[i];
      cancel_in_each_look (render_waits, &question, LEAST_LOOKS);
    }
  cancel_in_each_look (weigh_waits, &question, LEAST_LOOKS);
  question_clear (&question);
}

static void
test_formats (void)
{
  static const char *const views[] = { "tree", "flame", "functions" };
  Question question = question_of (make_capture ());

  for (size_t i = 0; i < G_N_ELEMENTS (views); i++)
    for (unsigned format = 0; format < N_RENDER_FORMATS; format++)
      {
        question.view = sysprof_view_find (views[i]);
        question.format = (RenderFormat) format;
        cancel_in_each_look (render_sorted, &question, LEAST_LOOKS);
      }
  question_clear (&question);
}

/* --- what has no cancellable of its own --- */

static bool
select_marks (const Question *question, GError **error)
{
  static char *marks[] = { (char *) "group/name 1*", NULL };
  const Selection selection = { .marks = marks };
  ResolvedSelection resolved;

  if (!sysprof_selection_resolve (&selection, question->store, &resolved, error))
    return false;
  sysprof_resolved_selection_clear (&resolved);
  return true;
}

static bool
ask_thread (const Question *question, GCancellable *cancellable, GError **error)
{
  g_autoptr (GListModel) catalogs = NULL;
  g_autoptr (GBytes) table = NULL;
  g_autoptr (GBytes) unnamed = NULL;
  bool is_selected;

  g_cancellable_push_current (cancellable);
  is_selected = select_marks (question, error);
  catalogs = sysprof_mark_catalogs_new (question->store);
  table = sysprof_symbol_table_pack (question->symbols, question->store);
  unnamed = sysprof_symbol_table_pack_unnamed (question->symbols, question->store);
  g_cancellable_pop_current (cancellable);

  if (is_selected)
    return !g_cancellable_set_error_if_cancelled (cancellable, error);
  return false;
}

static void
test_thread (void)
{
  Question question = question_of (make_capture ());

  cancel_in_each_look (ask_thread, &question, LEAST_LOOKS);
  question_clear (&question);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_assert_cmpint (argc, ==, 2);
  g_test_add_func ("/views/cancel/views", test_views);
  g_test_add_data_func ("/views/cancel/all-kinds", argv[1], test_all_kinds);
  g_test_add_func ("/views/cancel/formats", test_formats);
  g_test_add_func ("/views/cancel/waits", test_waits);
  g_test_add_func ("/views/cancel/thread", test_thread);
  return g_test_run ();
}
