// SPDX-License-Identifier: GPL-3.0-or-later

/* Reference results for analyze, computed in the simplest way: sample by sample through the
 * door headers, with text keys. */

#pragma once

#include "fixture.h"

typedef struct
{
  uint64_t self;
  uint64_t total;
} Sums;

/* "/" separated path of labels → Sums. The root is "". */
GHashTable *
reference_tree (const Fixture *fixture, const SampleFilter *filter, const Shape *shape);
/* Label of a function → Sums. */
GHashTable *
reference_functions (const Fixture *fixture, const SampleFilter *filter, const Shape *shape);
GHashTable *
reference_callers (const Fixture *fixture, const SampleFilter *filter, const Shape *shape);
GHashTable *
reference_callees (const Fixture *fixture, const SampleFilter *filter, const Shape *shape);
uint64_t reference_total (const Fixture *fixture, const SampleFilter *filter);

/* "name@binary", as the tables above spell functions. *(full)* */
char *reference_label (const Fixture *fixture, SymbolId symbol);
