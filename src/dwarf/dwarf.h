// SPDX-License-Identifier: GPL-3.0-or-later

/* dwarf: which functions an address belongs to, inlined ones included, and which lines, from DWARF 2 to 5. Plain C, no
 * GLib. Bytes nobody vouches for.
 *
 *   DwarfFiles files = { .image = image_with_debug_info };
 *   Dwarf *dwarf;
 *   if (sysprof_dwarf_open (&files, &dwarf) == ELF_OK)
 *     { … sysprof_dwarf_resolve (dwarf, addresses, n, &answers); … sysprof_dwarf_free (dwarf); }
 *
 * Only the units that hold one of the addresses are read. Read are whole programs and separate debug files, split units
 * (.dwo and .dwp), supplementary files as dwz writes them, compressed sections, 32 and 64 bits, both byte orders. Object
 * files that are not linked yet are read as far as elf links them. Not read are types.
 *
 * Bounds: a chain of origins has 16 links, a stack of inlined functions DWARF_MAX_INLINES entries (further ones are left
 * out at the inner end), and all steps together are bounded by the size of the sections. A file that has more to it gets
 * answers for what was found until then.
 *
 * A Dwarf is *owned* by one thread. */

#pragma once

#include "elf/elf.h"

#define DWARF_MAX_INLINES 512 /* inlined functions around one address */
#define DWARF_MAX_ORIGINS 16  /* links from a function to where its name stands */
#define DWARF_MAX_SPLITS  512 /* files with split units that one answer tells of */
#define DWARF_MAX_FRAMES  (UINT32_C (64) << 20)
#define DWARF_MAX_TEXT    (UINT32_C (256) << 20) /* bytes of names of one answer */

typedef struct
{
  ElfImage *image;      /* the file itself or its separate debug file: who has .debug_info */
  ElfImage *supplement; /* what .gnu_debugaltlink or .debug_sup names; or NULL */
  ElfImage *package;    /* the .dwp with its split units; or NULL */
  /* Opens a split unit: `name` as it was compiled, in `directory` unless it is absolute; both may hold anything. Returns a
   * descriptor, which is borrowed until sysprof_dwarf_resolve() returns, or -1. NULL = there are none. */
  int (*open_split) (void *closure, const char *directory, const char *name);
  void *closure;
} DwarfFiles;

typedef struct
{
  uint32_t
      name; /* linkage name, else the plain name; offsets into DwarfAnswers.text, 0 = unknown */
  uint32_t file; /* with its directories, as compiled */
  uint32_t line; /* where it was at that address, or called the frame before; 0 = unknown */
  uint32_t decl_file; /* where the function itself is written; 0 and 0 = unknown */
  uint32_t decl_line;
  bool is_inlined;
} DwarfFrame;

typedef struct
{
  uint32_t first; /* frame, the innermost one */
  uint32_t
      n; /* 0 = nothing is known; the last one is not inlined, unless its function is unknown */
  uint64_t
      start; /* of that piece of the function around all inlined ones which holds the address; 0 and 0 = unknown */
  uint64_t end;
} DwarfRow;

/* A file with split units of the addresses that could not be used: it says what was inlined there. */
typedef struct
{
  uint32_t
      directory; /* in which it was compiled; offsets into DwarfAnswers.text, 0 = unknown */
  uint32_t name;
  uint64_t dwo_id; /* of one of the units */
  bool is_other;   /* there is one, without the unit: it is of another build */
} DwarfSplit;

typedef struct
{
  DwarfRow *row; /* [n] one per address that was asked for */
  size_t n;
  DwarfFrame *frame; /* [n_frames] */
  size_t n_frames;
  DwarfSplit *split; /* [n_splits] each file once */
  size_t n_splits;
  char *text; /* [text_size], the first and the last byte are NUL */
  size_t text_size;
  bool is_over_limit; /* it has more to some of them than is read */
} DwarfAnswers;

/* Whether a file with split units has the unit; a package of such some of those. */
bool sysprof_dwarf_has_split (ElfImage *image, uint64_t dwo_id);
bool sysprof_dwarf_has_packaged (ElfImage *image, const uint64_t *dwo_ids, size_t n);

typedef struct Dwarf Dwarf;

/* The images are borrowed and must outlive it. ELF_ABSENT without .debug_info. */
ElfStatus sysprof_dwarf_open (const DwarfFiles *files, Dwarf **dwarf);
void sysprof_dwarf_free (Dwarf *self);

/* `addresses` are link-time ones, ascending. ELF_TOO_LARGE: the answers are there, as far as they were found within the
 * bounds. Other failures leave no answers. */
ElfStatus
sysprof_dwarf_resolve (Dwarf *self, const uint64_t *addresses, size_t n, DwarfAnswers *answers);

void sysprof_dwarf_answers_clear (DwarfAnswers *self);
