// SPDX-License-Identifier: GPL-3.0-or-later

/* Texts saved from /proc of Linux 6.x, and what the kernel would never write. */

#include "access/proc-text.h"

#include <glib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static const char maps[] =
    "55d0c8a00000-55d0c8a2f000 r--p 00000000 fe:00 131210                     /usr/bin/bash\n"
    "55d0c8a2f000-55d0c8af0000 r-xp 0002f000 fe:00 131210                     /usr/bin/bash\n"
    "55d0ca1f4000-55d0ca3b1000 rw-p 00000000 00:00 0                          [heap]\n"
    "7f1a40000000-7f1a40021000 rw-p 00000000 00:00 0 \n"
    "7f1a5c000000-7f1a5c001000 r-xs 00001000 00:01 18446744073709551615       /memfd:jit code (deleted)\n"
    "7ffd1c9f6000-7ffd1c9f8000 r-xp 00000000 00:00 0                          [vdso]\n"
    "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]";

static bool
path_is (const ProcMapping *mapping, const char *path)
{
  return sysprof_text_equal (mapping->path, path);
}

static void
test_reads_saved_maps (void)
{
  Text text = sysprof_text_from_string (maps);
  ProcMapping mapping;

  g_assert_true (sysprof_proc_next_mapping (&text, &mapping));
  g_assert_true (path_is (&mapping, "/usr/bin/bash"));
  g_assert_false (mapping.is_executable);

  g_assert_true (sysprof_proc_next_mapping (&text, &mapping));
  g_assert_cmphex (mapping.start, ==, 0x55d0c8a2f000);
  g_assert_cmphex (mapping.end, ==, 0x55d0c8af0000);
  g_assert_cmphex (mapping.offset, ==, 0x2f000);
  g_assert_cmpuint (mapping.inode, ==, 131210);
  g_assert_cmphex (mapping.device_major, ==, 0xfe);
  g_assert_cmphex (mapping.device_minor, ==, 0);
  g_assert_true (mapping.is_executable);

  g_assert_true (sysprof_proc_next_mapping (&text, &mapping));
  g_assert_true (path_is (&mapping, "[heap]"));
  g_assert_true (sysprof_proc_next_mapping (&text, &mapping));
  g_assert_true (path_is (&mapping, ""));

  g_assert_true (sysprof_proc_next_mapping (&text, &mapping));
  g_assert_true (path_is (&mapping, "/memfd:jit code"));
  g_assert_cmpuint (mapping.inode, ==, G_MAXUINT64);

  g_assert_true (sysprof_proc_next_mapping (&text, &mapping));
  g_assert_true (sysprof_proc_next_mapping (&text, &mapping));
  g_assert_cmphex (mapping.end, ==, 0xffffffffff601000);
  g_assert_true (path_is (&mapping, "[vsyscall]"));
  g_assert_false (sysprof_proc_next_mapping (&text, &mapping));
}

static void
test_skips_lines_that_are_no_mapping (void)
{
  static const char *const broken[] = {
    "",
    "\n\n\n",
    "55d0c8a00000",
    "55d0c8a00000-",
    "55d0c8a00000-55d0c8a2f000",
    "55d0c8a00000-55d0c8a2f000 r--p",
    "55d0c8a00000-55d0c8a2f000 r--p 00000000 fe:00",
    "55d0c8a00000-55d0c8a2f000 r- 00000000 fe:00 1 /x",
    "zz-55d0c8a2f000 r--p 00000000 fe:00 1 /x",
    "2000-1000 r-xp 00000000 fe:00 1 /backwards",
    "11112222333344445-11112222333344446 r-xp 00000000 fe:00 1 /x",
    "1000-2000 r-xp 00000000 fe:00 99999999999999999999 /x",
  };

  for (size_t i = 0; i < G_N_ELEMENTS (broken); i++)
    {
      g_autofree char *followed =
          g_strconcat (broken[i], "\n1000-2000 r-xp 00000000 fe:00 1 /good\n", NULL);
      Text text = sysprof_text_from_string (followed);
      ProcMapping mapping;

      g_assert_true (sysprof_proc_next_mapping (&text, &mapping));
      g_assert_true (path_is (&mapping, "/good"));
      g_assert_false (sysprof_proc_next_mapping (&text, &mapping));
    }
}

/* Cut anywhere: whatever comes out lies within the text. */
static void
test_stays_within_cut_maps (void)
{
  for (size_t size = 0; size <= strlen (maps); size++)
    {
      g_autofree char *cut = g_memdup2 (maps, MAX (size, 1));
      Text text = { cut, cut + size };
      ProcMapping mapping;

      while (sysprof_proc_next_mapping (&text, &mapping))
        {
          g_assert_true (mapping.path.at >= cut && mapping.path.end <= cut + size);
          g_assert_true (mapping.path.at <= mapping.path.end);
        }
    }
}

static void
test_agrees_with_the_running_kernel (void)
{
  g_autofree char *own = NULL;
  Text text, line, lines;
  ProcMapping mapping;
  unsigned n_lines = 0, n_mappings = 0, n_around_us = 0;

  g_assert_true (g_file_get_contents ("/proc/self/maps", &own, NULL, NULL));
  text = lines = sysprof_text_from_string (own);
  while (sysprof_text_next_line (&lines, &line))
    n_lines++;
  while (sysprof_proc_next_mapping (&text, &mapping))
    {
      uint64_t here = (uintptr_t) test_agrees_with_the_running_kernel;

      n_mappings++;
      if (mapping.start <= here && here < mapping.end)
        {
          g_autofree char *program = g_file_read_link ("/proc/self/exe", NULL);

          n_around_us++;
          g_assert_true (mapping.is_executable);
          g_assert_true (path_is (&mapping, program));
        }
    }

  g_assert_cmpuint (n_mappings, ==, n_lines);
  g_assert_cmpuint (n_around_us, ==, 1);
}

