// SPDX-License-Identifier: GPL-3.0-or-later

/* Code that is known by its bytes. x86-64 only. */

#pragma once

#include "unwind/cfi.h"

/* Code without rules: adds rows for what is recognized in [start, end), which begins with RULE_NONE. TRUE if there was
 * something. */
bool sysprof_known_code_in_gap (ElfImage *image,
                                uint64_t start,
                                uint64_t end,
                                CfiRow row,
                                void *data);

/* Is this the function that a signal handler returns to? */
bool sysprof_known_code_is_sigreturn (ElfImage *image, uint64_t start);

/* Does a stack made by makecontext() begin in this function? Its rules are those of any function that is called, which
 * it never is. */
bool sysprof_known_code_is_context_start (ElfImage *image,
                                          const Cfi *cfi,
                                          const CfiFunction *function);
