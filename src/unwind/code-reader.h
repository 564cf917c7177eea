// SPDX-License-Identifier: GPL-3.0-or-later

/* Derives unwind rules from instructions, for code without call-frame information. x86-64. */

#pragma once

#include "unwind/cfi.h"

/* The caller knows where functions begin. *Owned* by one thread. */
typedef struct CodeReader CodeReader;

/* Reads the code [start, end) of the file. NULL: it cannot be read, is too large, or there is
 * no memory. */
CodeReader *sysprof_code_reader_new (ElfImage *image, uint64_t start, uint64_t end);
/* Targets of calls outside the code, unsorted; owned by the reader. */
const uint64_t *sysprof_code_reader_get_outside (const CodeReader *self, size_t *n);
void sysprof_code_reader_free (CodeReader *self);

/* Adds the start of a function. Others are found by following calls. */
void sysprof_code_reader_add_start (CodeReader *self, uint64_t address);

/* The same if the code there looks like a function. */
void sysprof_code_reader_add_likely_start (CodeReader *self, uint64_t address);

/* Calls back with the rows of all reached code, ascending, with RULE_NONE for the rest. Returns
 * the number of bytes with rules. */
uint64_t sysprof_code_reader_run (CodeReader *self, CfiRow row, void *data);
