// SPDX-License-Identifier: GPL-3.0-or-later

/* Finds the mapping of an address in the kernel's own tree of memory areas, and the tables of
 * the file that is mapped there. */

#pragma once

#include "bpf/walk/memory.h"

/* The entry of `node` for `address`; 0 = the node cannot be read. Slots of inner nodes start
 * before the fifteenth word; they are kernel addresses, greater than any user address. */
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

/* The area that the tree has for `address`; 0 = none. The tree may change during the search, so
 * the result is only a guess, which the caller checks. */
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

/* The slot of a file's tables; UNWIND_FILE_SLOTS: the recorder has not published this file. */
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

/* Copies a kernel structure into `words`, up to member `last`. */
#define COPY(words, type, last, from)                                                    \
  (bpf_core_field_offset (type, last) + sizeof (uint64_t) <= sizeof (words) &&           \
   bpf_probe_read_kernel (words, bpf_core_field_offset (type, last) + sizeof (uint64_t), \
                          from) == 0)

/* Reads a member from the copy. The loader fills in its offset in the running kernel. FALSE: it
 * is outside the copy. */
#define COPIED(words, type, member, value)                                                  \
  (bpf_core_field_offset (type, member) + sizeof *(value) <= sizeof (words) &&              \
   (*(value) =                                                                              \
        *(__typeof__ (value)) ((uint8_t *) (words) + bpf_core_field_offset (type, member)), \
    true))

/* Stores the identity of a file in the input. */
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

/* The inode that user space sees for a file of a stacked file system; 0 = not such a file. */
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

/* The slot of the tables of a mapped file. Also tries the inode that user space sees, and
 * stores the last identity in the input. UNWIND_FILE_SLOTS: unknown. */
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

/* Turns the state's mapping, which has the bounds of the kernel's area, into a mapping of the
 * tables of the file in `slot`. The area begins at byte `offset` of the file. */
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

/* Finds the mapping in the kernel's own data. */
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
    return true; /* code generated at run time */
  return walk_use_file (state, input, walk_find_file_of (input, file),
                        file != 0 ? offset * walk_page_size : 0, address);
}

/* Finds the mapping in the cache, or else in the kernel's own data. */
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
