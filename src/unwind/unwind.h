// SPDX-License-Identifier: GPL-3.0-or-later

/* unwind: turns call-frame rules into compact sorted tables, and walks stacks with them.
 *
 *   in the worker without rights   bytes of an ELF file ──► sysprof_unwind_table_build() ──► one block of bytes
 *   in the recorder                sysprof_unwind_table_adopt() checks it; publish.c stores it into mapped slabs
 *   in the kernel, or walk.c       walks with what is in the slabs (bpf.h has their layout)
 *
 * Building is plain C without GLib, as it runs behind fork(). A table is *frozen*; what is published is *owned* by one
 * thread, and read by the kernel meanwhile. */

#pragma once

#include "bpf/bpf.h"
#include "elf/elf.h"

/* --- tables --- */

#define UNWIND_TABLE_MAGIC UINT32_C (0x31747553) /* "Sut1" */

/* The beginning of a table's bytes; then u32 block[n_pages]: where each page's block is, in bytes from the beginning, 0 =
 * no rules; then blocks, 4-aligned, in the order of their pages. */
typedef struct
{
  uint32_t magic;
  uint32_t n_pages;
  uint64_t start;        /* link-time address of the first page */
  uint64_t text_size;    /* bytes of executable segments */
  uint64_t covered_size; /* those of them that have a rule */
  uint32_t n_functions;
  uint32_t n_refused; /* entries that could not be read */
  uint32_t n_broken;  /* functions whose instructions break off or make no sense */
  uint32_t n_rows;
  uint32_t n_escapes; /* of n_rows */
  uint16_t machine;   /* EM_… */
  uint16_t sources;   /* UNWIND_SOURCE_… */
} UnwindTableHeader;

#define UNWIND_SOURCE_EH_FRAME    1u
#define UNWIND_SOURCE_DEBUG_FRAME 2u
#define UNWIND_SOURCE_CODE \
  4u /* what the instructions themselves say, where nothing else does */

typedef struct
{
  const UnwindTableHeader *header;
  const uint32_t *block; /* [header->n_pages] */
  uint8_t *bytes;        /* [size], owned */
  size_t size;
} UnwindTable;

/* The table of a file. `debug_image`, which may be NULL, is its separate debug file. ELF_ABSENT: no executable code;
 * ELF_UNSUPPORTED: for another machine. A file without any rules has a table that says so. */
ElfStatus
sysprof_unwind_table_build (ElfImage *image, ElfImage *debug_image, UnwindTable *table);

/* The same from bytes that a worker sent, which are believed only as far as they can be checked. Takes `bytes` (malloc'd)
 * and frees them on failure. */
bool sysprof_unwind_table_adopt (UnwindTable *table, uint8_t *bytes, size_t size);

void sysprof_unwind_table_clear (UnwindTable *table);

/* Bytes of the block of a page; 0 = it has no rules. */
size_t sysprof_unwind_table_block_size (const UnwindTable *table, uint32_t page);

/* --- the worker --- */

#define UNWIND_MOST_SEGMENTS 8 /* executable ones of a file: most have one */

/* Where the code is in a file. */
typedef struct
{
  uint32_t n;
  ElfCodeSegment segment[UNWIND_MOST_SEGMENTS];
} UnwindCode;

/* What is added to link-time addresses where `offset` of the file is mapped at `start`. FALSE: there is no code. */
bool sysprof_unwind_code_find_bias (const UnwindCode *self,
                                    uint64_t start,
                                    uint64_t offset,
                                    uint64_t *bias);

/* A child without rights that builds tables. *Owned* by one thread. */
typedef struct
{
  ElfChild child;
} UnwindWorker;

#define UNWIND_WORKER_INIT    \
  {                           \
    .child = ELF_CHILD_INIT   \
  }

/* The table of the file that `fd` (borrowed) reads, as sysprof_unwind_table_build() makes it. Starts the child when there is
 * none. ELF_CORRUPT also where the child died of it. */
ElfStatus
sysprof_unwind_worker_build (UnwindWorker *self, int fd, UnwindTable *table, UnwindCode *code);
void sysprof_unwind_worker_clear (UnwindWorker *self);
