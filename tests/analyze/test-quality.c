// SPDX-License-Identifier: GPL-3.0-or-later

/* How many stacks are complete, truncated or unnamed, for stacks with known ends. */

#include "fixture.h"

/* An application whose threads are whole, cut and without a user part, and a kernel thread. */
static void
fixture_init_ends (Fixture *fixture)
{
  ProcessId app, worker;

  fixture_init (fixture);
  app = fixture_add_process (fixture, 10, "app");
  worker = fixture_add_process (fixture, 2, "kworker");
  fixture_add_stack (fixture, app, 10, "_start main work", 10);
  fixture_add_stack (fixture, app, 10, "_start main read sys_[k]", 4);
  fixture_add_stack (fixture, app, 10, "memcpy", 3);
  fixture_add_stack (fixture, app, 10, "memcpy work", 2);
  fixture_add_stack (fixture, app, 10, "strlen", 4);
  fixture_add_stack (fixture, app, 10, "sys_[k]", 2);
  fixture_add_stack (fixture, app, 10, "", 1);
  fixture_add_stack (fixture, worker, 2, "fork_[k] loop_[k]", 5);
  fixture_add_stack (fixture, worker, 2, "loop_[k]", 6);

  g_array_index (fixture->processes, Process, worker).is_kernel = true;
  fixture_finish (fixture);
  fixture->symbols.row[fixture_find_symbol (fixture, "_start")].is_entry = true;
  fixture->symbols.row[fixture_find_symbol (fixture, "fork_[k]")].is_entry = true;
  fixture->symbols.row[fixture_find_symbol (fixture, "work")].reason = UNNAMED_NO_SYMBOLS;
  fixture->symbols.row[fixture_find_symbol (fixture, "strlen")].binary =
      sysprof_intern_string (&fixture->symbols.strings, "libc.so.6");
}

static void
test_counts_ends (void)
{
  Fixture fixture;
  StackWeights weights = { 0 };
  g_autoptr (Quality) quality = NULL;

  fixture_init_ends (&fixture);
  sysprof_stack_weights_fold (&weights, &fixture.store, &fixture.symbols, NULL, false);
  quality = sysprof_quality_new (&fixture.store, &fixture.symbols, &weights);

  g_assert_cmpuint (quality->total, ==, 37);
  g_assert_cmpuint (quality->whole, ==, 10 + 4 + 5);
  g_assert_cmpuint (quality->kernel_only, ==, 2);
  g_assert_cmpuint (quality->cut, ==, 3 + 2 + 4 + 6);
  g_assert_cmpuint (quality->empty, ==, 1);
  g_assert_cmpuint (quality->unnamed, ==, 12);
  g_assert_cmpuint (quality->by_reason[UNNAMED_NO_SYMBOLS], ==, 12);
  g_assert_cmpuint (quality->by_reason[UNNAMED_NOT], ==, 24);
  sysprof_stack_weights_clear (&weights);
  fixture_clear (&fixture);
}

static void
test_says_where_stacks_are_cut (void)
{
  static const struct
  {
    const char *binary;
    const char *outermost;
    uint64_t samples;
  } rows[] = {
    { "[kernel]", "loop_[k]", 6 },
    { "app", "memcpy", 5 },
    { "libc.so.6", "strlen", 4 },
  };
  Fixture fixture;
  StackWeights weights = { 0 };
  g_autoptr (Quality) quality = NULL;

  fixture_init_ends (&fixture);
  sysprof_stack_weights_fold (&weights, &fixture.store, &fixture.symbols, NULL, false);
  quality = sysprof_quality_new (&fixture.store, &fixture.symbols, &weights);

  g_assert_cmpuint (quality->n, ==, G_N_ELEMENTS (rows));
  for (uint32_t i = 0; i < quality->n; i++)
    {
      const QualityRow *row = &quality->row[i];

      g_assert_cmpstr (sysprof_intern_get (&fixture.symbols.strings, row->binary), ==,
                       rows[i].binary);
      g_assert_cmpstr (sysprof_symbol_name (&fixture.symbols, row->outermost), ==,
                       rows[i].outermost);
      g_assert_cmpuint (row->samples, ==, rows[i].samples);
      g_assert_cmpuint (row->end, ==, STACK_CUT);
    }
  sysprof_stack_weights_clear (&weights);
  fixture_clear (&fixture);
}

