// SPDX-License-Identifier: GPL-3.0-or-later

/* The call graph of random captures, with all flags, against sums that are made sample by sample. */

#include "../data/fixed-seed.h"
#include "random-capture.h"

#include <glib/gstdio.h>
#include <string.h>

typedef struct
{
  guint64 self;
  guint64 total;
} Sums;

typedef struct
{
  guint64 self;
  guint64 total;
} Area;

/* --- the slow, obvious way --- */

static void
add (GHashTable *table, const char *key, bool is_self)
{
  Sums *sums = g_hash_table_lookup (table, key);

  if (sums == NULL)
    g_hash_table_insert (table, g_strdup (key), sums = g_new0 (Sums, 1));
  sums->total++;
  sums->self += is_self;
}

static bool
takes (const PlainSample *sample, guint flags)
{
  return !((flags & SYSPROF_CALLGRAPH_FLAGS_IGNORE_PROCESS_0) && sample->pid == 0) &&
         !((flags & SYSPROF_CALLGRAPH_FLAGS_IGNORE_KERNEL_PROCESSES) &&
           sample->is_kernel_process);
}

/* The names from the root on. */
static GPtrArray *
names_of (const PlainSample *sample, guint flags)
{
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GPtrArray) calls = g_ptr_array_new ();
  const PlainCall *outer = NULL;

  g_ptr_array_add (names, g_strdup ("All Processes"));
  g_ptr_array_add (names, g_strdup_printf ("[%s]", sample->comm));
  if (flags & SYSPROF_CALLGRAPH_FLAGS_INCLUDE_THREADS)
    g_ptr_array_add (names, g_strdup_printf ("Thread %d", sample->tid));

  for (guint i = sample->n; i-- > 0;)
    {
      const PlainCall *call = &sample->calls[i];

      if ((flags & SYSPROF_CALLGRAPH_FLAGS_HIDE_SYSTEM_LIBRARIES) && call->is_system)
        continue;
      if (outer == NULL && call->is_kernel)
        g_ptr_array_add (calls, (gpointer) "- - Kernel - -");
      if (outer != NULL && !outer->is_kernel && call->is_kernel)
        g_ptr_array_add (calls, (gpointer) "- - User - -");
      g_ptr_array_add (calls, (gpointer) call->name);
      outer = call;
    }
  if (sample->n == 0)
    g_ptr_array_add (calls, (gpointer) "Unwindable");

  for (guint i = 0; i < calls->len; i++)
    g_ptr_array_add (
        names,
        g_strdup (calls->pdata[(flags & SYSPROF_CALLGRAPH_FLAGS_BOTTOM_UP) ? calls->len - 1 - i
                                                                           : i]));
  return names;
}

static void
add_path (GHashTable *paths, const GPtrArray *names, guint from)
{
  g_autoptr (GString) path = g_string_new (NULL);

  for (guint i = from; i < names->len; i++)
    {
      g_string_append_printf (path, "/%s", (char *) names->pdata[i]);
      add (paths, path->str, i + 1 == names->len);
    }
}

static void
add_symbols (GHashTable *symbols, const GPtrArray *names)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = names->len; i-- > 0;)
    if (g_hash_table_add (seen, names->pdata[i]))
      add (symbols, names->pdata[i], i + 1 == names->len);
}

static GHashTable *
new_sums (void)
{
  return g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
}

/* --- the graph --- */

static void
keep_result (GObject *object, GAsyncResult *result, gpointer data)
{
  *(GAsyncResult **) data = g_object_ref (result);
}

static GAsyncResult *
wait_for (GAsyncResult **result)
{
  while (*result == NULL)
    g_main_context_iteration (NULL, TRUE);
  return *result;
}

static void
add_weight (SysprofCallgraph *callgraph,
            SysprofCallgraphNode *node,
            SysprofDocumentFrame *frame,
            gboolean summarize,
            gpointer data)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);

  g_assert_true (SYSPROF_IS_DOCUMENT_SAMPLE (frame));
  ((Area *) sysprof_callgraph_get_augment (callgraph, node))->self++;
  if (summarize)
    ((Area *) sysprof_callgraph_get_summary_augment (callgraph, node))->self++;
  for (; node != NULL; node = sysprof_callgraph_node_parent (node))
    {
      ((Area *) sysprof_callgraph_get_augment (callgraph, node))->total++;
      if (summarize &&
          g_hash_table_add (seen, sysprof_callgraph_get_summary_augment (callgraph, node)))
        ((Area *) sysprof_callgraph_get_summary_augment (callgraph, node))->total++;
    }
}

