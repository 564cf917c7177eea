// SPDX-License-Identifier: GPL-3.0-or-later

/* Whole lists at once, for callers whom each item costs a call out of their language. */

#include "document/objects.h"

#include <string.h>

/* The position of a frame in the list of its type. Callers usually read lists from front to
 * back, so the position after the previous result is tried first. */
typedef struct
{
  const Store *store;
  uint32_t last[STORE_N_FRAME_TYPES];
} Places;

static uint32_t
find_place (Places *self, FrameNo frame)
{
  const FrameList *list = &self->store->frames_of_type[self->store->frames.type[frame]];
  uint32_t *last = &self->last[self->store->frames.type[frame]];
  uint32_t low = 0, high = list->n;

  if (*last < list->n && list->frame[*last] == frame)
    return (*last)++;

  while (high - low > 1)
    {
      uint32_t middle = low + (high - low) / 2;

      if (list->frame[middle] <= frame)
        low = middle;
      else
        high = middle;
    }
  *last = low + 1;
  return low;
}

static int64_t
value_of_stack (const Store *store, SysprofDocumentColumn column, FrameNo frame)
{
  StackId stack;
  int32_t tid;

  if (!sysprof_document_find_stack (store, frame, &stack, &tid))
    return column == SYSPROF_DOCUMENT_COLUMN_DEPTH ? 0 : -1;

  switch (column)
    {
    case SYSPROF_DOCUMENT_COLUMN_TID:
      return tid;
    case SYSPROF_DOCUMENT_COLUMN_DEPTH:
      return store->stacks.depth[stack];
    default:
      return stack;
    }
}

static int64_t
value_of_kind (Places *places, SysprofDocumentColumn column, FrameNo frame)
{
  const Store *store = places->store;
  uint8_t type = store->frames.type[frame];
  bool is_sample = type == SYSPROF_CAPTURE_FRAME_SAMPLE;

  switch (column)
    {
    case SYSPROF_DOCUMENT_COLUMN_DURATION:
      return type == SYSPROF_CAPTURE_FRAME_MARK
                 ? store->marks[find_place (places, frame)].duration
                 : 0;
    case SYSPROF_DOCUMENT_COLUMN_SIZE:
      return type == SYSPROF_CAPTURE_FRAME_ALLOCATION
                 ? store->heap.size[find_place (places, frame)]
                 : 0;
    default:
      return is_sample && store->samples.weight != NULL
                 ? store->samples.weight[find_place (places, frame)]
                 : 1;
    }
}

int64_t *
sysprof_document_read_column (const Store *store,
                              const FrameList *frames,
                              SysprofDocumentColumn column)
{
  int64_t *values = g_new (int64_t, MAX (frames->n, 1));
  Places places = { .store = store };

  for (uint32_t i = 0; i < frames->n; i++)
    {
      FrameNo frame = frames->frame[i];

      switch (column)
        {
        case SYSPROF_DOCUMENT_COLUMN_TIME:
          values[i] = store->frames.time[frame];
          break;
        case SYSPROF_DOCUMENT_COLUMN_CPU:
          values[i] = store->frames.cpu[frame];
          break;
        case SYSPROF_DOCUMENT_COLUMN_PID:
          values[i] = store->frames.pid[frame];
          break;
        case SYSPROF_DOCUMENT_COLUMN_TID:
        case SYSPROF_DOCUMENT_COLUMN_STACK:
        case SYSPROF_DOCUMENT_COLUMN_DEPTH:
          values[i] = value_of_stack (store, column, frame);
          break;
        case SYSPROF_DOCUMENT_COLUMN_DURATION:
        case SYSPROF_DOCUMENT_COLUMN_SIZE:
        case SYSPROF_DOCUMENT_COLUMN_WEIGHT:
        default:
          values[i] = value_of_kind (&places, column, frame);
          break;
        }
    }
  return values;
}

GBytes *
sysprof_document_dup_column (SysprofDocument *self,
                             GListModel *frames,
                             SysprofDocumentColumn column)
{
  g_autofree FrameNo *taken = NULL;
  FrameList list;

  g_return_val_if_fail (SYSPROF_IS_DOCUMENT (self), NULL);
  g_return_val_if_fail (G_IS_LIST_MODEL (frames), NULL);

  list = sysprof_frame_model_peek (frames, self->store, &taken);
  return g_bytes_new_take (sysprof_document_read_column (self->store, &list, column),
                           list.n * sizeof (int64_t));
}

GBytes *
sysprof_document_dup_spans (SysprofDocument *self, GListModel *frames)
{
  g_autofree FrameNo *taken = NULL;
  g_autofree int64_t *duration = NULL;
  FrameList list;
  int64_t *spans;

  g_return_val_if_fail (SYSPROF_IS_DOCUMENT (self), NULL);
  g_return_val_if_fail (G_IS_LIST_MODEL (frames), NULL);

  list = sysprof_frame_model_peek (frames, self->store, &taken);
  duration =
      sysprof_document_read_column (self->store, &list, SYSPROF_DOCUMENT_COLUMN_DURATION);
  spans = g_new (int64_t, MAX (list.n, 1) * 2);
  for (uint32_t i = 0; i < list.n; i++)
    {
      int64_t begin = self->store->frames.time[list.frame[i]];

      spans[2 * i] = begin;
      if (__builtin_add_overflow (begin, duration[i], &spans[2 * i + 1]))
        spans[2 * i + 1] = G_MAXINT64;
    }
  return g_bytes_new_take (spans, (gsize) list.n * 2 * sizeof (int64_t));
}

/* In the order of `a`. */
static uint32_t
intersect_any (const Store *store, const FrameList *a, const FrameList *b, FrameNo *common)
{
  g_autofree uint8_t *is_in = g_new0 (uint8_t, MAX (store->frames.n, 1));
  uint32_t n = 0;

  for (uint32_t i = 0; i < b->n; i++)
    is_in[b->frame[i]] = 1;
  for (uint32_t i = 0; i < a->n; i++)
    if (is_in[a->frame[i]] != 0)
      common[n++] = a->frame[i];
  return n;
}

static GListModel *
intersect_lists (SysprofDocument *self, GListModel *a, GListModel *b)
{
  g_autofree FrameNo *taken_a = NULL;
  g_autofree FrameNo *taken_b = NULL;
  const FrameList left = sysprof_frame_model_peek (a, self->store, &taken_a);
  const FrameList right = sysprof_frame_model_peek (b, self->store, &taken_b);
  FrameNo *common = g_new (FrameNo, MAX (left.n, 1));
  const uint32_t n = intersect_any (self->store, &left, &right, common);

  return sysprof_frame_model_new_take (self->store, g_renew (FrameNo, common, MAX (n, 1)), n,
                                       g_list_model_get_item_type (a));
}

GListModel *
sysprof_document_intersect (SysprofDocument *self, GListModel *a, GListModel *b)
{
  const IndexSet *left, *right;

  g_return_val_if_fail (SYSPROF_IS_DOCUMENT (self), NULL);
  g_return_val_if_fail (G_IS_LIST_MODEL (a) && G_IS_LIST_MODEL (b), NULL);

  left = sysprof_frame_model_peek_set (a, self->store);
  right = left != NULL ? sysprof_frame_model_peek_set (b, self->store) : NULL;
  if (left == NULL || right == NULL)
    return intersect_lists (self, a, b);

  return sysprof_frame_model_new_take_set (
      self->store, sysprof_index_set_intersect (left, right), g_list_model_get_item_type (a));
}
