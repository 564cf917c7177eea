// SPDX-License-Identifier: GPL-3.0-or-later

/* Dumps made by hand after the specification, of every kind of record, in both byte orders, and
 * all that can be cut off. */

#include "jit/jit.h"

#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

typedef struct
{
  GByteArray *bytes;
  bool is_swapped;
} Made;

static void
put (Made *self, uint64_t value, unsigned size)
{
  bool big_endian = (G_BYTE_ORDER == G_BIG_ENDIAN) != self->is_swapped;

  for (unsigned i = 0; i < size; i++)
    {
      uint8_t byte = (uint8_t) (value >> 8 * (big_endian ? size - 1 - i : i));

      g_byte_array_append (self->bytes, &byte, 1);
    }
}

static void
put_text (Made *self, const char *text)
{
  g_byte_array_append (self->bytes, (const uint8_t *) text, (guint) strlen (text) + 1);
}

static void
put_header (Made *self, uint64_t flags)
{
  put (self, 0x4a695444, 4);
  put (self, 1, 4);
  put (self, 40, 4);
  put (self, 62, 4); /* x86-64 */
  put (self, 0, 4);
  put (self, 1234, 4);
  put (self, 1000, 8);
  put (self, flags, 8);
}

static void
put_prefix (Made *self, uint32_t kind, uint32_t size, uint64_t time)
{
  put (self, kind, 4);
  put (self, size, 4);
  put (self, time, 8);
}

static void
put_load (Made *self,
          uint64_t time,
          uint64_t address,
          uint32_t size,
          uint64_t index,
          const char *name)
{
  put_prefix (self, 0, 56 + (uint32_t) strlen (name) + 1 + size, time);
  put (self, 1234, 4);
  put (self, 1235, 4);
  put (self, address, 8);
  put (self, address, 8);
  put (self, size, 8);
  put (self, index, 8);
  put_text (self, name);
  for (uint32_t i = 0; i < size; i++)
    put (self, 0xc3, 1);
}

static void
put_move (Made *self, uint64_t time, uint64_t from, uint64_t to, uint64_t size, uint64_t index)
{
  put_prefix (self, 1, 64, time);
  put (self, 1234, 4);
  put (self, 1235, 4);
  put (self, to, 8);
  put (self, from, 8);
  put (self, to, 8);
  put (self, size, 8);
  put (self, index, 8);
}

static void
put_debug_info (Made *self)
{
  put_prefix (self, 2, 16 + 16 + 16 + 5, 1500);
  put (self, 0x1000, 8);
  put (self, 1, 8);
  put (self, 0x1004, 8);
  put (self, 7, 4);
  put (self, 0, 4);
  put_text (self, "a.js");
}

static void
put_unwinding_info (Made *self)
{
  put_prefix (self, 4, 16 + 24 + 8, 1600);
  put (self, 8, 8);
  put (self, 4, 8);
  put (self, 8, 8);
  put (self, 0, 8);
}

static Made
make_whole (bool is_swapped, uint64_t flags)
{
  Made made = { g_byte_array_new (), is_swapped };

  put_header (&made, flags);
  put_debug_info (&made);
  put_load (&made, 2000, 0x1000, 16, 1, "first");
  put_unwinding_info (&made);
  put_load (&made, 2500, 0x7fff00002000, 32, 2, "JS:*second a.js:1");
  put_prefix (&made, 77, 24, 2600); /* of a later version */
  put (&made, 1, 8);
  put_move (&made, 3000, 0x1000, 0x3000, 16, 1);
  put_move (&made, 3100, 0x1000, 0x4000, 16, 99); /* of an unknown function */
  put_load (&made, 4000, 0x1000, 16, 3, "replaced");
  put_prefix (&made, 3, 16, 5000);
  put_load (&made, 6000, 0x5000, 16, 4, "behind the end");
  return made;
}

#define WHOLE                                \
  "1000 10 2000 first\n"                     \
  "7fff00002000 20 2500 JS:*second a.js:1\n" \
  "3000 10 3000 first\n"                     \
  "1000 10 4000 replaced\n"

static void
test_reads (void)
{
  for (int swapped = 0; swapped < 2; swapped++)
    {
      Made made = make_whole (swapped != 0, 0);
      JitLines lines = { 0 };

      g_assert_cmpint (sysprof_jit_read_dump (made.bytes->data, made.bytes->len, &lines), ==,
                       JIT_OK);
      g_assert_cmpmem (lines.text, lines.size, WHOLE, strlen (WHOLE));
      sysprof_jit_lines_clear (&lines);
      g_byte_array_unref (made.bytes);
    }
}

