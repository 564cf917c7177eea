// SPDX-License-Identifier: GPL-3.0-or-later

/* Sets of 32-bit indices that are intersected quickly, whether they have few members, many or long runs.
 *
 * The members with the same upper 16 bits are a chunk, kept in whichever way takes least: as the numbers of their lower 16
 * bits, as 65,536 bits, or as runs. Two chunks of any two ways are intersected without making another of either. A set is
 * *frozen* once made.
 *
 *   g_autoptr (IndexSet) a = sysprof_index_set_new (frames, n);
 *   g_autoptr (IndexSet) both = sysprof_index_set_intersect (a, b);
 *   uint32_t *common = g_new (uint32_t, sysprof_index_set_room (both));
 *
 *   sysprof_index_set_list (both, common);
 */

#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct _IndexSet IndexSet;

/* Of indices [n] in ascending order, each once; NULL if they are not. *(full)* */
IndexSet *sysprof_index_set_new (const uint32_t *index, uint32_t n);
void sysprof_index_set_free (IndexSet *self);

uint32_t sysprof_index_set_size (const IndexSet *self);

/* What is in both. *(full)* */
IndexSet *sysprof_index_set_intersect (const IndexSet *a, const IndexSet *b);

/* Items that sysprof_index_set_list() needs: it may write some behind the last member. */
size_t sysprof_index_set_room (const IndexSet *self);
/* The members, ascending. */
void sysprof_index_set_list (const IndexSet *self, uint32_t *index);

/* Bytes of memory that it holds. */
size_t sysprof_index_set_memory (const IndexSet *self);

/* For tests, before any set is used: as if on a CPU without vectors of 256 bits. */
void sysprof_index_set_use_portable (bool use);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IndexSet, sysprof_index_set_free)
