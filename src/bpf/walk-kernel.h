// SPDX-License-Identifier: GPL-3.0-or-later

/* The walker in the kernel, for the BPF programs that use it: walks the user stack of the current thread with the tables that the
 * recorder lays out in the maps.
 *
 * The tables may be wrong, and may change under the walk: an index is checked before it is used, memory of the program
 * is read by a helper that survives any address, the number of steps is bounded. A wrong row ends a walk or makes a wrong
 * stack, nothing more.
 *
 *   WALK_WITHOUT_EVENT     the program runs in the kernel's own code, and there are no registers but those with which
 *                          the thread came into the kernel
 *   WALK_FOUND (input)     is done with each address that was found, in input->state.ip; WALK_MORE_INPUT are members for that
 *   WALK_HAS_READ (input, address, word)   with each word of the stack that the walk depends on
 *   WALK_HAS_ASKED (input)                 when it depends on something else but IP, SP and frame pointer
 */

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

/* --- what the loader makes --- */

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

/* --- what walk-step.h asks for --- */

__noinline bool
walk_read_anew (WalkInput *input, uint64_t address, uint64_t *word)
{
  uint64_t start;

  if (input == 0 || word == 0)
    return false;

  start = address - WINDOW_BELOW;
  if ((address & 7) == 0 &&
      bpf_probe_read_user (input->window, sizeof input->window, (const void *) start) == 0)
    {
      input->window_start = start;
      input->window_size = sizeof input->window;
      *word = input->window[WINDOW_BELOW / 8];
      return true;
    }

  /* Near the end of a stack, or where the next page is not there. */
  input->window_size = 0;
  return bpf_probe_read_user (word, sizeof *word, (const void *) address) == 0;
}

static __always_inline bool
walk_read (WalkInput *input, uint64_t address, uint64_t *word)
{
  uint64_t offset = address - input->window_start;

  if ((address & 7) == 0 && offset < input->window_size)
    {
      *word = input->window[offset >> 3 & (WINDOW_WORDS - 1)];
      WALK_HAS_READ (input, address, *word);
      return true;
    }
  if (!walk_read_anew (input, address, word))
    {
      WALK_HAS_ASKED (input);
      return false;
    }
  WALK_HAS_READ (input, address, *word);
  return true;
}

static __always_inline const uint8_t *
walk_slab (WalkInput *input, uint32_t index)
{
  void *slab = bpf_map_lookup_elem (&walk_slabs, &index);
  uint32_t zero = 0;

  return slab != 0 ? bpf_map_lookup_elem (slab, &zero) : 0;
}

static __always_inline uint32_t
walk_page (WalkInput *input, uint32_t index)
{
  index &= UNWIND_MOST_PAGES - 1;
  WALK_KEEP (index);
  return walk_index.page[index & (UNWIND_MOST_PAGES - 1)];
}

static __always_inline const UnwindMapping *
walk_mapping (WalkInput *input, uint32_t index)
{
  index &= UNWIND_MOST_MAPPINGS - 1;
  WALK_KEEP (index);
  return &walk_index.mapping[index & (UNWIND_MOST_MAPPINGS - 1)];
}

/* An index from the upper bits, which all others have a part in. */
static __always_inline uint32_t
mix (uint64_t value, uint32_t n_bits)
{
  uint32_t index = (uint32_t) ((value * UINT64_C (0x9e3779b97f4a7c15)) >> (64 - n_bits));

  WALK_KEEP (index);
  return index & ((1u << n_bits) - 1);
}

static __always_inline uint32_t
walk_rule_at (WalkInput *input, uint32_t page, uint32_t address)
{
  uint64_t place = (uint64_t) page << UNWIND_PAGE_SHIFT | address;
  KnownRule *known = &input->known_rule[mix (place, KNOWN_RULE_BITS)];
  uint32_t version = input->version, rule;

  if (known->place == place && known->version == version)
    return known->rule;
  rule = walk_find_rule_at (input, page, address);
  known->place = place;
  known->version = version;
  known->rule = rule;
  return rule;
}

static __always_inline bool
walk_register (WalkInput *input, uint32_t number, uint64_t *value)
{
  uint32_t place = place_of_register (number);

  WALK_HAS_ASKED (input);
  WALK_KEEP (place);
  if (place >= N_REGISTERS)
    return false;
  *value = input->registers[place];
  return true;
}

