// SPDX-License-Identifier: GPL-3.0-or-later

/* The build ID among the notes of the kernel, also in damaged notes. */

#include "access/kernel-build-ids.h"

#include <elf.h>
#include <glib.h>
#include <string.h>

static void
put_note (GByteArray *notes, const char *name, uint32_t type, const void *bytes, uint32_t size)
{
  static const uint8_t zeros[4];
  Elf64_Nhdr head = { (uint32_t) strlen (name) + 1, size, type };

  g_byte_array_append (notes, (const uint8_t *) &head, sizeof head);
  g_byte_array_append (notes, (const uint8_t *) name, head.n_namesz);
  g_byte_array_append (notes, zeros, -notes->len % 4);
  g_byte_array_append (notes, bytes, size);
  g_byte_array_append (notes, zeros, -notes->len % 4);
}

static void
test_among_others (void)
{
  g_autoptr (GByteArray) notes = g_byte_array_new ();
  g_autofree char *none = NULL, *build_id = NULL;

  put_note (notes, "Linux", 3, "5.10", 5);
  put_note (notes, "GNU", 1, "abi", 4);
  none = sysprof_dup_build_id_of_notes (notes->data, notes->len);
  g_assert_null (none);
  put_note (notes, "GNU", NT_GNU_BUILD_ID, "\x01\x23\x45\x67\x89\xab\xcd\xef", 8);
  put_note (notes, "Xen", 3, "x", 1);
  build_id = sysprof_dup_build_id_of_notes (notes->data, notes->len);
  g_assert_cmpstr (build_id, ==, "0123456789abcdef");
}

/* Cut anywhere, or with sizes that lie: none, and nothing behind the end is read. */
static void
test_cut_and_lying (void)
{
  g_autoptr (GByteArray) notes = g_byte_array_new ();
  const Elf64_Nhdr lies[] = { { UINT32_MAX, 0, 3 },
                              { 4, UINT32_MAX, 3 },
                              { 4, UINT32_MAX - 2, 3 },
                              { UINT32_MAX, UINT32_MAX, 3 } };

  put_note (notes, "GNU", NT_GNU_BUILD_ID, "\x01\x23\x45\x67\x89\xab\xcd\xef", 8);
  for (size_t size = 0; size < notes->len; size++)
    {
      g_autofree uint8_t *cut = g_memdup2 (notes->data, size);
      g_autofree char *build_id = sysprof_dup_build_id_of_notes (cut, size);

      g_assert_null (build_id);
    }
  for (size_t i = 0; i < G_N_ELEMENTS (lies); i++)
    {
      g_autofree char *build_id = NULL;

      memcpy (notes->data, &lies[i], sizeof lies[i]);
      build_id = sysprof_dup_build_id_of_notes (notes->data, notes->len);
      g_assert_null (build_id);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/access/kernel-build-ids/among-others", test_among_others);
  g_test_add_func ("/access/kernel-build-ids/cut-and-lying", test_cut_and_lying);
  return g_test_run ();
}
