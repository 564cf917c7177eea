// SPDX-License-Identifier: GPL-3.0-or-later

/* Examples small enough to be checked on paper, for each shape of tree and each table. */

#include "fixture.h"

/* "label self total(children…)" in the order of siblings. */
static void
describe (GString *text, const Fixture *fixture, const CallTree *tree, CallNodeId node)
{
  g_autofree char *label =
      sysprof_call_tree_dup_label (tree, &fixture->store, &fixture->symbols, node);

  g_string_append_printf (text, "%s %" G_GUINT64_FORMAT "/%" G_GUINT64_FORMAT, label,
                          tree->self[node], tree->total[node]);
  if (tree->first_child[node] == 0)
    return;

  g_string_append (text, " (");
  for (CallNodeId child = tree->first_child[node]; child != 0;
       child = tree->next_sibling[child])
    {
      describe (text, fixture, tree, child);
      g_string_append (text, tree->next_sibling[child] != 0 ? ", " : ")");
    }
}

static void
assert_tree (const Fixture *fixture, Shape shape, const char *expected)
{
  g_autoptr (CallTree) tree = NULL;
  g_autoptr (GString) text = g_string_new (NULL);
  StackWeights weights = { 0 };

  sysprof_stack_weights_fold (&weights, &fixture->store, &fixture->symbols, NULL,
                              shape.threads);
  tree = sysprof_call_tree_new (&fixture->store, &fixture->symbols, &weights, &shape);
  describe (text, fixture, tree, 0);
  g_assert_cmpstr (text->str, ==, expected);
  sysprof_stack_weights_clear (&weights);
}

/* Two shells with one comm, and an editor; main → work → read → the kernel. */
static void
fixture_init_example (Fixture *fixture)
{
  ProcessId shell, other_shell, editor;

  fixture_init (fixture);
  shell = fixture_add_process (fixture, 10, "sh");
  other_shell = fixture_add_process (fixture, 20, "sh");
  editor = fixture_add_process (fixture, 30, "vi");
  fixture_add_stack (fixture, shell, 10, "main work", 2);
  fixture_add_stack (fixture, shell, 11, "main work read sys_[k]", 3);
  fixture_add_stack (fixture, other_shell, 20, "main read sys_[k]", 1);
  fixture_add_stack (fixture, editor, 30, "main work work work read", 5);
  fixture_add_stack (fixture, editor, 30, "", 1);
  fixture_finish (fixture);
}

static void
test_merges_stacks (void)
{
  Fixture fixture;

  fixture_init_example (&fixture);
  assert_tree (&fixture, (Shape){ 0 },
               "All Processes 0/12 ("
               "vi 1/6 (main 0/5 (work 0/5 (work 0/5 (work 0/5 (read 5/5))))), "
               "sh 0/5 (main 0/5 (work 2/5 (read 0/3 (sys_[k] 3/3)))), "
               "sh 0/1 (main 0/1 (read 0/1 (sys_[k] 1/1))))");
  assert_tree (&fixture,
               (Shape){ .merge_processes = true, .no_kernel = true, .fold_recursion = true },
               "All Processes 0/12 ("
               "sh 0/6 (main 0/6 (work 2/5 (read 3/3), read 1/1)), "
               "vi 1/6 (main 0/5 (work 0/5 (read 5/5))))");
  assert_tree (
      &fixture, (Shape){ .threads = true, .no_kernel = true },
      "All Processes 0/12 ("
      "vi 0/6 (Thread 30 1/6 (main 0/5 (work 0/5 (work 0/5 (work 0/5 (read 5/5)))))), "
      "sh 0/5 (Thread 11 0/3 (main 0/3 (work 0/3 (read 3/3))), Thread 10 0/2 (main 0/2 (work 2/2))), "
      "sh 0/1 (Thread 20 0/1 (main 0/1 (read 1/1))))");
  assert_tree (&fixture,
               (Shape){ .no_processes = true, .no_kernel = true, .fold_recursion = true },
               "All Processes 1/12 (main 0/11 (work 2/10 (read 8/8), read 1/1))");
  fixture_clear (&fixture);
}

