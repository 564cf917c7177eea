// SPDX-License-Identifier: GPL-3.0-or-later

/* Rules for code that has none, from what its instructions do to the stack. x86-64. */

#pragma once

#include "unwind/cfi.h"

/* Who asks for rules says where functions begin. *Owned* by one thread. */
typedef struct CodeReader CodeReader;

/* For the code [start, end) of the file. NULL: it cannot be read, is too large, or there is no memory. */
CodeReader *sysprof_code_reader_new (ElfImage *image, uint64_t start, uint64_t end);
/* The places outside that are called, in no order; the reader's. */
const uint64_t *sysprof_code_reader_get_outside (const CodeReader *self, size_t *n);
void sysprof_code_reader_free (CodeReader *self);

/* A function begins here; others are found by following calls. */
void sysprof_code_reader_add_start (CodeReader *self, uint64_t address);

/* The same, if the code there looks like it. */
void sysprof_code_reader_add_likely_start (CodeReader *self, uint64_t address);

/* The rows of all code that was reached, ascending, with RULE_NONE where none was. Returns how many bytes have rules. */
uint64_t sysprof_code_reader_run (CodeReader *self, CfiRow row, void *data);
