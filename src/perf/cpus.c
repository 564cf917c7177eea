// SPDX-License-Identifier: GPL-3.0-or-later

/* CPU lists of the kernel. They come from sysfs and from users, so no number may exceed
 * MAX_CPUS. */

#include "perf/cpus.h"

#include "util/util.h"

#define MAX_CPUS 8192 /* the kernel's maximum */

GArray *
sysprof_cpus_parse (const char *list)
{
  GArray *cpus = g_array_new (false, false, sizeof (int));
  Text text = sysprof_text_from_string (list);
  uint64_t first, last;

  while (sysprof_text_u64 (&text, &first))
    {
      last = first;
      if (sysprof_text_skip (&text, "-") && !sysprof_text_u64 (&text, &last))
        break;
      if (last >= MAX_CPUS)
        break;

      for (uint64_t i = first; i <= last && cpus->len < MAX_CPUS; i++)
        {
          int cpu = (int) i;

          g_array_append_val (cpus, cpu);
        }

      if (!sysprof_text_skip (&text, ","))
        break;
    }
  return cpus;
}

GArray *
sysprof_cpus_online (void)
{
  g_autofree char *list = NULL;
  GArray *cpus;

  if (!g_file_get_contents (CPUS_ONLINE_PATH, &list, NULL, NULL))
    list = g_strdup_printf ("0-%u", g_get_num_processors () - 1);

  cpus = sysprof_cpus_parse (list);
  if (cpus->len == 0)
    {
      int first = 0;

      g_array_append_val (cpus, first);
    }
  return cpus;
}
