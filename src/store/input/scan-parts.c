// SPDX-License-Identifier: GPL-3.0-or-later

/* Finds the frames of a capture on all CPUs. See scan-parts.h. */

#include "store/input/scan-parts.h"

#include "store/file-window.h"

#define GRAIN           ((uint64_t) 1 << 20) /* bytes: below it a thread costs more than it saves */
#define CANCEL_EVERY    0x400                /* frames: 64 MiB where they are longest */
#define BYTES_PER_FRAME 96                   /* to begin with: stacks make most frames longer */
#define FIRST_ITEMS     1024

/* A guess: so many sound frames in a row, at most so far behind where a part begins, and as far
 * apart as events are. */
#define SOUND_IN_A_ROW 32
#define GUESS_WITHIN   ((uint64_t) 0x20000)      /* bytes: twice the longest frame */
#define NEAR_IN_TIME   ((int64_t) 1000000000000) /* ns */
#define GUESS_BUDGET   ((size_t) 8 << 20) /* bytes of frames looked at, whatever a file holds */

typedef struct
{
  const Builder *builder;
  ScannedParts *parts;
} PartScan;

/* For the next frame; it counts once it has a type. */
static ScannedFrame *
next_found (ScannedPart *part)
{
  if (part->n == part->capacity)
    {
      size_t capacity = MAX (part->capacity * 2, FIRST_ITEMS);

      part->items =
          sysprof_growing_renew (part->items, part->capacity, capacity, sizeof (ScannedFrame));
      part->capacity = capacity;
    }

  return &part->items[part->n];
}

/* The frame whose `bytes` are at `at`; what is wrong with it, or NULL. */
static const char *
read_header (const Store *store, const uint8_t *bytes, uint64_t at, Frame *frame)
{
  uint64_t left = store->size - at;

  *frame = (Frame){ .bytes = bytes, .is_swapped = store->is_swapped };
  if (left < FRAME_HEADER_SIZE)
    return "the file ends in the middle of a frame";

  frame->size = sysprof_frame_u16 (frame, 0);
  if (frame->size < FRAME_HEADER_SIZE || frame->size % 8 != 0)
    return "what should be a frame has an impossible length";
  if (frame->size > left)
    return "the file ends in the middle of a frame";
  return NULL;
}

static void
read_stack (const Builder *builder, const Frame *frame, ScannedFrame *found)
{
  const StackLayout *layout = found->type == SYSPROF_CAPTURE_FRAME_ALLOCATION
                                  ? &sysprof_allocation_layout
                                  : &sysprof_sample_layout; /* traces have the same layout */

  found->tid = sysprof_frame_i32 (frame, layout->tid_at);
  found->digest = sysprof_stack_digest (
      builder->key, frame->bytes + layout->addresses_at,
      sysprof_frame_count (frame, layout->count_at, layout->addresses_at, 8));
}

/* From the start of the part to its limit, or to damage. Only the loading thread reports
 * progress. */
static void
walk_part (const Builder *builder, ScannedPart *part, bool is_told)
{
  const Store *store = builder->store;
  uint64_t at = part->begin;
  FileWindow window;

  sysprof_file_window_init (&window, builder->file, FILE_WINDOW_ALL);
  part->n = 0;
  part->n_unsound = 0;
  memset (part->n_of_type, 0, sizeof part->n_of_type);
  for (part->harm = NULL; at < part->limit;)
    {
      Frame frame;
      ScannedFrame *found;

      part->harm = read_header (store, sysprof_file_window_at (&window, at, FILE_WINDOW_MOST),
                                at, &frame);
      if (part->harm != NULL)
        break;

      found = next_found (part);
      found->place = (uint32_t) (at / FOUND_UNIT);
      found->time = sysprof_frame_i64 (&frame, 8);
      found->pid = sysprof_frame_i32 (&frame, 4);
      found->cpu = (int16_t) sysprof_frame_u16 (&frame, 2);
      found->type = sysprof_frame_type (&frame);
      if (!sysprof_capture_frame_validate (frame.bytes, frame.size, store->is_swapped))
        {
          part->n_unsound++;
          found->type = FRAME_UNKNOWN;
        }
      if (found->type == SYSPROF_CAPTURE_FRAME_SAMPLE ||
          found->type == SYSPROF_CAPTURE_FRAME_ALLOCATION ||
          found->type == SYSPROF_CAPTURE_FRAME_TRACE)
        read_stack (builder, &frame, found);

      part->n++;
      part->n_of_type[found->type]++;
      at += frame.size;
      if (part->n % CANCEL_EVERY == 0 &&
          (is_told ? !sysprof_progress_at (builder->progress, at - part->begin,
                                           2 * (part->limit - part->begin))
                   : sysprof_progress_is_cancelled (builder->progress)))
        break;
    }

  sysprof_file_window_clear (&window);
  part->end = at;
}