static __always_inline bool
walk_thread_base (WalkInput *input, uint64_t *base)
{
  WALK_HAS_ASKED (input);
  *base = input->thread_base;
  return true;
}

static __always_inline bool
walk_code (WalkInput *input, uint64_t address, uint64_t *bytes)
{
  WALK_HAS_ASKED (input);
  return bpf_probe_read_user (bytes, sizeof *bytes, (const void *) address) == 0;
}

/* --- what is mapped --- */

/* The entry of `node` in which `address` is; 0 = the node cannot be read. Slots, which in nodes inside of the tree come before the
 * fifteenth word, are addresses of the kernel, greater than any of a program. */
__noinline uint64_t
walk_find_entry (WalkInput *input, uint64_t node, uint64_t address)
{
  uint32_t slot = NODE_KIND (node) == NODE_KIND_INSIDE ? NODE_INSIDE_SLOTS : NODE_LEAF_SLOTS;
  uint32_t i = 1;

  if (input == 0 || bpf_probe_read_kernel (input->node, sizeof input->node,
                                           (const void *) NODE_ADDRESS (node)) != 0)
    return 0;
  for (; i <= NODE_MOST_PIVOTS; i++)
    if (input->node[i] == 0 || input->node[i] >= address)
      break;
  slot = (slot + i - 1) & (NODE_WORDS - 1);
  WALK_KEEP (slot);
  return input->node[slot & (NODE_WORDS - 1)];
}

/* The area whose place in the tree is that of `address`; 0 = none. Somebody may change the tree meanwhile: what is found is no
 * more than a guess. */
__noinline uint64_t
walk_find_area (WalkInput *input, uint64_t address)
{
  uint64_t node;

  if (input == 0)
    return 0;
  node = input->areas;
  if (!NODE_IS_POINTER (node))
    return 0;

  for (uint32_t level = 0; level < MOST_LEVELS; level++)
    {
      bool is_leaf = NODE_KIND (node) == NODE_KIND_LEAF;

      node = walk_find_entry (input, node, address);
      if (is_leaf || node == 0)
        return node;
    }
  return 0;
}

/* Where its tables are; UNWIND_FILE_SLOTS: nobody has told of this file. */
__noinline uint32_t
walk_find_file (uint64_t inode, uint32_t device)
{
  uint32_t slot = sysprof_unwind_file_slot (inode, device);

  for (uint32_t i = 0; i < UNWIND_MOST_PROBES; i++, slot++)
    {
      const UnwindFileSlot *file;

      slot &= UNWIND_FILE_SLOTS - 1;
      WALK_KEEP (slot);
      if (slot >= UNWIND_FILE_SLOTS)
        break;
      file = &walk_index.file[slot];
      if (file->inode == 0)
        break;
      if (file->inode == inode && file->device == device)
        return slot;
    }
  return UNWIND_FILE_SLOTS;
}

/* Copies a structure of the kernel's into `words`, up to the last of its members that are looked at. */
#define COPY(words, type, last, from)                                                    \
  (bpf_core_field_offset (type, last) + sizeof (uint64_t) <= sizeof (words) &&           \
   bpf_probe_read_kernel (words, bpf_core_field_offset (type, last) + sizeof (uint64_t), \
                          from) == 0)

/* A member of what was copied into `words`, by its place in the running kernel, which the loader fills in. FALSE: it lies behind. */
#define COPIED(words, type, member, value)                                                  \
  (bpf_core_field_offset (type, member) + sizeof *(value) <= sizeof (words) &&              \
   (*(value) =                                                                              \
        *(__typeof__ (value)) ((uint8_t *) (words) + bpf_core_field_offset (type, member)), \
    true))

/* Leaves in the input which file `inode` is. */
__noinline bool
walk_read_key (WalkInput *input, uint64_t inode_address)
{
  struct inode *inode = (struct inode *) inode_address;
  uint64_t super = 0;

  return input != 0 && COPY (input->inode, struct inode, i_size, inode) &&
         COPIED (input->inode, struct inode, i_ino, &input->key.inode) &&
         COPIED (input->inode, struct inode, i_size, &input->key.size) &&
         COPIED (input->inode, struct inode, i_sb, &super) &&
         bpf_probe_read_kernel (&input->key.generation, sizeof input->key.generation,
                                &inode->i_generation) == 0 &&
         bpf_probe_read_kernel (&input->key.device, sizeof input->key.device,
                                &((struct super_block *) super)->s_dev) == 0;
}

