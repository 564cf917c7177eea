// SPDX-License-Identifier: GPL-3.0-or-later

/* Computes link-time addresses from the sizes of mappings. A process maps whole pages of the
 * code. A mapping with exactly as many pages as the segment starts with the segment's first
 * page. Nothing can be derived from parts of a segment (a runtime moved the rest to huge
 * pages), or from segments that an old loader mapped together. */

#include "locate/link-addresses.h"

#include <stdlib.h>

#define USUAL_PAGE    4096
#define PAGE_SIZE_KEY "page-size"

static uint64_t
page_size (const Store *store)
{
  const Metadata *row = sysprof_store_find_metadata (store, PAGE_SIZE_KEY, NULL);
  const char *text = row != NULL ? sysprof_store_string (store, row->value) : NULL;
  uint64_t size = text != NULL ? strtoull (text, NULL, 10) : USUAL_PAGE;

  return size >= USUAL_PAGE && size <= (1 << 20) && (size & (size - 1)) == 0 ? size
                                                                             : USUAL_PAGE;
}

/* Finds the file offset of the `size` bytes that contain the segment. Returns FALSE if no
 * mapping has this size, or mappings with this size have different offsets. */
static bool
find_offset (const Store *store, const FileBatch *batch, uint64_t size, uint64_t *offset)
{
  bool is_found = false;

  for (uint32_t i = 0; i < batch->n_items; i++)
    {
      const Mapping *mapping =
          &store->mappings[store->addresses.mapping[batch->items[i].address]];

      if (mapping->end - mapping->start != size)
        continue;
      if (is_found && mapping->file_offset != *offset)
        return false;
      *offset = mapping->file_offset;
      is_found = true;
    }
  return is_found;
}

uint64_t *
sysprof_find_link_addresses (const Store *store,
                             const FileBatch *batch,
                             uint64_t text_address,
                             uint64_t text_size)
{
  uint64_t page = page_size (store);
  uint64_t first = text_address / page * page;
  uint64_t end, size, offset;
  uint64_t *addresses;

  if (__builtin_add_overflow (text_address, text_size, &end) ||
      __builtin_add_overflow (end, page - 1, &end))
    return NULL;
  size = end / page * page - first;
  if (!find_offset (store, batch, size, &offset))
    return NULL;

  addresses = g_new (uint64_t, batch->n_offsets + 1);
  for (uint32_t i = 0; i < batch->n_offsets; i++)
    addresses[i] = batch->offsets[i] < offset           ? 0
                   : batch->offsets[i] - offset >= size ? UINT64_MAX
                                                        : batch->offsets[i] - offset + first;
  return addresses;
}
