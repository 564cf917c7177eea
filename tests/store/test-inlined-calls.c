// SPDX-License-Identifier: GPL-3.0-or-later

/* Entries for inlined calls, in a tree that is small enough to be written down. */

#include "store/store.h"

#define N_ADDRESSES 4

/* Process 1 ran A > B > C and A > C, and process 2 nothing. */
static void
init_store (Store *store)
{
  static const StackId parent[] = { 0, 0, 0, 1, 3, 4, 3 };
  static const AddressId address[] = { 0, 0, 0, 1, 2, 3, 3 };
  static const uint16_t depth[] = { 0, 0, 0, 1, 2, 3, 2 };
  static const uint64_t at[] = { 0, 0xa, 0xb, 0xc };
  static const uint8_t kind[] = { ADDRESS_NONE, ADDRESS_USER, ADDRESS_USER, ADDRESS_KERNEL };
  static const StackId samples[] = { 5, 6, 2, 4 };

  *store = (Store){ .stacks.n = G_N_ELEMENTS (parent), .addresses.n = N_ADDRESSES };
  store->stacks.parent = g_memdup2 (parent, sizeof parent);
  store->stacks.address = g_memdup2 (address, sizeof address);
  store->stacks.depth = g_memdup2 (depth, sizeof depth);
  store->addresses.address = g_memdup2 (at, sizeof at);
  store->addresses.kind = g_memdup2 (kind, sizeof kind);
  store->samples.n = G_N_ELEMENTS (samples);
  store->samples.stack = g_memdup2 (samples, sizeof samples);
}

static void
clear_store (Store *store)
{
  g_free (store->stacks.parent);
  g_free (store->stacks.address);
  g_free (store->stacks.depth);
  g_free (store->addresses.address);
  g_free (store->addresses.kind);
  g_free (store->samples.stack);
}

/* Like "1 a b": the process, then addresses from the outermost one on; rows behind those that
 * were there are letters of their own. */
static char *
dup_stack (const Store *store, StackId stack)
{
  static const char letters[] = "?ABCabcd";
  GString *text = g_string_new (NULL);

  for (; store->stacks.depth[stack] > 0; stack = store->stacks.parent[stack])
    {
      g_assert_cmpuint (store->stacks.parent[stack], <, stack);
      g_assert_cmpuint (store->stacks.depth[stack], ==,
                        store->stacks.depth[store->stacks.parent[stack]] + 1);
      g_string_prepend_c (text, letters[store->stacks.address[stack]]);
    }
  g_string_prepend_c (text, (char) ('0' + stack));
  return g_string_free (text, FALSE);
}

static void
assert_samples (const Store *store, const char *const *expected)
{
  for (uint32_t i = 0; i < store->samples.n; i++)
    {
      g_autofree char *text = dup_stack (store, store->samples.stack[i]);

      g_assert_cmpstr (text, ==, expected[i]);
    }
}

static void
test_entries_stand_inside_their_address (void)
{
  /* One call in A, two in B. */
  static const uint16_t n_inner[N_ADDRESSES] = { 0, 1, 2, 0 };
  static const char *const expected[] = { "1AaBbcC", "1AaC", "2", "1AaBbc" };
  Store store;

  init_store (&store);
  g_assert_true (sysprof_store_insert_inlined_calls (&store, n_inner));
  assert_samples (&store, expected);
  g_assert_cmpuint (store.stacks.n, ==, 7 + 3);
  g_assert_cmpuint (store.addresses.n, ==, N_ADDRESSES + 3);
  for (AddressId i = N_ADDRESSES; i < store.addresses.n; i++)
    {
      g_assert_cmpuint (store.addresses.address[i], ==, i == N_ADDRESSES ? 0xa : 0xb);
      g_assert_cmpuint (store.addresses.kind[i], ==, ADDRESS_USER);
    }
  clear_store (&store);
}

static void
test_refuses (void)
{
  static const uint16_t none[N_ADDRESSES] = { 0 };
  static const uint16_t too_deep[N_ADDRESSES] = { 0, 40000, 40000, 0 };
  static const char *const unchanged[] = { "1ABC", "1AC", "2", "1AB" };
  Store store;

  init_store (&store);
  g_assert_false (sysprof_store_insert_inlined_calls (&store, none));
  g_assert_false (sysprof_store_insert_inlined_calls (&store, too_deep));
  assert_samples (&store, unchanged);
  g_assert_cmpuint (store.stacks.n, ==, 7);
  g_assert_cmpuint (store.addresses.n, ==, N_ADDRESSES);
  clear_store (&store);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/store/inlined-calls/entries-stand-inside-their-address",
                   test_entries_stand_inside_their_address);
  g_test_add_func ("/store/inlined-calls/refuses", test_refuses);
  return g_test_run ();
}