/* What programs see of a file that another one lies below; 0 = it is no such. */
__noinline uint64_t
walk_find_upper_inode (uint64_t file_address)
{
  struct backing_file *file = (struct backing_file *) file_address;
  struct dentry *dentry = 0;
  struct inode *inode = 0;
  uint32_t mode = 0;

  if (!bpf_core_field_exists (file->user_path))
    return 0;
  if (bpf_probe_read_kernel (&mode, sizeof mode, &file->file.f_mode) != 0 ||
      (mode & FMODE_BACKING) == 0 ||
      bpf_probe_read_kernel (&dentry, sizeof dentry, &file->user_path.dentry) != 0 ||
      bpf_probe_read_kernel (&inode, sizeof inode, &dentry->d_inode) != 0)
    return 0;
  return (uint64_t) inode;
}

/* The tables of an area's file, in the input's key or below. UNWIND_FILE_SLOTS: it is not known. */
__noinline uint32_t
walk_find_file_of (WalkInput *input, uint64_t file_address)
{
  struct file *file = (struct file *) file_address;
  struct inode *inode = 0;
  uint64_t upper;
  uint32_t slot;

  if (input == 0)
    return UNWIND_FILE_SLOTS;
  if (file_address == 0)
    {
      input->key.inode = FILE_VDSO_INODE;
      input->key.device = FILE_VDSO_DEVICE;
      return walk_find_file (FILE_VDSO_INODE, FILE_VDSO_DEVICE);
    }

  if (bpf_probe_read_kernel (&inode, sizeof inode, &file->f_inode) != 0 ||
      !walk_read_key (input, (uint64_t) inode))
    return UNWIND_FILE_SLOTS;
  slot = walk_find_file (input->key.inode, input->key.device);
  if (slot < UNWIND_FILE_SLOTS)
    return slot;

  upper = walk_find_upper_inode (file_address);
  if (upper == 0 || !walk_read_key (input, upper))
    return UNWIND_FILE_SLOTS;
  return walk_find_file (input->key.inode, input->key.device);
}

/* Makes the state's mapping, which has the bounds of an area whose first byte is byte `offset` of the file in `slot`, a mapping
 * of this file's table. */
__noinline bool
walk_use_file (WalkState *state,
               WalkInput *input,
               uint32_t slot,
               uint64_t offset,
               uint64_t address)
{
  const UnwindFileSlot *file;
  uint64_t list, base;

  if (state == 0 || input == 0)
    return false;

  state->mapping.first_page = MAPPING_PENDING;
  if (slot >= UNWIND_FILE_SLOTS)
    return true;
  file = &walk_index.file[slot];
  if ((file->size != FILE_ANY_SIZE && file->size != input->key.size) ||
      (file->generation != 0 && file->generation != input->key.generation))
    return true;

  list = file->list;
  if (PROCESS_LIST_COUNT (list) == 0)
    {
      state->mapping.first_page = PROCESS_LIST_FIRST (list);
      return true;
    }
  state->mapping.first_page = MAPPING_WITHOUT_RULES;
  base = state->mapping.start - offset;
  for (uint32_t i = 0; i < UNWIND_MOST_SEGMENTS && i < PROCESS_LIST_COUNT (list); i++)
    {
      const UnwindMapping *segment = walk_mapping (input, PROCESS_LIST_FIRST (list) + i);
      uint64_t start = segment->start, end = segment->end;

      if (address - base - start >= end - start)
        continue;
      if (base + start > state->mapping.start)
        state->mapping.start = base + start;
      if (base + end < state->mapping.end)
        state->mapping.end = base + end;
      state->mapping.origin = base + segment->origin;
      state->mapping.first_page = segment->first_page;
      state->mapping.n_pages = segment->n_pages;
      break;
    }
  return true;
}