static void
test_turns_stacks_round (void)
{
  Fixture fixture;

  fixture_init_example (&fixture);
  assert_tree (
      &fixture, (Shape){ .bottom_up = true, .merge_processes = true, .fold_recursion = true },
      "All Processes 0/12 ("
      "sh 0/6 (sys_[k] 0/4 (read 0/4 (work 0/3 (main 3/3), main 1/1)), work 0/2 (main 2/2)), "
      "vi 1/6 (read 0/5 (work 0/5 (main 5/5))))");
  fixture_clear (&fixture);
}

static void
test_focuses (void)
{
  Fixture fixture;

  fixture_init_example (&fixture);
  /* Over all processes; of a recursion the outermost call, so that its depth shows. */
  assert_tree (
      &fixture, (Shape){ .focus = "work" },
      "All Processes 0/10 (work 2/10 (work 0/5 (work 0/5 (read 5/5)), read 0/3 (sys_[k] 3/3)))");
  /* No function of that name: all that contain it, case ignored. */
  assert_tree (&fixture, (Shape){ .focus = "EA", .no_kernel = true },
               "All Processes 0/9 (read 9/9)");
  assert_tree (
      &fixture,
      (Shape){ .focus = "read", .bottom_up = true, .no_kernel = true, .fold_recursion = true },
      "All Processes 0/9 (read 0/9 (work 0/8 (main 8/8), main 1/1))");
  assert_tree (&fixture, (Shape){ .focus = "sys_[k]", .no_kernel = true }, "All Processes 0/0");
  assert_tree (&fixture, (Shape){ .focus = "nowhere" }, "All Processes 0/0");
  fixture_clear (&fixture);
}

static void
assert_table (const Fixture *fixture, const FunctionTable *table, const char *expected)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (uint32_t i = 0; i < table->n; i++)
    g_string_append_printf (text, "%s %" G_GUINT64_FORMAT "/%" G_GUINT64_FORMAT " ",
                            sysprof_symbol_name (&fixture->symbols, table->row[i].symbol),
                            table->row[i].self, table->row[i].total);
  g_assert_cmpstr (text->str, ==, expected);
}

static void
test_lists_functions (void)
{
  Fixture fixture;
  StackWeights weights = { 0 };
  Shape shape = { .focus = "work" };
  g_autoptr (FunctionTable) functions = NULL;
  g_autoptr (FunctionTable) user_functions = NULL;
  g_autoptr (FunctionTable) callers = NULL;
  g_autoptr (FunctionTable) callees = NULL;

  fixture_init_example (&fixture);
  sysprof_stack_weights_fold (&weights, &fixture.store, NULL, NULL, false);

  functions = sysprof_functions_new (&fixture.store, &fixture.symbols, &weights, NULL);
  assert_table (&fixture, functions, "read 5/9 sys_[k] 4/4 work 2/10 main 0/11 ");
  g_assert_cmpuint (functions->total, ==, 12);
  user_functions = sysprof_functions_new (&fixture.store, &fixture.symbols, &weights,
                                          &(Shape){ .no_kernel = true });
  assert_table (&fixture, user_functions, "read 9/9 work 2/10 main 0/11 ");

  /* work calls itself in 5 of its 10; it is innermost in 2, both called from main. */
  callers = sysprof_callers_new (&fixture.store, &fixture.symbols, &weights, &shape);
  assert_table (&fixture, callers, "main 2/10 work 0/5 ");
  callees = sysprof_callees_new (&fixture.store, &fixture.symbols, &weights, &shape);
  assert_table (&fixture, callees, "read 5/8 work 0/5 ");

  sysprof_stack_weights_clear (&weights);
  fixture_clear (&fixture);
}

