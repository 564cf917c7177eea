// SPDX-License-Identifier: GPL-3.0-or-later

/* Allocations by size: how many, how many bytes, and how many were temporary or never freed.
 * The first row is the sum of all. */

#include "views/event-rows.h"

enum
{
  SIZE,
  COUNT,
  BYTES,
  TEMPORARY,
  LEAKED,
  LEAKED_BYTES,
  N_COLUMNS,
};

static const Column columns[] = {
  [SIZE] = { "size", "SIZE", COLUMN_TEXT },
  [COUNT] = { "count", "ALLOCATIONS", COLUMN_COUNT, .share = true },
  [BYTES] = { "bytes", "ALLOCATED", COLUMN_BYTES, .is_short = true },
  [TEMPORARY] = { "temporary", "TEMPORARY", COLUMN_COUNT },
  [LEAKED] = { "leaked", "NEVER FREED", COLUMN_COUNT },
  [LEAKED_BYTES] = { "leaked-bytes", "BYTES NEVER FREED", COLUMN_BYTES, .is_short = true },
};

#define N_CLASSES 64 /* powers of two */

typedef struct
{
  uint64_t n, bytes, temporary, leaked, leaked_bytes;
} SizeClass;

static void
add (SizeClass *class, uint64_t size, bool is_temporary, bool is_leaked)
{
  class->n++;
  class->bytes += size;
  class->temporary += is_temporary;
  class->leaked += is_leaked;
  class->leaked_bytes += is_leaked ? size : 0;
}

static void
add_row (Rows *rows, const SizeClass *class, char *size)
{
  Cell *cells = sysprof_rows_add (rows);

  cells[SIZE].text = sysprof_rows_dup (rows, size);
  cells[COUNT].count = class->n;
  cells[BYTES].number = (int64_t) class->bytes;
  cells[TEMPORARY].count = class->temporary;
  cells[LEAKED].count = class->leaked;
  cells[LEAKED_BYTES].number = (int64_t) class->leaked_bytes;
  g_free (size);
}

/* "16 – 31 B", "1.0 KiB – 2.0 KiB". *(full)* */
static char *
dup_class_title (unsigned class)
{
  uint64_t least = UINT64_C (1) << class;
  g_autofree char *low = g_format_size_full (least, G_FORMAT_SIZE_IEC_UNITS);
  g_autofree char *high = g_format_size_full (2 * least, G_FORMAT_SIZE_IEC_UNITS);

  if (least >= 1024)
    return g_strdup_printf ("%s – %s", low, high);
  return g_strdup_printf ("%" G_GUINT64_FORMAT " – %" G_GUINT64_FORMAT " B",
                          class > 0 ? least : 0, 2 * least - 1);
}

static bool
fill_heap_sizes (const ViewRequest *request, Rows *rows, GError **error)
{
  const Store *store = request->store;
  SampleFilter filter = request->filter != NULL ? *request->filter : (SampleFilter){ 0 };
  g_autofree uint8_t *lives = sysprof_heap_ask (store, HEAP_LIVE, INT64_MAX);
  g_autofree uint8_t *temporary = sysprof_heap_ask (store, HEAP_TEMPORARY, INT64_MAX);
  g_autofree uint32_t *found = NULL;
  SizeClass classes[N_CLASSES] = { 0 }, all = { 0 };
  uint32_t n = 0;

  filter.events = &store->allocations;
  filter.event_is_in = NULL;
  found = sysprof_samples_find (store, request->symbols, &filter, &n);
  for (uint32_t i = 0; i < n && sysprof_is_wanted_at (i); i++)
    {
      uint64_t size = (uint64_t) store->allocations.weight[found[i]];
      unsigned class = size > 0 ? MIN (63 - (unsigned) __builtin_clzll (size), 63) : 0;

      add (&classes[class], size, temporary[found[i]], lives[found[i]]);
      add (&all, size, temporary[found[i]], lives[found[i]]);
    }
  sysprof_rows_init_events (rows, columns, N_COLUMNS, "allocations", n, store->allocations.n);
  if (n > 0)
    add_row (rows, &all, g_strdup ("All"));
  for (unsigned i = 0; i < N_CLASSES - 1; i++)
    if (classes[i].n > 0)
      add_row (rows, &classes[i], dup_class_title (i));
  return true;
}

const View sysprof_heap_sizes_view = {
  .name = "heap-sizes",
  .title = "Summary",
  .options = OPTIONS_EVENTS,
  .fill = fill_heap_sizes,
};
