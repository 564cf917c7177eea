// SPDX-License-Identifier: GPL-3.0-or-later

/* elf: answers questions about ELF files from bytes nobody vouches for. Plain C, no GLib.
 *
 * Files are read with positioned reads into memory of our own, never mapped: a file that
 * another process truncates meanwhile is a short read, not a signal. All counts, offsets and
 * sizes are checked before use; work is bounded by the size of the file and by the limits below.
 *
 *   ElfImage *image;
 *   if (sysprof_elf_image_open (fd, &image) == ELF_OK) { … sysprof_elf_image_free (image); }
 *
 * An image is *owned* by one thread; symbols, once loaded, are *frozen*. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum
{
  ELF_OK,
  ELF_TRUNCATED,   /* a range lies outside the file */
  ELF_NOT_ELF,     /* no ELF magic */
  ELF_UNSUPPORTED, /* class, version, byte order or compression that we do not read */
  ELF_ABSENT,      /* well-formed, but what was asked for is not in it */
  ELF_CORRUPT,     /* contradicts itself */
  ELF_TOO_LARGE,   /* over one of our limits */
  ELF_MISMATCH,    /* belongs to another file */
  ELF_NO_MEMORY,
  ELF_IO_ERROR, /* errno tells */
  ELF_SKIPPED,  /* not read: files of untrusted owners have used up their budget */
  ELF_GIVEN_UP, /* who read it took too long or died: what a process says that had a child read it */
} ElfStatus;

/* A few words for a person, never NULL. */
const char *sysprof_elf_status_to_string (ElfStatus status);

#define ELF_MAX_BUILD_ID 64

typedef struct ElfImage ElfImage;

/* `fd` is borrowed and must stay open as long as the image lives. 32 and 64 bits, both byte orders. */
ElfStatus sysprof_elf_image_open (int fd, ElfImage **image);
/* The same over memory (borrowed): a file found inside another, a test. */
ElfStatus sysprof_elf_image_open_memory (const void *bytes, size_t size, ElfImage **image);
void sysprof_elf_image_free (ElfImage *image);

/* The note .note.gnu.build-id: `*size` bytes of at most ELF_MAX_BUILD_ID. ELF_ABSENT without one. */
ElfStatus
sysprof_elf_image_build_id (ElfImage *image, uint8_t build_id[ELF_MAX_BUILD_ID], size_t *size);

/* Whether it has a section of that name, whatever is in it. */
bool sysprof_elf_image_has_section (const ElfImage *image, const char *name);

/* Of an object file that is not linked the number `i` of its sections with code, and where it is put here. FALSE: there are not so many. */
bool sysprof_elf_image_object_text (const ElfImage *image,
                                    size_t i,
                                    const char **name,
                                    uint64_t *address,
                                    uint64_t *size);

/* What such a file's code refers to and who links it puts there. */
typedef struct
{
  uint64_t at;      /* link-time address, as the file has its place here */
  uint64_t value;   /* of the symbol, likewise; 0 = it is not of this file's code */
  const char *name; /* of it, or of the section; may be "" */
  int64_t addend;
  bool
      is_from_end; /* the processor counts from the end of the instruction, and the addend is less by what is left of it */
} ElfReference;

typedef struct
{
  ElfReference *row; /* [n] by `at` */
  size_t n;
  char *strings; /* that names are in, where they are not the image's */
} ElfReferences;

/* Links what is the same wherever its sections go, of the code from `start` on, and lists the rest. Of a file that is linked there is
 * none. ELF_UNSUPPORTED: of its machine nothing is known. */
ElfStatus sysprof_elf_image_link_code (ElfImage *image,
                                       uint64_t start,
                                       uint8_t *code,
                                       uint64_t size,
                                       ElfReferences *references);
void sysprof_elf_references_clear (ElfReferences *self);

/* .gnu_debuglink: file name (no slash) and CRC-32 of the file it names. */
ElfStatus sysprof_elf_image_debug_link (ElfImage *image, char name[256], uint32_t *crc);

#define ELF_MAX_ALT_LINK 1024

/* What debug information refers to that dwz moved into another file: .gnu_debugaltlink, or .debug_sup of DWARF 5. The file's name, which
 * may be a path, and by what it is known: a build id, or a checksum. ELF_ABSENT: it refers to none. */
ElfStatus sysprof_elf_image_alt_link (ElfImage *image,
                                      char name[ELF_MAX_ALT_LINK],
                                      uint8_t id[ELF_MAX_BUILD_ID],
                                      size_t *size);
/* By what such a file itself is known. */
ElfStatus
sysprof_elf_image_alt_id (ElfImage *image, uint8_t id[ELF_MAX_BUILD_ID], size_t *size);

/* CRC-32 of a whole file, as .gnu_debuglink has it. */
ElfStatus sysprof_elf_file_crc (int fd, uint32_t *crc);

/* The link-time address of the byte at `file_offset`, by the loadable segments. */
ElfStatus
sysprof_elf_image_address_of_offset (ElfImage *image, uint64_t file_offset, uint64_t *address);

/* --- symbols --- */

