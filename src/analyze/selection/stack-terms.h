// SPDX-License-Identifier: GPL-3.0-or-later

/* Which stacks the --symbol and --binary terms of a filter take. */

#pragma once

#include "analyze/selection/selection.h"

/* [stacks.n] 1 where the stack is in, or NULL when the filter has no terms. *(full)* */
uint8_t *sysprof_stack_terms_match (const Store *store,
                                    const SymbolTable *symbols,
                                    const SampleFilter *filter);

/* Equal keys, equal matches: all of a filter that the match looks at. *(full)* */
char *sysprof_stack_terms_dup_key (const SampleFilter *filter);
