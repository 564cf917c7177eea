// SPDX-License-Identifier: GPL-3.0-or-later

/* Sets of 32-bit indices with a fast intersection, whether a set is sparse, dense, or has long
 * runs.
 *
 * The members with the same upper 16 bits form a chunk. It is stored in the form that needs the
 * least memory: as a list of the lower 16 bits, as a bitmap of 65,536 bits, or as runs. Chunks
 * of different forms are intersected without converting either. A set is *frozen* once made.
 *
 *   g_autoptr (IndexSet) a = sysprof_index_set_new (frames, n);
 *   g_autoptr (IndexSet) both = sysprof_index_set_intersect (a, b);
 *   uint32_t *common = g_new (uint32_t, sysprof_index_set_size (both));
 *
 *   sysprof_index_set_list (both, common); */

#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct _IndexSet IndexSet;

/* Makes a set of indices [n]; NULL if they are not strictly ascending. *(full)* */
IndexSet *sysprof_index_set_new (const uint32_t *index, uint32_t n);
void sysprof_index_set_free (IndexSet *self);

uint32_t sysprof_index_set_size (const IndexSet *self);

/* *(full)* */
IndexSet *sysprof_index_set_intersect (const IndexSet *a, const IndexSet *b);

/* Writes the members, ascending, to index [sysprof_index_set_size()]. */
void sysprof_index_set_list (const IndexSet *self, uint32_t *index);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IndexSet, sysprof_index_set_free)