static SysprofCallgraph *
make_graph (SysprofDocument *document, guint flags)
{
  g_autoptr (GListModel) samples = sysprof_document_list_samples (document);
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (GError) error = NULL;
  SysprofCallgraph *callgraph;

  sysprof_document_callgraph_async (document, flags, samples, sizeof (Area), add_weight, NULL,
                                    NULL, NULL, keep_result, &result);
  g_assert_true (sysprof_document_get_busy (document));
  callgraph = sysprof_document_callgraph_finish (document, wait_for (&result), &error);
  g_assert_no_error (error);
  return callgraph;
}

/* Rules of a user, and the categories that they give to functions of random captures. */
static const char rules[] = "paint\t*\tfunction_2\tinherit\n"
                            "css * function_3\n"
                            "io [kernel] kernel_1 inherit\n"
                            "this is no rule\n";

static SysprofCallgraphCategory
category_by_rules (SysprofSymbol *symbol, bool is_top_down, SysprofCallgraphCategory *inherited)
{
  const char *name = sysprof_symbol_get_name (symbol);

  if (sysprof_symbol_get_kind (symbol) == SYSPROF_SYMBOL_KIND_CONTEXT_SWITCH)
    return SYSPROF_CALLGRAPH_CATEGORY_CONTEXT_SWITCH;
  if (sysprof_symbol_get_kind (symbol) == SYSPROF_SYMBOL_KIND_UNWINDABLE)
    return SYSPROF_CALLGRAPH_CATEGORY_UNWINDABLE;
  if (!is_top_down)
    *inherited = 0;
  if (g_str_equal (name, "function_3"))
    return SYSPROF_CALLGRAPH_CATEGORY_CSS;

  if (g_str_equal (name, "function_2"))
    *inherited = SYSPROF_CALLGRAPH_CATEGORY_PAINT;
  else if (g_str_equal (name, "kernel_1"))
    *inherited = SYSPROF_CALLGRAPH_CATEGORY_IO;
  /* Of generated code, as rules that are built in say. */
  else if (g_str_has_prefix (name, "function_"))
    return SYSPROF_CALLGRAPH_CATEGORY_JAVASCRIPT;
  if (*inherited != 0)
    return *inherited;
  return sysprof_symbol_get_kind (symbol) == SYSPROF_SYMBOL_KIND_KERNEL
             ? SYSPROF_CALLGRAPH_CATEGORY_KERNEL
             : SYSPROF_CALLGRAPH_CATEGORY_UNCATEGORIZED;
}

/* Adds up what the nodes say by path, and checks the order of siblings. */
static void
read_nodes (SysprofCallgraphFrame *frame,
            const char *above,
            guint flags,
            SysprofCallgraphCategory inherited,
            GHashTable *paths)
{
  SysprofSymbol *symbol = sysprof_callgraph_frame_get_symbol (frame);
  g_autofree char *path = g_strdup_printf ("%s/%s", above, sysprof_symbol_get_name (symbol));
  guint n = g_list_model_get_n_items (G_LIST_MODEL (frame));
  const Area *area = sysprof_callgraph_frame_get_augment (frame);
  SysprofCallgraphCategory category =
      category_by_rules (symbol, (flags & SYSPROF_CALLGRAPH_FLAGS_BOTTOM_UP) == 0, &inherited);
  g_autoptr (SysprofCallgraphFrame) before = NULL;
  Sums *sums = g_hash_table_lookup (paths, path);

  if (sums == NULL)
    g_hash_table_insert (paths, g_strdup (path), sums = g_new0 (Sums, 1));
  sums->self += sysprof_callgraph_frame_get_self (frame);
  sums->total += sysprof_callgraph_frame_get_total (frame);
  if ((flags & SYSPROF_CALLGRAPH_FLAGS_CATEGORIZE_FRAMES) == 0)
    category = SYSPROF_CALLGRAPH_CATEGORY_UNCATEGORIZED;
  g_assert_cmpint (sysprof_callgraph_frame_get_category (frame), ==, category);
  g_assert_cmpuint (area->self, ==, sysprof_callgraph_frame_get_self (frame));
  g_assert_cmpuint (area->total, ==, sysprof_callgraph_frame_get_total (frame));
  g_assert_cmpint (sysprof_callgraph_frame_is_leaf (frame), ==, n == 0);

  for (guint i = 0; i < n; i++)
    {
      g_autoptr (SysprofCallgraphFrame) child = g_list_model_get_item (G_LIST_MODEL (frame), i);

      if (before != NULL && (flags & SYSPROF_CALLGRAPH_FLAGS_LEFT_HEAVY))
        g_assert_cmpuint (sysprof_callgraph_frame_get_total (before), >=,
                          sysprof_callgraph_frame_get_total (child));
      else if (before != NULL && sysprof_symbol_get_kind (sysprof_callgraph_frame_get_symbol (
                                     child)) != SYSPROF_SYMBOL_KIND_THREAD)
        g_assert_cmpint (
            strcmp (sysprof_symbol_get_name (sysprof_callgraph_frame_get_symbol (before)),
                    sysprof_symbol_get_name (sysprof_callgraph_frame_get_symbol (child))),
            <=, 0);
      read_nodes (child, path, flags, inherited, paths);
      g_set_object (&before, child);
    }
}

