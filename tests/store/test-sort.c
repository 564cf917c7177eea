// SPDX-License-Identifier: GPL-3.0-or-later

/* Sorting that can be cancelled gives what the C library's gives; and cancelled, it compares
 * hardly any more. */

#include "../data/fixed-seed.h"
#include "store/progress.h"

#include <stdlib.h>
#include <string.h>

#define PIECE 0x4000 /* items, as store/sort.c has it */

typedef struct
{
  uint32_t key;
  uint32_t place; /* where it was */
  uint8_t rest[5];
} Item;

typedef struct
{
  GCancellable *cancellable;
  uint64_t n_compared;
  uint64_t cancel_at; /* comparison; 0 = never */
} Comparing;

static int
compare_items (const void *a, const void *b, void *data)
{
  const Item *left = a, *right = b;
  Comparing *comparing = data;

  if (++comparing->n_compared == comparing->cancel_at)
    g_cancellable_cancel (comparing->cancellable);
  return (left->key > right->key) - (left->key < right->key);
}

/* No two are equal: there is one order only. */
static int
compare_wholly (const void *a, const void *b)
{
  const Item *left = a, *right = b;

  if (left->key != right->key)
    return left->key < right->key ? -1 : 1;
  return left->place < right->place ? -1 : 1;
}

static Item *
new_items (size_t n, uint32_t n_keys)
{
  Item *items = g_new0 (Item, MAX (n, 1));

  for (size_t i = 0; i < n; i++)
    items[i] = (Item){ (uint32_t) g_test_rand_int_range (0, (gint32) n_keys),
                       (uint32_t) i,
                       { (uint8_t) i } };
  return items;
}

static void
check (size_t n, uint32_t n_keys)
{
  g_autofree Item *items = new_items (n, n_keys);
  g_autofree Item *expected = g_memdup2 (items, MAX (n, 1) * sizeof *items);
  const Progress progress = { 0 };
  Comparing comparing = { 0 };

  qsort (expected, n, sizeof *expected, compare_wholly);
  g_assert_true (
      sysprof_progress_sort (&progress, items, n, sizeof *items, compare_items, &comparing));
  for (size_t i = 0; i < n; i++)
    {
      g_assert_cmpuint (items[i].key, ==, expected[i].key);
      g_assert_cmpuint (items[i].rest[0], ==, (uint8_t) items[i].place);
    }
  /* None is lost, none is there twice. */
  qsort (items, n, sizeof *items, compare_wholly);
  g_assert_cmpmem (items, n * sizeof *items, expected, n * sizeof *expected);
}

static void
test_sorts_as_the_library_does (void)
{
  static const size_t sizes[] = { 0,     1,         2,         1000,          PIECE - 1,
                                  PIECE, PIECE + 1, 2 * PIECE, 3 * PIECE + 1, 7 * PIECE + 123 };

  for (size_t i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      check (sizes[i], 2);
      check (sizes[i], 1000);
      check (sizes[i], 1 << 30);
    }
}

static void
test_ends_when_cancelled (void)
{
  const size_t n = 32 * PIECE;
  g_autofree Item *items = new_items (n, 1 << 30);
  const Progress never = { 0 };
  Comparing all = { 0 };

  g_assert_true (sysprof_progress_sort (&never, items, n, sizeof *items, compare_items, &all));
  for (unsigned part = 0; part < 10; part++)
    {
      g_autofree Item *again = new_items (n, 1 << 30);
      g_autoptr (GCancellable) cancellable = g_cancellable_new ();
      const Progress progress = { .cancellable = cancellable };
      Comparing comparing = { cancellable, 0, all.n_compared / 11 * part + 1 };

      g_assert_false (sysprof_progress_sort (&progress, again, n, sizeof *again, compare_items,
                                             &comparing));
      /* The piece that was begun is sorted: no more than 14 comparisons of each of its 2^14. */
      g_assert_cmpuint (comparing.n_compared, <=, comparing.cancel_at + 14 * PIECE);
    }
}

int
main (int argc, char **argv)
{
  test_init_with_fixed_seed (&argc, &argv);
  g_test_add_func ("/store/sort/ends-when-cancelled", test_ends_when_cancelled);
  g_test_add_func ("/store/sort/sorts-as-the-library-does", test_sorts_as_the_library_does);
  return g_test_run ();
}
