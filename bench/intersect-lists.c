// SPDX-License-Identifier: GPL-3.0-or-later

/* Two lists of frames of one document, intersected as lists and as compressed bitmaps of the same frames.
 *
 *   intersect-lists CAPTURE ROUNDS
 *
 * Prints, for pairs of lists of different kinds, milliseconds of each round: ours, for lists that were intersected before;
 * the bitmaps', with the bitmap that comes out; both with the frames written out as an array; and both for lists of frames
 * that are intersected for the first time, as an array. */

#include "document/objects.h"

#include <roaring/roaring.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct
{
  FrameNo *frame;
  uint32_t n;
} Frames;

/* One of `every` frames, in runs of about `run`. */
static Frames
choose (GRand *random, uint32_t n_frames, double share, uint32_t run)
{
  Frames chosen = { g_new (FrameNo, MAX (n_frames, 1)), 0 };

  for (uint32_t i = 0; i < n_frames; i += run)
    if (g_rand_double (random) < share)
      for (uint32_t j = i; j < MIN (i + run, n_frames); j++)
        chosen.frame[chosen.n++] = j;
  return chosen;
}

static gint64
now_nsec (void)
{
  struct timespec now;

  clock_gettime (CLOCK_MONOTONIC, &now);
  return (gint64) now.tv_sec * 1000000000 + now.tv_nsec;
}

static double
elapsed_msec (gint64 since_nsec)
{
  return (double) (now_nsec () - since_nsec) / 1e6;
}

static GListModel *
new_list (Store *store, Frames frames)
{
  return sysprof_frame_model_new_take (
      store, g_memdup2 (frames.frame, MAX (frames.n, 1) * sizeof *frames.frame), frames.n,
      SYSPROF_TYPE_DOCUMENT_FRAME);
}

static roaring_bitmap_t *
new_bitmap (Frames frames)
{
  roaring_bitmap_t *bits = roaring_bitmap_of_ptr (frames.n, frames.frame);

  roaring_bitmap_run_optimize (bits);
  return bits;
}

/* The results, so that they can be compared. */
typedef struct
{
  double msec;
  double as_array_msec;
  FrameNo *frame;
  uint32_t n;
} Result;

static Result
intersect_ours (SysprofDocument *document, GListModel *left, GListModel *right, gint64 begin)
{
  g_autofree FrameNo *taken = NULL;
  g_autoptr (GListModel) common = sysprof_document_intersect (document, left, right);
  Result result = { .msec = elapsed_msec (begin) };
  FrameList list =
      sysprof_frame_model_peek (common, sysprof_document_get_store (document), &taken);

  result.as_array_msec = elapsed_msec (begin);
  result.n = list.n;
  result.frame = g_memdup2 (list.frame, list.n * sizeof *list.frame);
  return result;
}

static Result
intersect_bitmaps (const roaring_bitmap_t *left, const roaring_bitmap_t *right, gint64 begin)
{
  roaring_bitmap_t *common = roaring_bitmap_and (left, right);
  Result result = { .msec = elapsed_msec (begin) };

  result.n = (uint32_t) roaring_bitmap_get_cardinality (common);
  result.frame = g_new (uint32_t, MAX (result.n, 1));
  roaring_bitmap_to_uint32_array (common, result.frame);
  result.as_array_msec = elapsed_msec (begin);
  roaring_bitmap_free (common);
  return result;
}

static void
check_same (const char *name, Result ours, Result theirs)
{
  if (ours.n != theirs.n ||
      (ours.n > 0 && memcmp (ours.frame, theirs.frame, ours.n * sizeof *ours.frame) != 0))
    g_error ("%s: the two do not agree", name);
  g_free (ours.frame);
  g_free (theirs.frame);
}