static bool
begins_row_of_frames (const Store *store, uint64_t at, size_t *budget)
{
  int64_t last_time = 0;

  for (unsigned i = 0; i < SOUND_IN_A_ROW && at < store->size; i++)
    {
      Frame frame;
      int64_t time, apart;

      if (read_header (store, store->bytes + at, at, &frame) != NULL ||
          sysprof_frame_type (&frame) == FRAME_UNKNOWN || frame.size > *budget)
        return false;

      *budget -= frame.size;
      if (!sysprof_capture_frame_validate (frame.bytes, store->size - at, store->is_swapped))
        return false;

      time = sysprof_frame_i64 (&frame, 8);
      if (i > 0 && (__builtin_sub_overflow (time, last_time, &apart) || apart > NEAR_IN_TIME ||
                    apart < -NEAR_IN_TIME))
        return false;
      last_time = time;
      at += frame.size;
    }

  return true;
}

/* 0 = nothing looks like it. */
static uint64_t
guess_begin (const Store *store, uint64_t from)
{
  size_t budget = GUESS_BUDGET;

  for (uint64_t at = from; at < from + GUESS_WITHIN && at < store->size; at += 8)
    if (begins_row_of_frames (store, at, &budget))
      return at;

  return 0;
}

static void
walk_parts (size_t begin, size_t end, unsigned worker, void *data)
{
  const PartScan *self = data;

  for (size_t i = begin; i < end; i++)
    {
      ScannedPart *part = &self->parts->part[i];
      uint64_t from = i > 0 ? part[-1].limit : FILE_HEADER_SIZE;

      part->capacity = (part->limit - from) / BYTES_PER_FRAME + FIRST_ITEMS;
      part->items = sysprof_growing_renew (NULL, 0, part->capacity, sizeof (ScannedFrame));
      sysprof_growing_wish (part->items, part->capacity, sizeof (ScannedFrame));
      part->begin = i > 0 ? guess_begin (self->builder->store, from) : from;
      if (part->begin != 0)
        walk_part (self->builder, part, worker == 0);
    }
}

static void
clear_part (ScannedPart *part)
{
  sysprof_growing_free (part->items, part->capacity, sizeof (ScannedFrame));
  *part = (ScannedPart){ 0 };
}

/* Parts whose guess was wrong are walked again; what follows damage, or more frames than can be
 * counted, is none. */
static void
check_parts (const Builder *builder, ScannedParts *parts)
{
  uint64_t at = FILE_HEADER_SIZE;
  bool is_over = false;

  for (size_t i = 0; i < parts->n; i++)
    {
      ScannedPart *part = &parts->part[i];

      if (is_over)
        {
          clear_part (part);
          continue;
        }
      if (part->begin != at)
        {
          part->begin = at;
          walk_part (builder, part, true);
        }
      if (part->n > G_MAXUINT32 - parts->n_frames)
        {
          part->n = G_MAXUINT32 - parts->n_frames;
          part->end = part->items[part->n].place * FOUND_UNIT;
          part->harm = "more frames follow than can be counted";
        }
      parts->n_frames += part->n;
      at = part->end;
      is_over = part->harm != NULL;
    }
}

bool
sysprof_scan_parts (const Builder *builder, ScannedParts *parts)
{
  uint64_t n_bytes = builder->store->size - FILE_HEADER_SIZE;
  PartScan walk = { builder, parts };

  parts->n = CLAMP (n_bytes / GRAIN, 1, sysprof_parallel_workers ());
  parts->part = g_new0 (ScannedPart, parts->n);
  for (size_t i = 0; i < parts->n; i++)
    parts->part[i].limit = i + 1 < parts->n
                               ? FILE_HEADER_SIZE + n_bytes / parts->n / 8 * 8 * (i + 1)
                               : builder->store->size;

  sysprof_parallel_ranges (parts->n, 1, walk_parts, &walk);
  if (sysprof_progress_is_cancelled (builder->progress))
    return false;

  check_parts (builder, parts);
  return !sysprof_progress_is_cancelled (builder->progress);
}

void
sysprof_scanned_parts_clear (ScannedParts *self)
{
  for (size_t i = 0; i < self->n; i++)
    clear_part (&self->part[i]);
  g_free (self->part);
  *self = (ScannedParts){ 0 };
}
