// SPDX-License-Identifier: GPL-3.0-or-later

/* Long folds end soon after they were canceled from another thread. The tests measure how much
 * work was done afterwards, not how long it took. Incomplete results are not kept. */

#include "fixture.h"

#include <pthread.h>

#define DEPTH    4000
#define N_CHAINS 100    /* 400 thousand stacks together */
#define STEP     0x4000 /* items between two looks, as analyze/fold/work.h has it */

typedef struct
{
  const Fixture *fixture;
  Shape shape;
  FoldWork work;
  bool is_table;
  Refold *refold;
} Folding;

static void
fixture_init_large (Fixture *self)
{
  AddressId functions[3];

  fixture_init (self);
  for (uint32_t i = 0; i < G_N_ELEMENTS (functions); i++)
    {
      g_autofree char *name = g_strdup_printf ("f%u", i);

      functions[i] = fixture_add_address (
          self, fixture_add_symbol (self, name, "app", SYMBOL_USER), ADDRESS_USER);
    }
  for (uint32_t i = 0; i < N_CHAINS; i++)
    {
      PlainSample sample = { .process = fixture_add_process (self, (int32_t) i, "deep"),
                             .tid = (int32_t) i,
                             .weight = 1,
                             .n = DEPTH,
                             .addresses = g_new (AddressId, DEPTH) };

      for (uint32_t j = 0; j < DEPTH; j++)
        sample.addresses[j] = functions[(i + j) % 3];
      fixture_add_sample (self, sample);
    }
  fixture_finish (self);
}

static void *
fold (void *data)
{
  Folding *self = data;
  const Store *store = &self->fixture->store;
  const SymbolTable *symbols = &self->fixture->symbols;

  self->refold =
      self->is_table
          ? sysprof_refold_new_table (store, symbols, NULL, FOLD_FUNCTIONS, NULL, &self->work)
          : sysprof_refold_new_tree (store, symbols, NULL, &self->shape, &self->work);
  return NULL;
}

static uint64_t
n_done (const Folding *folding)
{
  return __atomic_load_n (&folding->work.n_done, __ATOMIC_RELAXED);
}

/* Cancels after this much work. FALSE if all was done before. */
static bool
cancel_after (Folding *folding, uint64_t n)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  pthread_t thread;
  uint64_t at_cancel;
  bool is_cut;

  folding->work = (FoldWork){ .cancellable = cancellable };
  g_assert_cmpint (pthread_create (&thread, NULL, fold, folding), ==, 0);
  while (n_done (folding) < n)
    g_thread_yield ();
  g_cancellable_cancel (cancellable);
  at_cancel = n_done (folding);
  g_assert_cmpint (pthread_join (thread, NULL), ==, 0);

  is_cut = folding->refold == NULL;
  if (is_cut)
    /* Folding one single stack is not interrupted. */
    g_assert_cmpuint (n_done (folding), <=, at_cancel + STEP + DEPTH);
  sysprof_refold_free (folding->refold);
  return is_cut;
}

static void
test_ends_when_cancelled (void)
{
  Fixture fixture;
  uint32_t n_cut = 0;

  fixture_init_large (&fixture);
  for (uint32_t kind = 0; kind < 4; kind++)
    {
      Folding folding = {
        .fixture = &fixture,
        .shape = { .bottom_up = kind == 1, .threads = kind == 2 },
        .is_table = kind == 3,
      };
      uint64_t n_all;

      (void) fold (&folding);
      n_all = n_done (&folding);
      g_assert_cmpuint (n_all, >=, (uint64_t) DEPTH * N_CHAINS);
      g_clear_pointer (&folding.refold, sysprof_refold_free);

      /* A busy machine may let the worker finish first, but hardly each time. */
      for (uint64_t part = 0; part < 4; part++)
        n_cut += cancel_after (&folding, n_all * part / 5);
    }
  g_assert_cmpuint (n_cut, >, 0);
  fixture_clear (&fixture);
}

