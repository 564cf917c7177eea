// SPDX-License-Identifier: GPL-3.0-or-later

/* What the files of this module share. */

#pragma once

#include "backtrace/backtrace.h"
#include "unwind/unwind.h"

/* --- objects --- */

/* The position and length of the current list of mappings; 0 = no list yet. No two lists have
 * the same low half, even if positions are reused, so that cached rules of one list are not
 * used for another. Async-signal-safe. */
uint64_t sysprof_backtrace_get_list (void);

#define BACKTRACE_LIST(first, generation, count) \
  PROCESS_LIST ((uint32_t) (uint16_t) (first) | (uint32_t) (generation) << 16, count)
#define BACKTRACE_LIST_FIRST(list) ((uint16_t) (list))

/* Valid once a list exists. */
const UnwindMemory *sysprof_backtrace_get_memory (void);

/* Resets sysprof_backtrace_is_outdated(), after an update. */
void sysprof_backtrace_forget_unknown (void);

/* --- stacks --- */

#define STACK_WINDOW \
  1024 /* bytes that are read at once from a stack that is not the thread's own */

typedef struct
{
  uint64_t low; /* the part of the thread's own stack that is certainly mapped */
  uint64_t high;
  uint64_t window_start;
  size_t window_size;
  uint8_t window[STACK_WINDOW];
} StackReader;

/* `sp` is the stack pointer of the calling thread. */
void sysprof_stack_reader_init (StackReader *self, uint64_t sp);
/* Reads memory that is not the thread's own stack. FALSE: it is not mapped. */
bool sysprof_stack_reader_fetch (StackReader *self, uint64_t address, uint64_t *word);

/* FALSE: not mapped. The sanitizers must ignore that the walk reads any word of the stack. */
__attribute__ ((no_sanitize ("address", "thread"))) static inline bool
sysprof_stack_reader_read (StackReader *self, uint64_t address, uint64_t *word)
{
  typedef uint64_t Word __attribute__ ((may_alias, aligned (1)));

  if (address < self->low || address >= self->high || self->high - address < sizeof *word)
    return sysprof_stack_reader_fetch (self, address, word);
  *word = *(const volatile Word *) (uintptr_t) address;
  return true;
}
