// SPDX-License-Identifier: GPL-3.0-or-later

/* The maps and the scratch space of the walker in the kernel. */

#pragma once

#include "bpf/kernel-types.h"
#include "bpf/walk-step.h"

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include <bpf/bpf_core_read.h>

#include "bpf/registers.h"

/* One read of the stack serves the next few frames: 2 KiB cost hardly more than a word. It begins a little below what
 * was asked for, which is a return address: saved registers are there. */
#define WINDOW_WORDS 256u
#define WINDOW_BELOW 64u /* bytes */

/* The kernel's tree of areas, as include/linux/maple_tree.h has it since 6.1. Nodes are 256-aligned; the pointer to one has its
 * kind in bits 3 to 6. A node has its parent, then pivots, each the last address of its slot, then slots. Those that are not
 * used are 0. Of a node for areas of memory, those inside of the tree have 9 pivots, leaves 15. */
#define NODE_WORDS             32u
#define NODE_ADDRESS(node)     ((node) & ~UINT64_C (255))
#define NODE_KIND(node)        ((node) >> 3 & 15)
#define NODE_IS_POINTER(entry) (((entry) &3) == 2 && (entry) > LEAST_PAGE_SIZE)
#define NODE_KIND_LEAF         1u
#define NODE_KIND_INSIDE       3u
#define NODE_INSIDE_SLOTS      10u /* where they begin */
#define NODE_LEAF_SLOTS        16u
#define NODE_MOST_PIVOTS       15u
#define MOST_LEVELS            8u /* of the tree; each has ten times the areas */

#define LEAST_PAGE_SIZE 4096u

#ifndef WALK_FOUND
#  define WALK_FOUND(input)
#  define WALK_MORE_INPUT
#endif
#ifndef WALK_HAS_READ
#  define WALK_HAS_READ(input, address, word)
#  define WALK_HAS_ASKED(input)
#endif

/* Ancestors that are asked for their mappings: a process that has just been forked is not known yet. */
#define MOST_ANCESTORS 4

/* How much of an area, and of an inode, is read at once. */
#define AREA_WORDS  24u
#define INODE_WORDS 16u

/* Of each CPU. */
#define KNOWN_PROCESS_BITS 5
#define KNOWN_MAPPINGS     8u
#define KNOWN_RULE_BITS    10

typedef struct
{
  uint8_t byte[UNWIND_SLAB_SIZE];
} Slab;

/* What a process that is in the table looked like when it was first sampled. */
typedef struct
{
  uint32_t generation;
  uint32_t exec_id;
} Seen;

/* Mappings of one process that were found before. As long as it executes the same program and has not locked its areas for a change
 * since, and no table has been changed, they are found again without a look at the areas and the files. */
typedef struct
{
  uint64_t
      memory; /* where the kernel keeps what it knows of the process's; 0 = none, or nothing tells whether it changes */
  uint32_t process;
  uint32_t exec_id;
  uint32_t n_changes; /* of the areas */
  uint32_t version;   /* of the index */
  uint32_t
      n; /* how many there are; from KNOWN_MAPPINGS on all are there, and one after the other is overwritten */
  uint32_t padding;
  UnwindMapping mapping[KNOWN_MAPPINGS];
  uint64_t reported_file; /* inode and generation of the file that was reported last */
  uint64_t reported_nsec;
  uint64_t report_pause; /* ns */
} KnownMappings;

/* And a rule: a line of the cache, instead of the five or six of the tables that lead to it. */
typedef struct
{
  uint64_t place; /* page << UNWIND_PAGE_SHIFT | address */
  uint32_t version;
  uint32_t rule;
} KnownRule;

/* What a walk works with, too large for a stack. One per CPU; not a per-CPU map, whose values may not be this large. The state
 * is here as well: of what lies on a stack the verifier follows each value that it can have, of what lies here none. What each walk
 * uses stands together: on a machine that has other things to do, each page and each line that is touched costs. */
struct WalkInput
{
  WalkState state;
  uint64_t registers[N_REGISTERS];
  uint64_t thread_base;
  uint64_t stack_end; /* of its first thread, for copies */
  uint64_t areas;     /* of the process: where the kernel keeps them */
  uint64_t vdso;      /* its address */
  uint32_t version;   /* of the index, as the walk began */
  uint32_t known;     /* which of the lists is this process's */
  uint64_t window_start;
  uint64_t window_size; /* bytes; 0 = nothing was read */
  uint64_t window[WINDOW_WORDS];
  KnownRule known_rule[1 << KNOWN_RULE_BITS];
  KnownMappings known_mappings[1 << KNOWN_PROCESS_BITS];
  uint64_t node[NODE_WORDS]; /* of the tree of areas */
  uint64_t area[AREA_WORDS];
  uint64_t inode[INODE_WORDS];
  UnwindFileKey key; /* of the file that was looked up last */
  uint32_t n_drains; /* of the rings, when `budget` was set */
  uint32_t budget;   /* bytes that may still be copied */
  WALK_MORE_INPUT
  WalkRecord record;
  uint8_t spare[65536 - sizeof (WalkRecord)]; /* as far as a size of 16 bits reaches */
};

/* Mapped by the recorder, who alone writes it. (BPF_F_RDONLY_PROG, which would have the verifier see to that, is refused
 * together with a writable mapping.) */
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
  __uint (max_entries, 1); /* as many as there can be CPUs: set by the loader */
  __type (key, uint32_t);
  __type (value, WalkInput);
} walk_scratch SEC (".maps");

/* Frozen when the program is loaded: how deep is walked; and whether the kernel's own tree of areas is
 * looked at, rather than lists that the recorder makes. */
const volatile uint32_t walk_most_addresses = WALK_MOST_ADDRESSES;
const volatile uint32_t walk_asks_kernel = 1;
/* And what differs from one machine to another of the same kind. */
const volatile uint32_t walk_page_size = LEAST_PAGE_SIZE;
const volatile uint64_t walk_code_mask = UINT64_MAX;
