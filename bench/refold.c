// SPDX-License-Identifier: GPL-3.0-or-later

/* Answers queries of one capture one after the other, each for another time span, on one CPU.
 *
 *     refold CAPTURE ROUNDS
 *
 * Prints one line per answer, with tabs between query, method and milliseconds. The method
 * "kept" reuses the parts that no selection changes (a Refold). "anew" makes all parts for each
 * selection. "naive" is a reader that has the functions of each sample in arrays and counts
 * them sample by sample. All have read the capture before. The three results are compared, and
 * the run fails if they differ. "public call graph" is what the library does for a
 * SysprofCallgraph of the span's samples. */

#include "analyze/analyze.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#define ROWS_ON_SCREEN 100

typedef struct
{
  const Store *store;
  SymbolTable *symbols;
  /* Data of the naive reader: per sample, outermost function first. */
  uint64_t *begin;    /* [samples + 1] */
  SymbolId *function; /* [begin[samples]] */
} Bench;

static double
msec_since (gint64 begin)
{
  return (double) (g_get_monotonic_time () - begin) / 1000;
}

static void
print (const char *question, const char *who, double msec)
{
  printf ("%s\t%s\t%.3f\n", question, who, msec);
}

/* --- the naive reader --- */

static void
expand_samples (Bench *self)
{
  const Store *store = self->store;
  uint32_t n = store->samples.n;

  self->begin = g_new0 (uint64_t, n + 1);
  for (uint32_t i = 0; i < n; i++)
    self->begin[i + 1] = self->begin[i] + store->stacks.depth[store->samples.stack[i]];
  self->function = g_new (SymbolId, MAX (self->begin[n], 1));
  for (uint32_t i = 0; i < n; i++)
    {
      uint64_t at = self->begin[i + 1];

      for (StackId stack = store->samples.stack[i]; at > self->begin[i];
           stack = store->stacks.parent[stack])
        self->function[--at] = self->symbols->of_address[store->stacks.address[stack]];
    }
}

static bool
takes (const Bench *self, const SampleFilter *filter, uint32_t sample)
{
  const StackEvents *samples = &self->store->samples;

  if (samples->time[sample] < filter->time_begin || samples->time[sample] >= filter->time_end)
    return false;
  return !filter->has_processes || samples->process[sample] == filter->processes[0];
}

/* The sum of all totals. */
static uint64_t
count_functions (const Bench *self, const SampleFilter *filter)
{
  g_autofree uint64_t *total = g_new0 (uint64_t, self->symbols->n);
  g_autofree uint64_t *own = g_new0 (uint64_t, self->symbols->n);
  g_autofree uint32_t *seen_in = g_new0 (uint32_t, self->symbols->n);
  uint64_t sum = 0;

  for (uint32_t i = 0; i < self->store->samples.n; i++)
    {
      if (!takes (self, filter, i))
        continue;
      for (uint64_t at = self->begin[i]; at < self->begin[i + 1]; at++)
        if (seen_in[self->function[at]] != i + 1)
          {
            seen_in[self->function[at]] = i + 1;
            total[self->function[at]]++;
          }
      if (self->begin[i] < self->begin[i + 1])
        own[self->function[self->begin[i + 1] - 1]]++;
    }
  for (SymbolId i = 1; i < self->symbols->n; i++)
    sum += total[i] + own[i];
  return sum;
}

static guint
hash_pair (gconstpointer pair)
{
  return (guint) ((GPOINTER_TO_SIZE (pair) * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15)) >> 32);
}

