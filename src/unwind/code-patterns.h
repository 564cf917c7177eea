// SPDX-License-Identifier: GPL-3.0-or-later

/* Recognizes code by its bytes. */

#pragma once

#include "unwind/cfi.h"

typedef struct
{
  uint64_t start;
  uint64_t end;
  uint32_t rule;
} CodeMatch;

#define MOST_CODE_MATCHES 8

/* Finds matches in code without rules, [start, end); ascending. */
size_t sysprof_code_patterns_find (ElfImage *image,
                                   uint64_t start,
                                   uint64_t end,
                                   CodeMatch found[MOST_CODE_MATCHES]);

/* Whether this is the function that a signal handler returns to. */
bool sysprof_code_patterns_is_sigreturn (ElfImage *image, uint64_t start);

/* Whether a stack made by makecontext() begins in this function. Its rules are those of a
 * function that is called, which it never is. */
bool sysprof_code_patterns_is_context_start (ElfImage *image,
                                             const Cfi *cfi,
                                             const CfiFunction *function);