static void
assert_sums_equal (GHashTable *got, GHashTable *expected)
{
  GHashTableIter iter;
  gpointer key, value;

  g_hash_table_iter_init (&iter, expected);
  while (g_hash_table_iter_next (&iter, &key, &value))
    {
      const Sums *sums = g_hash_table_lookup (got, key);

      if (sums == NULL)
        g_error ("missing: %s", (char *) key);
      g_assert_cmpuint (sums->self, ==, ((Sums *) value)->self);
      g_assert_cmpuint (sums->total, ==, ((Sums *) value)->total);
    }
  g_assert_cmpuint (g_hash_table_size (got), ==, g_hash_table_size (expected));
}

static void
check_nodes (const RandomCapture *capture, SysprofCallgraph *callgraph, guint flags)
{
  g_autoptr (SysprofCallgraphFrame) root = g_list_model_get_item (G_LIST_MODEL (callgraph), 0);
  g_autoptr (GHashTable) expected = new_sums ();
  g_autoptr (GHashTable) got = new_sums ();

  for (guint i = 0; i < capture->samples->len; i++)
    {
      const PlainSample *sample = &g_array_index (capture->samples, PlainSample, i);
      g_autoptr (GPtrArray) names = names_of (sample, flags);

      if (takes (sample, flags))
        add_path (expected, names, 0);
    }

  g_assert_cmpuint (g_list_model_get_n_items (G_LIST_MODEL (callgraph)), ==, 1);
  read_nodes (root, "", flags, 0, got);
  assert_sums_equal (got, expected);
}

static bool
is_function_name (const char *name)
{
  return g_str_has_prefix (name, "function") || g_str_has_prefix (name, "kernel") ||
         g_str_has_prefix (name, "[libsystem") || g_str_equal (name, "Unwindable");
}

static guint
count_samples_with (const RandomCapture *capture, guint flags, const char *part, bool is_whole)
{
  guint n = 0;

  for (guint i = 0; i < capture->samples->len; i++)
    {
      const PlainSample *sample = &g_array_index (capture->samples, PlainSample, i);
      g_autoptr (GPtrArray) names = names_of (sample, flags);
      bool has = false;

      for (guint j = 0; j < names->len; j++)
        has = has || (is_whole ? g_str_equal (names->pdata[j], part)
                               : strstr (names->pdata[j], part) != NULL);
      n += has && takes (sample, flags);
    }
  return n;
}