/* By what the kernel knows. */
__noinline bool
walk_find_mapped (WalkState *state, WalkInput *input, uint64_t address)
{
  uint64_t start = 0, end = 0, flags = 0, offset = 0, file = 0;
  struct vm_area_struct *area;

  if (state == 0 || input == 0)
    return false;
  area = (struct vm_area_struct *) walk_find_area (input, address);
  if (area == 0 || !COPY (input->area, struct vm_area_struct, vm_file, area) ||
      !COPIED (input->area, struct vm_area_struct, vm_start, &start) ||
      !COPIED (input->area, struct vm_area_struct, vm_end, &end) || address < start ||
      address >= end || !COPIED (input->area, struct vm_area_struct, vm_flags, &flags) ||
      (flags & VM_EXEC) == 0 ||
      !COPIED (input->area, struct vm_area_struct, vm_pgoff, &offset) ||
      !COPIED (input->area, struct vm_area_struct, vm_file, &file))
    return false;

  state->mapping.start = start;
  state->mapping.end = end;
  state->mapping.origin = start;
  state->mapping.first_page = MAPPING_WITHOUT_RULES;
  state->mapping.n_pages = 0;
  if (file == 0 && start != input->vdso)
    return true; /* code that was made at run time */
  return walk_use_file (state, input, walk_find_file_of (input, file),
                        file != 0 ? offset * walk_page_size : 0, address);
}

/* By what was found before, or else by what the kernel knows. */
__noinline bool
walk_find_known (WalkState *state, WalkInput *input, uint64_t address)
{
  KnownMappings *known;
  uint32_t n;

  if (state == 0 || input == 0)
    return false;
  known = &input->known_mappings[input->known & ((1u << KNOWN_PROCESS_BITS) - 1)];
  n = known->n;
  for (uint32_t i = 0; i < KNOWN_MAPPINGS && i < n; i++)
    {
      const UnwindMapping *mapping = &known->mapping[i];

      if (address - mapping->start < mapping->end - mapping->start)
        {
          state->mapping = *mapping;
          return true;
        }
    }

  if (!walk_find_mapped (state, input, address))
    return false;
  if (state->mapping.n_pages != 0 || state->mapping.first_page != MAPPING_PENDING)
    {
      known->mapping[n & (KNOWN_MAPPINGS - 1)] = state->mapping;
      known->n = n < 2 * KNOWN_MAPPINGS - 1 ? n + 1 : KNOWN_MAPPINGS;
    }
  return true;
}

static __always_inline bool
walk_look_up (WalkState *state, WalkInput *input, uint64_t address)
{
  return walk_asks_kernel ? walk_find_known (state, input, address)
                          : walk_find_listed (state, input, address);
}

/* --- the walk --- */

typedef struct
{
  WalkInput *input;
} Walk;

/* 0 = go on; the verifier wants to see that it is this or 1. */
static __always_inline long
to_verdict (bool has_caller)
{
  uint32_t verdict = !has_caller;

  WALK_KEEP (verdict);
  return verdict & 1;
}

/* Where the walk is now, as address i. False where there is no room. */
static __always_inline bool
add_address (WalkInput *input, uint32_t i)
{
  WalkRecord *record = &input->record;

  if (i >= WALK_MOST_ADDRESSES)
    return false;
  record->address[i] = input->state.ip;
  record->n = (uint16_t) (i + 1);
  WALK_FOUND (input);
  return true;
}

static long
walk_one_frame (uint32_t i, Walk *walk)
{
  WalkInput *input = walk->input;

  if (!add_address (input, i))
    return 1;
  return to_verdict (sysprof_walk_step (&input->state, input));
}

static long
walk_one_compat_frame (uint32_t i, Walk *walk)
{
  WalkInput *input = walk->input;

  if (!add_address (input, i))
    return 1;
  return to_verdict (sysprof_walk_compat_step (&input->state, input,
                                               input->registers[CALL_NUMBER] != ~UINT64_C (0)));
}

/* The slot of a process that is known; UNWIND_PROCESS_SLOTS: it is not. A function of its own, to be verified once. */
__noinline uint32_t
walk_find_slot (uint32_t pid)
{
  uint32_t slot = sysprof_unwind_slot (pid);

  for (uint32_t i = 0; i < UNWIND_MOST_PROBES; i++, slot++)
    {
      uint32_t found;

      slot &= UNWIND_PROCESS_SLOTS - 1;
      WALK_KEEP (slot);
      if (slot >= UNWIND_PROCESS_SLOTS)
        break;
      found = walk_index.process[slot].pid;
      if (found == 0)
        break;
      if (found == pid)
        return slot;
    }
  return UNWIND_PROCESS_SLOTS;
}

