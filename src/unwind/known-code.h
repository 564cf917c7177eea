// SPDX-License-Identifier: GPL-3.0-or-later

/* Code that is known by its bytes. */

#pragma once

#include "unwind/cfi.h"

typedef struct
{
  uint64_t start;
  uint64_t end;
  uint32_t rule;
} KnownCode;

#define MOST_KNOWN_CODE 8

/* What is recognized in code without rules, [start, end); ascending. */
size_t sysprof_known_code_find (ElfImage *image,
                                uint64_t start,
                                uint64_t end,
                                KnownCode found[MOST_KNOWN_CODE]);

/* Is this the function that a signal handler returns to? */
bool sysprof_known_code_is_sigreturn (ElfImage *image, uint64_t start);

/* Does a stack made by makecontext() begin in this function? Its rules are those of any function that is called, which
 * it never is. */
bool sysprof_known_code_is_context_start (ElfImage *image,
                                          const Cfi *cfi,
                                          const CfiFunction *function);
