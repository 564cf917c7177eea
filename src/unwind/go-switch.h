// SPDX-License-Identifier: GPL-3.0-or-later

/* Functions of Go's runtime that switch stacks. */

#pragma once

#include "unwind/go.h"

#define GO_SYSTEMSTACK "runtime.systemstack"

/* An entry of the table. */
typedef struct
{
  uint64_t start;
  uint64_t end;
  uint64_t stack_sizes; /* offset of its pairs */
  uint64_t name;        /* offset */
  bool is_top;
  bool is_switch;
  bool is_assembly;
} GoFunction;

bool sysprof_go_has_name (const GoTable *self, const GoFunction *function, const char *name);

/* The rule for code that systemstack() calls on the thread's stack; 0 = not found. */
uint32_t sysprof_go_find_switch_rule (ElfImage *image, const GoFunction *systemstack);

/* Adds the rows of such a function, up to `end`. */
void sysprof_go_add_switch (const GoTable *self,
                            const GoFunction *function,
                            uint64_t end,
                            CfiRow row,
                            void *data);
