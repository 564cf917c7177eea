// SPDX-License-Identifier: GPL-3.0-or-later

/* Stacks as the cells of rows show them, each made once. *Owned* by the view that fills. */

#pragma once

#include "views/sample-rows.h"

typedef struct
{
  const ViewRequest *request;
  Rows *rows; /* whose arena has them */
  TreeShape shape;
  SymbolId *shown;         /* [symbols->n] or NULL */
  const StackText **texts; /* [stacks.n] made on demand */
} StackTexts;

void sysprof_stack_texts_init (StackTexts *self, const ViewRequest *request, Rows *rows);
void sysprof_stack_texts_clear (StackTexts *self);
/* As the request's shape has it; one that was cut ends in an entry that says so. */
const StackText *sysprof_stack_texts_get (StackTexts *self, StackId stack);
