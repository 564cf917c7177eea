// SPDX-License-Identifier: GPL-3.0-or-later

/* Metadata: what the recorder wrote down about machine and recording. */

#include "store/builder.h"

#include <string.h>

#define IMPORTED "org.gnome.sysprof.imported" /* metadata that an importer writes */

const Metadata *
sysprof_store_find_metadata (const Store *self, const char *key, const Metadata *after)
{
  StringId id = sysprof_intern_lookup (&self->strings, key);
  uint32_t first = after != NULL ? (uint32_t) (after - self->metadata) + 1 : 0;

  for (uint32_t i = first; id != 0 && i < self->n_metadata; i++)
    if (self->metadata[i].id == id)
      return &self->metadata[i];
  return NULL;
}

/* Of captures that were joined, all must have it. */
static void
find_unwind_method (Store *store)
{
  uint32_t n_tables = 0, n_copies = 0, n_none = 0, n_others = 0;

  for (const Metadata *row = NULL;
       (row = sysprof_store_find_metadata (store, "org.gnome.sysprof.unwind", row)) != NULL;)
    {
      const char *method = sysprof_store_string (store, row->value);

      if (strcmp (method, "tables") == 0)
        n_tables++;
      else if (strcmp (method, "copy") == 0)
        n_copies++;
      else if (strcmp (method, "none") == 0)
        n_none++;
      else
        n_others++;
    }
  store->has_walks = n_tables + n_copies > 0 && n_none + n_others == 0;
  store->is_not_unwound = n_none > 0 && n_tables + n_copies + n_others == 0;
  store->has_copies = store->has_walks && n_tables == 0;
}

void
sysprof_builder_read_metadata (Builder *self)
{
  Store *store = self->store;
  const FrameList *frames = &store->frames_of_type[SYSPROF_CAPTURE_FRAME_METADATA];

  store->metadata = g_new (Metadata, frames->n);
  for (uint32_t i = 0; i < frames->n && sysprof_builder_goes_on (self, i, frames->n); i++)
    {
      FrameNo number = frames->frame[i];
      Frame frame = sysprof_store_frame (store, number);

      store->metadata[i] = (Metadata){
        .time = store->frames.time[number],
        .pid = store->frames.pid[number],
        .id = sysprof_store_intern (store, sysprof_frame_field (&frame, 24, 40)),
        .value = sysprof_store_intern (store, sysprof_frame_text (&frame, 64)),
      };
      if (g_str_equal (sysprof_store_string (store, store->metadata[i].id), IMPORTED))
        store->is_imported = true;
    }

  store->n_metadata = frames->n;
  find_unwind_method (store);
}
