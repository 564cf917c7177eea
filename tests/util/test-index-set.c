// SPDX-License-Identifier: GPL-3.0-or-later

/* Sets of indices against a bitmap that is as long as it takes, over lists of all kinds, with the code for any CPU and with
 * that for this one. */

#include "../data/fixed-seed.h"
#include "util/index-set-parts.h"

#include <stdlib.h>
#include <string.h>

#define RANGE (3 * 65536 + 777) /* indices */

typedef struct
{
  double share; /* of all indices */
  uint32_t run; /* so many follow each other */
  uint32_t begin;
  uint32_t end;
} Kind;

static const Kind kinds[] = {
  { 0, 1, 0, RANGE },    { 1, RANGE, 0, RANGE },     { 1, RANGE, 65535, 131073 },
  { 1, 1, 63, 65 },      { 0.00002, 1, 0, RANGE },   { 0.001, 1, 0, RANGE },
  { 0.02, 1, 0, RANGE }, { 0.06, 1, 40000, 190000 }, { 0.0625, 1, 0, RANGE },
  { 0.07, 1, 0, RANGE }, { 0.3, 1, 0, RANGE },       { 0.5, 1, 3, RANGE - 3 },
  { 0.97, 1, 0, RANGE }, { 0.01, 3, 0, RANGE },      { 0.2, 7, 0, RANGE },
  { 0.5, 64, 0, RANGE }, { 0.1, 200, 0, RANGE },     { 0.6, 3000, 0, RANGE },
};

typedef struct
{
  bool has[RANGE];
  uint32_t *index;
  uint32_t n;
} Naive;

static Naive *
naive_new (void)
{
  Naive *self = g_new0 (Naive, 1);

  self->index = g_new (uint32_t, RANGE);
  return self;
}

static void
naive_free (Naive *self)
{
  g_free (self->index);
  g_free (self);
}

static void
naive_list (Naive *self)
{
  self->n = 0;
  for (uint32_t i = 0; i < RANGE; i++)
    if (self->has[i])
      self->index[self->n++] = i;
}

static void
naive_choose (Naive *self, GRand *random, const Kind *kind)
{
  memset (self->has, 0, sizeof self->has);
  for (uint32_t i = kind->begin; i < kind->end; i += kind->run)
    if (g_rand_double (random) < kind->share)
      memset (self->has + i, true, MIN (kind->run, kind->end - i));
  naive_list (self);
}

static void
naive_intersect (Naive *self, const Naive *a, const Naive *b)
{
  for (uint32_t i = 0; i < RANGE; i++)
    self->has[i] = a->has[i] && b->has[i];
  naive_list (self);
}

static void
assert_same (const IndexSet *set, const Naive *expected)
{
  /* Exactly as long as needed, so that the address sanitizer finds a write past the end. */
  g_autofree uint32_t *index = g_new (uint32_t, sysprof_index_set_size (set));

  sysprof_index_set_list (set, index);
  g_assert_cmpuint (sysprof_index_set_size (set), ==, expected->n);
  g_assert_cmpmem (index, expected->n * sizeof *index, expected->index,
                   expected->n * sizeof *index);
}

static void
test_intersects_as_a_bitmap_does (void)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (g_test_rand_int ());
  Naive *of_kind[G_N_ELEMENTS (kinds)], *both = naive_new (), *thrice = naive_new ();
  IndexSet *sets[G_N_ELEMENTS (kinds)];

  for (size_t i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      of_kind[i] = naive_new ();
      naive_choose (of_kind[i], random, &kinds[i]);
      sets[i] = sysprof_index_set_new (of_kind[i]->index, of_kind[i]->n);
      g_assert_nonnull (sets[i]);
      assert_same (sets[i], of_kind[i]);
    }

  for (size_t i = 0; i < G_N_ELEMENTS (kinds); i++)
    for (size_t j = 0; j < G_N_ELEMENTS (kinds); j++)
      {
        const size_t third = (size_t) g_rand_int_range (random, 0, G_N_ELEMENTS (kinds));
        g_autoptr (IndexSet) set = sysprof_index_set_intersect (sets[i], sets[j]);
        g_autoptr (IndexSet) less = sysprof_index_set_intersect (set, sets[third]);

        naive_intersect (both, of_kind[i], of_kind[j]);
        assert_same (set, both);
        naive_intersect (thrice, both, of_kind[third]);
        assert_same (less, thrice);
      }

  for (size_t i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      naive_free (of_kind[i]);
      sysprof_index_set_free (sets[i]);
    }
  naive_free (both);
  naive_free (thrice);
}

static void
test_keeps_the_ends_of_the_range (void)
{
  const uint32_t index[] = {
    0, 1, 65535, 65536, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff
  };
  g_autoptr (IndexSet) set = sysprof_index_set_new (index, G_N_ELEMENTS (index));
  g_autoptr (IndexSet) last = sysprof_index_set_new (index + 7, 1);
  g_autoptr (IndexSet) both = sysprof_index_set_intersect (set, last);
  g_autofree uint32_t *listed = g_new (uint32_t, sysprof_index_set_size (set));

  sysprof_index_set_list (set, listed);
  g_assert_cmpmem (listed, sizeof index, index, sizeof index);
  sysprof_index_set_list (both, listed);
  g_assert_cmpuint (sysprof_index_set_size (both), ==, 1);
  g_assert_cmpuint (listed[0], ==, 0xffffffff);
}

/* One index of an ascending list is put out of order, at any place. */
static void
test_refuses_what_is_not_in_order (void)
{
  enum
  {
    N = 70
  };
  uint32_t index[N];

  for (uint32_t stride = 1; stride < 40000; stride = stride * 3 + 1)
    for (uint32_t wrong = 1; wrong < N; wrong++)
      for (uint32_t below = 0; below < 2; below++)
        {
          for (uint32_t i = 0; i < N; i++)
            index[i] = 5 + i * stride;
          index[wrong] = index[wrong - 1] - below;
          g_assert_null (sysprof_index_set_new (index, N));
        }
}

static size_t
memory_of (const IndexSet *set)
{
  return sizeof *set + set->n_chunks * sizeof *set->chunks +
         set->n_words_of_room * sizeof *set->words;
}

/* The limit in the documentation: never much more than four bytes a member, and one bit an
 * index. */
static void
test_takes_little_memory (void)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (g_test_rand_int ());
  Naive *naive = naive_new ();

  for (size_t i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      g_autoptr (IndexSet) set = NULL;

      naive_choose (naive, random, &kinds[i]);
      set = sysprof_index_set_new (naive->index, naive->n);
      g_assert_cmpuint (memory_of (set), <, MIN (naive->n * 4, RANGE / 8) + 8192);
    }
  naive_free (naive);
}

int
main (int argc, char **argv)
{
  test_init_with_fixed_seed (&argc, &argv);
  g_test_add_func ("/index-set/intersects-as-a-bitmap-does", test_intersects_as_a_bitmap_does);
  g_test_add_func ("/index-set/keeps-the-ends-of-the-range", test_keeps_the_ends_of_the_range);
  g_test_add_func ("/index-set/refuses-what-is-not-in-order",
                   test_refuses_what_is_not_in_order);
  g_test_add_func ("/index-set/takes-little-memory", test_takes_little_memory);
  return g_test_run ();
}
