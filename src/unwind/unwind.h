// SPDX-License-Identifier: GPL-3.0-or-later

/* unwind: converts call-frame information to compact sorted tables, and unwinds stacks with
 * them.
 *
 *   in a sandboxed child    sysprof_unwind_table_build() converts an ELF file to one block of
 *                           bytes
 *   in the recorder         sysprof_unwind_table_adopt() checks the block; publish.c stores it
 *                           into mapped slabs
 *   in the kernel, walk.c   unwind with the contents of the slabs (bpf.h has their layout)
 *
 * Building is plain C without GLib, because it runs after fork(). A table is *frozen*.
 * Published data is *owned* by one thread, and the kernel reads it at the same time. */

#pragma once

#include "bpf/bpf.h"
#include "elf/elf.h"
#include "util/util.h"

/* --- tables --- */

#define UNWIND_TABLE_MAGIC   UINT32_C (0x33747553) /* "Sut3" */
#define UNWIND_MOST_BUILD_ID 20

/* The start of a table's bytes. It is followed by u32 block[n_pages], the offset of each page's
 * block in bytes from the start, 0 = no rules; then by the blocks, aligned to 4, in the order
 * of their pages. All in the byte order of the machine, because tables are not transferred to
 * others. */
typedef struct
{
  uint32_t magic;
  uint32_t n_pages;
  uint64_t start;        /* link-time address of the first page */
  uint64_t text_size;    /* bytes of code */
  uint64_t covered_size; /* bytes with a rule */
  uint64_t read_size;    /* bytes with a rule that was derived from the instructions */
  uint32_t n_functions;
  uint32_t n_refused; /* entries that could not be parsed */
  uint32_t n_broken;  /* functions with truncated or invalid call-frame instructions */
  uint32_t n_rows;
  uint32_t n_escapes;        /* of n_rows */
  uint32_t n_contradictions; /* functions whose rules contradict their first instructions */
  uint16_t machine;          /* EM_… */
  uint16_t sources;          /* UNWIND_SOURCE_… */
  uint8_t build_id_size;     /* 0 = none, or longer than the kernel reports for mappings */
  uint8_t build_id[UNWIND_MOST_BUILD_ID];
  uint32_t n_segments;
  ElfCode segment[UNWIND_MOST_SEGMENTS];
} UnwindTableHeader;

#define UNWIND_SOURCE_EH_FRAME    1u
#define UNWIND_SOURCE_DEBUG_FRAME 2u
#define UNWIND_SOURCE_GO          8u
#define UNWIND_SOURCE_CODE        4u /* derived from the instructions */

typedef struct
{
  const UnwindTableHeader *header;
  const uint32_t *block; /* [header->n_pages] */
  uint8_t *bytes;        /* [size], owned */
  size_t size;
} UnwindTable;

/* Builds the table of a file. `debug_image`, which may be NULL, is its separate debug file.
 * ELF_ABSENT: no executable code; ELF_UNSUPPORTED: another machine. A file without rules has an
 * empty table. */
ElfStatus
sysprof_unwind_table_build (ElfImage *image, ElfImage *debug_image, UnwindTable *table);

/* Makes a table from bytes that a worker has sent. Checks everything that can be checked. Takes
 * `bytes` (from malloc), and frees them on failure. */
bool sysprof_unwind_table_adopt (UnwindTable *table, uint8_t *bytes, size_t size);

void sysprof_unwind_table_clear (UnwindTable *table);

/* The offset to add to link-time addresses if the file is mapped at [start, end) from `offset`
 * on. FALSE: this is not one of its executable segments. */
bool sysprof_unwind_table_bias (const UnwindTable *table,
                                uint64_t start,
                                uint64_t end,
                                uint64_t offset,
                                uint64_t *bias);

/* Size of the block of a page in bytes; 0 = it has no rules. */
size_t sysprof_unwind_table_block_size (const UnwindTable *table, uint32_t page);

/* --- the worker --- */

/* A sandboxed child that builds tables. *Owned* by one thread. */
typedef struct
{
  ConfinedChild child;
  bool has_stop_fd;
  int stop_fd;         /* borrowed, set before use: once it is readable, all waiting ends */
  bool has_foreign;    /* the child has read a file that does not belong to root */
  uid_t foreign_owner; /* the owner of that file */
} UnwindWorker;

#define UNWIND_WORKER_INIT       \
  {                              \
    .child = CONFINED_CHILD_INIT \
  }

/* Builds the table of the file in `envelope` (borrowed, util/children/opener.h) as
 * sysprof_unwind_table_build() does; `info` is that of the file. The file in `debug_envelope`
 * (borrowed, -1 = none) is its debug file if both have the same build ID. Starts a child if
 * there is none, or if the current one has read files of another owner. ELF_IO_ERROR also if
 * the child died, or took longer than files of that size take. */
ElfStatus sysprof_unwind_worker_build (UnwindWorker *self,
                                       int envelope,
                                       int debug_envelope,
                                       const struct stat *info,
                                       UnwindTable *table);
/* Starts the child before it is needed: while there are few threads, because a child inherits
 * locks in the state that they had during fork(). */
bool sysprof_unwind_worker_start (UnwindWorker *self);
void sysprof_unwind_worker_clear (UnwindWorker *self);
/* The time limit (ms) for the table of such a file. */
int64_t sysprof_unwind_worker_patience (const struct stat *info);

/* --- tables in use --- */