static int
write_file (const Made *made)
{
  g_autofree char *path = NULL;
  int fd = g_file_open_tmp ("dump-XXXXXX", &path, NULL);

  g_assert_cmpint (fd, >=, 0);
  g_assert_cmpint (write (fd, made->bytes->data, made->bytes->len), ==, made->bytes->len);
  g_assert_cmpint (unlink (path), ==, 0);
  return fd;
}

/* The bytes of each function with lines, and its first line, also after it was moved. */
static void
test_finds_code (void)
{
  for (int swapped = 0; swapped < 2; swapped++)
    {
      Made made = make_whole (swapped != 0, 0);
      JitCodeRange ranges[] = {
        { .start = 0x1000, .size = 16, .time = 2000 },
        { .start = 0x7fff00002000, .size = 32, .time = 2500 },
        { .start = 0x3000, .size = 16, .time = 3000 },
        { .start = 0x1000, .size = 16, .time = 4000 },
        { .start = 0x1000, .size = 16, .time = 4001 },
        { .start = 0x5000, .size = 16, .time = 6000 }, /* behind the end */
      };
      int fd = write_file (&made);
      JitDumpFacts facts;

      g_assert_cmpint (
          sysprof_jit_find_code (fd, made.bytes->len, ranges, G_N_ELEMENTS (ranges), &facts),
          ==, JIT_OK);
      g_assert_cmpint (facts.machine, ==, 62);
      g_assert_cmpint (facts.is_swapped, ==, swapped);
      for (size_t i = 0; i < 4; i++)
        {
          const uint8_t *code = made.bytes->data + ranges[i].code;

          g_assert_cmpuint (ranges[i].code, >, 0);
          g_assert_cmpint (code[-1], ==, 0); /* of the name */
          for (size_t j = 0; j < ranges[i].size; j++)
            g_assert_cmpint (code[j], ==, 0xc3);
        }
      g_assert_cmpuint (ranges[0].code, ==, ranges[2].code);
      g_assert_cmpuint (ranges[4].code, ==, 0);
      g_assert_cmpuint (ranges[5].code, ==, 0);
      for (size_t i = 0; i < 4; i++)
        {
          JitDebugReader reader;
          JitLine line;

          g_assert_cmpint (ranges[i].debug != 0, ==, i == 0 || i == 2);
          if (ranges[i].debug == 0)
            continue;
          sysprof_jit_debug_reader_init (&reader, &ranges[i], &facts,
                                         made.bytes->data + ranges[i].debug,
                                         (size_t) (ranges[i].debug_end - ranges[i].debug));
          g_assert_true (sysprof_jit_debug_reader_next (&reader, &line));
          g_assert_cmpuint (line.address, ==, ranges[i].start + 4);
          g_assert_cmpuint (line.line, ==, 7);
          g_assert_cmpstr (line.file, ==, "a.js");
          g_assert_false (sysprof_jit_debug_reader_next (&reader, &line));
        }
      g_close (fd, NULL);
      g_byte_array_unref (made.bytes);
    }
}

/* Every byte changed: what is said to be in the file is there. */
static void
test_finds_code_in_changed (void)
{
  Made made = make_whole (false, 0);

  for (size_t at = 0; at < made.bytes->len; at++)
    {
      uint8_t kept = made.bytes->data[at];
      JitCodeRange range = { .start = 0x3000, .size = 16, .time = 3000 };
      JitDumpFacts facts;
      int fd;

      made.bytes->data[at] ^= 0xff;
      fd = write_file (&made);
      made.bytes->data[at] = kept;
      (void) sysprof_jit_find_code (fd, made.bytes->len, &range, 1, &facts);
      g_close (fd, NULL);
      g_assert_cmpuint (range.code, <=, made.bytes->len - (range.code != 0 ? range.size : 0));
      g_assert_cmpuint (range.debug, <=, range.debug_end);
      g_assert_cmpuint (range.debug_end, <=, made.bytes->len);
      if (range.debug != 0)
        {
          g_autofree uint8_t *copy = g_memdup2 (made.bytes->data + range.debug,
                                                (size_t) (range.debug_end - range.debug));
          JitDebugReader reader;
          JitLine line;

          copy[at % (range.debug_end - range.debug)] ^= 0xff;
          sysprof_jit_debug_reader_init (&reader, &range, &facts, copy,
                                         (size_t) (range.debug_end - range.debug));
          while (sysprof_jit_debug_reader_next (&reader, &line))
            g_assert_nonnull (line.file);
        }
    }
  g_byte_array_unref (made.bytes);
}