/* How many nodes there are, the root among them. */
static uint32_t
count_tree (const Bench *self, const SampleFilter *filter)
{
  g_autoptr (GHashTable) child = g_hash_table_new (hash_pair, g_direct_equal);
  GArray *total = g_array_new (FALSE, TRUE, sizeof (uint64_t));
  uint32_t n;

  g_array_set_size (total, 1);
  for (uint32_t i = 0; i < self->store->samples.n; i++)
    {
      uint64_t what = (uint64_t) self->symbols->n + self->store->samples.process[i];
      uint32_t node = 0;

      if (!takes (self, filter, i))
        continue;
      for (uint64_t at = self->begin[i];; at++)
        {
          gpointer pair = GSIZE_TO_POINTER ((uint64_t) node << 32 | what);

          g_array_index (total, uint64_t, node)++;
          node = GPOINTER_TO_UINT (g_hash_table_lookup (child, pair));
          if (node == 0)
            {
              node = total->len;
              g_array_set_size (total, node + 1);
              g_hash_table_insert (child, pair, GUINT_TO_POINTER (node));
            }
          if (at == self->begin[i + 1])
            break;
          what = self->function[at];
        }
      g_array_index (total, uint64_t, node)++;
    }
  n = total->len;
  g_array_unref (total);
  return n;
}

/* --- ours --- */

static uint64_t
sum_rows (const FunctionTable *table)
{
  uint64_t sum = 0;

  for (uint32_t i = 0; i < table->n; i++)
    sum += table->row[i].total + table->row[i].self;
  return sum;
}

/* As an application does: the root is open, then what has its first row, and so on until the screen is full. */
static uint32_t
fill_screen (const Refold *refold)
{
  uint32_t node = 0, n_rows = 1;

  for (uint32_t n = 1; n > 0 && n_rows < ROWS_ON_SCREEN; n_rows += n)
    {
      g_autofree uint32_t *children =
          g_new (uint32_t, sysprof_refold_n_children (refold, node) + 1);

      n = sysprof_refold_sort_children (refold, node, children);
      node = n > 0 ? children[0] : 0;
    }
  return n_rows;
}

static void
ask_functions (const Bench *self,
               const char *question,
               Refold *refold,
               const SampleFilter *filter,
               bool with_others)
{
  gint64 begin = g_get_monotonic_time ();
  g_autoptr (FunctionTable) table = NULL;

  (void) sysprof_refold_select (refold, filter, NULL);
  table = sysprof_refold_dup_table (refold, NULL);
  print (question, "kept", msec_since (begin));
  if (!with_others)
    return;

  {
    g_autoptr (FunctionTable) fresh = NULL;
    StackWeights weights = { 0 };

    begin = g_get_monotonic_time ();
    sysprof_stack_weights_fold (&weights, self->store, self->symbols, filter, false);
    fresh = sysprof_functions_new (self->store, self->symbols, &weights, NULL);
    print (question, "anew", msec_since (begin));
    sysprof_stack_weights_clear (&weights);

    begin = g_get_monotonic_time ();
    if (count_functions (self, filter) != sum_rows (table) ||
        sum_rows (fresh) != sum_rows (table))
      g_error ("%s: the answers differ", question);
    print (question, "naive", msec_since (begin));
  }
}

static void
ask_tree (const Bench *self,
          const char *question,
          Refold *refold,
          const Shape *shape,
          const SampleFilter *filter,
          bool with_others)
{
  gint64 begin = g_get_monotonic_time ();
  g_autoptr (CallTree) tree = NULL;

  (void) sysprof_refold_select (refold, filter, NULL);
  (void) fill_screen (refold);
  print (question, "kept", msec_since (begin));
  tree = sysprof_refold_dup_tree (refold, NULL);
  print (question, "kept, all of it", msec_since (begin));
  if (!with_others)
    return;

  {
    g_autoptr (CallTree) fresh = NULL;
    StackWeights weights = { 0 };

    begin = g_get_monotonic_time ();
    sysprof_stack_weights_fold (&weights, self->store, self->symbols, filter, false);
    fresh = sysprof_call_tree_new (self->store, self->symbols, &weights, shape);
    print (question, "anew", msec_since (begin));
    sysprof_stack_weights_clear (&weights);
    if (tree->n != fresh->n)
      g_error ("%s: the answers differ", question);

    begin = g_get_monotonic_time ();
    if (!shape->bottom_up)
      {
        if (count_tree (self, filter) != tree->n)
          g_error ("%s: the answers differ", question);
        print (question, "naive", msec_since (begin));
      }
  }
}

