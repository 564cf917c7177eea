// SPDX-License-Identifier: GPL-3.0-or-later

/* The table of frame types: how long each must be for what it says of itself. */

#include "store/frame.h"

#include <assert.h>

#define INDEX_MARK 0x53504958u
#define INDEX_SIZE 32

typedef struct
{
  uint16_t least;    /* bytes, with the NUL of texts */
  uint8_t count_at;  /* u16: how many items; 0 = none */
  uint8_t item_size; /* bytes */
  uint16_t items_at;
} FrameLayout;

/* clang-format off */
static const FrameLayout layouts[] = {
  [FRAME_TIMESTAMP]  = { .least = 24 },
  [FRAME_SAMPLE]     = { .least = 32, .count_at = 24, .item_size = 8, .items_at = 32 },
  [FRAME_MAP]        = { .least = 57 },
  [FRAME_PROCESS]    = { .least = 25 },
  [FRAME_FORK]       = { .least = 28 },
  [FRAME_EXIT]       = { .least = 24 },
  [FRAME_JITMAP]     = { .least = 28 },
  [FRAME_CTRDEF]     = { .least = 32, .count_at = 24, .item_size = 128, .items_at = 32 },
  [FRAME_CTRSET]     = { .least = 32, .count_at = 24, .item_size = 96, .items_at = 32 },
  [FRAME_MARK]       = { .least = 97 },
  [FRAME_METADATA]   = { .least = 65 },
  [FRAME_LOG]        = { .least = 65 },
  [FRAME_FILE_CHUNK] = { .least = 284, .count_at = 26, .item_size = 1, .items_at = 284 },
  [FRAME_ALLOCATION] = { .least = 48, .count_at = 44, .item_size = 8, .items_at = 48 },
  [FRAME_OVERLAY]    = { .least = 34 },
  [FRAME_TRACE]      = { .least = 32, .count_at = 24, .item_size = 8, .items_at = 32 },
  [FRAME_DBUS]       = { .least = 28, .count_at = 26, .item_size = 1, .items_at = 28 },
};
/* clang-format on */

static_assert (sizeof layouts / sizeof *layouts == FRAME_INDEX,
               "a layout for each type of the format");

uint8_t
sysprof_frame_type (const Frame *self)
{
  uint8_t type = self->bytes[16];

  if (type == FRAME_TIMESTAMP && self->size == INDEX_SIZE)
    {
      uint32_t mark;

      memcpy (&mark, self->bytes + 20, sizeof mark);
      if (mark == INDEX_MARK || mark == __builtin_bswap32 (INDEX_MARK))
        return FRAME_INDEX;
    }

  return type < FRAME_INDEX ? type : FRAME_UNKNOWN;
}

static bool
jitmap_is_sound (const Frame *self)
{
  uint32_t n_entries = sysprof_frame_u32 (self, 24);
  size_t at = 28;

  for (uint32_t i = 0; i < n_entries; i++)
    {
      const uint8_t *end;

      if (self->size - at < 9)
        return false;
      at += 8;
      end = memchr (self->bytes + at, 0, self->size - at);
      if (end == NULL)
        return false;
      at = (size_t) (end - self->bytes) + 1;
    }

  return true;
}

bool
sysprof_frame_is_sound (const Frame *self, uint8_t type)
{
  const FrameLayout *layout;

  if (type == FRAME_UNKNOWN || type >= FRAME_INDEX)
    return true; /* only the header counts */

  layout = &layouts[type];
  if (self->size < layout->least)
    return false;

  if (layout->count_at != 0)
    return (size_t) sysprof_frame_u16 (self, layout->count_at) * layout->item_size <=
           self->size - layout->items_at;

  switch (type)
    {
    case FRAME_JITMAP:
      return jitmap_is_sound (self);
    case FRAME_OVERLAY:
      return 2u + sysprof_frame_u16 (self, 28) + sysprof_frame_u16 (self, 30) <=
             self->size - 32;
    default:
      return true;
    }
}