/* A clock that cannot be compared with that of the recording: only the order of records
 * counts. */
static void
test_other_clock (void)
{
  static const char expected[] = "1000 10 0 first\n";
  Made made = make_whole (false, 1);
  JitLines lines = { 0 };

  g_assert_cmpint (sysprof_jit_read_dump (made.bytes->data, made.bytes->len, &lines), ==,
                   JIT_OK);
  g_assert_cmpuint (lines.n, ==, 4);
  g_assert_cmpmem (lines.text, strlen (expected), expected, strlen (expected));
  sysprof_jit_lines_clear (&lines);
  g_byte_array_unref (made.bytes);
}

/* Cut at every byte: what was whole before is there, and it is said that something is
 * missing. */
static void
test_truncated (void)
{
  Made made = make_whole (false, 0);
  size_t end = made.bytes->len - (56 + strlen ("behind the end") + 1 + 16); /* of CLOSE */

  for (size_t size = 0; size <= end; size++)
    {
      g_autofree uint8_t *bytes = g_memdup2 (made.bytes->data, MAX (size, 1));
      JitLines lines = { 0 };
      JitStatus status = sysprof_jit_read_dump (bytes, size, &lines);

      g_assert_true (lines.size <= strlen (WHOLE));
      g_assert_true (lines.size == 0 || memcmp (lines.text, WHOLE, lines.size) == 0);
      if (size == end)
        g_assert_cmpint (status, ==, JIT_OK);
      else if (size > 0 && size < 4)
        g_assert_cmpint (status, ==, JIT_NOT_A_DUMP);
      else /* between two records */
        g_assert_true (status == JIT_TRUNCATED || status == JIT_OK);
      sysprof_jit_lines_clear (&lines);
    }
  g_byte_array_unref (made.bytes);
}

/* Every byte changed: it may mean anything, and nothing is read that is not there. */
static void
test_changed (void)
{
  Made made = make_whole (false, 0);

  for (size_t at = 0; at < made.bytes->len; at++)
    for (unsigned value = 0; value < 256; value += 51)
      {
        g_autofree uint8_t *bytes = g_memdup2 (made.bytes->data, made.bytes->len);
        JitLines lines = { 0 };

        bytes[at] = (uint8_t) value;
        (void) sysprof_jit_read_dump (bytes, made.bytes->len, &lines);
        sysprof_jit_lines_clear (&lines);
      }
  g_byte_array_unref (made.bytes);
}

static JitStatus
status_of (Made *made)
{
  JitLines lines = { 0 };
  JitStatus status = sysprof_jit_read_dump (made->bytes->data, made->bytes->len, &lines);

  sysprof_jit_lines_clear (&lines);
  g_byte_array_unref (made->bytes);
  return status;
}

static void
test_corrupt (void)
{
  Made made = { g_byte_array_new (), false };

  put_header (&made, 0);
  put_prefix (&made, 0, 15, 0);
  g_assert_cmpint (status_of (&made), ==, JIT_CORRUPT);

  made.bytes = g_byte_array_new ();
  put_header (&made, 0);
  put_prefix (&made, 0, 60, 0); /* a name without an end */
  for (int i = 0; i < 44; i++)
    put (&made, 'x', 1);
  g_assert_cmpint (status_of (&made), ==, JIT_CORRUPT);

  made.bytes = g_byte_array_new ();
  put_header (&made, 0);
  put_prefix (&made, 1, 16, 0);
  g_assert_cmpint (status_of (&made), ==, JIT_CORRUPT);

  made.bytes = g_byte_array_new ();
  put (&made, 0x464c457f, 4);
  g_assert_cmpint (status_of (&made), ==, JIT_NOT_A_DUMP);
}

/* More functions than fit the first table, moved in another order. */
static void
test_many (void)
{
  const unsigned n = 5000;
  Made made = { g_byte_array_new (), false };
  g_autoptr (GString) expected = g_string_new (NULL);
  JitLines lines = { 0 };

  put_header (&made, 0);
  for (unsigned i = 0; i < n; i++)
    {
      g_autofree char *name = g_strdup_printf ("function %u", i);

      put_load (&made, i, 0x10000 + i * 16, 16, i * UINT64_C (0x100000001), name);
      g_string_append_printf (expected, "%x 10 %u %s\n", 0x10000 + i * 16, i, name);
    }
  for (unsigned i = n; i-- > 0;)
    {
      put_move (&made, n, 0x10000 + i * 16, 0x900000 + i * 16, 16, i * UINT64_C (0x100000001));
      g_string_append_printf (expected, "%x 10 %u function %u\n", 0x900000 + i * 16, n, i);
    }

  g_assert_cmpint (sysprof_jit_read_dump (made.bytes->data, made.bytes->len, &lines), ==,
                   JIT_OK);
  g_assert_cmpmem (lines.text, lines.size, expected->str, expected->len);
  sysprof_jit_lines_clear (&lines);
  g_byte_array_unref (made.bytes);
}