static void
check_symbols (const RandomCapture *capture, SysprofCallgraph *callgraph, guint flags)
{
  g_autoptr (GListModel) symbols = sysprof_callgraph_list_symbols (callgraph);
  g_autoptr (GListModel) matching =
      sysprof_callgraph_list_traceables_for_symbols_matching (callgraph, "on_3");
  g_autoptr (GHashTable) expected = new_sums ();
  guint n = 0;
  GHashTableIter iter;
  gpointer key;

  for (guint i = 0; i < capture->samples->len; i++)
    {
      const PlainSample *sample = &g_array_index (capture->samples, PlainSample, i);
      g_autoptr (GPtrArray) names = names_of (sample, flags);

      if (takes (sample, flags))
        add_symbols (expected, names);
    }
  g_hash_table_iter_init (&iter, expected);
  while (g_hash_table_iter_next (&iter, &key, NULL))
    n += is_function_name (key);
  g_assert_cmpuint (g_list_model_get_n_items (symbols), ==, n);

  for (guint i = 0; i < n; i++)
    {
      g_autoptr (SysprofCallgraphSymbol) item = g_list_model_get_item (symbols, i);
      SysprofSymbol *symbol = sysprof_callgraph_symbol_get_symbol (item);
      const Sums *sums = g_hash_table_lookup (expected, sysprof_symbol_get_name (symbol));
      const Area *area = sysprof_callgraph_symbol_get_summary_augment (item);

      g_assert_nonnull (sums);
      g_assert_cmpuint (sysprof_callgraph_symbol_get_self (item), ==, sums->self);
      g_assert_cmpuint (sysprof_callgraph_symbol_get_total (item), ==, sums->total);
      g_assert_cmpuint (area->self, ==, sums->self);
      g_assert_cmpuint (area->total, ==, sums->total);
      if (i < 2)
        {
          g_autoptr (GListModel) with =
              sysprof_callgraph_list_traceables_for_symbol (callgraph, symbol);

          g_assert_cmpuint (
              g_list_model_get_n_items (with), ==,
              count_samples_with (capture, flags, sysprof_symbol_get_name (symbol), true));
        }
    }
  g_assert_cmpuint (g_list_model_get_n_items (matching), ==,
                    count_samples_with (capture, flags, "on_3", false));
}

/* Above and below the heaviest function. */
static void
check_neighbours (const RandomCapture *capture, SysprofCallgraph *callgraph, guint flags)
{
  bool is_reversed = (flags & SYSPROF_CALLGRAPH_FLAGS_BOTTOM_UP) != 0;
  g_autoptr (GListModel) symbols = sysprof_callgraph_list_symbols (callgraph);
  g_autoptr (SysprofCallgraphSymbol) item = g_list_model_get_item (symbols, 0);
  SysprofSymbol *symbol = sysprof_callgraph_symbol_get_symbol (item);
  const char *name = sysprof_symbol_get_name (symbol);
  g_autoptr (GListModel) callers = sysprof_callgraph_list_callers (callgraph, symbol);
  g_autoptr (GHashTable) expected = new_sums ();
  g_autoptr (GHashTable) expected_callers = new_sums ();
  g_autoptr (GHashTable) got = new_sums ();
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (GListModel) below = NULL;
  g_autoptr (SysprofCallgraphFrame) root = NULL;

  for (guint i = 0; i < capture->samples->len; i++)
    {
      const PlainSample *sample = &g_array_index (capture->samples, PlainSample, i);
      g_autoptr (GPtrArray) names = names_of (sample, flags);
      g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
      guint at = 0;

      if (!takes (sample, flags))
        continue;
      while (at < names->len && !g_str_equal (names->pdata[at], name))
        at++;
      add_path (expected, names, at);

      for (guint j = 1; j < names->len; j++)
        {
          guint callee = is_reversed ? j - 1 : j, caller = is_reversed ? j : j - 1;

          if (g_str_equal (names->pdata[callee], name) &&
              (!is_reversed || is_function_name (names->pdata[caller])) &&
              g_hash_table_add (seen, names->pdata[caller]))
            add (expected_callers, names->pdata[caller], false);
        }
    }

  sysprof_callgraph_descendants_async (callgraph, symbol, NULL, keep_result, &result);
  below = sysprof_callgraph_descendants_finish (callgraph, wait_for (&result), NULL);
  g_assert_cmpuint (g_list_model_get_n_items (below), ==, 1);
  root = g_list_model_get_item (below, 0);
  read_nodes (root, "", flags, 0, got);
  assert_sums_equal (got, expected);

  for (guint i = 0; i < g_list_model_get_n_items (callers); i++)
    {
      g_autoptr (SysprofCallgraphSymbol) caller = g_list_model_get_item (callers, i);
      const char *caller_name =
          sysprof_symbol_get_name (sysprof_callgraph_symbol_get_symbol (caller));
      Sums *sums = g_hash_table_lookup (expected_callers, caller_name);

      g_assert_nonnull (sums);
      sums->total -=
          sysprof_callgraph_symbol_get_total (caller); /* two processes may have one name */
    }
  {
    GHashTableIter iter;
    gpointer key, value;

    g_hash_table_iter_init (&iter, expected_callers);
    while (g_hash_table_iter_next (&iter, &key, &value))
      g_assert_cmpuint (((Sums *) value)->total, ==, 0);
  }
}

