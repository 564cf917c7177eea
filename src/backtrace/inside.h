// SPDX-License-Identifier: GPL-3.0-or-later

/* What the parts of the module share. */

#pragma once

#include "backtrace/backtrace.h"
#include "unwind/unwind.h"

/* --- objects --- */

/* Where the list of mappings is, and how long; 0 = there is none yet. No two lists have the same low half, although places are
 * used again: what was kept of one is not taken for another's. Async-signal-safe. */
uint64_t sysprof_backtrace_get_list (void);

#define BACKTRACE_LIST(first, generation, count) \
  PROCESS_LIST ((uint32_t) (uint16_t) (first) | (uint32_t) (generation) << 16, count)
#define BACKTRACE_LIST_FIRST(list) ((uint16_t) (list))

/* Valid once there is a list. */
const UnwindMemory *sysprof_backtrace_get_memory (void);

/* For who brings them up to date: sysprof_backtrace_is_outdated() no more. */
void sysprof_backtrace_forget_unknown (void);

/* --- stacks --- */

#define STACK_WINDOW \
  1024 /* bytes that are fetched at once of a stack that is not the thread's own */

typedef struct
{
  uint64_t low; /* the thread's own stack, as far as it is certain to be there */
  uint64_t high;
  uint64_t window_start;
  size_t window_size;
  uint8_t window[STACK_WINDOW];
} StackReader;

/* `sp` is that of the calling thread. */
void sysprof_stack_reader_init (StackReader *self, uint64_t sp);
/* Of what is not the thread's own; FALSE: it is not there. */
bool sysprof_stack_reader_fetch (StackReader *self, uint64_t address, uint64_t *word);

/* FALSE: it is not there. Other threads and the sanitizers are no concern of who looks at a word of the stack. */
__attribute__ ((no_sanitize ("address", "thread"))) static inline bool
sysprof_stack_reader_read (StackReader *self, uint64_t address, uint64_t *word)
{
  typedef uint64_t Word __attribute__ ((may_alias, aligned (1)));

  if (address < self->low || address >= self->high || self->high - address < sizeof *word)
    return sysprof_stack_reader_fetch (self, address, word);
  *word = *(const volatile Word *) (uintptr_t) address;
  return true;
}