/* Numbers of 64 bits are kept whole, and code that would end behind the last address is left
 * out. */
static void
test_large_numbers (void)
{
  static const char expected[] = "ffffffff00000000 fffffffe 18446744073709551615 top\n"
                                 "1000 100000000 7 moved\n";
  Made made = { g_byte_array_new (), false };
  JitLines lines = { 0 };

  put_header (&made, 0);
  /* Its code is not there: the record says how long it is itself. */
  put_prefix (&made, 0, 56 + 4, UINT64_MAX);
  put (&made, 1, 4);
  put (&made, 1, 4);
  put (&made, 0, 8);
  put (&made, UINT64_C (0xffffffff00000000), 8);
  put (&made, 0xfffffffe, 8);
  put (&made, 1, 8);
  put_text (&made, "top");
  put_load (&made, 6, 0x5000, 0, 2, "moved"); /* size 0: unknown */
  put_move (&made, 6, 0x5000, 0x1000, 1, 2);
  put_prefix (&made, 0, 56 + 6, 7);
  put (&made, 1, 4);
  put (&made, 1, 4);
  put (&made, 0, 8);
  put (&made, 0x1000, 8);
  put (&made, UINT64_C (0x100000000), 8);
  put (&made, 3, 8);
  put_text (&made, "moved");
  put_move (&made, 8, 0x1000, UINT64_MAX - 1, UINT64_C (0x100000000), 3);
  g_assert_cmpint (sysprof_jit_read_dump (made.bytes->data, made.bytes->len, &lines), ==,
                   JIT_OK);
  g_assert_cmpmem (lines.text, lines.size, expected, strlen (expected));
  sysprof_jit_lines_clear (&lines);
  g_byte_array_unref (made.bytes);
}

/* As long as a number of 32 bits can say, and a header that is longer than the file. */
static void
test_lengths_beyond_the_end (void)
{
  Made made = { g_byte_array_new (), false };

  put_header (&made, 0);
  put_prefix (&made, 0, UINT32_MAX, 0);
  g_assert_cmpint (status_of (&made), ==, JIT_TRUNCATED);

  made.bytes = g_byte_array_new ();
  put_header (&made, 0);
  put_prefix (&made, 77, 0, 0); /* it would be read for ever */
  g_assert_cmpint (status_of (&made), ==, JIT_CORRUPT);

  made.bytes = g_byte_array_new ();
  put_header (&made, 0);
  for (unsigned i = 0; i < 4; i++)
    made.bytes->data[8 + i] = 0xff;
  g_assert_cmpint (status_of (&made), ==, JIT_TRUNCATED);
}

/* Names of 4,096 bytes until 128 MiB are full: what came before is there. */
static void
test_too_many_bytes (void)
{
  char name[4096];
  JitLines lines = { 0 };
  JitStatus status;
  uint64_t n = 0;

  memset (name, 'x', sizeof name);
  while ((status = sysprof_jit_lines_add (&lines, 0x1000 + n, 1, 0, name, sizeof name)) ==
         JIT_OK)
    n++;
  g_assert_cmpint (status, ==, JIT_TOO_LARGE);
  g_assert_cmpuint (lines.n, ==, n);
  g_assert_cmpuint (lines.size, <=, JIT_MOST_TEXT);
  g_assert_cmpuint (lines.size, >, JIT_MOST_TEXT - 2 * (sizeof name + 64));
  sysprof_jit_lines_clear (&lines);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/jitdump/large-numbers", test_large_numbers);
  g_test_add_func ("/jitdump/lengths-beyond-the-end", test_lengths_beyond_the_end);
  g_test_add_func ("/jitdump/too-many-bytes", test_too_many_bytes);
  g_test_add_func ("/jitdump/reads", test_reads);
  g_test_add_func ("/jitdump/finds-code", test_finds_code);
  g_test_add_func ("/jitdump/finds-code-in-changed", test_finds_code_in_changed);
  g_test_add_func ("/jitdump/other-clock", test_other_clock);
  g_test_add_func ("/jitdump/truncated", test_truncated);
  g_test_add_func ("/jitdump/changed", test_changed);
  g_test_add_func ("/jitdump/corrupt", test_corrupt);
  g_test_add_func ("/jitdump/many", test_many);
  return g_test_run ();
}
