// SPDX-License-Identifier: GPL-3.0-or-later

/* name: sched_switch
 * ID: 316
 * format:
 * 	field:char prev_comm[16];	offset:8;	size:16;	signed:0;
 *
 * Source: Linux, Documentation/trace/events.rst, "Event formats".
 */

#include "perf/tracepoint-format.h"

bool
sysprof_tracepoint_get_id (Text format, uint64_t *id)
{
  Text line;

  while (sysprof_text_next_line (&format, &line))
    if (sysprof_text_skip (&line, "ID: "))
      return sysprof_text_u64 (&line, id) && sysprof_text_size (line) == 0;
  return false;
}

/* The field's name: the last word of "char prev_comm[16]" without the length. */
static Text
name_of (Text declaration)
{
  Text whole = declaration, before;

  if (sysprof_text_until (&whole, '[', &before))
    declaration = before;
  for (const char *at = declaration.end; at > declaration.at; at--)
    if (at[-1] == ' ' || at[-1] == '*')
      {
        declaration.at = at;
        break;
      }
  return declaration;
}

bool
sysprof_tracepoint_find_field (Text format, const char *name, TracepointField *field)
{
  Text line, declaration;
  uint64_t offset, size;

  while (sysprof_text_next_line (&format, &line))
    {
      if (!sysprof_text_skip (&line, "\tfield:") ||
          !sysprof_text_until (&line, ';', &declaration) ||
          !sysprof_text_equal (name_of (declaration), name))
        continue;

      if (!sysprof_text_u64_after (line, "offset:", &offset) ||
          !sysprof_text_u64_after (line, "size:", &size) || offset > UINT16_MAX ||
          size > UINT16_MAX)
        return false;

      *field = (TracepointField){ (uint16_t) offset, (uint16_t) size };
      return true;
    }
  return false;
}
