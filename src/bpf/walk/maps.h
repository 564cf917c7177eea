// SPDX-License-Identifier: GPL-3.0-or-later

/* The maps and the scratch space of the walker in the kernel. */

#pragma once

#include "bpf/kernel-types.h"
#include "bpf/walk-step.h"

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include <bpf/bpf_core_read.h>

#include "bpf/registers.h"

/* The walker reads the stack in windows, which serve the next few frames: reading 2 KiB takes
 * hardly longer than a word. A window starts a little below the requested address, because
 * saved registers are below a return address. */
#define WINDOW_WORDS 256u
#define WINDOW_BELOW 64u /* bytes */

/* The kernel's tree of memory areas, as in include/linux/maple_tree.h since Linux 6.1. Nodes
 * are aligned to 256 bytes; bits 3 to 6 of a pointer to a node are its kind. A node has its
 * parent, then pivots (the last address of each slot), then slots; unused ones are 0. Inner
 * nodes of this tree have 9 pivots, leaves 15. */
#define NODE_WORDS             32u
#define NODE_ADDRESS(node)     ((node) & ~UINT64_C (255))
#define NODE_KIND(node)        ((node) >> 3 & 15)
#define NODE_IS_POINTER(entry) (((entry) &3) == 2 && (entry) > LEAST_PAGE_SIZE)
#define NODE_KIND_LEAF         1u
#define NODE_KIND_INSIDE       3u
#define NODE_INSIDE_SLOTS      10u /* index of the first slot */
#define NODE_LEAF_SLOTS        16u
#define NODE_MOST_PIVOTS       15u
#define MOST_LEVELS            8u /* depth of the tree; each level has ten times the areas */

#define LEAST_PAGE_SIZE 4096u

#ifndef WALK_FOUND
#  define WALK_FOUND(input)
#  define WALK_MORE_INPUT
#endif
#ifndef WALK_HAS_READ
#  define WALK_HAS_READ(input, address, word)
#  define WALK_HAS_ASKED(input)
#endif

/* A process that was just forked has no published mappings yet: those of its ancestors are
 * used. */
#define MOST_ANCESTORS 4

/* Number of words that are read of an area and of an inode. */
#define AREA_WORDS  24u
#define INODE_WORDS 16u

/* Sizes of the caches of each CPU. */
#define KNOWN_PROCESS_BITS 5
#define KNOWN_MAPPINGS     8u
#define KNOWN_RULE_BITS    10

typedef struct
{
  uint8_t byte[UNWIND_SLAB_SIZE];
} Slab;

/* The state of a published process when it was first sampled. */
typedef struct
{
  uint32_t generation;
  uint32_t exec_id;
} Seen;

/* A cache of mappings of one process. It is valid while the process executes the same program,
 * has not locked its areas for writing since, and no table has changed. */
typedef struct
{
  /* address of the process's mm_struct; 0 = unused, or the kernel does not count changes */
  uint64_t memory;
  uint32_t process;
  uint32_t exec_id;
  uint32_t n_changes; /* of the areas */
  uint32_t version;   /* of the index */
  /* number of mappings; beyond KNOWN_MAPPINGS - 1 the cache is full, and the oldest is
   * overwritten */
  uint32_t n;
  uint32_t padding;
  UnwindMapping mapping[KNOWN_MAPPINGS];
  uint64_t reported_file; /* inode and generation of the last reported file */
  uint64_t reported_nsec;
  uint64_t report_pause; /* ns */
} KnownMappings;

/* A cached rule: one cache line, instead of the five or six of the tables. */
typedef struct
{
  uint64_t key; /* page << UNWIND_PAGE_SHIFT | address */
  uint32_t version;
  uint32_t rule;
} KnownRule;

/* The data of a walk, too large for the stack. One entry per CPU in a plain array, as the
 * values of a per-CPU map may not be this large. The state is also here: the verifier tracks
 * each possible value of what is on the stack, but not of map values. Members that each walk
 * uses are adjacent, because each page and cache line touched costs time on a busy machine. */
struct WalkInput
{
  WalkState state;
  uint64_t registers[N_REGISTERS];
  uint64_t thread_base;
  uint64_t stack_end; /* of the first thread, for copies */
  uint64_t areas;     /* root of the process's tree of areas */
  uint64_t vdso;      /* address */
  uint32_t version;   /* of the index when the walk began */
  uint32_t known;     /* index of this process's cache */
  uint64_t window_start;
  uint64_t window_size; /* bytes; 0 = the window is empty */
  uint64_t window[WINDOW_WORDS];
  KnownRule known_rule[1 << KNOWN_RULE_BITS];
  KnownMappings known_mappings[1 << KNOWN_PROCESS_BITS];
  uint64_t node[NODE_WORDS]; /* a node of the tree of areas */
  uint64_t area[AREA_WORDS];
  uint64_t inode[INODE_WORDS];
  UnwindFileKey key; /* of the file that was looked up last */
  uint32_t n_drains; /* value of the index's `n_drains` when `budget` was set */
  uint32_t budget;   /* bytes that may still be copied */
  WALK_MORE_INPUT
  WalkRecord record;
  uint8_t spare[65536 - sizeof (WalkRecord)]; /* up to the largest size of 16 bits */
};

/* The recorder maps this and is the only writer. (BPF_F_RDONLY_PROG would enforce this, but
 * cannot be combined with a writable mapping.) */
UnwindIndex walk_index;

struct inner_slab
{
  __uint (type, BPF_MAP_TYPE_ARRAY);
  __uint (max_entries, 1);
  __uint (map_flags, BPF_F_MMAPABLE);
  __type (key, uint32_t);
  __type (value, Slab);
};

struct
{
  __uint (type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
  __uint (max_entries, UNWIND_MOST_SLABS);
  __type (key, uint32_t);
  __array (values, struct inner_slab);
} walk_slabs SEC (".maps");

struct
{
  __uint (type, BPF_MAP_TYPE_ARRAY);
  __uint (max_entries, UNWIND_PROCESS_SLOTS);
  __type (key, uint32_t);
  __type (value, Seen);
} walk_seen SEC (".maps");

struct
{
  __uint (type, BPF_MAP_TYPE_ARRAY);
  __uint (max_entries, 1); /* the loader sets this to the number of possible CPUs */
  __type (key, uint32_t);
  __type (value, WalkInput);
} walk_scratch SEC (".maps");

/* The loader sets these, and the kernel freezes them: the maximum number of addresses, and
 * whether to use the kernel's own tree of areas instead of the recorder's lists. */
const volatile uint32_t walk_most_addresses = WALK_MOST_ADDRESSES;
const volatile uint32_t walk_asks_kernel = 1;
/* Differ between machines of the same architecture. */
const volatile uint32_t walk_page_size = LEAST_PAGE_SIZE;
const volatile uint64_t walk_code_mask = UINT64_MAX;
