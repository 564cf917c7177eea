// SPDX-License-Identifier: GPL-3.0-or-later

/* Fuzzes both parsers of JIT files. From any bytes they must return lines. Code of a function
 * in a dump, and the addresses of its source lines, must be within the bytes. */

#include "fuzz/fuzz.h"
#include "jit/jit.h"
#include "util/text.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MOST_RANGES 16

/* Fills in the first of them. */
static void
check (JitLines *lines, JitCodeRange ranges[MOST_RANGES], size_t *n_ranges)
{
  Text text = { 0 };
  uint32_t n = 0;
  Text line;

  if (lines->n > 0)
    text = (Text){ lines->text, lines->text + lines->size };
  while (lines->n > 0 && sysprof_text_next_line (&text, &line))
    {
      uint64_t start, size, time;

      if (!sysprof_text_hex (&line, &start) || !sysprof_text_skip (&line, " ") ||
          !sysprof_text_hex (&line, &size) || !sysprof_text_skip (&line, " ") ||
          !sysprof_text_u64 (&line, &time) || !sysprof_text_skip (&line, " ") ||
          line.at == line.end || size == 0 || start + size < start)
        abort ();
      if (n < MOST_RANGES)
        ranges[n] = (JitCodeRange){ .start = start, .size = size, .time = time };
      n++;
    }
  if (n != lines->n)
    abort ();
  *n_ranges = n < MOST_RANGES ? n : MOST_RANGES;
  sysprof_jit_lines_clear (lines);
}

static void
check_debug (const JitCodeRange *range, const JitDumpFacts *facts, const uint8_t *bytes)
{
  size_t size = (size_t) (range->debug_end - range->debug);
  uint8_t *copy = malloc (size + 1); /* so that reading beyond is seen */
  JitDebugReader reader;
  uint64_t n = 0;
  JitLine line;

  if (copy == NULL)
    abort ();
  memcpy (copy, bytes + range->debug, size);
  sysprof_jit_debug_reader_init (&reader, range, facts, copy, size);
  while (sysprof_jit_debug_reader_next (&reader, &line))
    n += strlen (line.file) < size;
  if (n > range->n_debug || n > size)
    abort ();
  free (copy);
}

static void
check_code (const uint8_t *bytes, size_t size, JitCodeRange *ranges, size_t n)
{
  int fd = memfd_create ("dump", MFD_CLOEXEC);
  JitDumpFacts facts;

  if (fd < 0 || write (fd, bytes, size) != (ssize_t) size)
    abort ();
  (void) sysprof_jit_find_code (fd, size, ranges, n, &facts);
  (void) close (fd);
  for (size_t i = 0; i < n; i++)
    {
      if (ranges[i].code > size ||
          (ranges[i].code != 0 && ranges[i].size > size - ranges[i].code) ||
          ranges[i].debug > ranges[i].debug_end || ranges[i].debug_end > size)
        abort ();
      if (ranges[i].debug != 0)
        check_debug (&ranges[i], &facts, bytes);
    }
}

int
LLVMFuzzerTestOneInput (const uint8_t *bytes, size_t size)
{
  JitCodeRange ranges[MOST_RANGES];
  JitLines lines = { 0 };
  size_t n;

  (void) sysprof_jit_read_perf_map ((const char *) bytes, size, &lines);
  check (&lines, ranges, &n);
  (void) sysprof_jit_read_dump (bytes, size, &lines);
  check (&lines, ranges, &n);
  check_code (bytes, size, ranges, n);
  return 0;
}
