// SPDX-License-Identifier: GPL-3.0-or-later

/* Functions and lines out of a file, which is its own supplement and package of split units as well. What is answered must
 * hold together: offsets inside the text, an address inside its function. */

#include "dwarf/dwarf.h"
#include "fuzz/fuzz.h"

#include <stdlib.h>

#define N_ADDRESSES 2048

static void
check_answers (const DwarfAnswers *answers, const uint64_t *addresses)
{
  if (answers->text_size == 0 || answers->text[answers->text_size - 1] != 0)
    abort ();

  for (size_t i = 0; i < answers->n; i++)
    {
      const DwarfRow *row = &answers->row[i];

      if (row->first > answers->n_frames || row->n > answers->n_frames - row->first ||
          row->n > DWARF_MAX_INLINES)
        abort ();
      if (row->end != 0 && (addresses[i] < row->start || addresses[i] >= row->end))
        abort ();
      for (uint32_t k = 0; k < row->n; k++)
        {
          const DwarfFrame *frame = &answers->frame[row->first + k];

          if (frame->name >= answers->text_size || frame->file >= answers->text_size)
            abort ();
        }
    }
}

int
LLVMFuzzerTestOneInput (const uint8_t *bytes, size_t size)
{
  static uint64_t addresses[N_ADDRESSES];
  DwarfAnswers answers;
  DwarfFiles files = { 0 };
  Dwarf *dwarf;

  for (size_t i = 0; i < N_ADDRESSES; i++)
    addresses[i] = i < N_ADDRESSES / 2 ? i * 4 : 0x1000 + (i - N_ADDRESSES / 2) * 8;
  addresses[N_ADDRESSES - 1] = UINT64_MAX;
  if (sysprof_elf_image_open_memory (bytes, size, &files.image) != ELF_OK)
    return 0;

  files.supplement = files.package = files.image;
  if (sysprof_dwarf_open (&files, &dwarf) == ELF_OK)
    {
      for (unsigned i = 0; i < 2; i++)
        if (sysprof_dwarf_resolve (dwarf, addresses, N_ADDRESSES, &answers) != ELF_NO_MEMORY)
          {
            check_answers (&answers, addresses);
            sysprof_dwarf_answers_clear (&answers);
          }
      sysprof_dwarf_free (dwarf);
    }
  sysprof_elf_image_free (files.image);
  return 0;
}