static void
test_all_flags (void)
{
  static const guint known[] = {
    SYSPROF_CALLGRAPH_FLAGS_INCLUDE_THREADS,
    SYSPROF_CALLGRAPH_FLAGS_HIDE_SYSTEM_LIBRARIES,
    SYSPROF_CALLGRAPH_FLAGS_BOTTOM_UP,
    SYSPROF_CALLGRAPH_FLAGS_CATEGORIZE_FRAMES,
    SYSPROF_CALLGRAPH_FLAGS_IGNORE_PROCESS_0,
    SYSPROF_CALLGRAPH_FLAGS_LEFT_HEAVY,
    SYSPROF_CALLGRAPH_FLAGS_MERGE_SIMILAR_PROCESSES,
    SYSPROF_CALLGRAPH_FLAGS_IGNORE_KERNEL_PROCESSES,
  };
  g_autoptr (RandomCapture) capture = random_capture_new ((guint32) g_test_rand_int (), 120, 9);
  g_autoptr (SysprofDocument) document = random_capture_load (capture);

  for (guint chosen = 0; chosen < 1u << G_N_ELEMENTS (known); chosen++)
    {
      g_autoptr (SysprofCallgraph) callgraph = NULL;
      guint flags = 0;

      for (guint i = 0; i < G_N_ELEMENTS (known); i++)
        flags |= (chosen >> i & 1) != 0 ? known[i] : 0;
      callgraph = make_graph (document, flags);
      check_nodes (capture, callgraph, flags);
      check_symbols (capture, callgraph, flags);
      check_neighbours (capture, callgraph, flags);
    }
  g_assert_false (sysprof_document_get_busy (document));
}

static guint
depth_of (SysprofCallgraph *callgraph)
{
  g_autoptr (GListModel) at = g_object_ref (G_LIST_MODEL (callgraph));
  guint depth = 0;

  while (g_list_model_get_n_items (at) > 0)
    {
      GListModel *next = g_list_model_get_item (at, 0);

      g_set_object (&at, next);
      g_object_unref (next);
      depth++;
    }
  return depth;
}

static void
test_keeps_deep_stacks_whole (void)
{
  g_autoptr (RandomCapture) capture = random_capture_new (7, 1, 8000);
  g_autoptr (SysprofDocument) document = random_capture_load (capture);
  g_autoptr (SysprofCallgraph) callgraph = make_graph (document, 0);
  g_autoptr (GPtrArray) names = names_of (&g_array_index (capture->samples, PlainSample, 0), 0);

  g_assert_cmpuint (names->len, >, 1024);
  g_assert_cmpuint (depth_of (callgraph), ==, names->len);
}

static void
test_lists_frames_of_node (void)
{
  g_autoptr (RandomCapture) capture = random_capture_new (3, 200, 6);
  g_autoptr (SysprofDocument) document = random_capture_load (capture);
  g_autoptr (SysprofCallgraph) callgraph = make_graph (document, 0);
  g_autoptr (SysprofCallgraphFrame) root = g_list_model_get_item (G_LIST_MODEL (callgraph), 0);

  for (guint i = 0; i < g_list_model_get_n_items (G_LIST_MODEL (root)); i++)
    {
      g_autoptr (SysprofCallgraphFrame) process =
          g_list_model_get_item (G_LIST_MODEL (root), i);
      g_autoptr (GAsyncResult) result = NULL;
      g_autoptr (GListModel) frames = NULL;

      sysprof_callgraph_frame_list_traceables_async (process, NULL, keep_result, &result);
      frames =
          sysprof_callgraph_frame_list_traceables_finish (process, wait_for (&result), NULL);
      g_assert_cmpuint (g_list_model_get_n_items (frames), ==,
                        sysprof_callgraph_frame_get_total (process));
    }
}