/* Whether the mappings in `state` are of the program that is executed now: its code ends where one of them does. */
static __always_inline bool
has_its_program (struct task_struct *task, WalkState *state, WalkInput *input)
{
  uint64_t end = task->mm->end_code, in_page = walk_page_size - 1;

  return walk_find_mapping (state, input, end - 1) &&
         state->mapping.end == ((end + in_page) & ~in_page);
}

/* Whether the process has not executed another program since somebody told of what is in its slot. */
static __always_inline bool
is_up_to_date (const UnwindProcess *process,
               uint32_t slot,
               struct task_struct *task,
               WalkState *state,
               WalkInput *input)
{
  uint32_t exec_id = (uint32_t) task->self_exec_id;
  Seen *seen = bpf_map_lookup_elem (&walk_seen, &slot);

  if (seen == 0)
    return false;
  if (seen->generation == process->generation)
    return seen->exec_id == exec_id;
  if (!has_its_program (task, state, input))
    return false;
  seen->exec_id = exec_id;
  seen->generation = process->generation;
  return true;
}

/* Its own mappings, or, as long as nobody has told of it, those of who forked it. */
static __always_inline bool
find_mappings (struct task_struct *current, WalkState *state, WalkInput *input)
{
  struct task_struct *task = current;

  for (uint32_t i = 0; i < MOST_ANCESTORS; i++)
    {
      uint32_t slot = walk_find_slot ((uint32_t) task->tgid);

      if (slot < UNWIND_PROCESS_SLOTS)
        {
          const UnwindProcess *process = &walk_index.process[slot];
          uint64_t list = process->list;

          state->first_mapping = PROCESS_LIST_FIRST (list);
          state->n_mappings = PROCESS_LIST_COUNT (list);
          if (is_up_to_date (process, slot, current, state, input))
            return true;
          state->mapping.start = state->mapping.end = 0;
        }
      if ((task->flags & PF_FORKNOEXEC) == 0)
        return false;
      task = task->real_parent;
    }
  return false;
}

/* The registers with which the program went into the kernel, or was interrupted. */
static __always_inline bool
take_registers (struct bpf_perf_event_data *context,
                struct task_struct *task,
                uint64_t *registers)
{
  /* For a test, which has the verifier of one machine read the walker of another, whose events have no such registers. */
#if !defined WALK_FOREIGN && !defined WALK_WITHOUT_EVENT
  const volatile bpf_user_pt_regs_t *now = &context->regs;

  if (IS_USER_MODE (now))
    {
      keep_registers (now, registers);
      return true;
    }
#endif
  return bpf_probe_read_kernel (registers, N_REGISTERS * sizeof *registers,
                                (const void *) bpf_task_pt_regs (task)) == 0;
}

/* How often the areas have been locked for a change; FALSE: this kernel (before 6.4, or without locks of single areas) does not
 * count. */
static __always_inline bool
count_changes (struct mm_struct *memory, uint32_t *n_changes)
{
  struct mm_struct___6_4 *older = (struct mm_struct___6_4 *) memory;

  if (bpf_core_field_exists (memory->mm_lock_seq))
    *n_changes = memory->mm_lock_seq.sequence;
  else if (bpf_core_field_exists (older->mm_lock_seq))
    *n_changes = (uint32_t) older->mm_lock_seq;
  else
    return false;
  return true;
}

/* Finds the list of mappings of the process, or begins it anew. */
static __always_inline void
recall_mappings (WalkInput *input, struct mm_struct *memory, uint32_t exec_id)
{
  uint64_t address = (uint64_t) memory;
  uint32_t process = (uint32_t) (bpf_get_current_pid_tgid () >> 32);
  uint32_t index = mix (process, KNOWN_PROCESS_BITS);
  KnownMappings *known = &input->known_mappings[index];
  uint32_t n_changes = 0;

  input->known = index;
  if (!count_changes (memory, &n_changes))
    address = 0;
  if (address != 0 && known->memory == address && known->process == process &&
      known->exec_id == exec_id && known->n_changes == n_changes &&
      known->version == input->version)
    return;

  known->memory = address;
  known->process = process;
  known->exec_id = exec_id;
  known->n_changes = n_changes;
  known->version = input->version;
  known->n = 0;
}

/* --- what cannot be walked yet --- */

#define REST_CHUNK 1024u

