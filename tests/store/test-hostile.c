// SPDX-License-Identifier: GPL-3.0-or-later

/* A capture cut anywhere and changed anywhere: it opens with what can be read or says why not.
 * Worth most under the address sanitizer. The arguments are the capture to start from, and how
 * many changes to make. */

#include "../data/fixed-seed.h"
#include "check-store.h"

#include <stdlib.h>
#include <sys/mman.h>

static char *base;
static gsize base_size;
static unsigned n_changes;

static void
open_bytes (const char *bytes, size_t size, bool must_open)
{
  autofd fd = memfd_create ("hostile", MFD_CLOEXEC);
  g_autoptr (GError) error = NULL;
  g_autoptr (Store) store = NULL;

  g_assert_cmpint (write (fd, bytes, size), ==, (ssize_t) size);
  store = sysprof_store_open_fd (fd, "hostile", NULL, &error);
  if (store == NULL)
    {
      g_assert_nonnull (error);
      g_assert_cmpuint (strlen (error->message), >, 20);
      g_assert_false (must_open);
      return;
    }

  g_assert_no_error (error);
  check_store (store);
}

static void
test_truncations (void)
{
  for (unsigned i = 0; i < 200; i++)
    {
      size_t size = (size_t) g_test_rand_int_range (0, (gint32) base_size);

      open_bytes (base, size, size >= 256);
    }
}

/* A few bytes of rubbish at a time, in the header of frames more often than elsewhere. */
static void
test_corruptions (void)
{
  for (unsigned i = 0; i < n_changes; i++)
    {
      g_autofree char *bytes = g_memdup2 (base, base_size);
      unsigned n = (unsigned) g_test_rand_int_range (1, 9);

      for (unsigned k = 0; k < n; k++)
        {
          size_t at = (size_t) g_test_rand_int_range (4, (gint32) base_size);

          if (g_test_rand_int_range (0, 3) == 0)
            at = MAX (at & ~(size_t) 7, 4);
          bytes[at] =
              (char) (g_test_rand_bit () ? g_test_rand_int () : "\xff\x00\x80\x01"[k % 4]);
        }
      open_bytes (bytes, base_size, true);
    }
}

static void
test_rubbish (void)
{
  static const char *const magics[] = {
    "\x5e\x97\xca\xfd\x01\x01", "\x1f\x8b\x08", "BZh9", "\xfd\x37zXZ", "\x28\xb5\x2f\xfd", ""
  };

  for (unsigned i = 0; i < 200; i++)
    {
      char bytes[2048];
      const char *magic = magics[i % G_N_ELEMENTS (magics)];

      for (unsigned k = 0; k < sizeof bytes; k++)
        bytes[k] = (char) g_test_rand_int ();
      memcpy (bytes, magic, strlen (magic));
      open_bytes (bytes, sizeof bytes, false);
    }
}

int
main (int argc, char **argv)
{
  test_init_with_fixed_seed (&argc, &argv);
  g_assert_cmpint (argc, ==, 3);
  n_changes = (unsigned) atoi (argv[2]);
  if (!g_file_get_contents (argv[1], &base, &base_size, NULL))
    return 77; /* skipped */

  g_test_add_func ("/store/hostile/truncations", test_truncations);
  g_test_add_func ("/store/hostile/corruptions", test_corruptions);
  g_test_add_func ("/store/hostile/rubbish", test_rubbish);
  return g_test_run ();
}
