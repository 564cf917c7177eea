// SPDX-License-Identifier: GPL-3.0-or-later

/* Categories: what rules are, which one counts, and what is handed down. */

#include "fixture.h"

#include <glib/gstdio.h>

static CategoryRules *
read_rules (const char *text, GPtrArray *complaints)
{
  CategoryRules *rules = sysprof_category_rules_new ();

  sysprof_category_rules_read (rules, sysprof_text_from_string (text), "rules", complaints);
  return rules;
}

static void
test_first_rule_counts (void)
{
  g_autoptr (GPtrArray) complaints = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (CategoryRules) rules = read_rules ("# a comment\n"
                                                "\n"
                                                "paint libgtk-4 gtk_*_snapshot inherit # why\n"
                                                "\tio\t\"libgtk-4\"\tgtk_* \r\n"
                                                "memory * \"operator new*\"\n"
                                                "css lib?.so *",
                                                complaints);
  static const struct
  {
    const char *binary;
    const char *function;
    unsigned found;
  } cases[] = {
    { "libgtk-4.so.1.800.3", "gtk_button_snapshot", CATEGORY_PAINT | CATEGORY_IS_INHERITED },
    { "libgtk-4", "gtk__snapshot", CATEGORY_PAINT | CATEGORY_IS_INHERITED },
    { "libgtk-4.so.1", "gtk_button_snapshots", CATEGORY_IO },
    { "libgtk-4.so.1", "Gtk_button", CATEGORY_NONE },
    { "libgtk-40.so.1", "gtk_button", CATEGORY_NONE },
    { "anything", "operator new(unsigned long)", CATEGORY_MEMORY },
    { "", "operator new", CATEGORY_MEMORY },
    { "liba.so", "", CATEGORY_CSS },
    { "liba.so.1", "x", CATEGORY_NONE },
    { "libab.so", "x", CATEGORY_NONE },
  };

  g_assert_cmpuint (complaints->len, ==, 0);
  g_assert_cmpuint (sysprof_category_rules_n (rules), ==, 4);
  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_test_message ("%s %s", cases[i].binary, cases[i].function);
      g_assert_cmpuint (sysprof_category_rules_find (rules, cases[i].binary, cases[i].function),
                        ==, cases[i].found);
    }
}

static void
test_says_what_is_no_rule (void)
{
  g_autofree char *long_name = g_strnfill (257, 'x');
  g_autofree char *long_rule = g_strdup_printf ("io x %s", long_name);
  const struct
  {
    const char *text;
    const char *complaint;
  } cases[] = {
    { "io x x\npant x x\n", "rules:2: There is no category 'pant'; write 'paint'?*" },
    { "zzzzzzzz x x", "rules:1: There is no category 'zzzzzzzz'; 'paint', *" },
    { "\x01\xff* x x", "rules:1: There is no category '?\xef\xbf\xbd*'*" },
    { "io x", "rules:1: A rule is a category, a binary, *" },
    { "io", "rules:1: A rule is *" },
    { "io x x inherits", "rules:1: A rule is *" },
    { "io x x inherit x", "rules:1: A rule is *" },
    { "io \"x x", "rules:1: A name begins with a \" and has no second one*" },
    { "io \"\" x", "rules:1: The name of the binary has 0 bytes*" },
    { long_rule, "rules:1: The name of the function has 257 bytes*" },
  };

  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GPtrArray) complaints = g_ptr_array_new_with_free_func (g_free);
      g_autoptr (CategoryRules) rules = read_rules (cases[i].text, complaints);
      const char *complaint = complaints->len > 0 ? complaints->pdata[0] : "nothing";

      g_assert_cmpuint (complaints->len, ==, 1);
      g_test_message ("%s", complaint);
      g_assert_true (g_pattern_match_simple (cases[i].complaint, complaint));
      g_assert_true (g_str_has_suffix (complaint, " The line is left out."));
      g_assert_cmpuint (sysprof_category_rules_n (rules), ==, i == 0);
    }
}

static void
test_complains_of_few_lines (void)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (GPtrArray) complaints = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (CategoryRules) rules = NULL;

  for (unsigned i = 0; i < 1000; i++)
    g_string_append (text, "what is that\n");
  rules = read_rules (text->str, complaints);
  g_assert_cmpuint (complaints->len, ==, 11);
  g_assert_cmpstr (complaints->pdata[10], ==,
                   "rules: 990 more lines are no rules and are left out, too.");
}

