// SPDX-License-Identifier: GPL-3.0-or-later

/* Folded stacks read through everything that reads captures. Expected values are counted by
 * hand. */

#include "../data/fixed-seed.h"
#include "analyze/analyze.h"
#include "import/import.h"

#include <sys/mman.h>

static Store *
import (const char *text, gssize size, ImportReport *report, GError **error)
{
  g_autofree char *path = NULL;
  autofd fd = g_file_open_tmp ("folded-XXXXXX", &path, NULL);
  autofd imported = -1;

  size = size < 0 ? (gssize) strlen (text) : size;
  g_assert_cmpint (write (fd, text, (size_t) size), ==, size);
  imported = sysprof_import_open (path, report, NULL, error);
  unlink (path);
  return imported < 0 ? NULL : sysprof_store_open_fd (imported, "imported", NULL, error);
}

static int
compare_lines (const void *a, const void *b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

/* "comm;outer;inner WEIGHT" lines, sorted: what anybody downstream sees. */
static char *export(Store *store)
{
  SymbolizeOptions options = { 0 };
  g_autoptr (SymbolTable) symbols = sysprof_symbolize (store, &options, NULL, NULL);
  StackWeights weights = { 0 };
  g_autoptr (GPtrArray) lines = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GString) all = g_string_new (NULL);

  sysprof_stack_weights_fold (&weights, store, symbols, NULL, false);
  for (StackId id = 1; id < store->stacks.n; id++)
    {
      g_autoptr (GString) line = g_string_new (NULL);
      ProcessId process = sysprof_store_process_of_stack (store, id);

      if (weights.self[id] == 0)
        continue;
      for (StackId at = id; store->stacks.depth[at] > 0; at = store->stacks.parent[at])
        {
          SymbolId symbol = symbols->of_address[store->stacks.address[at]];
          g_autofree char *part =
              g_strdup_printf (";%s%s", sysprof_symbol_name (symbols, symbol),
                               symbols->row[symbol].kind == SYMBOL_KERNEL ? "_[k]"
                               : symbols->row[symbol].kind == SYMBOL_JIT  ? "_[j]"
                                                                          : "");

          g_string_prepend (line, part);
        }
      g_string_prepend (line, sysprof_store_string (store, store->processes.row[process].comm));
      g_string_append_printf (line, " %" G_GUINT64_FORMAT, weights.self[id]);
      g_ptr_array_add (lines, g_string_free (g_steal_pointer (&line), FALSE));
    }

  g_ptr_array_sort (lines, compare_lines);
  for (unsigned i = 0; i < lines->len; i++)
    g_string_append_printf (all, "%s\n", (const char *) lines->pdata[i]);
  sysprof_stack_weights_clear (&weights);
  return g_string_free (g_steal_pointer (&all), FALSE);
}

static void
check (const char *text, const char *expected, uint64_t n_bad)
{
  ImportReport report;
  g_autoptr (GError) error = NULL;
  g_autoptr (Store) store = import (text, -1, &report, &error);
  g_autofree char *exported = NULL;

  g_assert_no_error (error);
  g_assert_cmpstr (report.format, ==, "folded");
  g_assert_cmpuint (report.n_bad, ==, n_bad);
  g_assert_null (store->damage);
  exported = export(store);
  g_assert_cmpstr (exported, ==, expected);
}

static void
test_reads_what_it_should (void)
{
  check ("a;main;work 3\na;main 2\n", "a;main 2\na;main;work 3\n", 0);
  check ("a;main;work 3\r\na;main;work 4", "a;main;work 7\n", 0); /* CRLF, no last newline */
  check ("a;f 2.6\na;g 1.0\n", "a;f 3\na;g 1\n", 0);              /* decimals */
  check ("a;f 10 12\nb;f 1 0\n", "a;f 12\n", 0);                  /* pairs: the second */
  check ("# by hand\n\na;f 1\n", "a;f 1\n", 0);                   /* comments */
  check ("a;f 1\nno number here\na;g x\n;\na;h 2\n", "a;f 1\na;h 2\n", 3); /* bad lines */
  check ("a;f::g(int, char) const;operator new(unsigned long) 4\n",
         "a;f::g(int, char) const;operator new(unsigned long) 4\n", 0); /* blanks in names */
  check ("a;main;sys_read_[k];vfs_read_[k] 5\na;jitted_[j];inlined_[i] 1\n",
         "a;jitted_[j];inlined 1\na;main;sys_read_[k];vfs_read_[k] 5\n", 0);
  check ("a 5\n", "a 5\n", 0);
  check ("a;;f 5\n;g 1\n", "[unknown];g 1\na;[unknown];f 5\n", 0);
  check ("kworker/0:1;f_[k] 1\nWeb Content;f 2\n", "Web_Content;f 2\nkworker/0:1;f_[k] 1\n", 0);
  check ("a;f_[x] 1\na;_[k] 1\n", "a;_[k] 1\na;f_[x] 1\n", 0);
}

