// SPDX-License-Identifier: GPL-3.0-or-later

/* Names of synthetic addresses. They may come long after the samples that use them. */

#include "store/builder.h"

typedef struct
{
  JitName name;
  size_t order;
} OrderedName;

static int
compare_names (const void *a, const void *b, void *data)
{
  const OrderedName *left = a, *right = b;

  if (left->name.address != right->name.address)
    return left->name.address < right->name.address ? -1 : 1;
  return (left->order > right->order) - (left->order < right->order);
}

static void
read_frame (Store *store, const Frame *frame, GArray *names)
{
  uint32_t n = sysprof_frame_u32 (frame, 24);
  size_t at = 28;

  for (uint32_t i = 0; i < n && at + 8 < frame->size; i++)
    {
      Text text = sysprof_frame_text (frame, at + 8);
      OrderedName name = {
        { sysprof_frame_u64 (frame, at), sysprof_store_intern (store, text) }, names->len
      };

      g_array_append_val (names, name);
      at += 8 + sysprof_text_size (text) + 1;
    }
}

void
sysprof_builder_read_jit_names (Builder *self)
{
  Store *store = self->store;
  const FrameList *frames = &store->frames_of_type[SYSPROF_CAPTURE_FRAME_JITMAP];
  g_autoptr (GArray) names = g_array_new (FALSE, FALSE, sizeof (OrderedName));

  for (uint32_t i = 0; i < frames->n && sysprof_builder_goes_on (self, i, frames->n); i++)
    {
      Frame frame = sysprof_store_frame (store, frames->frame[i]);

      read_frame (store, &frame, names);
    }

  if (!sysprof_progress_sort (self->progress, names->data, names->len, sizeof (OrderedName),
                              compare_names, NULL))
    return;
  store->jit_names = g_new (JitName, names->len);
  for (unsigned i = 0; i < names->len; i++)
    {
      const JitName *name = &g_array_index (names, OrderedName, i).name;

      /* Of several names for one address the first holds. */
      if (store->n_jit_names == 0 ||
          store->jit_names[store->n_jit_names - 1].address != name->address)
        store->jit_names[store->n_jit_names++] = *name;
    }
}

const JitName *
sysprof_store_find_jit_name (const Store *self, uint64_t address)
{
  uint32_t low = 0;
  uint32_t high = self->n_jit_names;

  while (low < high)
    {
      uint32_t middle = low + (high - low) / 2;

      if (self->jit_names[middle].address < address)
        low = middle + 1;
      else
        high = middle;
    }

  return low < self->n_jit_names && self->jit_names[low].address == address
             ? &self->jit_names[low]
             : NULL;
}
