// SPDX-License-Identifier: GPL-3.0-or-later

/* elf: reads untrusted ELF files. Plain C, no GLib.
 *
 * Files are read into memory with positioned reads, and never mapped: if another process
 * truncates the file, a read is short, and no signal is raised. All counts, offsets and sizes
 * are checked before use. Work is limited by the size of the file and by the limits below.
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
  ELF_TRUNCATED,   /* a range is outside the file */
  ELF_NOT_ELF,     /* no ELF magic */
  ELF_UNSUPPORTED, /* unsupported class, version, byte order or compression */
  ELF_ABSENT,      /* well-formed, but without the requested part */
  ELF_CORRUPT,     /* contradicts itself */
  ELF_TOO_LARGE,   /* over a limit */
  ELF_MISMATCH,    /* belongs to another file */
  ELF_NO_MEMORY,
  ELF_IO_ERROR, /* see errno */
  ELF_SKIPPED,  /* not read: files of untrusted owners have used up their budget */
  ELF_GIVEN_UP, /* the child that read the file took too long or died */
} ElfStatus;

/* A few words for the user, never NULL. */
const char *sysprof_elf_status_to_string (ElfStatus status);

#define ELF_MAX_BUILD_ID 64

typedef struct ElfImage ElfImage;

/* `fd` is borrowed and must stay open while the image exists. 32 and 64 bits, both byte
 * orders. */
ElfStatus sysprof_elf_image_open (int fd, ElfImage **image);
/* The same for borrowed memory: a file inside another file, or a test. */
ElfStatus sysprof_elf_image_open_memory (const void *bytes, size_t size, ElfImage **image);
void sysprof_elf_image_free (ElfImage *image);

/* The build ID from .note.gnu.build-id: `*size` bytes of at most ELF_MAX_BUILD_ID. ELF_ABSENT
 * without one. */
ElfStatus
sysprof_elf_image_build_id (ElfImage *image, uint8_t build_id[ELF_MAX_BUILD_ID], size_t *size);

/* Whether there is a section of that name, even if it is empty. */
bool sysprof_elf_image_has_section (const ElfImage *image, const char *name);

/* The code section number `i` of an object file that is not linked, and the address that it has
 * here. FALSE: no such section. */
bool sysprof_elf_image_object_text (const ElfImage *image,
                                    size_t i,
                                    const char **name,
                                    uint64_t *address,
                                    uint64_t *size);

/* A reference from such a file's code that only a linker can fill in. */
typedef struct
{
  uint64_t at;      /* link-time address, as assigned here */
  uint64_t value;   /* of the symbol, likewise; 0 = not in the code of this file */
  const char *name; /* of the symbol or its section; may be "" */
  int64_t addend;
  /* the processor counts from the end of the instruction, so the addend is smaller by the bytes
   * up to that end */
  bool is_from_end;
} ElfReference;

typedef struct
{
  ElfReference *row; /* [n] by `at` */
  size_t n;
  char *strings; /* of the names that are not in the image's own memory */
} ElfReferences;

/* Links the references in the code from `start` on that do not depend on the position of
 * sections, and lists the others. A linked file has none. ELF_UNSUPPORTED: the machine is not
 * supported. */
ElfStatus sysprof_elf_image_link_code (ElfImage *image,
                                       uint64_t start,
                                       uint8_t *code,
                                       uint64_t size,
                                       ElfReferences *references);
void sysprof_elf_references_clear (ElfReferences *self);

/* .gnu_debuglink: the name (without slashes) and the CRC-32 of a debug file. */
ElfStatus sysprof_elf_image_debug_link (ElfImage *image, char name[256], uint32_t *crc);

#define ELF_MAX_ALT_LINK 1024

/* The link to the supplementary file, into which dwz has moved shared debug information:
 * .gnu_debugaltlink, or .debug_sup of DWARF 5. Returns the file's name, which may be a path,
 * and its ID: a build ID or a checksum. ELF_ABSENT: there is no link. */
ElfStatus sysprof_elf_image_alt_link (ElfImage *image,
                                      char name[ELF_MAX_ALT_LINK],
                                      uint8_t id[ELF_MAX_BUILD_ID],
                                      size_t *size);
/* The ID of a supplementary file. */
ElfStatus
sysprof_elf_image_alt_id (ElfImage *image, uint8_t id[ELF_MAX_BUILD_ID], size_t *size);

/* CRC-32 of a complete file, as in .gnu_debuglink. */
ElfStatus sysprof_elf_file_crc (int fd, uint32_t *crc);

/* The link-time address of the byte at `file_offset`, computed from the loadable segments. */
ElfStatus
sysprof_elf_image_address_of_offset (ElfImage *image, uint64_t file_offset, uint64_t *address);

/* --- symbols --- */

typedef struct
{
  uint64_t start;   /* link-time address */
  uint64_t end;     /* exclusive */
  const char *name; /* as in the file, not demangled; owned by the ElfSymbols */
} ElfSymbol;

typedef struct ElfSymbols ElfSymbols;

/* Loads the function symbols of .symtab, .dynsym, and the .symtab in .gnu_debugdata (xz). They
 * are merged and sorted, with one name per address: global before weak before local, then the
 * shorter, then the first. ELF_ABSENT if there are none. */