static void
test_ids (void)
{
  g_autoptr (Store) store =
      import ("a-12/13;f 1\na-12/14;f 1\nb-12;f 1\nc;f 1\nd-0;f 1\ne-x;f 1\n", -1, NULL, NULL);
  const Process *process;

  process = &store->processes.row[sysprof_store_find_process (store, 12)];
  g_assert_cmpstr (sysprof_store_string (store, process->comm), ==, "a");
  g_assert_cmpuint (process->n_threads, ==, 3);
  g_assert_cmpint (store->processes.thread_ids[process->first_thread + 1], ==, 13);
  g_assert_cmpuint (store->processes.n, ==,
                    6); /* a, b, c, d-0, e-x: one process each, and processes without a name */
}

static void
test_deep_and_long (void)
{
  g_autoptr (GString) text = g_string_new ("a");
  g_autofree char *name = g_strnfill (100000, 'n');
  g_autoptr (Store) store = NULL;
  g_autofree char *exported = NULL;

  for (unsigned i = 0; i < 8000; i++)
    g_string_append_printf (text, ";f%u", i);
  g_string_append_printf (text, " 2\na;%s 1\n", name);
  store = import (text->str, -1, NULL, NULL);
  g_assert_cmpuint (store->stacks.depth[store->samples.stack[0]], ==, 8000);
  exported = export(store);
  g_assert_nonnull (strstr (exported, name));
  g_assert_nonnull (strstr (exported, ";f7999 2\n"));
}

/* Too many to write one by one. */
static void
test_weights (void)
{
  ImportReport report;
  g_autoptr (Store) store =
      import ("a;f 123456789012\na;g 7\nb;f 5000000000.4\na;f 1\n", -1, &report, NULL);
  g_autofree char *exported = export(store);

  g_assert_cmpuint (store->samples.n, ==, 4);
  g_assert_cmpstr (exported, ==, "a;f 123456789013\na;g 7\nb;f 5000000000\n");
}

static void
test_leaves_others_alone (void)
{
  static const struct
  {
    const char *bytes;
    gsize size;
  } others[] = {
    { "", 0 },
    { "\x5e\x97\xca\xfd\0\0\0\0;a 1\n", 13 },
    { "{\"a\": [1, 2]}\n", 14 },
    { "just text\nof some lines\nand 5\n", 30 },
    { "\x1f\x8b\x08", 3 },
  };

  for (size_t i = 0; i < G_N_ELEMENTS (others); i++)
    {
      ImportReport report = { .format = "" };
      g_autoptr (GError) error = NULL;
      g_autoptr (Store) store =
          import (others[i].bytes, (gssize) others[i].size, &report, &error);

      g_assert_null (report.format); /* so the store reports what is wrong */
      g_assert_null (store);
      g_assert_nonnull (error);
    }
}

static void
test_random_bytes (void)
{
  static const char alphabet[] = "ab;; 0123456789.-/_[k]\n\r\t#\xff";

  for (unsigned round = 0; round < 1000; round++)
    {
      char text[200];
      g_autoptr (GError) error = NULL;
      g_autoptr (Store) store = NULL;

      for (unsigned i = 0; i < sizeof text; i++)
        text[i] = alphabet[g_test_rand_int_range (0, sizeof alphabet)];
      store = import (text, sizeof text, NULL, &error);
      g_assert_true ((store != NULL) != (error != NULL));
    }
}

int
main (int argc, char **argv)
{
  test_init_with_fixed_seed (&argc, &argv);
  g_test_add_func ("/import/folded/reads-what-it-should", test_reads_what_it_should);
  g_test_add_func ("/import/folded/ids", test_ids);
  g_test_add_func ("/import/folded/deep-and-long", test_deep_and_long);
  g_test_add_func ("/import/folded/weights", test_weights);
  g_test_add_func ("/import/folded/leaves-others-alone", test_leaves_others_alone);
  g_test_add_func ("/import/folded/random-bytes", test_random_bytes);
  return g_test_run ();
}