/* The tables that walkers read: the index and slabs, mapped from the maps of a WalkProgram or
 * in ordinary memory. */
typedef struct
{
  UnwindIndex *index;
  uint8_t *slab[UNWIND_MOST_SLABS]; /* UNWIND_SLAB_SIZE bytes each; NULL = not created yet */
} UnwindMemory;

/* Creates a slab and returns its zeroed bytes; NULL: there can be no more. */
typedef uint8_t *(*UnwindMakeSlab) (void *data, uint32_t index);

/* Publishes tables in the slabs and the mappings of processes. *Owned* by one thread. */
typedef struct UnwindPublisher UnwindPublisher;

/* A table in the slabs. Reference counted: each mapping of a published process holds a
 * reference. */
typedef struct UnwindFile UnwindFile;

/* An executable mapping of a process. */
typedef struct
{
  uint64_t start;
  uint64_t end;
  uint64_t bias;    /* added to link-time addresses */
  UnwindFile *file; /* NULL: without rules */
  bool is_pending;  /* without a file: its table is being built */
  bool has_failed;  /* without a file: it may have rules, but no table could be built */
} UnwindProcessMapping;

/* `index` is borrowed, and zeroed. `make_slab (data, …)` creates slabs; NULL: they are ordinary
 * memory, which is freed with the publisher. */
UnwindPublisher *
sysprof_unwind_publisher_new (UnwindIndex *index, UnwindMakeSlab make_slab, void *data);
void sysprof_unwind_publisher_free (UnwindPublisher *self);
const UnwindMemory *sysprof_unwind_publisher_get_memory (const UnwindPublisher *self);

/* The times of the following functions are in microseconds of a monotonic clock. Memory of
 * removed data is reused only after a while, because walks may still read it. */

/* Copies a table into the slabs. NULL: there is no space. */
UnwindFile *sysprof_unwind_publisher_add_table (UnwindPublisher *self,
                                                const UnwindTable *table,
                                                int64_t now_usec);
UnwindFile *sysprof_unwind_file_ref (UnwindFile *file);
void sysprof_unwind_file_unref (UnwindPublisher *self, UnwindFile *file, int64_t now_usec);

/* For walks that find the mapped file in the kernel: publishes `file` for this key; its table
 * has the executable segments of `header`. If both are NULL, the file has no rules. FALSE:
 * there is no space, and the file is not published. */
bool sysprof_unwind_publisher_set_file (UnwindPublisher *self,
                                        const UnwindFileKey *key,
                                        UnwindFile *file,
                                        const UnwindTableHeader *header,
                                        int64_t now_usec);
/* The same for a file whose table could not be built. */
bool sysprof_unwind_publisher_set_failed_file (UnwindPublisher *self,
                                               const UnwindFileKey *key,
                                               int64_t now_usec);
/* Removes the file. */
void sysprof_unwind_publisher_drop_file (UnwindPublisher *self,
                                         const UnwindFileKey *key,
                                         int64_t now_usec);

/* Replaces the mappings of a process. They ascend and do not overlap. FALSE: there is no space,
 * and the process is not published. */
bool sysprof_unwind_publisher_set_process (UnwindPublisher *self,
                                           uint32_t pid,
                                           const UnwindProcessMapping *mappings,
                                           uint32_t n_mappings,
                                           int64_t now_usec);

/* Removes the mappings, because the process executes another program. Its next ones have a new
 * generation. */
void
sysprof_unwind_publisher_drop_process (UnwindPublisher *self, uint32_t pid, int64_t now_usec);

typedef struct
{
  size_t table_bytes;
  size_t slab_bytes; /* of the slabs that were created */
  uint32_t n_files;  /* tables */
  uint32_t n_known_files;
  uint32_t n_processes;
  uint32_t n_mappings;
  uint32_t n_pages;
  uint64_t n_refused; /* tables and processes for which there was no space */
} UnwindUse;

UnwindUse sysprof_unwind_publisher_get_use (const UnwindPublisher *self);

/* --- unwinding copied stacks --- */

typedef struct
{
  uint64_t ip;
  uint64_t sp;
  uint64_t fp;
  /* ip is that of an interrupted instruction, not a return address */
  bool is_exact;
  bool is_arm64;      /* the machine of the stack and the tables; else x86-64 */
  bool has_lost_sp;   /* arm64: sp is unknown; this is a lower limit */
  uint64_t lr;        /* arm64: X30 of an interrupted thread */
  uint64_t code_mask; /* arm64: sysprof_walk_code_mask() of that machine */
  /* [16] by DWARF number, of an interrupted thread; NULL = unknown */
  const uint64_t *registers;
  const uint8_t *code; /* [8] from one byte before ip; NULL = unknown */
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

/* Stacks of this machine. */
#ifdef __aarch64__
#  define UNWIND_IS_ARM64 true
#else
#  define UNWIND_IS_ARM64 false
#endif

/* Unwinds a copy of a stack with the tables of process `pid`: innermost address first, at most
 * `most`. */
UnwindWalk sysprof_unwind_walk (const UnwindMemory *memory,
                                uint32_t pid,
                                const UnwindStart *start,
                                const UnwindStack *stack,
                                uint64_t *addresses,
                                size_t most);

/* The rule at an address of a process; RULE_NONE if there is none. */
uint32_t sysprof_unwind_find_rule (const UnwindMemory *memory, uint32_t pid, uint64_t address);
