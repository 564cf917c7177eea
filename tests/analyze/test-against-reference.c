// SPDX-License-Identifier: GPL-3.0-or-later

/* Random captures, every combination of shape, many filters: the linear algorithms give what counting
 * sample by sample gives. The seed is in the message of a failure; SEEDS=n in the environment runs more, as
 * `make check-all` does. */

#include "reference.h"

#include <stdlib.h>
#include <string.h>

#define N_SEEDS         4
#define SHAPES_PER_SEED 10 /* for requests that are repeated */

static uint32_t
n_seeds (void)
{
  const char *asked = g_getenv ("SEEDS");

  return asked != NULL ? (uint32_t) strtoul (asked, NULL, 10) : N_SEEDS;
}

typedef struct
{
  SampleFilter filter;
  ProcessId processes[2];
  int32_t tids[2];
  int32_t cpus[2];
  const char *symbol_terms[3];
  const char *binary_terms[3];
  TimeRange times[2];
} RandomFilter;

static void
random_filter (RandomFilter *self, GRand *random, const Fixture *fixture)
{
  static const char *const symbols[] = { "read", "READ", "!alloc", "main", "!x", "nowhere" };
  static const char *const binaries[] = { "libc",     "!glib",    "app",
                                          "/lib/app", "[kernel]", "!/usr/lib/app" };

  memset (self, 0, sizeof *self);
  for (uint32_t i = 0; i < 2; i++)
    {
      self->processes[i] =
          (ProcessId) g_rand_int_range (random, 0, (int32_t) fixture->store.processes.n + 2);
      self->tids[i] = g_rand_int_range (random, -1, 60);
      self->cpus[i] = g_rand_int_range (random, -1, 5);
      self->symbol_terms[i] = symbols[g_rand_int_range (random, 0, G_N_ELEMENTS (symbols))];
      self->binary_terms[i] = binaries[g_rand_int_range (random, 0, G_N_ELEMENTS (binaries))];
    }
  self->filter = (SampleFilter){
    .processes = self->processes,
    .n_processes = (uint32_t) g_rand_int_range (random, 0, 3),
    .tids = self->tids,
    .n_tids = (uint32_t) g_rand_int_range (random, 0, 3),
    .cpus = self->cpus,
    .n_cpus = (uint32_t) g_rand_int_range (random, 0, 3),
    .has_processes = g_rand_int_range (random, 0, 4) == 0,
    .has_tids = g_rand_int_range (random, 0, 4) == 0,
    .has_cpus = g_rand_int_range (random, 0, 4) == 0,
    .symbol_terms = g_rand_int_range (random, 0, 3) == 0 ? self->symbol_terms : NULL,
    .binary_terms = g_rand_int_range (random, 0, 3) == 0 ? self->binary_terms : NULL,
  };
  if (g_rand_int_range (random, 0, 2) == 0)
    {
      self->filter.time_begin = g_rand_int_range (random, 900, 1300);
      self->filter.time_end = g_rand_int_range (random, 0, 3) == 0
                                  ? 0
                                  : self->filter.time_begin + g_rand_int_range (random, 1, 400);
      if (self->filter.time_end != 0 && g_rand_int_range (random, 0, 2) == 0)
        {
          int64_t gap = (self->filter.time_begin + self->filter.time_end) / 2;

          self->times[0] = (TimeRange){ self->filter.time_begin, gap };
          self->times[1] =
              (TimeRange){ MIN (gap + 20, self->filter.time_end), self->filter.time_end };
          self->filter.times = self->times;
          self->filter.n_times = 2;
        }
    }
}

static char *
node_label (const Fixture *fixture, const CallTree *tree, CallNodeId node, const Shape *shape)
{
  const Process *process = &fixture->store.processes.row[tree->id[node]];

  switch (tree->kind[node])
    {
    case SYMBOL_PROCESS:
      if (shape->merge_processes)
        return g_strdup (sysprof_store_string (&fixture->store, process->comm));
      return g_strdup_printf ("%s:%d", sysprof_store_string (&fixture->store, process->comm),
                              process->pid);
    case SYMBOL_THREAD:
      return g_strdup_printf ("Thread %d", (int32_t) tree->id[node]);
    default:
      g_assert_cmpuint (tree->kind[node], ==, fixture->symbols.row[tree->symbol[node]].kind);
      return reference_label (fixture, tree->symbol[node]);
    }
}

static void
assert_sums (GHashTable *expected, const char *key, uint64_t self, uint64_t total)
{
  const Sums *sums = g_hash_table_lookup (expected, key);

  if (sums == NULL)
    g_error ("'%s' should not be there", key);
  if (sums->self != self || sums->total != total)
    g_error ("'%s': self %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
             " instead of %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT,
             key, self, total, sums->self, sums->total);
}

