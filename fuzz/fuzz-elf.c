// SPDX-License-Identifier: GPL-3.0-or-later

/* Fuzzes everything that src/elf does with a file. Answers must be consistent: a function that
 * is found contains the address that was looked up. */

#include "elf/elf.h"
#include "fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#define MOST_PIECES 16
#define MOST_CODE   (UINT64_C (1) << 16) /* bytes of one */
#define MOST_NAME   (size_t) (1 << 30)

static void
ask_around (ElfImage *image, const ElfSymbols *symbols, ElfStubs *stubs, uint64_t address)
{
  uint64_t start, end;
  ElfSymbol symbol;

  if (symbols != NULL && sysprof_elf_symbols_find (symbols, address, &symbol))
    {
      if (address < symbol.start || address >= symbol.end)
        abort ();
      free (sysprof_elf_demangle (symbol.name));
    }
  if (stubs != NULL && sysprof_elf_stubs_find (stubs, address, &symbol) &&
      (address < symbol.start || address >= symbol.end || strlen (symbol.name) > MOST_NAME))
    abort ();
  if (sysprof_elf_image_function_bounds (image, address, &start, &end) == ELF_OK &&
      (address < start || address >= end))
    abort ();

  sysprof_elf_image_is_entry (image, symbols, address);
}

/* Callers have to check the rest: that a symbol is within the code. */
static void
link_code (ElfImage *image, const ElfCode *code)
{
  uint64_t end = code->end - code->start < MOST_CODE ? code->end : code->start + MOST_CODE;
  ElfReferences references;
  uint8_t *bytes;

  if (sysprof_elf_image_read_code (image, code->start, end, &bytes) != ELF_OK)
    return;
  if (sysprof_elf_image_link_code (image, code->start, bytes, end - code->start, &references) ==
      ELF_OK)
    {
      for (size_t i = 0; i < references.n; i++)
        if (references.row[i].at < code->start || references.row[i].at >= end ||
            strlen (references.row[i].name) > MOST_NAME)
          abort ();
      sysprof_elf_references_clear (&references);
    }
  free (bytes);
}

int
LLVMFuzzerTestOneInput (const uint8_t *bytes, size_t size)
{
  uint8_t build_id[ELF_MAX_BUILD_ID];
  ElfSymbols *symbols = NULL;
  ElfStubs *stubs;
  size_t build_id_size;
  uint64_t address = 0;
  char link[256], alt_link[ELF_MAX_ALT_LINK];
  uint32_t crc;
  ElfCode code[MOST_PIECES];
  ElfImage *image;

  if (sysprof_elf_image_open_memory (bytes, size, &image) != ELF_OK)
    return 0;

  if (sysprof_elf_image_build_id (image, build_id, &build_id_size) == ELF_OK &&
      (build_id_size == 0 || build_id_size > ELF_MAX_BUILD_ID))
    abort ();
  if (sysprof_elf_image_alt_link (image, alt_link, build_id, &build_id_size) == ELF_OK &&
      (build_id_size == 0 || build_id_size > sizeof build_id || alt_link[0] == 0))
    abort ();
  if (sysprof_elf_image_alt_id (image, build_id, &build_id_size) == ELF_OK &&
      (build_id_size == 0 || build_id_size > sizeof build_id))
    abort ();
  if (sysprof_elf_image_debug_link (image, link, &crc) == ELF_OK && strchr (link, '/') != NULL)
    abort ();

  (void) sysprof_elf_symbols_load (image,
                                   &symbols); /* any answer is right, so long as it is one */
  stubs = sysprof_elf_stubs_new (image, symbols);
  for (uint64_t offset = 0; offset < size; offset += 97)
    if (sysprof_elf_image_address_of_offset (image, offset, &address) == ELF_OK)
      ask_around (image, symbols, stubs, address);
  for (unsigned bit = 0; bit < 64; bit += 3)
    ask_around (image, symbols, stubs, UINT64_MAX >> bit);

  for (size_t i = sysprof_elf_image_code (image, code, MOST_PIECES); i-- > 0;)
    link_code (image, &code[i]);

  sysprof_elf_stubs_free (stubs);
  sysprof_elf_symbols_free (symbols);
  sysprof_elf_image_free (image);
  return 0;
}