static void
test_has_an_end (void)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (GPtrArray) complaints = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (CategoryRules) rules = NULL;

  for (unsigned i = 0; i < 70000; i++)
    g_string_append (text, "io x x\n");
  rules = read_rules (text->str, complaints);
  g_assert_cmpuint (sysprof_category_rules_n (rules), ==, 65536);
  g_assert_true (g_str_has_prefix (complaints->pdata[0], "rules:65537: There are 65536 rules"));
}

static void
test_own_rules_come_first (void)
{
  g_autofree char *path = sysprof_category_rules_dup_path ();
  g_autofree char *folder = g_path_get_dirname (path);
  g_autoptr (GPtrArray) complaints = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (CategoryRules) built_in = sysprof_category_rules_load (complaints);
  g_autoptr (CategoryRules) both = NULL;
  g_autofree char *start = g_strdup_printf ("%s:2: ", path);

  g_assert_true (g_str_has_prefix (path, g_get_user_config_dir ()));
  g_assert_cmpuint (complaints->len, ==,
                    0); /* those that are built in are rules, all of them */
  g_assert_cmpuint (sysprof_category_rules_n (built_in), >, 200);
  g_assert_cmpuint (sysprof_category_rules_find (built_in, "libc.so.6", "malloc"), ==,
                    CATEGORY_MEMORY);

  g_assert_cmpint (g_mkdir_with_parents (folder, 0700), ==, 0);
  g_assert_true (g_file_set_contents (path, "actions libc malloc\nbad\n", -1, NULL));
  both = sysprof_category_rules_load (complaints);
  g_assert_cmpuint (complaints->len, ==, 1);
  g_assert_true (g_str_has_prefix (complaints->pdata[0], start));
  g_assert_cmpuint (sysprof_category_rules_n (both), ==,
                    sysprof_category_rules_n (built_in) + 1);
  g_assert_cmpuint (sysprof_category_rules_find (both, "libc.so.6", "malloc"), ==,
                    CATEGORY_ACTIONS);
  g_assert_cmpuint (sysprof_category_rules_find (both, "libc.so.6", "free"), ==,
                    CATEGORY_MEMORY);

  g_assert_cmpint (g_remove (path), ==, 0);
  g_assert_cmpint (g_mkdir (path, 0700), ==, 0);
  sysprof_category_rules_free (sysprof_category_rules_load (complaints));
  g_assert_cmpuint (complaints->len, ==, 2);
  g_assert_nonnull (strstr (complaints->pdata[1], "it is no file"));
  g_assert_cmpint (g_rmdir (path), ==, 0);
}

/* --- handing down --- */

/* Instead of those that are built in. */
static void
set_rules (Fixture *fixture, const char *text)
{
  g_autoptr (CategoryRules) rules = read_rules (text, NULL);

  fixture->symbols.categories = sysprof_category_rules_apply (rules, &fixture->symbols);
}

static Category
category_of_path (const Fixture *fixture,
                  const CallTree *tree,
                  const uint8_t *category,
                  const char *path)
{
  g_auto (GStrv) names = g_strsplit (path, " ", -1);
  CallNodeId node = 0;

  for (char **name = names; *name != NULL; name++)
    {
      CallNodeId child = tree->first_child[node];

      for (; child != 0; child = tree->next_sibling[child])
        {
          g_autofree char *label =
              sysprof_call_tree_dup_label (tree, &fixture->store, &fixture->symbols, child);

          if (g_str_equal (label, *name))
            break;
        }
      if (child == 0)
        g_error ("no '%s' in '%s'", *name, path);
      node = child;
    }
  return (Category) category[node];
}

/* The rules that are built in call reading and writing I/O, and not what computes. */
static void
test_computing_is_no_io (void)
{
  static const struct
  {
    const char *binary;
    const char *function;
    bool is_io;
  } cases[] = {
    { "libsqlite3.so.0", "sqlite3BtreeIndexMoveto", false },
    { "libsqlite3.so.0", "sqlite3VdbeSorterWrite", false },
    { "libz.so.1", "inflate_fast", false },
    { "libzstd.so.1", "ZSTD_compressBlock_fast", false },
    { "libcrypto.so.3", "sha512_block_data_order", false },
    { "libc.so.6", "__vfprintf_internal", false },
    { "libc.so.6", "_IO_default_xsputn", false },
    { "libc.so.6", "qsort", false },
    { "libc.so.6", "read", true },
    { "libc.so.6", "fsync", true },
    { "libc.so.6", "_IO_new_file_write", true },
    { "[kernel]", "vfs_read", true },
    { "[kernel]", "ext4_sync_file", true },
    { "[kernel]", "submit_bio", true },
  };
  CategoryRules *rules = sysprof_category_rules_load (NULL);

  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      uint8_t found = sysprof_category_rules_find (rules, cases[i].binary, cases[i].function);

      g_test_message ("%s %s", cases[i].binary, cases[i].function);
      g_assert_cmpint ((found & 0x7f) == CATEGORY_IO, ==, cases[i].is_io);
      if (cases[i].binary[0] != '[')
        g_assert_cmpint (found, !=, CATEGORY_IO | CATEGORY_IS_INHERITED);
    }
  sysprof_category_rules_free (rules);
}