/* A selection that was cut short leaves nothing selected, and the next one is whole. */
static void
test_selects_nothing_when_cancelled (void)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  FoldWork work = { .cancellable = cancellable };
  g_autoptr (Refold) refold = NULL;
  Fixture fixture;

  fixture_init_large (&fixture);
  refold = sysprof_refold_new_tree (&fixture.store, &fixture.symbols, NULL, NULL, NULL);
  g_assert_true (sysprof_refold_select (refold, NULL, &work));
  g_assert_cmpuint (sysprof_refold_get_weight (refold), ==, N_CHAINS);
  g_cancellable_cancel (cancellable);
  g_assert_false (sysprof_refold_select (refold, NULL, &work));
  g_assert_cmpuint (sysprof_refold_get_weight (refold), ==, 0);
  g_assert_cmpuint (sysprof_refold_get_total (refold, 0), ==, 0);
  g_assert_true (sysprof_refold_select (refold, NULL, NULL));
  g_assert_cmpuint (sysprof_refold_get_total (refold, 0), ==, N_CHAINS);
  fixture_clear (&fixture);
}

/* So few that no loop checks for cancellation, except sorting by name. */
static void
test_delivers_nothing_when_cancelled (void)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  FoldWork work = { .cancellable = cancellable };
  AddressId stack[2];
  Fixture fixture;

  fixture_init (&fixture);
  for (uint32_t i = 0; i < G_N_ELEMENTS (stack); i++)
    stack[i] = fixture_add_address (
        &fixture, fixture_add_symbol (&fixture, i == 0 ? "a" : "b", "app", SYMBOL_USER),
        ADDRESS_USER);
  fixture_add_sample (&fixture,
                      (PlainSample){ .process = fixture_add_process (&fixture, 1, "c"),
                                     .tid = 1,
                                     .weight = 1,
                                     .n = G_N_ELEMENTS (stack),
                                     .addresses = g_memdup2 (stack, sizeof stack) });
  fixture_finish (&fixture);

  for (uint32_t kind = 0; kind < 4; kind++)
    {
      Folding folding = {
        .fixture = &fixture,
        .shape = { .bottom_up = kind == 1, .threads = kind == 2 },
        .work = work,
        .is_table = kind == 3,
      };

      g_cancellable_reset (cancellable);
      (void) fold (&folding);
      g_assert_nonnull (folding.refold);
      g_clear_pointer (&folding.refold, sysprof_refold_free);

      g_cancellable_cancel (cancellable);
      (void) fold (&folding);
      g_assert_null (folding.refold);
    }
  fixture_clear (&fixture);
}

/* A store keeps which event freed which allocation, but never a result that was cut short. */
static void
test_keeps_only_whole_pairs (void)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  FrameNo frames[] = { 0, 1, 2 };
  int32_t pids[] = { 1, 2, 1 };
  uint64_t addresses[] = { 16, 16, 16 };
  uint32_t allocations[] = { 0, 1, NO_ALLOCATION };
  Store store = { .frames.pid = pids,
                  .frames_of_type[14].frame = frames,
                  .heap = { .address = addresses, .allocation = allocations, .n = 3 } };
  const uint32_t *freed;

  g_cancellable_cancel (cancellable);
  g_cancellable_push_current (cancellable);
  g_assert_null (sysprof_heap_get_freed (&store));
  g_cancellable_pop_current (cancellable);

  freed = sysprof_heap_get_freed (&store);
  g_assert_cmpuint (freed[0], ==, 0);
  g_assert_cmpuint (freed[1], ==, 0);
  g_assert_cmpuint (freed[2], ==, 1);
  g_assert_true (sysprof_heap_get_freed (&store) == freed);
  g_free (store.heap.freed);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cancel/delivers-nothing-when-cancelled",
                   test_delivers_nothing_when_cancelled);
  g_test_add_func ("/cancel/ends-when-cancelled", test_ends_when_cancelled);
  g_test_add_func ("/cancel/selects-nothing-when-cancelled",
                   test_selects_nothing_when_cancelled);
  g_test_add_func ("/cancel/keeps-only-whole-pairs", test_keeps_only_whole_pairs);
  return g_test_run ();
}
