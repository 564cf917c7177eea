// SPDX-License-Identifier: GPL-3.0-or-later

/* An ELF file with decoded header tables. Section 0 is kept, so that indices are those of the
 * file. */

#pragma once

#include "elf/bytes.h"

#include <elf.h>

#define ELF_MAX_SECTION  (UINT64_C (1) << 30) /* bytes of one section, stored or decompressed */
#define ELF_MAX_RATIO    1000                 /* of a compressed section */
#define ELF_MAX_SECTIONS (UINT64_C (1) << 20)
#define ELF_MAX_SEGMENTS 65535
#define ELF_MAX_NOTES    (UINT64_C (1) << 20) /* bytes */

typedef struct
{
  uint32_t type;
  uint32_t flags;
  uint64_t offset;
  uint64_t address;
  uint64_t file_size;
  uint64_t memory_size;
  uint64_t align;
} ElfSegment;

typedef struct
{
  uint32_t name; /* offset in section_names */
  uint32_t type;
  uint64_t flags;
  uint64_t address;
  uint64_t offset;
  uint64_t size;
  uint32_t link;
  uint32_t info;
  uint64_t align;
  uint64_t entry_size;
} ElfSection;

/* Functions by which the entry code of the C library is recognized (entry.c). */
typedef enum
{
  ELF_NAME_START_MAIN,
  ELF_NAME_SETJMP,
  ELF_NAME_EXIT,
  ELF_NAME_CTYPE_INIT,
  ELF_NAME_TLS_DTORS,
  ELF_N_ENTRY_NAMES,
} ElfEntryName;

/* What a CIE defines for its entries (FDEs). */
typedef struct
{
  uint8_t encoding; /* encoding of addresses: the letter R of the augmentation */
  bool has_size;    /* the augmentation data begins with its size: the letter z */
  uint64_t return_column;
} ElfFrameCommon;

struct ElfImage
{
  ElfSource source;
  uint8_t *unpacked; /* memory of the source, for a compressed file; or NULL */
  bool is_64;
  bool is_swapped;
  uint16_t type;
  uint16_t machine;
  uint64_t entry;
  ElfSegment *segments; /* [n_segments] */
  uint32_t n_segments;
  ElfSection *sections; /* [n_sections]; empty if the table is outside the file */
  uint32_t n_sections;
  char *section_names; /* [section_names_size], terminated with NUL; may be NULL */
  uint64_t section_names_size;
  uint8_t *frame_header; /* .eh_frame_hdr, read at its first use */
  uint64_t frame_header_size;
  uint64_t frame_header_address;
  bool is_frame_header_read;
  uint8_t *frame_window; /* [frame_window_size] a part of .eh_frame; NULL = none */
  uint64_t frame_window_offset;
  uint64_t frame_window_size;
  uint64_t cie_address; /* of the CIE that was read last; 0 = none */
  ElfFrameCommon cie;
  uint64_t entry_names[ELF_N_ENTRY_NAMES]; /* addresses; 0 = not in the file */
  bool are_entry_names_read;
  /* the last function for which it was determined whether it is an entry */
  uint64_t asked_start;
  uint64_t asked_end;
  bool is_asked_entry;
};

static inline Bytes
sysprof_elf_image_cursor (const ElfImage *self, const uint8_t *bytes, uint64_t size)
{
  return (Bytes){ bytes, bytes + size, self->is_64, self->is_swapped };
}

/* The first section of that name, or NULL. */
const ElfSection *sysprof_elf_image_find_section (const ElfImage *self, const char *name);

/* Reads a section, decompressed, terminated with NUL; free with free(). Debug information of an
 * object file that is not linked is relocated (relocate.c). */
ElfStatus sysprof_elf_image_read_section (ElfImage *self,
                                          const ElfSection *section,
                                          uint8_t **bytes,
                                          uint64_t *size);

/* The same without relocation. */
ElfStatus sysprof_elf_image_read_section_unlinked (ElfImage *self,
                                                   const ElfSection *section,
                                                   uint8_t **bytes,
                                                   uint64_t *size);

/* Assigns consecutive addresses to the loadable sections of an object file that is not linked.
 * They depend only on the sizes and alignments of these sections, which are the same in its
 * debug file. */
void sysprof_elf_image_place_sections (ElfImage *self);

/* The code of section `number` of an object file that is not linked. FALSE: it has no code, or
 * the file does not contain it. */
bool sysprof_elf_image_object_code (const ElfImage *image, uint32_t number, ElfCode *code);

/* Relocates a section with debug information. ELF_UNSUPPORTED: relocations of this machine that
 * are not supported. */
ElfStatus sysprof_elf_image_relocate (ElfImage *self,
                                      const ElfSection *section,
                                      uint8_t *bytes,
                                      uint64_t size);

/* The file offset of a link-time address, and how many bytes follow it there. */
ElfStatus sysprof_elf_image_offset_of_address (const ElfImage *self,
                                               uint64_t address,
                                               uint64_t *offset,
                                               uint64_t *left);