static void
test_hands_down (void)
{
  static const char rules[] = "paint app paint inherit\n"
                              "io [kernel] read*\n"
                              "layout app text inherit\n"
                              "memory app malloc\n";
  static const struct
  {
    const char *path;
    Category category;
  } cases[] = {
    { "app", CATEGORY_NONE },
    { "app main", CATEGORY_UNCATEGORIZED },
    { "app main paint", CATEGORY_PAINT },
    { "app main paint draw", CATEGORY_PAINT },
    { "app main paint draw malloc", CATEGORY_MEMORY },
    { "app main paint draw malloc brk", CATEGORY_PAINT }, /* malloc keeps its own to itself */
    { "app main paint text", CATEGORY_LAYOUT },
    { "app main paint text draw", CATEGORY_LAYOUT },
    { "app main paint sys_[k]", CATEGORY_PAINT },
    { "app main sys_[k]", CATEGORY_KERNEL },
    { "app main sys_[k] read_[k]", CATEGORY_IO },
    { "app main sys_[k] read_[k] copy_[k]", CATEGORY_KERNEL },
  };
  static const Shape top_down = { 0 }, bottom_up = { .bottom_up = true };
  StackWeights weights = { 0 };
  g_autoptr (CallTree) tree = NULL;
  g_autoptr (CallTree) reversed = NULL;
  g_autofree uint8_t *category = NULL;
  g_autofree uint8_t *of_reversed = NULL;
  Fixture fixture;
  ProcessId process;

  fixture_init (&fixture);
  process = fixture_add_process (&fixture, 1, "app");
  fixture_add_stack (&fixture, process, 1, "main paint draw malloc brk", 1);
  fixture_add_stack (&fixture, process, 1, "main paint text draw", 1);
  fixture_add_stack (&fixture, process, 1, "main paint sys_[k]", 1);
  fixture_add_stack (&fixture, process, 1, "main sys_[k] read_[k] copy_[k]", 1);
  fixture_finish (&fixture);
  set_rules (&fixture, rules);

  sysprof_stack_weights_fold (&weights, &fixture.store, &fixture.symbols, NULL, false);
  tree = sysprof_call_tree_new (&fixture.store, &fixture.symbols, &weights, &top_down);
  category = sysprof_call_tree_categorize (tree, &fixture.symbols, &top_down);
  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_test_message ("%s", cases[i].path);
      g_assert_cmpstr (sysprof_category_to_string (
                           category_of_path (&fixture, tree, category, cases[i].path)),
                       ==, sysprof_category_to_string (cases[i].category));
    }

  reversed = sysprof_call_tree_new (&fixture.store, &fixture.symbols, &weights, &bottom_up);
  of_reversed = sysprof_call_tree_categorize (reversed, &fixture.symbols, &bottom_up);
  g_assert_cmpint (category_of_path (&fixture, reversed, of_reversed, "app draw text paint"),
                   ==, CATEGORY_PAINT);
  g_assert_cmpint (category_of_path (&fixture, reversed, of_reversed, "app draw"), ==,
                   CATEGORY_UNCATEGORIZED);
  sysprof_stack_weights_clear (&weights);
  fixture_clear (&fixture);
}