static void
test_joins_arguments (void)
{
  static const struct
  {
    const char *arguments;
    size_t size;
    const char *expected;
  } cases[] = {
    { "foo\0--bar\0", 10, "foo --bar" },
    { "foo\0\0bar\0\0\0", 11, "foo  bar" },
    { "sh\0-c\0echo 1\necho 2\0", 20, "sh -c echo 1 echo 2" },
    { "", 0, "" },
    { "\0\0", 2, "" },
    { "retitled: by itself", 19, "retitled: by itself" },
  };

  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *text = g_malloc (cases[i].size + 1);

      memcpy (text, cases[i].arguments, cases[i].size);
      g_assert_cmpuint (sysprof_proc_join_arguments (text, cases[i].size), ==,
                        strlen (cases[i].expected));
      g_assert_cmpstr (text, ==, cases[i].expected);
    }
}

static int64_t
usec_of (const struct rusage *usage)
{
  return (usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * G_USEC_PER_SEC +
         usage->ru_utime.tv_usec + usage->ru_stime.tv_usec;
}

/* Fields 14, 15 and 22 of proc(5) are 57, 12 and 2269089. */
#define STAT_AFTER_NAME \
  " S 4700 4711 4700 34816 -1 4194304 1310 0 1 0 57 12 0 0 20 0 1 0 2269089 4136960 52\n"

static void
test_parses_stat (void)
{
  static const char *const names[] = { "sh", "", "a b", "x) R 1 (", "((", "))", "two\nlines" };

  for (size_t i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *text = g_strdup_printf ("4711 (%s)" STAT_AFTER_NAME, names[i]);
      ProcStat stat;

      g_assert_true (sysprof_proc_parse_stat (sysprof_text_from_string (text), &stat));
      g_assert_true (sysprof_text_equal (stat.comm, names[i]));
      g_assert_cmpint (stat.state, ==, 'S');
      g_assert_cmpint (stat.parent_pid, ==, 4700);
      g_assert_cmpuint (stat.cpu_ticks, ==, 69);
      g_assert_cmpuint (stat.start_ticks, ==, 2269089);
    }
}

static void
test_refuses_truncated_stat (void)
{
  static const char whole[] = "4711 (sh)" STAT_AFTER_NAME;
  const char *last = strstr (whole, "2269089");
  ProcStat stat;

  for (const char *end = whole; end <= last; end++)
    g_assert_false (sysprof_proc_parse_stat ((Text){ whole, end }, &stat));
  g_assert_false (sysprof_proc_parse_stat (sysprof_text_from_string ("1 )( S 1 1"), &stat));
  g_assert_false (sysprof_proc_parse_stat (
      sysprof_text_from_string ("1 (a) S -1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1"), &stat));
}

static void
test_parses_resident (void)
{
  uint64_t pages;

  g_assert_true (sysprof_proc_parse_resident (
      sysprof_text_from_string ("5371 1011 833 5 0 600 0\n"), &pages));
  g_assert_cmpuint (pages, ==, 1011);
  g_assert_false (sysprof_proc_parse_resident (sysprof_text_from_string ("5371"), &pages));
  g_assert_false (sysprof_proc_parse_resident (sysprof_text_from_string (""), &pages));
}

/* getrusage(2) measures the same time; the kernel rounds it down to ticks here. */
static void
test_agrees_with_own_usage (void)
{
  g_autofree char *bytes = NULL;
  gsize size;
  ProcStat stat;
  struct rusage before, after;
  int64_t tick_usec = G_USEC_PER_SEC / sysconf (_SC_CLK_TCK);

  while (clock () < CLOCKS_PER_SEC / 10)
    continue;
  g_assert_cmpint (getrusage (RUSAGE_SELF, &before), ==, 0);
  g_assert_true (g_file_get_contents ("/proc/self/stat", &bytes, &size, NULL));
  g_assert_cmpint (getrusage (RUSAGE_SELF, &after), ==, 0);

  g_assert_true (sysprof_proc_parse_stat ((Text){ bytes, bytes + size }, &stat));
  g_assert_cmpint (stat.parent_pid, ==, getppid ());
  /* Each of both times is rounded. */
  g_assert_cmpint ((int64_t) stat.cpu_ticks * tick_usec, <=, usec_of (&after));
  g_assert_cmpint ((int64_t) (stat.cpu_ticks + 2) * tick_usec, >=, usec_of (&before));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/access/proc-text/reads-saved-maps", test_reads_saved_maps);
  g_test_add_func ("/access/proc-text/skips-lines-that-are-no-mapping",
                   test_skips_lines_that_are_no_mapping);
  g_test_add_func ("/access/proc-text/stays-within-cut-maps", test_stays_within_cut_maps);
  g_test_add_func ("/access/proc-text/agrees-with-the-running-kernel",
                   test_agrees_with_the_running_kernel);
  g_test_add_func ("/access/proc-text/joins-arguments", test_joins_arguments);
  g_test_add_func ("/access/proc-text/parses-stat", test_parses_stat);
  g_test_add_func ("/access/proc-text/refuses-truncated-stat", test_refuses_truncated_stat);
  g_test_add_func ("/access/proc-text/parses-resident", test_parses_resident);
  g_test_add_func ("/access/proc-text/agrees-with-own-usage", test_agrees_with_own_usage);
  return g_test_run ();
}
