// SPDX-License-Identifier: GPL-3.0-or-later

/* Both parsers over the same bytes: whatever they are, what comes out is lines. */

#include "fuzz/fuzz.h"
#include "jit/jit.h"
#include "util/text.h"

#include <stdlib.h>

static void
check (JitLines *lines)
{
  Text text = { lines->text, lines->text + lines->size };
  uint32_t n = 0;
  Text line;

  while (lines->n > 0 && sysprof_text_next_line (&text, &line))
    {
      uint64_t start, size, time;

      if (!sysprof_text_hex (&line, &start) || !sysprof_text_skip (&line, " ") ||
          !sysprof_text_hex (&line, &size) || !sysprof_text_skip (&line, " ") ||
          !sysprof_text_u64 (&line, &time) || !sysprof_text_skip (&line, " ") ||
          line.at == line.end || size == 0 || start + size < start)
        abort ();
      n++;
    }
  if (n != lines->n)
    abort ();
  sysprof_jit_lines_clear (lines);
}

int
LLVMFuzzerTestOneInput (const uint8_t *bytes, size_t size)
{
  JitLines lines = { 0 };

  (void) sysprof_jit_read_perf_map ((const char *) bytes, size, &lines);
  check (&lines);
  (void) sysprof_jit_read_dump (bytes, size, &lines);
  check (&lines);
  return 0;
}
