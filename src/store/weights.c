// SPDX-License-Identifier: GPL-3.0-or-later

/* `__weights__`: an embedded file with the weight of each sample, for captures whose weights
 * are not 1: one i64 per sample frame, in file order, in the byte order of the capture. */

#include "store/builder.h"

typedef struct
{
  uint64_t offset;
  uint32_t sample;
} Place;

static int
compare_places (const void *a, const void *b, void *data)
{
  const Place *left = a, *right = b;

  return (left->offset > right->offset) - (left->offset < right->offset);
}

void
sysprof_builder_read_weights (Builder *self)
{
  Store *store = self->store;
  const FrameList *frames = &store->frames_of_type[SYSPROF_CAPTURE_FRAME_SAMPLE];
  g_autoptr (GBytes) bytes = sysprof_store_read_file_cancellable (
      store, "__weights__", self->progress->cancellable, NULL);
  Frame weights = { .is_swapped = store->is_swapped };
  g_autofree Place *places = NULL;
  size_t size;

  if (bytes == NULL)
    return;

  weights.bytes = g_bytes_get_data (bytes, &size);
  if (size != (size_t) store->samples.n * 8)
    {
      g_string_append_printf (self->damage,
                              "%sIts weights are not as many as its samples; each weighs 1.",
                              self->damage->len > 0 ? " " : "");
      return;
    }

  places = g_new (Place, frames->n);
  for (uint32_t i = 0; i < frames->n; i++)
    places[i] = (Place){ store->frames.offset[frames->frame[i]], i };
  if (!sysprof_progress_sort (self->progress, places, frames->n, sizeof *places, compare_places,
                              NULL))
    return;

  store->samples.weight = g_new (int64_t, frames->n);
  for (uint32_t i = 0; i < frames->n; i++)
    store->samples.weight[places[i].sample] = sysprof_frame_i64 (&weights, (size_t) i * 8);
}
