// SPDX-License-Identifier: GPL-3.0-or-later

/* Two lists of frames of one document, intersected as lists and as compressed bitmaps of the same frames.
 *
 *   intersect-lists CAPTURE ROUNDS
 *
 * Prints, for pairs of lists of different sizes, the milliseconds of each round: ours, with the list that comes out; the
 * bitmaps', with the bitmap that comes out; and the same with its frames written out as an array, which a list needs. */

#include "document/objects.h"

#include <roaring/roaring.h>
#include <stdio.h>
#include <stdlib.h>

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

static double
elapsed_msec (gint64 since)
{
  return (double) (g_get_monotonic_time () - since) / 1000;
}

static void
compare (SysprofDocument *document, const char *name, Frames a, Frames b, int rounds)
{
  Store *store = sysprof_document_get_store (document);
  g_autoptr (GListModel) left = sysprof_frame_model_new_take (
      store, g_memdup2 (a.frame, a.n * sizeof *a.frame), a.n, SYSPROF_TYPE_DOCUMENT_FRAME);
  g_autoptr (GListModel) right = sysprof_frame_model_new_take (
      store, g_memdup2 (b.frame, b.n * sizeof *b.frame), b.n, SYSPROF_TYPE_DOCUMENT_FRAME);
  roaring_bitmap_t *left_bits = roaring_bitmap_of_ptr (a.n, a.frame);
  roaring_bitmap_t *right_bits = roaring_bitmap_of_ptr (b.n, b.frame);

  roaring_bitmap_run_optimize (left_bits);
  roaring_bitmap_run_optimize (right_bits);
  for (int round = 0; round < rounds; round++)
    {
      gint64 begin = g_get_monotonic_time ();
      g_autoptr (GListModel) common = sysprof_document_intersect (document, left, right);
      double ours = elapsed_msec (begin), bits, array;
      roaring_bitmap_t *common_bits;
      g_autofree uint32_t *frames = NULL;

      begin = g_get_monotonic_time ();
      common_bits = roaring_bitmap_and (left_bits, right_bits);
      bits = elapsed_msec (begin);
      frames = g_new (uint32_t, MAX (roaring_bitmap_get_cardinality (common_bits), 1));
      roaring_bitmap_to_uint32_array (common_bits, frames);
      array = elapsed_msec (begin);

      if (roaring_bitmap_get_cardinality (common_bits) != g_list_model_get_n_items (common))
        g_error ("%s: the two do not agree", name);
      printf ("%s\t%u\t%u\t%.4f\t%.4f\t%.4f\n", name, a.n, b.n, ours, bits, array);
      roaring_bitmap_free (common_bits);
    }

  roaring_bitmap_free (left_bits);
  roaring_bitmap_free (right_bits);
  g_free (a.frame);
  g_free (b.frame);
}

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
  compare (document, "all and half", choose (random, n, 1, 1), choose (random, n, 0.5, 1),
           rounds);
  compare (document, "all and one in a hundred", choose (random, n, 1, 1),
           choose (random, n, 0.01, 1), rounds);
  compare (document, "one in ten each", choose (random, n, 0.1, 1), choose (random, n, 0.1, 1),
           rounds);
  compare (document, "one in ten each, in runs", choose (random, n, 0.1, 50),
           choose (random, n, 0.1, 200), rounds);
  compare (document, "one in ten and one in a thousand", choose (random, n, 0.1, 1),
           choose (random, n, 0.001, 1), rounds);
  return 0;
}
