// SPDX-License-Identifier: GPL-3.0-or-later

/* Reads perf maps. Each line describes a function: `START SIZE NAME`, two hexadecimal numbers
 * and then the name. A program appends lines as it generates code, so the last line may be
 * incomplete. Source: Linux, tools/perf/Documentation/jit-interface.txt. */

#include "jit/jit.h"

#include "util/text.h"

static bool
take_number (Text *line, uint64_t *value)
{
  /* Some programs write the prefix. */
  (void) (sysprof_text_skip (line, "0x") || sysprof_text_skip (line, "0X"));
  return sysprof_text_hex (line, value);
}

static bool
parse_line (Text *line, uint64_t *start, uint64_t *size)
{
  return take_number (line, start) && sysprof_text_skip (line, " ") &&
         take_number (line, size) && sysprof_text_skip (line, " ");
}

JitStatus
sysprof_jit_read_perf_map (const char *bytes, size_t size, JitLines *lines)
{
  Text text = { bytes, bytes + size };
  Text line;

  while (sysprof_text_next_line (&text, &line))
    {
      uint64_t start, length;
      JitStatus status;

      if (!parse_line (&line, &start, &length))
        continue;
      if (line.end > line.at && line.end[-1] == '\r')
        line.end--;
      status =
          sysprof_jit_lines_add (lines, start, length, 0, line.at, sysprof_text_size (line));
      if (status != JIT_OK)
        return status;
    }
  return JIT_OK;
}