static void
ask_graph (const Bench *self, const SampleFilter *filter)
{
  static const Shape shape = { 0 };
  gint64 begin = g_get_monotonic_time ();
  uint32_t n;
  g_autofree uint32_t *samples = sysprof_samples_find (self->store, self->symbols, filter, &n);
  g_autofree StackId *stack = g_new (StackId, MAX (n, 1));
  g_autofree int32_t *tid = g_new (int32_t, MAX (n, 1));
  GraphFrames frames = { stack, tid, n };
  g_autoptr (Graph) graph = NULL;

  for (uint32_t i = 0; i < n; i++)
    {
      stack[i] = self->store->samples.stack[samples[i]];
      tid[i] = self->store->samples.tid[samples[i]];
    }
  graph = sysprof_graph_new (self->store, self->symbols, &frames, &shape, NULL);
  if (graph->total[0] != n)
    g_error ("public call graph: samples are missing");
  print ("public call graph", "anew", msec_since (begin));
}

static Refold *
new_refold (const Bench *self, const char *what, const Shape *shape)
{
  gint64 begin = g_get_monotonic_time ();
  Refold *refold = shape != NULL
                       ? sysprof_refold_new_tree (self->store, self->symbols, NULL, shape, NULL)
                       : sysprof_refold_new_table (self->store, self->symbols, NULL,
                                                   FOLD_FUNCTIONS, NULL, NULL);

  print (what, "made once", msec_since (begin));
  return refold;
}

static void
ask_all (const Bench *self, int rounds)
{
  static const Shape top_down = { 0 }, bottom_up = { .bottom_up = true };
  g_autoptr (GRand) random = g_rand_new_with_seed (1);
  g_autoptr (Refold) functions = new_refold (self, "functions", NULL);
  g_autoptr (Refold) tree = new_refold (self, "call tree", &top_down);
  g_autoptr (Refold) reversed = new_refold (self, "bottom up", &bottom_up);
  /* The slow ones answer fewer questions. */
  int others_every = MAX (rounds / 7, 1);

  for (int i = 0; i < rounds; i++)
    {
      int64_t a = (int64_t) g_rand_double_range (random, (double) self->store->begin,
                                                 (double) self->store->end);
      int64_t b = (int64_t) g_rand_double_range (random, (double) self->store->begin,
                                                 (double) self->store->end);
      ProcessId process =
          1 + (ProcessId) g_rand_int_range (random, 0, (int) self->store->processes.n - 1);
      SampleFilter span = { .time_begin = MIN (a, b), .time_end = MAX (a, b) };
      SampleFilter of_process = span;
      bool with_others = i % others_every == 0;

      of_process.processes = &process;
      of_process.n_processes = 1;
      of_process.has_processes = true;
      ask_functions (self, "functions", functions, &span, with_others);
      ask_functions (self, "functions of a process", functions, &of_process, with_others);
      ask_tree (self, "call tree", tree, &top_down, &span, with_others);
      ask_tree (self, "call tree of a process", tree, &top_down, &of_process, with_others);
      ask_tree (self, "bottom up", reversed, &bottom_up, &span, with_others);
      if (with_others)
        ask_graph (self, &span);
    }
}

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Store) store = NULL;
  Bench self = { 0 };
  cpu_set_t one;

  if (argc != 3)
    {
      fprintf (stderr, "Usage: refold CAPTURE ROUNDS\n");
      return 2;
    }
  store = sysprof_store_open (argv[1], NULL, &error);
  self.store = store;
  if (store != NULL)
    self.symbols = sysprof_symbolize (store, NULL, NULL, &error);
  if (self.symbols == NULL || store->processes.n < 2)
    {
      fprintf (stderr, "refold: %s\n", error != NULL ? error->message : "no process");
      return 1;
    }

  CPU_ZERO (&one);
  CPU_SET (sched_getcpu (), &one);
  if (sched_setaffinity (0, sizeof one, &one) != 0)
    perror ("refold: cannot stay on one CPU");
  expand_samples (&self);
  ask_all (&self, atoi (argv[2]));

  sysprof_symbol_table_unref (self.symbols);
  g_free (self.begin);
  g_free (self.function);
  return 0;
}
