// SPDX-License-Identifier: GPL-3.0-or-later

/* A thread that asks files for lines while others look for names. *Owned* by who looks for these. */

#pragma once

#include "symbolize/symbolize.h"

typedef struct LinesAhead LinesAhead;

/* NULL where it is not worth it: where this thread has prepared no children for it, or the capture says itself what files would. What
 * `options` point to, and the store, stay as they are until it is freed; `cancellable` may be NULL. */
LinesAhead *sysprof_lines_ahead_begin (Store *store,
                                       const SymbolizeOptions *options,
                                       GCancellable *cancellable);
/* Who is still at it stops first. */
void sysprof_lines_ahead_free (LinesAhead *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (LinesAhead, sysprof_lines_ahead_free)
