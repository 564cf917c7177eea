// SPDX-License-Identifier: GPL-3.0-or-later

/* dwarf: finds the functions and source lines of addresses, including inlined functions, in
 * DWARF 2 to 5. Plain C, no GLib. The input is untrusted.
 *
 *   DwarfFiles files = { .image = image_with_debug_info };
 *   Dwarf *dwarf;
 *   if (sysprof_dwarf_open (&files, &dwarf) == ELF_OK)
 *     {
 *       … sysprof_dwarf_resolve (dwarf, addresses, n, &answers); …
 *       sysprof_dwarf_free (dwarf);
 *     }
 *
 * Only units that contain one of the addresses are read. Supported are programs and separate
 * debug files, split units (.dwo and .dwp), supplementary files of dwz, compressed sections, 32
 * and 64 bits, and both byte orders. Object files that are not linked are supported as far as
 * elf relocates them. Types are not read.
 *
 * Limits: a chain of origins has 16 links, a stack of inlined functions DWARF_MAX_INLINES
 * entries (more are dropped at the inner end), and the total number of steps is limited by the
 * size of the sections. For a file beyond these limits, the answers have what was found before.
 *
 * A Dwarf is *owned* by one thread. */

#pragma once

#include "elf/elf.h"

#define DWARF_MAX_INLINES 512 /* inlined functions around one address */
#define DWARF_MAX_ORIGINS 16  /* links from a function to the entry with its name */
#define DWARF_MAX_SPLITS  512 /* missing split files that one answer reports */
#define DWARF_MAX_FRAMES  (UINT32_C (64) << 20)
#define DWARF_MAX_TEXT    (UINT32_C (256) << 20) /* bytes of names of one answer */

typedef struct
{
  /* the file itself or its separate debug file: the one with .debug_info */
  ElfImage *image;
  ElfImage *supplement; /* the file that .gnu_debugaltlink or .debug_sup refers to; or NULL */
  ElfImage *package;    /* the .dwp with its split units; or NULL */
  /* Opens a split file: `name` as in the debug information, relative to `directory`; both are
   * untrusted. Returns a descriptor, which is borrowed until sysprof_dwarf_resolve() returns,
   * or -1. NULL = there are no split files. */
  int (*open_split) (void *closure, const char *directory, const char *name);
  void *closure;
} DwarfFiles;

typedef struct
{
  /* linkage name, else the plain name; offset in DwarfAnswers.text, 0 = unknown */
  uint32_t name;
  uint32_t file; /* path, as compiled */
  uint32_t line; /* line of the address, or of the call of the previous frame; 0 = unknown */
  uint32_t decl_file; /* declaration of the function; 0 and 0 = unknown */
  uint32_t decl_line;
  bool is_inlined;
} DwarfFrame;

typedef struct
{
  uint32_t first; /* index of the innermost frame */
  uint32_t n;     /* 0 = unknown; the last one is not inlined, unless its function is unknown */
  /* the part of the outermost function that contains the address; 0 and 0 = unknown */
  uint64_t start;
  uint64_t end;
} DwarfRow;

/* A split file that could not be used: inlined functions of some addresses are missing. */
typedef struct
{
  /* directory of the compilation; offset in DwarfAnswers.text, 0 = unknown */
  uint32_t directory;
  uint32_t name;
  uint64_t dwo_id; /* of one of the units */
  bool is_other;   /* the file exists, but without the unit: it is from another build */
} DwarfSplit;

typedef struct
{
  DwarfRow *row; /* [n] one per address */
  size_t n;
  DwarfFrame *frame; /* [n_frames] */
  size_t n_frames;
  DwarfSplit *split; /* [n_splits] each file once */
  size_t n_splits;
  char *text; /* [text_size], the first and the last byte are NUL */
  size_t text_size;
  bool is_over_limit; /* a limit was reached for some of them */
} DwarfAnswers;

/* Whether a split file has the unit; whether a package has any of the file's split units. */
bool sysprof_dwarf_has_split (ElfImage *image, uint64_t dwo_id);
bool sysprof_dwarf_has_packaged (ElfImage *image, const uint64_t *dwo_ids, size_t n);

typedef struct Dwarf Dwarf;

/* The images are borrowed and must outlive the Dwarf. ELF_ABSENT without .debug_info. */
ElfStatus sysprof_dwarf_open (const DwarfFiles *files, Dwarf **dwarf);
void sysprof_dwarf_free (Dwarf *self);

/* `addresses` are link-time addresses, ascending. ELF_TOO_LARGE: the answers have what was
 * found within the limits. Other errors leave no answers. */
ElfStatus
sysprof_dwarf_resolve (Dwarf *self, const uint64_t *addresses, size_t n, DwarfAnswers *answers);

void sysprof_dwarf_answers_clear (DwarfAnswers *self);