/* [SYSPROF_CALLGRAPH_CATEGORY_LAST] *(full)* */
static double *
fractions_of_graph (SysprofDocument *document, guint flags)
{
  double *fractions = g_new0 (double, SYSPROF_CALLGRAPH_CATEGORY_LAST);
  g_autoptr (SysprofCallgraph) callgraph = make_graph (document, flags);
  g_autoptr (SysprofCallgraphFrame) root = g_list_model_get_item (G_LIST_MODEL (callgraph), 0);
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (GListModel) summary = NULL;

  sysprof_callgraph_frame_summarize_async (root, NULL, keep_result, &result);
  summary = sysprof_callgraph_frame_summarize_finish (root, wait_for (&result), NULL);
  g_assert_cmpuint (g_list_model_get_n_items (summary), >=, 3);
  for (guint i = 0; i < g_list_model_get_n_items (summary); i++)
    {
      g_autoptr (SysprofCategorySummary) item = g_list_model_get_item (summary, i);

      g_assert_nonnull (sysprof_category_summary_get_category_name (item));
      fractions[sysprof_category_summary_get_category (item)] +=
          sysprof_category_summary_get_fraction (item);
    }
  return fractions;
}

/* A sample belongs to the category of its innermost function as its callers make it, whichever way the tree is read. */
static void
test_sums_up_categories (void)
{
  static const guint shapes[] = { 0, SYSPROF_CALLGRAPH_FLAGS_INCLUDE_THREADS,
                                  SYSPROF_CALLGRAPH_FLAGS_HIDE_SYSTEM_LIBRARIES };
  g_autoptr (RandomCapture) capture = random_capture_new (3, 200, 6);
  g_autoptr (SysprofDocument) document = random_capture_load (capture);

  for (gsize i = 0; i < G_N_ELEMENTS (shapes); i++)
    {
      guint flags = shapes[i] | SYSPROF_CALLGRAPH_FLAGS_CATEGORIZE_FRAMES;
      g_autofree double *top_down = fractions_of_graph (document, flags);
      g_autofree double *bottom_up =
          fractions_of_graph (document, flags | SYSPROF_CALLGRAPH_FLAGS_BOTTOM_UP);
      double sum = 0;

      for (guint j = 0; j < SYSPROF_CALLGRAPH_CATEGORY_LAST; j++)
        {
          g_assert_cmpfloat_with_epsilon (top_down[j], bottom_up[j], 1e-9);
          sum += top_down[j];
        }
      g_assert_cmpfloat_with_epsilon (sum, 1, 1e-9);
      g_assert_cmpfloat (top_down[SYSPROF_CALLGRAPH_CATEGORY_PAINT], >, 0);
    }
}

static void
test_names_symbols_of_frame (void)
{
  g_autoptr (RandomCapture) capture = random_capture_new (5, 100, 12);
  g_autoptr (SysprofDocument) document = random_capture_load (capture);
  g_autoptr (GListModel) samples = sysprof_document_list_samples (document);
  g_autoptr (GListModel) with = sysprof_document_list_samples_with_context_switch (document);
  g_autoptr (GListModel) without =
      sysprof_document_list_samples_without_context_switch (document);

  for (guint i = 0; i < capture->samples->len; i++)
    {
      const PlainSample *sample = &g_array_index (capture->samples, PlainSample, i);
      g_autoptr (SysprofDocumentTraceable) traceable = g_list_model_get_item (samples, i);
      g_autoptr (GListModel) symbols =
          sysprof_document_list_symbols_in_traceable (document, traceable);
      SysprofSymbol *array[16];
      SysprofAddressContext context;
      guint n = sysprof_document_symbolize_traceable (document, traceable, array, 16, &context);
      guint at = 0;

      g_assert_cmpuint (n, ==, g_list_model_get_n_items (symbols));
      for (guint j = 0; j < n; j++)
        {
          g_autoptr (SysprofSymbol) symbol = g_list_model_get_item (symbols, j);

          g_assert_true (symbol == array[j]);
          if (sysprof_symbol_get_kind (symbol) == SYSPROF_SYMBOL_KIND_CONTEXT_SWITCH)
            g_assert_cmpstr (sysprof_symbol_get_name (symbol), ==, "- - User - -");
          else
            g_assert_cmpstr (sysprof_symbol_get_name (symbol), ==, sample->calls[at++].name);
        }
      g_assert_cmpuint (at, ==, sample->n);
      g_assert_cmpint (context, ==,
                       sample->n == 0                           ? SYSPROF_ADDRESS_CONTEXT_NONE
                       : sample->calls[sample->n - 1].is_kernel ? SYSPROF_ADDRESS_CONTEXT_KERNEL
                                                                : SYSPROF_ADDRESS_CONTEXT_USER);
    }
  g_assert_cmpuint (g_list_model_get_n_items (with), ==, 100); /* each has a marker */
  g_assert_cmpuint (g_list_model_get_n_items (without), ==, 0);
}