/* The slow way: for each sample from its outermost function inwards. */
static Category
category_of_sample (const Fixture *fixture,
                    const CategoryRules *rules,
                    const PlainSample *sample,
                    bool no_kernel)
{
  uint8_t handed_down = CATEGORY_NONE;
  Category answer = CATEGORY_UNWINDABLE;

  for (uint32_t i = 0; i < sample->n; i++)
    {
      SymbolId symbol = fixture->symbols.of_address[sample->addresses[i]];
      SymbolKind kind = (SymbolKind) fixture->symbols.row[symbol].kind;
      const char *binary = kind == SYMBOL_KERNEL ? "[kernel]"
                           : kind == SYMBOL_JIT
                               ? "[jit]"
                               : sysprof_symbol_binary (&fixture->symbols, symbol);
      uint8_t found = sysprof_category_rules_find (
          rules, binary, sysprof_symbol_name (&fixture->symbols, symbol));

      if (no_kernel && kind == SYMBOL_KERNEL)
        continue;
      if (found != 0)
        answer = (Category) (found & 0x7f);
      else if (handed_down != 0)
        answer = (Category) handed_down;
      else
        answer = kind == SYMBOL_KERNEL   ? CATEGORY_KERNEL
                 : kind == SYMBOL_MARKER ? CATEGORY_UNWINDABLE
                                         : CATEGORY_UNCATEGORIZED;
      if (found & 0x80)
        handed_down = found & 0x7f;
    }
  return answer;
}

static void
test_counts_samples (void)
{
  static const char text[] = "paint libc read inherit\nmemory * *alloc*\nio [kernel] *\n"
                             "css libglib* *\nlayout app main inherit\n";
  g_autoptr (CategoryRules) rules = read_rules (text, NULL);

  for (uint32_t seed = 1; seed <= 20; seed++)
    for (unsigned no_kernel = 0; no_kernel < 2; no_kernel++)
      {
        Shape shape = { .no_kernel = no_kernel };
        uint64_t expected[N_CATEGORIES] = { 0 }, found[N_CATEGORIES] = { 0 };
        StackWeights weights = { 0 };
        g_autofree uint8_t *category = NULL;
        Fixture fixture;

        g_test_message ("seed %u", seed);
        fixture_init_random (&fixture, seed);
        set_rules (&fixture, text);
        for (uint32_t i = 0; i < fixture.samples->len; i++)
          {
            const PlainSample *sample = &g_array_index (fixture.samples, PlainSample, i);

            expected[category_of_sample (&fixture, rules, sample, no_kernel)] += sample->weight;
          }

        sysprof_stack_weights_fold (&weights, &fixture.store, &fixture.symbols, NULL, false);
        category = sysprof_stacks_categorize (&fixture.store, &fixture.symbols, &shape);
        for (StackId i = 0; i < fixture.store.stacks.n; i++)
          found[category[i]] += weights.self[i];
        g_assert_cmpmem (found, sizeof found, expected, sizeof expected);
        sysprof_stack_weights_clear (&weights);
        fixture_clear (&fixture);
      }
}

static void
test_collapsed_binary_has_what_all_have (void)
{
  static const char *const collapsed[] = { "app", NULL };
  static const Shape shape = { .collapse = collapsed };

  for (unsigned agree = 0; agree < 2; agree++)
    {
      g_autofree uint8_t *found = NULL;
      Fixture fixture;

      fixture_init (&fixture);
      fixture_add_stack (&fixture, fixture_add_process (&fixture, 1, "app"), 1, "a b", 1);
      fixture_finish (&fixture);
      set_rules (&fixture, agree ? "icons app *" : "icons app a");
      found = sysprof_shown_categories_new (&fixture.symbols, &shape);
      g_assert_cmpint (found[fixture_find_symbol (&fixture, "a")], ==,
                       agree ? CATEGORY_ICONS : CATEGORY_NONE);
      fixture_clear (&fixture);
    }
}

int
main (int argc, char **argv)
{
  g_autofree char *config = g_dir_make_tmp ("categories-XXXXXX", NULL);
  g_autofree char *own = g_build_filename (config, "sysprof", NULL);
  int status;

  /* Sets a folder without rules of the user, before GLib determines that folder. (GLib's
   * isolation of tests leaks.) */
  g_setenv ("XDG_CONFIG_HOME", config, TRUE);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/categories/first-rule-counts", test_first_rule_counts);
  g_test_add_func ("/categories/says-what-is-no-rule", test_says_what_is_no_rule);
  g_test_add_func ("/categories/complains-of-few-lines", test_complains_of_few_lines);
  g_test_add_func ("/categories/has-an-end", test_has_an_end);
  g_test_add_func ("/categories/own-rules-come-first", test_own_rules_come_first);
  g_test_add_func ("/categories/computing-is-no-io", test_computing_is_no_io);
  g_test_add_func ("/categories/hands-down", test_hands_down);
  g_test_add_func ("/categories/counts-samples", test_counts_samples);
  g_test_add_func ("/categories/collapsed-binary-has-what-all-have",
                   test_collapsed_binary_has_what_all_have);
  status = g_test_run ();
  (void) g_rmdir (own);
  (void) g_rmdir (config);
  return status;
}
