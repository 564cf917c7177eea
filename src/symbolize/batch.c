// SPDX-License-Identifier: GPL-3.0-or-later

#include "symbolize/batch.h"

#include <stdlib.h>

typedef struct
{
  const Mapping *mapping;
  BatchItem item;
} MappedItem;

/* 0 where both are the same file. */
static int
compare_files (const Mapping *left, const Mapping *right)
{
  if (left->path != right->path)
    return left->path < right->path ? -1 : 1;
  if (left->build_id != right->build_id)
    return left->build_id < right->build_id ? -1 : 1;
  return left->inode < right->inode ? -1 : left->inode > right->inode;
}

static int
compare_items (const void *a, const void *b)
{
  const MappedItem *left = a;
  const MappedItem *right = b;
  int order =
      left->mapping == right->mapping ? 0 : compare_files (left->mapping, right->mapping);

  if (order != 0)
    return order;
  if (left->item.offset != right->item.offset)
    return left->item.offset < right->item.offset ? -1 : 1;
  return left->item.address < right->item.address ? -1
                                                  : left->item.address > right->item.address;
}

static GArray *
collect_items (const Symbolization *self, bool (*is_wanted) (const char *path))
{
  const Store *store = self->store;
  const AddressTable *addresses = &store->addresses;
  GArray *items = g_array_new (FALSE, FALSE, sizeof (MappedItem));

  for (AddressId address = 1; address < addresses->n; address++)
    {
      MappedItem item = { .mapping = &store->mappings[addresses->mapping[address]] };
      uint64_t offset = addresses->file_offset[address];

      if (addresses->kind[address] != ADDRESS_USER || addresses->mapping[address] == 0 ||
          !sysprof_symbolization_is_open (self, address) ||
          !is_wanted (sysprof_store_string (store, item.mapping->path)))
        continue;

      item.item.address = address;
      item.item.offset = offset - (addresses->is_return[address] != 0 && offset > 0);
      g_array_append_val (items, item);
    }

  g_array_sort (items, compare_items);
  return items;
}

FileBatches *
sysprof_file_batches_new (const Symbolization *self, bool (*is_wanted) (const char *path))
{
  g_autoptr (GArray) items = collect_items (self, is_wanted);
  g_autoptr (GArray) rows = g_array_new (FALSE, TRUE, sizeof (FileBatch));
  FileBatches *batches = g_new0 (FileBatches, 1);
  const Mapping *last = NULL;
  uint32_t n_offsets = 0;

  batches->items = g_new (BatchItem, MAX (items->len, 1));
  batches->offsets = g_new (uint64_t, MAX (items->len, 1));
  for (uint32_t i = 0; i < items->len; i++)
    {
      const MappedItem *item = &g_array_index (items, MappedItem, i);
      FileBatch *row;

      batches->items[i] = item->item;
      if (last == NULL || compare_files (last, item->mapping) != 0)
        {
          FileBatch fresh = {
            .path = sysprof_store_string (self->store, item->mapping->path),
            .build_id = sysprof_store_string (self->store, item->mapping->build_id),
            .inode = item->mapping->inode,
            .items = &batches->items[i],
            .offsets = &batches->offsets[n_offsets],
          };

          g_array_append_val (rows, fresh);
        }
      last = item->mapping;

      row = &g_array_index (rows, FileBatch, rows->len - 1);
      row->n_items++;
      if (row->n_offsets == 0 || row->offsets[row->n_offsets - 1] != item->item.offset)
        {
          batches->offsets[n_offsets++] = item->item.offset;
          row->n_offsets++;
        }
    }

  batches->n = rows->len;
  batches->row = (FileBatch *) (void *) g_array_free (g_steal_pointer (&rows), FALSE);
  return batches;
}

void
sysprof_file_batches_free (FileBatches *batches)
{
  g_free (batches->row);
  g_free (batches->items);
  g_free (batches->offsets);
  g_free (batches);
}
