// SPDX-License-Identifier: GPL-3.0-or-later

/* As deep and as wide as captures get, on a thread whose stack is too small for recursion. */

#include "fixture.h"

#include <pthread.h>

#define DEPTH      8000
#define N_CHAINS   125        /* a million stacks together */
#define STACK_SIZE (64 << 10) /* bytes: 8,000 levels would need 8 bytes each */

static void *
answer_everything (void *data)
{
  Fixture *fixture = data;

  for (uint32_t bits = 0; bits < 8; bits++)
    {
      Shape shape = {
        .bottom_up = bits & 1,
        .threads = bits & 2,
        .focus = bits & 4 ? "f0" : NULL,
      };
      StackWeights weights = { 0 };
      g_autoptr (CallTree) tree = NULL;
      g_autoptr (FlameLayout) layout = NULL;
      g_autoptr (FunctionTable) functions = NULL;
      uint32_t n_levels = shape.focus != NULL ? 0 : shape.threads ? 2 : 1;

      sysprof_stack_weights_fold (&weights, &fixture->store, &fixture->symbols, NULL, true);
      tree = sysprof_call_tree_new (&fixture->store, &fixture->symbols, &weights, &shape);
      layout = sysprof_flame_layout_new (tree, &fixture->store, &fixture->symbols, false, 0);
      functions = sysprof_functions_new (&fixture->store, &fixture->symbols, &weights, NULL);

      g_assert_cmpuint (tree->total[0], ==, N_CHAINS);
      if (shape.focus == NULL)
        g_assert_cmpuint (layout->max_depth, ==, DEPTH + n_levels);
      g_assert_cmpuint (functions->n, ==, 3);
      for (uint32_t i = 0; i < functions->n; i++)
        g_assert_cmpuint (functions->row[i].total, ==, N_CHAINS);
      sysprof_stack_weights_clear (&weights);
    }
  return NULL;
}

static void
test_does_not_recurse (void)
{
  pthread_attr_t attributes;
  pthread_t thread;
  Fixture fixture;
  AddressId functions[3];

  fixture_init (&fixture);
  for (uint32_t i = 0; i < 3; i++)
    {
      g_autofree char *name = g_strdup_printf ("f%u", i);

      functions[i] = fixture_add_address (
          &fixture, fixture_add_symbol (&fixture, name, "app", SYMBOL_USER), ADDRESS_USER);
    }
  for (uint32_t i = 0; i < N_CHAINS; i++)
    fixture_add_process (&fixture, (int32_t) i, "deep");
  for (uint32_t i = 0; i < N_CHAINS; i++)
    {
      PlainSample sample = { .process = i + 1,
                             .tid = (int32_t) i,
                             .weight = 1,
                             .n = DEPTH,
                             .addresses = g_new (AddressId, DEPTH) };

      for (uint32_t j = 0; j < DEPTH; j++)
        sample.addresses[j] = functions[j % 3];
      fixture_add_sample (&fixture, sample);
    }
  fixture_finish (&fixture);
  g_assert_cmpuint (fixture.store.stacks.n, ==, 1 + N_CHAINS + DEPTH * N_CHAINS);

  g_assert_cmpint (pthread_attr_init (&attributes), ==, 0);
  g_assert_cmpint (pthread_attr_setstacksize (&attributes, STACK_SIZE), ==, 0);
  g_assert_cmpint (pthread_create (&thread, &attributes, answer_everything, &fixture), ==, 0);
  g_assert_cmpint (pthread_join (thread, NULL), ==, 0);
  pthread_attr_destroy (&attributes);
  fixture_clear (&fixture);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/deep/does-not-recurse", test_does_not_recurse);
  return g_test_run ();
}
