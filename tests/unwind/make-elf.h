// SPDX-License-Identifier: GPL-3.0-or-later

/* An ELF file around call-frame bytes: one executable segment of TEXT_SIZE bytes at TEXT, the
 * section at FRAMES. */

#pragma once

#include <elf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define TEXT UINT64_C (0x10000)
#ifndef TEXT_SIZE
#  define TEXT_SIZE UINT64_C (0x40000)
#endif
#define FRAMES UINT64_C (0x100000)

static const char make_elf_names[] = "\0.eh_frame\0.debug_frame\0.shstrtab";

#define NAME_EH_FRAME    1
#define NAME_DEBUG_FRAME 11
#define NAME_NAMES       24

/* Free with free(). `text` has TEXT_SIZE bytes; NULL: zeroes. */
static inline uint8_t *
make_elf (const uint8_t *text,
          const void *frames,
          size_t frames_size,
          int is_debug,
          uint16_t machine,
          size_t *size)
{
  size_t names = sizeof (Elf64_Ehdr) + sizeof (Elf64_Phdr) + 3 * sizeof (Elf64_Shdr);
  size_t frames_at = names + sizeof make_elf_names;
  size_t text_at = frames_at + frames_size;
  uint8_t *file = calloc (1, text_at + TEXT_SIZE);
  Elf64_Ehdr header = { .e_type = ET_DYN,
                        .e_machine = machine,
                        .e_version = EV_CURRENT,
                        .e_phoff = sizeof header,
                        .e_shoff = sizeof header + sizeof (Elf64_Phdr),
                        .e_ehsize = sizeof header,
                        .e_phentsize = sizeof (Elf64_Phdr),
                        .e_phnum = 1,
                        .e_shentsize = sizeof (Elf64_Shdr),
                        .e_shnum = 3,
                        .e_shstrndx = 2 };
  Elf64_Phdr segment = { .p_type = PT_LOAD,
                         .p_flags = PF_R | PF_X,
                         .p_offset = text_at,
                         .p_vaddr = TEXT,
                         .p_filesz = TEXT_SIZE,
                         .p_memsz = TEXT_SIZE };
  Elf64_Shdr sections[3] = {
    { 0 },
    { .sh_name = is_debug ? NAME_DEBUG_FRAME : NAME_EH_FRAME,
      .sh_type = SHT_PROGBITS,
      .sh_addr = FRAMES,
      .sh_offset = frames_at,
      .sh_size = frames_size },
    { .sh_name = NAME_NAMES,
      .sh_type = SHT_STRTAB,
      .sh_offset = names,
      .sh_size = sizeof make_elf_names },
  };

  if (file == NULL)
    abort ();
  memcpy (header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  memcpy (file, &header, sizeof header);
  memcpy (file + sizeof header, &segment, sizeof segment);
  memcpy (file + sizeof header + sizeof segment, sections, sizeof sections);
  memcpy (file + names, make_elf_names, sizeof make_elf_names);
  if (frames_size > 0)
    memcpy (file + frames_at, frames, frames_size);
  if (text != NULL)
    memcpy (file + text_at, text, TEXT_SIZE);

  *size = text_at + TEXT_SIZE;
  return file;
}
