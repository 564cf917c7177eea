// SPDX-License-Identifier: GPL-3.0-or-later

/* Texts of stacks for cells of rows, created once per stack, of entries created once per
 * address. *Owned* by the view that fills. */

#pragma once

#include "views/sample-rows.h"

typedef struct
{
  const ViewRequest *request;
  Rows *rows; /* their arena owns the texts */
  Shape shape;
  SymbolId *shown;            /* [symbols->n] or NULL */
  const StackText **texts;    /* [stacks.n] created on demand */
  const StackEntry **entries; /* [addresses.n] created on demand */
  const StackEntry *cut;      /* the last that ended a truncated stack, or NULL */
} StackTexts;

void sysprof_stack_texts_init (StackTexts *self, const ViewRequest *request, Rows *rows);
void sysprof_stack_texts_clear (StackTexts *self);
/* The stack in the shape of the request. The last entry of a truncated stack is
 * "[stack truncated]". */
const StackText *sysprof_stack_texts_get (StackTexts *self, StackId stack);
