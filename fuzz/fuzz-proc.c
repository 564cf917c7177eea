// SPDX-License-Identifier: GPL-3.0-or-later

/* The kernel's texts, in which programs have a say by their names and paths: tables of mappings and arguments. */

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

int
LLVMFuzzerTestOneInput (const uint8_t *bytes, size_t size)
{
  Text text = { (const char *) bytes, (const char *) bytes + size };

  read_mappings (text);
  join_arguments (text);
  return 0;
}