/* Sums, and the promises of the door about order. Of a tree that is whole, what ends somewhere is in it. */
static void
assert_tree (const Fixture *fixture,
             const CallTree *tree,
             GHashTable *expected,
             const Shape *shape,
             bool is_whole)
{
  g_autoptr (GPtrArray) paths = g_ptr_array_new_with_free_func (g_free);
  uint32_t n_linked = 1;

  g_ptr_array_add (paths, g_strdup (""));
  for (CallNodeId i = 1; i < tree->n; i++)
    {
      g_autofree char *label = node_label (fixture, tree, i, shape);

      g_assert_cmpuint (tree->parent[i], <, i);
      g_ptr_array_add (paths, g_strconcat (paths->pdata[tree->parent[i]], "/", label, NULL));
    }

  /* A selection that takes nothing still has a root. */
  g_assert_cmpuint (tree->n, ==, MAX (g_hash_table_size (expected), 1));
  for (CallNodeId i = 0; i < tree->n && g_hash_table_size (expected) > 0; i++)
    assert_sums (expected, paths->pdata[i], tree->self[i], tree->total[i]);

  for (CallNodeId i = 0; i < tree->n; i++)
    {
      uint64_t total = tree->self[i];
      uint64_t last = UINT64_MAX;

      for (CallNodeId child = tree->first_child[i]; child != 0;
           child = tree->next_sibling[child])
        {
          g_assert_cmpuint (tree->parent[child], ==, i);
          g_assert_cmpuint (tree->total[child], <=, last);
          last = tree->total[child];
          total += tree->total[child];
          n_linked++;
        }
      g_assert_cmpuint (total, <=, tree->total[i]);
      g_assert_true (total == tree->total[i] || !is_whole);
    }
  g_assert_cmpuint (n_linked, ==, tree->n);
}

/* But the root. */
static gboolean
is_lighter (gpointer path, gpointer sums, gpointer least)
{
  return *(const char *) path != '\0' && ((const Sums *) sums)->total < *(uint64_t *) least;
}

static void
assert_layout (const Fixture *fixture, const CallTree *tree, bool left_heavy)
{
  g_autoptr (FlameLayout) layout =
      sysprof_flame_layout_new (tree, &fixture->store, &fixture->symbols, left_heavy, 0);
  g_autofree uint32_t *at = g_new0 (uint32_t, tree->n);

  g_assert_cmpuint (layout->n, ==, tree->n);
  for (uint32_t i = 0; i < layout->n; i++)
    at[layout->node[i]] = i;
  for (uint32_t i = 0; i < layout->n; i++)
    {
      CallNodeId node = layout->node[i];
      uint32_t parent = at[tree->parent[node]];

      g_assert_cmpuint (layout->width[i], ==, tree->total[node]);
      if (node == 0)
        continue;

      g_assert_cmpuint (parent, <, i);
      g_assert_cmpuint (layout->depth[i], ==, layout->depth[parent] + 1);
      g_assert_cmpuint (layout->x[i], >=, layout->x[parent]);
      g_assert_cmpuint (layout->x[i] + layout->width[i], <=,
                        layout->x[parent] + layout->width[parent]);
      /* Of neighbours at one depth, the next begins where the last one ends, or behind. */
      if (layout->depth[i] == layout->depth[i - 1])
        g_assert_cmpuint (layout->x[i], >=, layout->x[i - 1] + layout->width[i - 1]);
    }
}

static void
assert_table (const Fixture *fixture, const FunctionTable *table, GHashTable *expected)
{
  g_assert_cmpuint (table->n, ==, g_hash_table_size (expected));
  for (uint32_t i = 0; i < table->n; i++)
    {
      g_autofree char *label = reference_label (fixture, table->row[i].symbol);

      assert_sums (expected, label, table->row[i].self, table->row[i].total);
      if (i > 0)
        g_assert_true (table->row[i - 1].self > table->row[i].self ||
                       (table->row[i - 1].self == table->row[i].self &&
                        table->row[i - 1].total >= table->row[i].total));
    }
}

static void
check_shape (const Fixture *fixture,
             const SampleFilter *filter,
             const StackWeights *weights,
             const Shape *shape)
{
  g_autoptr (CallTree) tree =
      sysprof_call_tree_new (&fixture->store, &fixture->symbols, weights, shape);
  g_autoptr (GHashTable) expected = reference_tree (fixture, filter, shape);
  uint64_t least = 2 + weights->total / 25;
  g_autoptr (CallTree) heavy =
      sysprof_call_tree_new_above (&fixture->store, &fixture->symbols, weights, shape, least);

  assert_tree (fixture, tree, expected, shape, true);
  assert_layout (fixture, tree, false);
  assert_layout (fixture, tree, true);

  if (!shape->bottom_up)
    g_hash_table_foreach_remove (expected, is_lighter, &least);
  assert_tree (fixture, heavy, expected, shape, shape->bottom_up);
}

