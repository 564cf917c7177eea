// SPDX-License-Identifier: GPL-3.0-or-later

/* The functions of the program that led to the end of a stack: those that name a cause. */

#pragma once

#include "views/views.h"

/* 0 = none. */
typedef struct
{
  SymbolId library; /* the outermost runtime function that the program called */
  SymbolId callee;  /* the function of the program that called it */
  SymbolId caller;  /* the caller of that */
} Callers;

/* *Owned* by the view that fills. */
typedef struct
{
  const Store *store;
  const SymbolTable *symbols;
  Callers *of_stack;    /* [stacks.n] found on demand */
  uint8_t *has_callers; /* [stacks.n] */
  uint8_t *is_runtime;  /* [symbols->n] 0 = unknown, 1 = no, 2 = yes */
} StackCallers;

void
sysprof_stack_callers_init (StackCallers *self, const Store *store, const SymbolTable *symbols);
void sysprof_stack_callers_clear (StackCallers *self);
/* If the program has no function on the stack, `library` is the outermost one. */
const Callers *sysprof_stack_callers_find (StackCallers *self, StackId stack);
/* "fsync < append_record < main", with the caller or without; "" if there are none. *(full)* */
char *sysprof_dup_callers (const StackCallers *self, const Callers *callers, bool with_caller);
