// SPDX-License-Identifier: GPL-3.0-or-later

/* Samples of one row of a call tree: those whose stacks go along a path of functions. */

#pragma once

#include "views/views.h"

typedef struct
{
  const char *const *functions; /* NULL-terminated, in the order of the tree; NULL = any */
  const char *const *binaries;  /* of each function */
  const char *process;          /* short name; NULL = any */
  int32_t tid;                  /* -1 = any */
  /* The first function is the outermost one of a stack, or in a bottom-up tree the innermost
   * one; else it may be anywhere. */
  bool is_anchored;
} StackPath;

/* [events->n] of the filter of the request: 1 if the event is on the path, and the filter has no
 * other such array, or its array has 1. The shape of the request applies. *(full)* */
uint8_t *sysprof_stack_path_find (const StackPath *self, const ViewRequest *request);