static void
check_tables (const Fixture *fixture,
              const SampleFilter *filter,
              const StackWeights *weights,
              const Shape *shape)
{
  static const struct
  {
    FunctionTable *(*make) (const Store *,
                            const SymbolTable *,
                            const StackWeights *,
                            const Shape *);
    GHashTable *(*expect) (const Fixture *, const SampleFilter *, const Shape *);
  } tables[] = {
    { sysprof_functions_new, reference_functions },
    { sysprof_callers_new, reference_callers },
    { sysprof_callees_new, reference_callees },
  };

  for (size_t i = shape->focus == NULL ? 0 : 1;
       i < (shape->focus == NULL ? 1 : G_N_ELEMENTS (tables)); i++)
    {
      g_autoptr (FunctionTable) table =
          tables[i].make (&fixture->store, &fixture->symbols, weights, shape);
      g_autoptr (GHashTable) expected = tables[i].expect (fixture, filter, shape);

      assert_table (fixture, table, expected);
      g_assert_cmpuint (table->total, ==, weights->total);
    }
}

/* Looking up one node at a time finds the same as folding all. */
static void
assert_samples (const Fixture *fixture, const SampleFilter *filter, const StackWeights *weights)
{
  const StackEvents *samples = &fixture->store.samples;
  uint32_t n;
  g_autofree uint32_t *found =
      sysprof_samples_find (&fixture->store, &fixture->symbols, filter, &n);
  g_autofree uint64_t *self = g_new0 (uint64_t, fixture->store.stacks.n);

  for (uint32_t i = 0; i < n; i++)
    {
      if (i > 0)
        g_assert_cmpuint (found[i - 1], <, found[i]);
      self[samples->stack[found[i]]] +=
          samples->weight != NULL ? (uint64_t) samples->weight[found[i]] : 1;
    }
  g_assert_cmpmem (self, fixture->store.stacks.n * sizeof *self, weights->self,
                   fixture->store.stacks.n * sizeof *self);
}

/* --- asked again and again --- */

/* Nodes that are shown without making the whole tree equal those of the whole tree. */
static void
assert_parts (const Refold *refold, const CallTree *tree)
{
  g_autoptr (GArray) nodes = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  g_autoptr (GArray) twins = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  uint32_t root = 0;

  g_array_append_val (nodes, root);
  g_array_append_val (twins, root);
  for (uint32_t i = 0; i < nodes->len; i++)
    {
      uint32_t node = g_array_index (nodes, uint32_t, i);
      CallNodeId twin = g_array_index (twins, uint32_t, i);
      CallNodeId child = tree->first_child[twin];
      g_autofree uint32_t *children =
          g_new (uint32_t, sysprof_refold_n_children (refold, node) + 1);
      uint32_t n = sysprof_refold_sort_children (refold, node, children);
      SymbolId symbol;
      uint32_t id;

      g_assert_cmpuint (sysprof_refold_get_kind (refold, node, &symbol, &id), ==,
                        tree->kind[twin]);
      g_assert_cmpuint (symbol, ==, tree->symbol[twin]);
      g_assert_cmpuint (id, ==, tree->id[twin]);
      g_assert_cmpuint (sysprof_refold_get_total (refold, node), ==, tree->total[twin]);
      g_assert_cmpuint (sysprof_refold_get_self (refold, node), ==, tree->self[twin]);
      for (uint32_t j = 0; j < n; j++, child = tree->next_sibling[child])
        {
          g_assert_cmpuint (child, !=, 0);
          g_array_append_val (nodes, children[j]);
          g_array_append_val (twins, child);
        }
      g_assert_cmpuint (child, ==, 0);
    }
  g_assert_cmpuint (nodes->len, ==, tree->n);
}

static void
check_tree_again (const Fixture *fixture,
                  const SampleFilter *const *filters,
                  uint32_t n_filters,
                  const Shape *shape)
{
  g_autoptr (Refold) refold =
      sysprof_refold_new_tree (&fixture->store, &fixture->symbols, NULL, shape, NULL);

  for (uint32_t i = 0; i < n_filters; i++)
    {
      g_autoptr (GHashTable) expected = reference_tree (fixture, filters[i], shape);
      g_autoptr (CallTree) tree = NULL;

      g_assert_true (sysprof_refold_select (refold, filters[i], NULL));
      g_assert_cmpuint (sysprof_refold_get_weight (refold), ==,
                        reference_total (fixture, filters[i]));
      tree = sysprof_refold_dup_tree (refold, NULL);
      assert_tree (fixture, tree, expected, shape, true);
      assert_parts (refold, tree);
    }
}

