// SPDX-License-Identifier: GPL-3.0-or-later

/* Fuzzes the builder of unwind tables: any bytes are the call-frame section of a small file.
 * The resulting table must pass the check of the receiving process, and its rows must
 * ascend. */

/* A little more than a page of a table: what no rules cover is read as code, and that takes nearly all the time. */
#define TEXT_SIZE UINT64_C (0x11000)

#include "fuzz/fuzz.h"
#include "tests/unwind/make-elf.h"
#include "unwind/unwind.h"

#define IS_DEBUG 1
#define IS_ARM64 2

static void
check_block (const uint8_t *block)
{
  const uint16_t *first = (const uint16_t *) (const void *) block;
  uint32_t n_rules = first[UNWIND_BLOCKS + 1];
  const uint16_t *row =
      (const uint16_t *) (const void *) (block + UNWIND_RULES_OFFSET + 4 * n_rules);

  if (first[0] != 0 || first[UNWIND_BLOCKS] == 0 || n_rules == 0 || row[0] >> 8 != 0)
    abort ();
  for (uint32_t i = 0; i < UNWIND_BLOCKS; i++)
    for (uint32_t r = first[i]; r < first[i + 1]; r++)
      if ((row[r] & 255) >= n_rules || (r > first[i] && row[r] >> 8 <= row[r - 1] >> 8))
        abort ();
}

int
LLVMFuzzerTestOneInput (const uint8_t *bytes, size_t size)
{
  uint8_t kind = size > 0 ? bytes[0] : 0;
  UnwindTable table;
  ElfImage *image;
  size_t file_size;
  uint8_t *file;

  if (size == 0)
    return 0;
  file = make_elf (NULL, bytes + 1, size - 1, kind & IS_DEBUG,
                   kind & IS_ARM64 ? EM_AARCH64 : EM_X86_64, &file_size);
  if (sysprof_elf_image_open_memory (file, file_size, &image) != ELF_OK ||
      sysprof_unwind_table_build (image, NULL, &table) != ELF_OK)
    abort ();

  if (table.header->n_rows > TEXT_SIZE || table.header->covered_size > TEXT_SIZE ||
      !sysprof_unwind_table_adopt (&table, table.bytes, table.size))
    abort ();
  for (uint32_t i = 0; i < table.header->n_pages; i++)
    if (table.block[i] != 0)
      check_block (table.bytes + table.block[i]);

  sysprof_unwind_table_clear (&table);
  sysprof_elf_image_free (image);
  free (file);
  return 0;
}
