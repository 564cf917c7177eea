// SPDX-License-Identifier: GPL-3.0-or-later

/* Lines as Node, the Java agent and Python write them, and what is no line. */

#include "jit/jit.h"

#include <glib.h>
#include <string.h>

typedef struct
{
  const char *text;
  const char *lines;
} Case;

static const Case cases[] = {
  /* Node, Java, Python */
  { "7f1e2c0a1000 40 LazyCompile:*burn /srv/a b.js:3:14\n",
    "7f1e2c0a1000 40 0 LazyCompile:*burn /srv/a b.js:3:14\n" },
  { "00007f9e9d1a2b80 00000098 Ljava/lang/String;::hashCode\n",
    "7f9e9d1a2b80 98 0 Ljava/lang/String;::hashCode\n" },
  { "7f8a b py::burn:/x.py\n7f95 b py::rest:/x.py\n",
    "7f8a b 0 py::burn:/x.py\n7f95 b 0 py::rest:/x.py\n" },
  { "0x7f10 0x20 with_prefix\r\n", "7f10 20 0 with_prefix\n" },
  /* The last line may have no end, or be half written. */
  { "10 20 a\n30 40 b", "10 20 0 a\n30 40 0 b\n" },
  { "10 20 a\n30 40 ", "10 20 0 a\n" },
  { "10 20 a\n30 4", "10 20 0 a\n" },
  { "", "" },
  /* Invalid lines, and code without size or beyond the last address. */
  { "\n# comment\n10 20\n10  20 x\n-1 20 x\nzz 20 x\n10 20 good\n", "10 20 0 good\n" },
  { "10 0 x\nffffffffffffffff 2 x\nfffffffffffffff0 f top\n1ffffffffffffffff 1 x\n",
    "fffffffffffffff0 f 0 top\n" },
  { "10 20 a\tb\x01"
    "c\n",
    "10 20 0 a?b?c\n" },
};

static void
test_reads (void)
{
  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      JitLines lines = { 0 };

      g_assert_cmpint (
          sysprof_jit_read_perf_map (cases[i].text, strlen (cases[i].text), &lines), ==,
          JIT_OK);
      g_assert_cmpmem (lines.text, lines.size, cases[i].lines, strlen (cases[i].lines));
      sysprof_jit_lines_clear (&lines);
    }
}

/* However much of it is there: nothing is read behind the end (sanitizers), and the whole lines
 * are there. */
static void
test_truncated (void)
{
  static const char text[] = "10 20 one\n0x30 40 two words\nrubbish\n50 60 three\n";

  for (size_t size = 0; size < sizeof text; size++)
    {
      g_autofree char *bytes = g_memdup2 (text, MAX (size, 1));
      JitLines lines = { 0 };

      g_assert_cmpint (sysprof_jit_read_perf_map (bytes, size, &lines), ==, JIT_OK);
      g_assert_true (size < 10 || memcmp (lines.text, "10 20 0 one\n", 12) == 0);
      sysprof_jit_lines_clear (&lines);
    }
}

static void
test_long_name (void)
{
  g_autoptr (GString) text = g_string_new ("10 20 ");
  JitLines lines = { 0 };

  for (unsigned i = 0; i < 10000; i++)
    g_string_append_c (text, 'x');
  g_assert_cmpint (sysprof_jit_read_perf_map (text->str, text->len, &lines), ==, JIT_OK);
  g_assert_cmpuint (lines.size, ==, strlen ("10 20 0 ") + 4096 + 1);
  sysprof_jit_lines_clear (&lines);
}

/* A million lines are kept, and it says that there were more. */
static void
test_too_large (void)
{
  const size_t n = (1 << 20) + 1;
  g_autofree char *text = g_malloc (n * 6);
  JitLines lines = { 0 };

  for (size_t i = 0; i < n; i++)
    memcpy (text + i * 6, "1 1 f\n", 6);
  g_assert_cmpint (sysprof_jit_read_perf_map (text, n * 6, &lines), ==, JIT_TOO_LARGE);
  g_assert_cmpuint (lines.n, ==, 1 << 20);
  sysprof_jit_lines_clear (&lines);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/perf-map/reads", test_reads);
  g_test_add_func ("/perf-map/truncated", test_truncated);
  g_test_add_func ("/perf-map/long-name", test_long_name);
  g_test_add_func ("/perf-map/too-large", test_too_large);
  return g_test_run ();
}
