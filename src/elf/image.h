// SPDX-License-Identifier: GPL-3.0-or-later

/* An ELF file with its header tables decoded. Section 0 is kept, so that indexes are those of the file. */

#pragma once

#include "elf/bytes.h"

#include <elf.h>

#define ELF_MAX_SECTION  (UINT64_C (1) << 30) /* bytes of one section, stored or unpacked */
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
  uint32_t name; /* into section_names */
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

/* What the entry code of the C library is recognized by (entry.c). */
typedef enum
{
  ELF_NAME_START_MAIN,
  ELF_NAME_SETJMP,
  ELF_NAME_EXIT,
  ELF_NAME_CTYPE_INIT,
  ELF_NAME_TLS_DTORS,
  ELF_N_ENTRY_NAMES,
} ElfEntryName;

/* What the entries (FDEs) of a CIE share. */
typedef struct
{
  uint8_t encoding; /* how they write addresses: the letter R of the augmentation */
  bool has_size;    /* their augmentation has a size in front: the letter z */
  uint64_t return_column;
} ElfFrameCommon;

struct ElfImage
{
  ElfSource source;
  uint8_t *unpacked; /* what the source points into, of a packed file; or NULL */
  bool is_64;
  bool is_swapped;
  uint16_t type;
  uint16_t machine;
  uint64_t entry;
  ElfSegment *segments; /* [n_segments] */
  uint32_t n_segments;
  ElfSection *sections; /* [n_sections]; none where the table lies outside the file */
  uint32_t n_sections;
  char *section_names; /* [section_names_size], NUL behind; may be NULL */
  uint64_t section_names_size;
  uint8_t *frame_header; /* .eh_frame_hdr, read when first asked for */
  uint64_t frame_header_size;
  uint64_t frame_header_address;
  bool is_frame_header_read;
  uint8_t
      *frame_window; /* [frame_window_size] a part of .eh_frame, read at once; NULL = none */
  uint64_t frame_window_offset;
  uint64_t frame_window_size;
  uint64_t cie_address; /* of the one that was read last; 0 = none */
  ElfFrameCommon cie;
  uint64_t entry_names[ELF_N_ENTRY_NAMES]; /* addresses; 0 = not in the file */
  bool are_entry_names_read;
  uint64_t asked_start; /* the function that was last asked for: is it an entry? */
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

/* The content of a section, unpacked where it is compressed, with a NUL behind; free with free(). Of an object file that is not linked
 * debug information is linked (relocate.c). */
ElfStatus sysprof_elf_image_read_section (ElfImage *self,
                                          const ElfSection *section,
                                          uint8_t **bytes,
                                          uint64_t *size);

/* The same as it is stored. */
ElfStatus sysprof_elf_image_read_section_unlinked (ElfImage *self,
                                                   const ElfSection *section,
                                                   uint8_t **bytes,
                                                   uint64_t *size);

/* Gives the sections of an object file that are loaded addresses, one behind the other: those that it is linked to here. They depend
 * on nothing but sizes and alignments of these sections, which a file has in common with its debug file. */
void sysprof_elf_image_place_sections (ElfImage *self);

/* The code of the section with that number of an object file that is not linked. FALSE: it has none, or the file has not its bytes. */
bool sysprof_elf_image_object_code (const ElfImage *image, uint32_t number, ElfCode *code);

/* Links the content of a section with debug information. ELF_UNSUPPORTED: it needs what is not known of this machine. */
ElfStatus sysprof_elf_image_relocate (ElfImage *self,
                                      const ElfSection *section,
                                      uint8_t *bytes,
                                      uint64_t size);

/* Where the byte at a link-time address is in the file, and how many follow it there. */
ElfStatus sysprof_elf_image_offset_of_address (const ElfImage *self,
                                               uint64_t address,
                                               uint64_t *offset,
                                               uint64_t *left);
