// SPDX-License-Identifier: GPL-3.0-or-later

/* Fuzzes the reader of functions and lines. The input is also its own supplement, package of
 * split units and split file. Answers must be consistent: offsets inside the text, an address
 * inside its function. */

#include "dwarf/dwarf.h"
#include "fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define N_ADDRESSES 2048

static void
check_answers (const DwarfAnswers *answers, const uint64_t *addresses)
{
  if (answers->text_size == 0 || answers->text[answers->text_size - 1] != 0)
    abort ();

  if (answers->n_splits > DWARF_MAX_SPLITS)
    abort ();
  for (size_t i = 0; i < answers->n_splits; i++)
    if (answers->split[i].name == 0 || answers->split[i].name >= answers->text_size ||
        answers->split[i].directory >= answers->text_size)
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

static int
open_split (void *closure, const char *directory, const char *name)
{
  if (strlen (directory) + strlen (name) == 0)
    abort ();
  return *(const int *) closure;
}

int
LLVMFuzzerTestOneInput (const uint8_t *bytes, size_t size)
{
  static uint64_t addresses[N_ADDRESSES];
  DwarfAnswers answers;
  DwarfFiles files = { 0 };
  int fd = memfd_create ("split", MFD_CLOEXEC);
  Dwarf *dwarf;

  for (size_t i = 0; i < N_ADDRESSES; i++)
    addresses[i] = i < N_ADDRESSES / 2 ? i * 4 : 0x1000 + (i - N_ADDRESSES / 2) * 8;
  addresses[N_ADDRESSES - 1] = UINT64_MAX;
  if (sysprof_elf_image_open_memory (bytes, size, &files.image) != ELF_OK)
    {
      (void) close (fd);
      return 0;
    }

  if (fd < 0 || write (fd, bytes, size) != (ssize_t) size)
    abort ();
  files.supplement = files.package = files.image;
  files.open_split = open_split;
  files.closure = &fd;
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
  (void) close (fd);
  return 0;
}
