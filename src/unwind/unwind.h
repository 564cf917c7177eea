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
#include "util/util.h"

/* --- tables --- */

#define UNWIND_TABLE_MAGIC   UINT32_C (0x33747553) /* "Sut3" */
#define UNWIND_MOST_BUILD_ID 20

/* The beginning of a table's bytes; then u32 block[n_pages]: where each page's block is, in bytes from the beginning, 0 =
 * no rules; then blocks, 4-aligned, in the order of their pages. All in the machine's byte order: tables do not travel. */
typedef struct
{
  uint32_t magic;
  uint32_t n_pages;
  uint64_t start;        /* link-time address of the first page */
  uint64_t text_size;    /* bytes of code */
  uint64_t covered_size; /* those of them that have a rule */
  uint64_t read_size;    /* those of them whose rule is what their instructions say */
  uint32_t n_functions;
  uint32_t n_refused; /* entries that could not be read */
  uint32_t n_broken;  /* functions whose instructions break off or make no sense */
  uint32_t n_rows;
  uint32_t n_escapes; /* of n_rows */
  uint32_t
      n_contradictions;  /* functions whose rules are not what their first instructions do */
  uint16_t machine;      /* EM_… */
  uint16_t sources;      /* UNWIND_SOURCE_… */
  uint8_t build_id_size; /* 0 = none, or longer than what the kernel tells of mappings */
  uint8_t build_id[UNWIND_MOST_BUILD_ID];
  uint32_t n_segments;
  ElfCode segment[UNWIND_MOST_SEGMENTS];
} UnwindTableHeader;

#define UNWIND_SOURCE_EH_FRAME    1u
#define UNWIND_SOURCE_DEBUG_FRAME 2u
#define UNWIND_SOURCE_GO          8u
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

/* What is added to link-time addresses where the file is mapped at [start, end) from `offset` on. FALSE: that is none of its
 * executable segments. */
bool sysprof_unwind_table_bias (const UnwindTable *table,
                                uint64_t start,
                                uint64_t end,
                                uint64_t offset,
                                uint64_t *bias);

/* Bytes of the block of a page; 0 = it has no rules. */
size_t sysprof_unwind_table_block_size (const UnwindTable *table, uint32_t page);

/* --- the worker --- */

/* A child without rights that builds tables. *Owned* by one thread. */
typedef struct
{
  ConfinedChild child;
  bool has_stop_fd;
  int stop_fd; /* borrowed, set before it is used: once it is readable, no table is waited for any more */
  bool has_foreign;    /* the child has read a file that is not root's */
  uid_t foreign_owner; /* of it */
} UnwindWorker;

#define UNWIND_WORKER_INIT       \
  {                              \
    .child = CONFINED_CHILD_INIT \
  }

/* The table of the file in `envelope` (borrowed, util/opener.h), as sysprof_unwind_table_build() makes it; `info` is the file's. What is in
 * `debug_envelope` (borrowed, -1 = none) is taken for its debug file where both have the same build ID. Starts the
 * child when there is none, and another one where the one that there is has read files of another owner. ELF_IO_ERROR also where the
 * child died of it, or took longer than files of that size take. */
ElfStatus sysprof_unwind_worker_build (UnwindWorker *self,
                                       int envelope,
                                       int debug_envelope,
                                       const struct stat *info,
                                       UnwindTable *table);
/* Makes its child at once, where that suits better than with the first table: while few threads run, whose locks a child has for
 * ever as it found them. */
bool sysprof_unwind_worker_start (UnwindWorker *self);
void sysprof_unwind_worker_clear (UnwindWorker *self);
/* How long, in ms, the table of such a file is waited for. */
int64_t sysprof_unwind_worker_patience (const struct stat *info);

/* --- tables in use --- */

/* Where tables are for those who walk: the index and slabs that are mapped from the maps of a WalkProgram, or memory of
 * our own. */
typedef struct
{
  UnwindIndex *index;
  uint8_t *slab[UNWIND_MOST_SLABS]; /* UNWIND_SLAB_SIZE bytes each; NULL = not made yet */
} UnwindMemory;

/* Makes a slab and gives its bytes, zeroed; NULL: there can be no more. */
typedef uint8_t *(*UnwindMakeSlab) (void *data, uint32_t index);

/* What is published: which tables are in the slabs, and which process has which mappings. *Owned* by one thread. */
typedef struct UnwindPublisher UnwindPublisher;

/* A table that is in the slabs. Reference counted: the publisher's processes hold one for each mapping. */
typedef struct UnwindFile UnwindFile;

/* An executable mapping of a process. */
typedef struct
{
  uint64_t start;
  uint64_t end;
  uint64_t bias;    /* what is added to link-time addresses */
  UnwindFile *file; /* NULL: one without rules */
  bool is_pending;  /* without a file: its table is being built */
  bool has_failed;  /* without a file: it has rules perhaps, but there could be no table */
} UnwindProcessMapping;