/* Copies the stack at `from` behind the record's first `n` addresses and the WalkRest, as far as it is there, and no more than `most`
 * bytes. Returns how much. */
__noinline uint32_t
walk_copy_stack (WalkInput *scratch, uint32_t n, uint64_t from, uint32_t most)
{
  uint32_t size = 0;
  uint32_t left;
  uint8_t *bytes;

  if (scratch == 0 || n > WALK_REST_MOST_ADDRESSES)
    return 0;
  bytes = (uint8_t *) &scratch->record.address[n] + sizeof (WalkRest);
  for (uint32_t i = 0; i < WALK_REST_SIZE / REST_CHUNK; i++)
    {
      if ((i + 1) * REST_CHUNK > most ||
          bpf_probe_read_user (bytes + i * REST_CHUNK, REST_CHUNK,
                               (const void *) (from + i * REST_CHUNK)) != 0)
        break;
      size = (i + 1) * REST_CHUNK;
    }

  /* Up to `most`, or to the end of the last page that is there. */
  left = (LEAST_PAGE_SIZE - ((uint32_t) from + size)) & (REST_CHUNK - 1);
  if (most - size < REST_CHUNK)
    left = (most - size) & (REST_CHUNK - 1);
  WALK_KEEP (size);
  if (size <= WALK_REST_SIZE - REST_CHUNK && left > 0 &&
      bpf_probe_read_user (bytes + size, left, (const void *) (from + size)) == 0)
    size += left;
  return size;
}

/* Bytes from `sp` on that can matter to a walk. */
static __always_inline uint32_t
size_of_rest (const WalkInput *scratch, uint64_t sp)
{
  uint64_t left = scratch->stack_end - sp;

  return sp < scratch->stack_end && left < WALK_REST_SIZE ? (uint32_t) left : WALK_REST_SIZE;
}

/* Whether this CPU may copy once more before its ring is drained: copies never fill it so far that samples are lost. The caller gives
 * back the part of WALK_REST_SIZE that it does not use. */
static __always_inline bool
has_budget (WalkInput *scratch)
{
  uint32_t n_drains = walk_index.n_drains;

  if (scratch->n_drains != n_drains)
    {
      scratch->n_drains = n_drains;
      scratch->budget = walk_index.copy_budget;
    }
  if (scratch->budget < WALK_REST_SIZE)
    return false;
  scratch->budget -= WALK_REST_SIZE;
  return true;
}

/* Takes down how to go on. `state` ended at the last address of the record. Returns the size of what stands behind them. */
static __always_inline uint32_t
add_rest (WalkInput *scratch, const WalkState *state)
{
  uint32_t n = scratch->record.n;
  uint32_t size;
  WalkRest *rest;

  if (n > WALK_REST_MOST_ADDRESSES || !has_budget (scratch))
    return 0;

  WALK_KEEP (n);
  if (n > WALK_REST_MOST_ADDRESSES)
    return 0;
  rest = (WalkRest *) (void *) &scratch->record.address[n];
  rest->ip = state->ip;
  rest->sp = state->sp;
  rest->fp = state->fp;
  rest->lr = state->lr;
  rest->flags = 0;
  if (state->is_exact)
    rest->flags |= WALK_REST_IS_EXACT;
  if (WALK_IS_ARM64 (state) && state->has_lost_sp)
    rest->flags |= WALK_REST_HAS_LOST_SP;
  if (state->has_registers && state->context == 0)
    {
      rest->flags |= WALK_REST_HAS_REGISTERS;
      copy_registers (rest->registers, scratch->registers);
    }
  size = walk_copy_stack (scratch, n, state->sp, size_of_rest (scratch, state->sp)) &
         (2 * WALK_REST_SIZE - 1);
  rest->size = size;
  scratch->budget += WALK_REST_SIZE - size;
  scratch->record.used |= WALK_HAS_REST;
  return sizeof *rest + size;
}

/* A thread that has just been made, and was interrupted as it came out of the kernel: in the two instructions (test %rax, %rax; jl) in
 * which the maker of a thread finds out which of both it is. */
static __always_inline bool
is_behind_system_call (WalkInput *scratch, uint64_t ip)
{
#ifdef __TARGET_ARCH_arm64
  return false; /* whose return address is in a register */
#else
  uint64_t bytes = 0;

  return walk_code (scratch, ip - 7, &bytes) &&
         ((bytes >> 40 & 0xffff) == SYSTEM_CALL || (bytes >> 16 & 0xffff) == SYSTEM_CALL ||
          (bytes & 0xffff) == SYSTEM_CALL);
#endif
}