/* Without frame pointers the walk ends among numbers: the row is that of the last function before them. */
static void
test_puts_garbage_down_to_its_caller (void)
{
  Fixture fixture;
  ProcessId app;
  StackWeights weights = { 0 };
  g_autoptr (Quality) quality = NULL;

  fixture_init (&fixture);
  app = fixture_add_process (&fixture, 10, "app");
  fixture_add_stack (&fixture, app, 10, "[0x0] work", 3);
  fixture_add_stack (&fixture, app, 10, "[heap+0x10] [0x0] work sys_[k]", 4);
  fixture_add_stack (&fixture, app, 10, "[0x0] sys_[k]", 5);
  fixture_finish (&fixture);
  fixture.symbols.row[fixture_find_symbol (&fixture, "[0x0]")].binary = 0;
  fixture.symbols.row[fixture_find_symbol (&fixture, "[heap+0x10]")].binary =
      sysprof_intern_string (&fixture.symbols.strings, "[heap]");
  sysprof_stack_weights_fold (&weights, &fixture.store, &fixture.symbols, NULL, false);
  quality = sysprof_quality_new (&fixture.store, &fixture.symbols, &weights);

  g_assert_cmpuint (quality->cut, ==, 3 + 4 + 5);
  g_assert_cmpuint (quality->n, ==, 2);
  g_assert_cmpstr (sysprof_symbol_name (&fixture.symbols, quality->row[0].outermost), ==,
                   "work");
  g_assert_cmpuint (quality->row[0].samples, ==, 3 + 4);
  /* Behind the kernel's part there is nothing else to name. */
  g_assert_cmpstr (sysprof_symbol_name (&fixture.symbols, quality->row[1].outermost), ==,
                   "[0x0]");
  g_assert_cmpuint (quality->row[1].samples, ==, 5);
  sysprof_stack_weights_clear (&weights);
  fixture_clear (&fixture);
}

/* The end of one stack is that of the sums. */
static void
test_agrees_with_single_stacks (void)
{
  Fixture fixture;
  StackWeights weights = { 0 };
  uint64_t sums[4] = { 0 };
  g_autoptr (Quality) quality = NULL;

  fixture_init_ends (&fixture);
  sysprof_stack_weights_fold (&weights, &fixture.store, &fixture.symbols, NULL, false);
  quality = sysprof_quality_new (&fixture.store, &fixture.symbols, &weights);
  for (StackId i = 0; i < fixture.store.stacks.n; i++)
    sums[sysprof_stack_end (&fixture.store, &fixture.symbols, i)] += weights.self[i];

  g_assert_cmpuint (sums[STACK_WHOLE], ==, quality->whole);
  g_assert_cmpuint (sums[STACK_KERNEL_ONLY], ==, quality->kernel_only);
  g_assert_cmpuint (sums[STACK_CUT], ==, quality->cut);
  g_assert_cmpuint (sums[STACK_EMPTY], ==, quality->empty);
  sysprof_stack_weights_clear (&weights);
  fixture_clear (&fixture);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/quality/counts-ends", test_counts_ends);
  g_test_add_func ("/quality/says-where-stacks-are-cut", test_says_where_stacks_are_cut);
  g_test_add_func ("/quality/puts-garbage-down-to-its-caller",
                   test_puts_garbage_down_to_its_caller);
  g_test_add_func ("/quality/agrees-with-single-stacks", test_agrees_with_single_stacks);
  return g_test_run ();
}