static void
compare (SysprofDocument *document, const char *name, Frames a, Frames b, int rounds)
{
  Store *store = sysprof_document_get_store (document);
  g_autoptr (GListModel) left = new_list (store, a);
  g_autoptr (GListModel) right = new_list (store, b);
  roaring_bitmap_t *left_bits = new_bitmap (a);
  roaring_bitmap_t *right_bits = new_bitmap (b);

  check_same (name, intersect_ours (document, left, right, 0),
              intersect_bitmaps (left_bits, right_bits, 0));
  for (int round = 0; round < rounds; round++)
    {
      g_autoptr (GListModel) new_left = new_list (store, a);
      g_autoptr (GListModel) new_right = new_list (store, b);
      roaring_bitmap_t *new_left_bits, *new_right_bits;
      Result ours, theirs, ours_new, theirs_new;
      gint64 begin;

      ours = intersect_ours (document, left, right, now_nsec ());
      theirs = intersect_bitmaps (left_bits, right_bits, now_nsec ());
      ours_new = intersect_ours (document, new_left, new_right, now_nsec ());
      begin = now_nsec ();
      new_left_bits = new_bitmap (a);
      new_right_bits = new_bitmap (b);
      theirs_new = intersect_bitmaps (new_left_bits, new_right_bits, begin);
      roaring_bitmap_free (new_left_bits);
      roaring_bitmap_free (new_right_bits);

      printf ("%s\t%u\t%u\t%.4f\t%.4f\t%.4f\t%.4f\t%.4f\t%.4f\n", name, a.n, b.n, ours.msec,
              theirs.msec, ours.as_array_msec, theirs.as_array_msec, ours_new.as_array_msec,
              theirs_new.as_array_msec);
      check_same (name, ours, theirs);
      check_same (name, ours_new, theirs_new);
    }

  roaring_bitmap_free (left_bits);
  roaring_bitmap_free (right_bits);
  g_free (a.frame);
  g_free (b.frame);
}

static const struct
{
  const char *name;
  struct
  {
    double share;
    uint32_t run;
  } left, right;
} pairs[] = {
  { "all and half", { 1, 1 }, { 0.5, 1 } },
  { "all and one in a hundred", { 1, 1 }, { 0.01, 1 } },
  { "half each", { 0.5, 1 }, { 0.5, 1 } },
  { "one in ten each", { 0.1, 1 }, { 0.1, 1 } },
  { "one in ten each, in runs", { 0.1, 50 }, { 0.1, 200 } },
  { "one in ten, and one in ten in runs", { 0.1, 1 }, { 0.1, 200 } },
  { "one in ten and one in a thousand", { 0.1, 1 }, { 0.001, 1 } },
  { "one in a hundred, in runs, and as many without", { 0.01, 200 }, { 0.01, 1 } },
  { "one in thirty each", { 0.03, 1 }, { 0.03, 1 } },
  { "one in thirty and one in a thousand", { 0.03, 1 }, { 0.001, 1 } },
};

int
main (int argc, char **argv)
{
  g_autoptr (SysprofDocumentLoader) loader = NULL;
  g_autoptr (SysprofDocument) document = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GRand) random = g_rand_new_with_seed (1);
  int rounds;
  uint32_t n;

  if (argc != 3 || (rounds = atoi (argv[2])) <= 0)
    {
      fprintf (stderr, "usage: %s CAPTURE ROUNDS\n", argv[0]);
      return 2;
    }

  loader = sysprof_document_loader_new (argv[1]);
  sysprof_document_loader_set_symbolizer (loader, sysprof_no_symbolizer_get ());
  document = sysprof_document_loader_load (loader, NULL, &error);
  if (document == NULL)
    {
      fprintf (stderr, "%s\n", error->message);
      return 1;
    }

  n = g_list_model_get_n_items (G_LIST_MODEL (document));
  for (size_t i = 0; i < G_N_ELEMENTS (pairs); i++)
    compare (document, pairs[i].name,
             choose (random, n, pairs[i].left.share, pairs[i].left.run),
             choose (random, n, pairs[i].right.share, pairs[i].right.run), rounds);
  return 0;
}