/* `index` is borrowed, and zeroed. Slabs are made with `make_slab (data, …)`; NULL: of our own memory, which is freed with
 * the publisher. */
UnwindPublisher *
sysprof_unwind_publisher_new (UnwindIndex *index, UnwindMakeSlab make_slab, void *data);
void sysprof_unwind_publisher_free (UnwindPublisher *self);
const UnwindMemory *sysprof_unwind_publisher_get_memory (const UnwindPublisher *self);

/* Time for the functions below: microseconds of a monotonic clock. What was published is used again only a while after it
 * was taken back, as somebody may be reading it. */

/* Copies a table into the slabs. NULL: there is no room. */
UnwindFile *sysprof_unwind_publisher_add_table (UnwindPublisher *self,
                                                const UnwindTable *table,
                                                int64_t now_usec);
UnwindFile *sysprof_unwind_file_ref (UnwindFile *file);
void sysprof_unwind_file_unref (UnwindPublisher *self, UnwindFile *file, int64_t now_usec);

/* For walks that ask the kernel which file is mapped: from now on this one has `file`, whose table has the executable segments of
 * `header`; or, both NULL, no rules. FALSE: there is no room, and the file is not known. */
bool sysprof_unwind_publisher_set_file (UnwindPublisher *self,
                                        const UnwindFileKey *key,
                                        UnwindFile *file,
                                        const UnwindTableHeader *header,
                                        int64_t now_usec);
/* The same of a file of which there could be no table. */
bool sysprof_unwind_publisher_set_failed_file (UnwindPublisher *self,
                                               const UnwindFileKey *key,
                                               int64_t now_usec);
/* Nothing is known of the file any more. */
void sysprof_unwind_publisher_drop_file (UnwindPublisher *self,
                                         const UnwindFileKey *key,
                                         int64_t now_usec);

/* From now on the process has these mappings, which ascend and do not overlap, and no others. FALSE: there is no room, and
 * the process is not known. */
bool sysprof_unwind_publisher_set_process (UnwindPublisher *self,
                                           uint32_t pid,
                                           const UnwindProcessMapping *mappings,
                                           uint32_t n_mappings,
                                           int64_t now_usec);

/* The process executes another program: what it had is nobody's, and what comes is of a new generation. */
void
sysprof_unwind_publisher_drop_process (UnwindPublisher *self, uint32_t pid, int64_t now_usec);

typedef struct
{
  size_t table_bytes;
  size_t slab_bytes; /* that were made */
  uint32_t n_files;  /* tables */
  uint32_t n_known_files;
  uint32_t n_processes;
  uint32_t n_mappings;
  uint32_t n_pages;
  uint64_t n_refused; /* tables and processes without room */
} UnwindUse;

UnwindUse sysprof_unwind_publisher_get_use (const UnwindPublisher *self);

/* --- walking copied stacks --- */

typedef struct
{
  uint64_t ip;
  uint64_t sp;
  uint64_t fp;
  bool is_exact;             /* ip is of an interrupted instruction, not a return address */
  bool is_arm64;             /* the machine that the stack and the tables are of; else x86-64 */
  bool has_lost_sp;          /* arm64: sp lies somewhere in the frame before */
  uint64_t lr;               /* arm64: X30 of an interrupted thread */
  uint64_t code_mask;        /* arm64: sysprof_walk_code_mask() of there */
  const uint64_t *registers; /* [16] by DWARF number, of an interrupted thread; NULL = gone */
  const uint8_t *code;       /* [8] from a byte before ip on; NULL = not known */
} UnwindStart;

typedef struct
{
  uint64_t start;       /* address of the first byte */
  const uint8_t *bytes; /* [size] borrowed */
  size_t size;
} UnwindStack;

typedef struct
{
  WalkReason reason;
  uint32_t used; /* WALK_USED_… */
  size_t n;      /* addresses */
} UnwindWalk;

/* Stacks of the machine that we run on. */
#ifdef __aarch64__
#  define UNWIND_IS_ARM64 true
#else
#  define UNWIND_IS_ARM64 false
#endif

/* Walks a copy of a stack with the tables of process `pid`: innermost address first, at most `most`. */
UnwindWalk sysprof_unwind_walk (const UnwindMemory *memory,
                                uint32_t pid,
                                const UnwindStart *start,
                                const UnwindStack *stack,
                                uint64_t *addresses,
                                size_t most);

/* The rule in force at an address of a process; RULE_NONE where there is none. */
uint32_t sysprof_unwind_find_rule (const UnwindMemory *memory, uint32_t pid, uint64_t address);