static void
test_cancels (void)
{
  g_autoptr (RandomCapture) capture = random_capture_new (9, 20, 5);
  g_autoptr (SysprofDocument) document = random_capture_load (capture);
  g_autoptr (GListModel) samples = sysprof_document_list_samples (document);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (GError) error = NULL;

  g_cancellable_cancel (cancellable);
  sysprof_document_callgraph_async (document, 0, samples, 0, NULL, NULL, NULL, cancellable,
                                    keep_result, &result);
  g_assert_null (sysprof_document_callgraph_finish (document, wait_for (&result), &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

/* The file with the rules, which exists while the tests run. */
static char *
make_configuration (void)
{
  char *folder = g_dir_make_tmp ("config-XXXXXX", NULL);
  g_autofree char *own = g_build_filename (folder, "sysprof", NULL);
  g_autofree char *path = g_build_filename (own, "categories", NULL);

  g_assert_cmpint (g_mkdir (own, 0700), ==, 0);
  g_assert_true (g_file_set_contents (path, rules, -1, NULL));
  g_setenv ("XDG_CONFIG_HOME", folder, TRUE);
  return folder;
}

static void
remove_configuration (const char *folder)
{
  static const char *const names[] = { "sysprof/categories", "sysprof", "" };

  for (size_t i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *path = g_build_filename (folder, names[i], NULL);

      g_assert_cmpint (g_remove (path), ==, 0);
    }
}

/* Of rules that cannot be read; any thread. */
static int n_told;

static void
count_messages (const char *domain, GLogLevelFlags level, const char *message, gpointer data)
{
  if ((level & G_LOG_LEVEL_MESSAGE) != 0 && strstr (message, "sysprof/categories:4: ") != NULL)
    g_atomic_int_inc (&n_told);
  else
    g_log_default_handler (domain, level, message, data);
}

static void
test_tells_once_of_a_rule_that_is_none (void)
{
  g_autoptr (RandomCapture) capture = random_capture_new (1, 5, 2);
  g_autoptr (SysprofDocument) document = random_capture_load (capture);

  for (int i = 0; i < 2; i++)
    {
      g_autoptr (SysprofCallgraph) callgraph =
          make_graph (document, SYSPROF_CALLGRAPH_FLAGS_CATEGORIZE_FRAMES);

      g_assert_nonnull (callgraph);
      g_assert_cmpint (g_atomic_int_get (&n_told), ==, 1);
    }
}

int
main (int argc, char **argv)
{
  g_autofree char *folder = make_configuration ();
  int status;

  test_init_with_fixed_seed (&argc, &argv);
  g_test_add_func ("/callgraph/all-flags", test_all_flags);
  g_test_add_func ("/callgraph/keeps-deep-stacks-whole", test_keeps_deep_stacks_whole);
  g_test_add_func ("/callgraph/lists-frames-of-node", test_lists_frames_of_node);
  g_test_add_func ("/callgraph/sums-up-categories", test_sums_up_categories);
  g_test_add_func ("/callgraph/names-symbols-of-frame", test_names_symbols_of_frame);
  g_test_add_func ("/callgraph/cancels", test_cancels);
  g_test_add_func ("/callgraph/tells-once-of-a-rule-that-is-none",
                   test_tells_once_of_a_rule_that_is_none);
  g_log_set_default_handler (count_messages, NULL);
  status = g_test_run ();
  remove_configuration (folder);
  return status;
}
