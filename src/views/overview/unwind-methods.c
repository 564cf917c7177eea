// SPDX-License-Identifier: GPL-3.0-or-later

/* Reads how the stacks of each process were unwound, from a file that the recorder embeds. */

#include "views/overview/unwind-methods.h"

#include <stdlib.h>

#define FILE_NAME "__unwind__"

static const struct
{
  const char *code; /* see docs/format.md */
  const char *text;
} ways[] = {
  { "tables=", "tables" },
  { "tables+frame-pointer=", "tables and frame pointers" },
  { "frame-pointer=", "frame pointers" },
  { "copy=", "copies" },
};

/* Samples of a process by unwind method. */
typedef struct
{
  uint64_t n[G_N_ELEMENTS (ways)];
} Counts;

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

/* A joined capture may have several lines for a process. */
static void
add_line (Counts *self, Text line)
{
  for (size_t i = 0; i < G_N_ELEMENTS (ways); i++)
    {
      Text rest = line, word;

      while (sysprof_text_next_word (&rest, &word))
        {
          uint64_t n = 0;

          if (sysprof_text_skip (&word, ways[i].code) && sysprof_text_u64 (&word, &n) &&
              __builtin_add_overflow (self->n[i], n, &self->n[i]))
            self->n[i] = UINT64_MAX;
        }
    }
}

/* Most frequent first. Shares are of samples with a user part: samples in the kernel alone
 * have no method. */
static char *
dup_shares (const Counts *counts)
{
  Share shares[G_N_ELEMENTS (ways)];
  GString *text = g_string_new (NULL);
  double total = 0;
  size_t n = 0;

  for (size_t i = 0; i < G_N_ELEMENTS (ways); i++)
    {
      shares[i] = (Share){ ways[i].text, counts->n[i] };
      total += (double) shares[i].n;
      n += shares[i].n > 0;
    }

  qsort (shares, G_N_ELEMENTS (shares), sizeof shares[0], compare_shares);
  for (size_t i = 0; i < n; i++)
    {
      g_string_append_printf (text, "%s%s", i > 0 ? ", " : "", shares[i].text);
      if (n > 1)
        g_string_append_printf (text, " %.0f %%", 100.0 * (double) shares[i].n / total);
    }
  return g_string_free (text, FALSE);
}

GHashTable *
sysprof_unwind_methods_load (Store *store)
{
  GHashTable *texts = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  g_autoptr (GHashTable) counts = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  g_autoptr (GBytes) bytes =
      sysprof_store_read_file (store, FILE_NAME, NULL); /* NULL if missing */
  GHashTableIter iter;
  gpointer key, value;
  Text text, line;

  if (bytes == NULL || g_bytes_get_size (bytes) == 0)
    return texts;

  text.at = g_bytes_get_data (bytes, NULL);
  text.end = text.at + g_bytes_get_size (bytes);
  while (sysprof_text_next_line (&text, &line))
    {
      uint64_t pid;

      if (!sysprof_text_u64 (&line, &pid) || pid > INT32_MAX)
        continue;
      key = GINT_TO_POINTER ((int) pid);
      value = g_hash_table_lookup (counts, key);
      if (value == NULL)
        {
          value = g_new0 (Counts, 1);
          g_hash_table_insert (counts, key, value);
        }
      add_line (value, line);
    }

  g_hash_table_iter_init (&iter, counts);
  while (g_hash_table_iter_next (&iter, &key, &value))
    g_hash_table_insert (texts, key, dup_shares (value));
  return texts;
}
