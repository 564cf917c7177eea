// SPDX-License-Identifier: GPL-3.0-or-later

/* The kernel's texts, in which programs have a say by their names and paths: tables of mappings, arguments and stat. */

#include "access/proc-text.h"
#include "fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

static void
read_mappings (Text maps)
{
  ProcMapping mapping;

  while (sysprof_proc_next_mapping (&maps, &mapping))
    if (mapping.start > mapping.end || mapping.path.at > mapping.path.end ||
        mapping.path.end > maps.end)
      abort ();
}

static void
join_arguments (Text text)
{
  size_t size = sysprof_text_size (text);
  g_autofree char *arguments = g_malloc (size + 1);
  size_t length;

  memcpy (arguments, text.at, size);
  length = sysprof_proc_join_arguments (arguments, size);
  if (length > size || arguments[length] != 0 || strchr (arguments, '\n') != NULL)
    abort ();
}

static void
read_stat (Text text)
{
  ProcStat stat;
  uint64_t pages;

  if (sysprof_proc_parse_stat (text, &stat) &&
      (stat.comm.at > stat.comm.end || stat.comm.end >= text.end || stat.parent_pid < 0))
    abort ();
  (void) sysprof_proc_parse_resident (text, &pages);
}

int
LLVMFuzzerTestOneInput (const uint8_t *bytes, size_t size)
{
  Text text = { (const char *) bytes, (const char *) bytes + size };

  read_mappings (text);
  join_arguments (text);
  read_stat (text);
  return 0;
}