ElfStatus sysprof_elf_symbols_load (ElfImage *image, ElfSymbols **symbols);
/* The same for the symbols of data. */
ElfStatus sysprof_elf_symbols_load_data (ElfImage *image, ElfSymbols **symbols);
void sysprof_elf_symbols_free (ElfSymbols *symbols);
size_t sysprof_elf_symbols_count (const ElfSymbols *symbols);
/* Symbol number `i` by start. Its end is that in the file, which may equal its start. */
ElfSymbol sysprof_elf_symbols_get (const ElfSymbols *symbols, size_t i);
/* TRUE if .symtab or .gnu_debugdata exists, so that a separate debug file cannot add
 * symbols. */
bool sysprof_elf_symbols_is_full (const ElfSymbols *symbols);
/* TRUE if a table was skipped because it is over a limit. */
bool sysprof_elf_symbols_is_over_limit (const ElfSymbols *symbols);
/* The function that contains `address`; FALSE if the address is between functions. Symbols
 * without a size extend to the next symbol, or to the end of their section. */
bool sysprof_elf_symbols_find (const ElfSymbols *symbols, uint64_t address, ElfSymbol *symbol);

/* The value of the first entry of .symtab with that name, whatever its type. ELF_ABSENT: there
 * is none. */
ElfStatus sysprof_elf_image_find_label (ElfImage *image, const char *name, uint64_t *address);

/* --- functions without a symbol --- */

#define ELF_STUB_SUFFIX "@plt"

typedef struct ElfStubs ElfStubs;

/* The stubs of procedure linkage tables; x86-64 and AArch64 only. `symbols` may be NULL, and is
 * borrowed like the image. Returns NULL without memory. */
ElfStubs *sysprof_elf_stubs_new (ElfImage *image, const ElfSymbols *symbols);
void sysprof_elf_stubs_free (ElfStubs *stubs);
/* The stub that contains `address`. It is named NAME@plt after the function that it jumps to.
 * The code that calls the dynamic linker is named .plt. The first call for an address in such a
 * table reads the tables. */
bool sysprof_elf_stubs_find (ElfStubs *stubs, uint64_t address, ElfSymbol *symbol);

/* The start and end of the function that contains `address`, from the call-frame table.
 * ELF_ABSENT if no entry covers the address: padding, or hand-written code. */
ElfStatus sysprof_elf_image_function_bounds (ElfImage *image,
                                             uint64_t address,
                                             uint64_t *start,
                                             uint64_t *end);

/* Whether `address`, which no symbol covers, is in code where a process or thread begins: the
 * file's entry point, or a static function of the C library that calls main or a thread's first
 * function (see entry.c). `symbols` may be NULL. */
bool sysprof_elf_image_is_entry (ElfImage *image, const ElfSymbols *symbols, uint64_t address);

/* --- call-frame information, for building unwind tables --- */

/* EM_…, of <elf.h>; and whether it is a 64-bit file in the byte order of this machine, the only
 * kind that runs here. */
uint16_t sysprof_elf_image_machine (const ElfImage *image);
bool sysprof_elf_image_is_native (const ElfImage *image);
bool sysprof_elf_image_is_64 (const ElfImage *image);
/* Whether the file's integers have the other byte order. */
bool sysprof_elf_image_is_swapped (const ElfImage *image);
/* The entry point; 0 in most libraries. */
uint64_t sysprof_elf_image_entry (const ElfImage *image);

typedef struct
{
  uint64_t start;  /* link-time addresses */
  uint64_t end;    /* exclusive */
  uint64_t offset; /* file offset of the first byte */
} ElfCode;

/* The parts of executable segments that are in the file, ascending and disjoint; at most the
 * first `most`. */
size_t sysprof_elf_image_code (const ElfImage *image, ElfCode *code, size_t most);

/* For a debug file, whose segments are not all in the file: the address range of its only
 * executable segment. FALSE: not such a file, or it has several. */
bool sysprof_elf_image_left_out_code (const ElfImage *image, uint64_t *address, uint64_t *size);

/* The code of a file. Uses the executable sections, because the segment of older linkers
 * contains read-only data, too. Without sections, or with more than `most`, uses the segments.
 * Ascending and disjoint. */
size_t sysprof_elf_image_text (const ElfImage *image, ElfCode *text, size_t most);

/* Copies `size` bytes of code from `start` on. */
ElfStatus
sysprof_elf_image_peek_code (ElfImage *image, uint64_t start, uint8_t *bytes, size_t size);
/* Reads the bytes of [start, end) into new memory; free with free(). */
ElfStatus
sysprof_elf_image_read_code (ElfImage *image, uint64_t start, uint64_t end, uint8_t **bytes);

typedef struct
{
  uint8_t *bytes; /* [size], free with free() */
  uint64_t size;
  uint64_t address; /* link-time address of the first byte */
  bool is_open;     /* the end of the section is unknown: a length of 0 terminates it */
} ElfFrames;

/* Reads .eh_frame: located by its section header, or else by the segment PT_GNU_EH_FRAME, and
 * then up to the end of the segment that contains it. ELF_ABSENT without either. */
ElfStatus sysprof_elf_image_read_eh_frame (ElfImage *image, ElfFrames *frames);
/* Reads and decompresses another section by its name: .debug_frame, .gopclntab. */
ElfStatus sysprof_elf_image_read_named (ElfImage *image, const char *name, ElfFrames *frames);

/* Demangles C++, Rust (v0 and legacy, without the hash) and D; NULL if `name` is not mangled.
 * ELF_STUB_SUFFIX is kept.
 * Free with free(). Does not try names over 64 KiB. */
char *sysprof_elf_demangle (const char *name);