static void
check_tables_again (const Fixture *fixture,
                    const SampleFilter *const *filters,
                    uint32_t n_filters,
                    const Shape *shape)
{
  static GHashTable *(*const expect[]) (const Fixture *, const SampleFilter *,
                                        const Shape *) = {
    [FOLD_FUNCTIONS] = reference_functions,
    [FOLD_CALLERS] = reference_callers,
    [FOLD_CALLEES] = reference_callees,
  };
  FoldTable end = shape->focus != NULL ? FOLD_CALLEES : FOLD_FUNCTIONS;

  for (FoldTable table = FOLD_FUNCTIONS; table <= end; table++)
    {
      g_autoptr (Refold) refold = sysprof_refold_new_table (&fixture->store, &fixture->symbols,
                                                            NULL, table, shape, NULL);

      for (uint32_t i = 0; i < n_filters; i++)
        {
          g_autoptr (GHashTable) expected = expect[table](fixture, filters[i], shape);
          g_autoptr (FunctionTable) rows = NULL;

          g_assert_true (sysprof_refold_select (refold, filters[i], NULL));
          rows = sysprof_refold_dup_table (refold, NULL);
          assert_table (fixture, rows, expected);
          g_assert_cmpuint (rows->total, ==, reference_total (fixture, filters[i]));
        }
    }
}

#define N_FOCUSES 4

/* The first 256 `bits` are all shapes except for their focus, which is one of N_FOCUSES. */
static Shape
shape_of (uint32_t bits, uint32_t focus)
{
  static const char *const collapsed[] = { "libc", NULL };
  static const char *const focuses[N_FOCUSES] = { NULL, "read", "EAD", "nowhere" };

  return (Shape){
    .bottom_up = bits & 1,
    .threads = bits & 2,
    .no_kernel = bits & 4,
    .merge_processes = bits & 8,
    .fold_recursion = bits & 16,
    .no_processes = bits & 32,
    .hide_system = bits & 64,
    .collapse = bits & 128 ? collapsed : NULL,
    .focus = focuses[focus],
  };
}

/* Each request is made for several selections one after the other, and for the first one again
 * at the end. No result of an earlier selection may remain. */
static void
test_forgets_what_was_asked_before (void)
{
  static const SampleFilter everything = { 0 };

  for (uint32_t seed = 1; seed <= n_seeds (); seed++)
    {
      g_autoptr (GRand) random = g_rand_new_with_seed (seed + 2000);
      RandomFilter random_filters[3];
      const SampleFilter *filters[] = { &random_filters[0].filter, &everything,
                                        &random_filters[1].filter, &random_filters[2].filter,
                                        &random_filters[0].filter };
      Fixture fixture;

      g_test_message ("seed %u", seed);
      fixture_init_random (&fixture, seed + 100);
      for (uint32_t i = 0; i < G_N_ELEMENTS (random_filters); i++)
        random_filter (&random_filters[i], random, &fixture);
      for (uint32_t i = 0; i < SHAPES_PER_SEED; i++)
        {
          uint32_t bits = g_rand_int (random);
          Shape shape = shape_of (bits, bits >> 8 & 3);

          check_tree_again (&fixture, filters, G_N_ELEMENTS (filters), &shape);
          check_tables_again (&fixture, filters, G_N_ELEMENTS (filters), &shape);
        }
      fixture_clear (&fixture);
    }
}

static void
check_filter (const Fixture *fixture, const SampleFilter *filter)
{
  StackWeights weights = { 0 };

  sysprof_stack_weights_fold (&weights, &fixture->store, &fixture->symbols, filter, true);
  g_assert_cmpuint (weights.total, ==, reference_total (fixture, filter));
  assert_samples (fixture, filter, &weights);

  for (uint32_t bits = 0; bits < 256; bits++)
    for (uint32_t focus = 0; focus < N_FOCUSES; focus++)
      {
        Shape shape = shape_of (bits, focus);

        check_shape (fixture, filter, &weights, &shape);
        if ((bits & ~(4u | 64 | 128)) == 0)
          check_tables (fixture, filter, &weights, &shape);
      }
  sysprof_stack_weights_clear (&weights);
}

static void
test_gives_what_counting_gives (void)
{
  for (uint32_t seed = 1; seed <= n_seeds (); seed++)
    {
      g_autoptr (GRand) random = g_rand_new_with_seed (seed + 1000);
      SampleFilter everything = { 0 };
      RandomFilter filter;
      Fixture fixture;

      g_test_message ("seed %u", seed);
      fixture_init_random (&fixture, seed);
      random_filter (&filter, random, &fixture);
      check_filter (&fixture, seed % 3 == 0 ? &everything : &filter.filter);
      fixture_clear (&fixture);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/analyze/gives-what-counting-gives", test_gives_what_counting_gives);
  g_test_add_func ("/analyze/forgets-what-was-asked-before",
                   test_forgets_what_was_asked_before);
  return g_test_run ();
}
