// SPDX-License-Identifier: GPL-3.0-or-later

/* Fuzzes the search for files of containers: mount tables, in which containers choose the
 * paths, and the JSON lists of Podman's storage. */

#include "fuzz/fuzz.h"
#include "locate/json-find.h"
#include "locate/path-translation.h"

#include <stdlib.h>

static void
translate (Text text)
{
  g_autoptr (MountTable) table = sysprof_mount_table_new (text);
  static const char *const paths[] = { "/usr/bin/x", "/newroot/app/x", "/", "x", "" };

  for (size_t i = 0; i < G_N_ELEMENTS (paths); i++)
    {
      PathFacts facts = { .process = table,
                          .own = table,
                          .layers = table->layers,
                          .flatpak_info = text,
                          .has_same_devices = i % 2 == 0,
                          .is_identified = i % 3 == 0,
                          .host_prefix = i == 0 ? "/host" : NULL };
      g_autoptr (GPtrArray) found = sysprof_translate_path (&facts, paths[i]);

      if (found->len > TRANSLATION_MOST_PATHS)
        abort ();
      for (guint j = 0; j < found->len; j++)
        if (((const char *) found->pdata[j])[0] != '/')
          abort ();
    }
}

int
LLVMFuzzerTestOneInput (const uint8_t *bytes, size_t size)
{
  Text text = { (const char *) bytes, (const char *) bytes + size };
  StorageEntry entry;

  translate (text);
  if (sysprof_json_find_entry (text, "aa", &entry) &&
      (entry.id.at < text.at || entry.id.end > text.end))
    abort ();
  return 0;
}