typedef struct
{
  uint64_t start;   /* link-time address */
  uint64_t end;     /* first address behind */
  const char *name; /* as in the file, not demangled; owned by the ElfSymbols */
} ElfSymbol;

typedef struct ElfSymbols ElfSymbols;

/* What a file offers, merged: .symtab, .dynsym and the .symtab inside .gnu_debugdata (xz), functions only,
 * sorted, one name per address (global before weak before local, then the shorter, then the first).
 * ELF_ABSENT if there is none at all. */
ElfStatus sysprof_elf_symbols_load (ElfImage *image, ElfSymbols **symbols);
void sysprof_elf_symbols_free (ElfSymbols *symbols);
size_t sysprof_elf_symbols_count (const ElfSymbols *symbols);
/* The symbol number `i` by start; its end as the file has it, which may be its start. */
ElfSymbol sysprof_elf_symbols_get (const ElfSymbols *symbols, size_t i);
/* TRUE when .symtab or .gnu_debugdata was there, so that a separate debug file has nothing to add. */
bool sysprof_elf_symbols_is_full (const ElfSymbols *symbols);
/* TRUE where a table was left out, as it is over one of our limits. */
bool sysprof_elf_symbols_is_over_limit (const ElfSymbols *symbols);
/* The function that holds `address`; FALSE when it lies between functions. Symbols without a size
 * reach to the next symbol, or to the end of their section. */
bool sysprof_elf_symbols_find (const ElfSymbols *symbols, uint64_t address, ElfSymbol *symbol);

/* The value of the first entry of .symtab with that name, of whatever type it is. ELF_ABSENT: there is none. */
ElfStatus sysprof_elf_image_find_label (ElfImage *image, const char *name, uint64_t *address);

/* --- functions without a symbol --- */

/* Where the function that holds `address` begins and ends, by the call-frame table. ELF_ABSENT where no
 * entry covers it: padding, hand-written code. */
ElfStatus sysprof_elf_image_function_bounds (ElfImage *image,
                                             uint64_t address,
                                             uint64_t *start,
                                             uint64_t *end);

/* TRUE where `address`, which no symbol covers, lies in code where a process or thread begins: the file's
 * entry point, or one of the C library's own static functions that call main or a thread's first function
 * (entry.c says how they are recognized). `symbols` may be NULL. */
bool sysprof_elf_image_is_entry (ElfImage *image, const ElfSymbols *symbols, uint64_t address);

/* --- call-frame information, for who makes tables of it (unwind) --- */

/* EM_…, of <elf.h>, and whether it is a file of 64 bits in our own byte order, the only kind that runs here. */
uint16_t sysprof_elf_image_machine (const ElfImage *image);
bool sysprof_elf_image_is_native (const ElfImage *image);
bool sysprof_elf_image_is_64 (const ElfImage *image);
/* Whether its integers are of the other byte order. */
bool sysprof_elf_image_is_swapped (const ElfImage *image);
/* Where the program begins; 0 in most libraries. */
uint64_t sysprof_elf_image_entry (const ElfImage *image);

typedef struct
{
  uint64_t start;  /* link-time addresses */
  uint64_t end;    /* first address behind */
  uint64_t offset; /* of the first byte in the file */
} ElfCode;

/* The executable segments as far as the file has bytes for them, ascending and apart; the first `most` of the file. */
size_t sysprof_elf_image_code (const ElfImage *image, ElfCode *code, size_t most);

/* Where the only executable segment lies in memory, of a file that has not all of its bytes: a debug file. FALSE: it is none, or has
 * several. */
bool sysprof_elf_image_left_out_code (const ElfImage *image, uint64_t *address, uint64_t *size);

/* What of them is code: by the executable sections, as an old linker's segment holds read-only data as well; where there are no
 * sections, or more than `most`, the segments. Ascending and apart. */
size_t sysprof_elf_image_text (const ElfImage *image, ElfCode *text, size_t most);

/* `size` bytes of code from `start` on. */
ElfStatus
sysprof_elf_image_peek_code (ElfImage *image, uint64_t start, uint8_t *bytes, size_t size);
/* The bytes of [start, end) into fresh memory; free with free(). */
ElfStatus
sysprof_elf_image_read_code (ElfImage *image, uint64_t start, uint64_t end, uint8_t **bytes);

typedef struct
{
  uint8_t *bytes; /* [size], free with free() */
  uint64_t size;
  uint64_t address; /* link-time address of the first byte */
  bool is_open;     /* where the section ends is not known: a length of 0 ends it */
} ElfFrames;

/* .eh_frame: by its section header, else through the segment PT_GNU_EH_FRAME, then up to the end of the segment that
 * holds it. ELF_ABSENT without either. */
ElfStatus sysprof_elf_image_read_eh_frame (ElfImage *image, ElfFrames *frames);
/* Another section by its name, unpacked: .debug_frame, .gopclntab. */
ElfStatus sysprof_elf_image_read_named (ElfImage *image, const char *name, ElfFrames *frames);

/* C++, Rust (v0 and legacy, hash cut off) and D; NULL when `name` is not mangled. Free with free().
 * Names over 64 KiB are not tried. */
char *sysprof_elf_demangle (const char *name);
