// SPDX-License-Identifier: GPL-3.0-or-later

/* Finds the list of mappings that the recorder has made for a process, and checks that it is
 * still valid. */

#pragma once

#include "bpf/walk/areas.h"

/* The slot of a published process, or UNWIND_PROCESS_SLOTS. A function of its own, so that the
 * verifier checks it once. */
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

/* Whether the mappings in `state` are those of the current program: its code ends where one of
 * them ends. */
static __always_inline bool
has_its_program (struct task_struct *task, WalkState *state, WalkInput *input)
{
  uint64_t end = task->mm->end_code, in_page = walk_page_size - 1;

  return walk_find_mapping (state, input, end - 1) &&
         state->mapping.end == ((end + in_page) & ~in_page);
}

/* Whether the process still executes the program for which the recorder published the slot. */
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

/* Finds the mappings of the process, or, until they are published, those of the process that
 * forked it. */
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

/* Reads how often the areas have been locked for writing. FALSE: this kernel does not count
 * (before 6.4, or without per-VMA locks). */
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

/* Finds the cached mappings of the process, or resets its cache entry. */
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