/* The reason why it ended; `rest_size` has the size of what stands behind the addresses. */
static __always_inline uint32_t
walk_stack (struct bpf_perf_event_data *context,
            struct task_struct *task,
            WalkInput *scratch,
            uint32_t *rest_size)
{
  uint64_t *registers = scratch->registers;
  struct mm_struct *memory = task->mm;
  WalkState *state = &scratch->state;
  Walk walk = { scratch };
  uint32_t call;

  /* All of the task at once, before ways part: the kernel that we know searches all its types by name for each such line that it
   * verifies, and each time that it does. */
  if ((task->flags & PF_KTHREAD) != 0 || memory == 0)
    return WALK_KERNEL_THREAD;
  scratch->version = walk_index.version;
  scratch->stack_end = memory->start_stack + WALK_REST_ABOVE_START;
#ifndef __TARGET_ARCH_arm64
  scratch->thread_base = task->thread.fsbase;
#endif
  if (walk_asks_kernel)
    {
      scratch->areas = (uint64_t) memory->mm_mt.ma_root;
      scratch->vdso = (uint64_t) memory->context.vdso;
      recall_mappings (scratch, memory, (uint32_t) task->self_exec_id);
    }

  if (!take_registers (context, task, registers) || registers[IP] == 0)
    return WALK_KERNEL_THREAD; /* the kernel's own threads that work for a process */
  /* A thread that has just been made has not called anything; what it returns from is its maker's. (fork(), which copies
   * the stack as well, is another system call, or gives no new one.) */
  call = call_number (registers);
  if (!is_compat (registers) && registers[RESULT] == 0 &&
      (call == CALL_CLONE3 ||
       (call == CALL_CLONE && registers[SECOND] != 0 /* a stack of its own */)))
    {
      scratch->record.address[0] = registers[IP];
      scratch->record.n = 1;
      return WALK_END;
    }

  scratch->record.address[0] = registers[IP];
  scratch->record.n = 1;
  scratch->window_size = 0;
  __builtin_memset (state, 0, sizeof *state);
  state->ip = registers[IP];
  state->sp = registers[SP];
  state->fp = registers[FRAME_POINTER];
#ifdef __TARGET_ARCH_arm64
  state->lr = registers[LINK];
  state->code_mask = walk_code_mask;
#endif
  state->is_exact = true;
  state->has_registers = true;

  if (is_compat (registers))
    {
#ifdef __TARGET_ARCH_arm64
      return WALK_COMPAT; /* whose frame pointers are wherever its compiler wants them */
#endif
      if (!walk_asks_kernel && !find_mappings (task, state, scratch))
        return WALK_COMPAT;
      if (bpf_loop (walk_most_addresses, walk_one_compat_frame, &walk, 0) > 0 &&
          state->reason == WALK_RUNNING)
        state->reason = WALK_DEPTH;
      scratch->record.used = (uint8_t) state->used;
      return state->reason;
    }

  if (walk_asks_kernel || find_mappings (task, state, scratch))
    {
      if (bpf_loop (walk_most_addresses, walk_one_frame, &walk, 0) > 0 &&
          state->reason == WALK_RUNNING)
        state->reason = WALK_DEPTH;
    }
  else
    state->reason = WALK_NO_PROCESS;
  scratch->record.used = (uint8_t) state->used;

  if (state->reason == WALK_ZERO && scratch->record.n == 1 && registers[RESULT] == 0 &&
      is_behind_system_call (scratch, registers[IP]))
    return WALK_END;

  /* Its memory is the next program's already; where callers were found, it is still there. */
  if (state->reason != WALK_END && state->reason != WALK_ROOT && scratch->record.n == 1 &&
      (call == CALL_EXECVE || call == CALL_EXECVEAT))
    return WALK_IN_EXEC;

#ifndef WALK_WITHOUT_EVENT
  if (state->reason == WALK_NO_TABLE ||
      (!walk_asks_kernel &&
       (state->reason == WALK_NO_PROCESS || state->reason == WALK_NO_MAPPING)))
    *rest_size = add_rest (scratch, state);
#endif
  return state->reason;
}