static void
test_lays_out (void)
{
  Fixture fixture;
  StackWeights weights = { 0 };
  Shape shape = { .no_processes = true };
  g_autoptr (CallTree) tree = NULL;
  g_autoptr (FlameLayout) by_name = NULL;
  g_autoptr (FlameLayout) by_weight = NULL;
  g_autoptr (FlameLayout) wide = NULL;
  ProcessId process;

  fixture_init (&fixture);
  process = fixture_add_process (&fixture, 10, "sh");
  fixture_add_stack (&fixture, process, 10, "a z", 7);
  fixture_add_stack (&fixture, process, 10, "a b", 2);
  fixture_add_stack (&fixture, process, 10, "a", 1);
  fixture_finish (&fixture);
  sysprof_stack_weights_fold (&weights, &fixture.store, NULL, NULL, false);
  tree = sysprof_call_tree_new (&fixture.store, &fixture.symbols, &weights, &shape);

  by_name = sysprof_flame_layout_new (tree, &fixture.store, &fixture.symbols, false, 0);
  g_assert_cmpuint (by_name->n, ==, 4);
  g_assert_cmpuint (by_name->max_depth, ==, 2);
  g_assert_cmpuint (by_name->width[0], ==, 10);
  g_assert_cmpuint (tree->total[by_name->node[2]], ==, 2); /* b before z */
  g_assert_cmpuint (by_name->x[2], ==, 0);
  g_assert_cmpuint (by_name->x[3], ==, 2);

  by_weight = sysprof_flame_layout_new (tree, &fixture.store, &fixture.symbols, true, 0);
  g_assert_cmpuint (tree->total[by_weight->node[2]], ==, 7);
  g_assert_cmpuint (by_weight->x[2], ==, 0);
  g_assert_cmpuint (by_weight->x[3], ==, 7);

  /* Blocks that are too narrow leave a gap. */
  wide = sysprof_flame_layout_new (tree, &fixture.store, &fixture.symbols, false, 3);
  g_assert_cmpuint (wide->n, ==, 3);
  g_assert_cmpuint (wide->x[2], ==, 2);

  sysprof_stack_weights_clear (&weights);
  fixture_clear (&fixture);
}

static void
test_answers_without_samples (void)
{
  Fixture fixture;
  StackWeights weights = { 0 };
  g_autoptr (CallTree) tree = NULL;
  g_autoptr (FunctionTable) functions = NULL;
  g_autoptr (FlameLayout) layout = NULL;
  g_autoptr (Quality) quality = NULL;

  fixture_init (&fixture);
  fixture_finish (&fixture);
  sysprof_stack_weights_fold (&weights, &fixture.store, &fixture.symbols, NULL, true);
  tree = sysprof_call_tree_new (&fixture.store, &fixture.symbols, &weights, NULL);
  functions = sysprof_functions_new (&fixture.store, &fixture.symbols, &weights, NULL);
  layout = sysprof_flame_layout_new (tree, &fixture.store, &fixture.symbols, false, 0);
  quality = sysprof_quality_new (&fixture.store, &fixture.symbols, &weights);
  g_assert_cmpuint (tree->n, ==, 1);
  g_assert_cmpuint (functions->n, ==, 0);
  g_assert_cmpuint (layout->n, ==, 1);
  g_assert_cmpuint (quality->total, ==, 0);
  sysprof_stack_weights_clear (&weights);
  fixture_clear (&fixture);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/shapes/merges-stacks", test_merges_stacks);
  g_test_add_func ("/shapes/turns-stacks-round", test_turns_stacks_round);
  g_test_add_func ("/shapes/focuses", test_focuses);
  g_test_add_func ("/shapes/lists-functions", test_lists_functions);
  g_test_add_func ("/shapes/lays-out", test_lays_out);
  g_test_add_func ("/shapes/answers-without-samples", test_answers_without_samples);
  return g_test_run ();
}
