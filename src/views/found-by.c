// SPDX-License-Identifier: GPL-3.0-or-later

#include "views/found-by.h"

#include <stdlib.h>

#define FILE_NAME "__unwind__"

static const struct
{
  const char *code; /* docs/format.md */
  const char *text;
} ways[] = {
  { "tables=", "tables" },
  { "tables+frame-pointer=", "tables and frame pointers" },
  { "frame-pointer=", "frame pointers" },
  { "copy=", "copies" },
};

typedef struct
{
  const char *text;
  uint64_t n;
} Share;

static int
compare_shares (const void *a, const void *b)
{
  const Share *left = a, *right = b;

  return left->n != right->n ? (left->n < right->n ? 1 : -1) : 0;
}

/* Most often first. Of samples with a user part: who runs in the kernel alone has no way. */
static char *
dup_shares (Text line)
{
  Share shares[G_N_ELEMENTS (ways)];
  GString *text = g_string_new (NULL);
  uint64_t total = 0;
  size_t n = 0;

  for (size_t i = 0; i < G_N_ELEMENTS (ways); i++)
    {
      Text rest = line, word;

      shares[i] = (Share){ ways[i].text, 0 };
      while (sysprof_text_next_word (&rest, &word))
        if (sysprof_text_skip (&word, ways[i].code))
          (void) sysprof_text_u64 (&word, &shares[i].n);
      total += shares[i].n;
      n += shares[i].n > 0;
    }

  qsort (shares, G_N_ELEMENTS (shares), sizeof shares[0], compare_shares);
  for (size_t i = 0; i < n; i++)
    {
      g_string_append_printf (text, "%s%s", i > 0 ? ", " : "", shares[i].text);
      if (n > 1)
        g_string_append_printf (text, " %.0f %%",
                                100.0 * (double) shares[i].n / (double) total);
    }
  return g_string_free (text, FALSE);
}

GHashTable *
sysprof_found_by_load (Store *store)
{
  GHashTable *texts = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  g_autoptr (GBytes) bytes =
      sysprof_store_read_file (store, FILE_NAME, NULL); /* may be absent */
  Text text, line;

  if (bytes == NULL || g_bytes_get_size (bytes) == 0)
    return texts;

  text.at = g_bytes_get_data (bytes, NULL);
  text.end = text.at + g_bytes_get_size (bytes);
  while (sysprof_text_next_line (&text, &line))
    {
      uint64_t pid;

      if (sysprof_text_u64 (&line, &pid) && pid <= INT32_MAX)
        g_hash_table_insert (texts, GINT_TO_POINTER ((int) pid), dup_shares (line));
    }
  return texts;
}
