// SPDX-License-Identifier: GPL-3.0-or-later

/* A thread that looks up lines in files while names are being resolved. *Owned* by the thread
 * that resolves names. */

#pragma once

#include "symbolize/symbolize.h"

typedef struct LinesAhead LinesAhead;

/* Returns NULL if the thread would not help: this thread has prepared no children for it, or
 * the capture contains the lines. The store and everything that `options` points to must not
 * change until it is freed. `cancellable` may be NULL. */
LinesAhead *sysprof_lines_ahead_begin (Store *store,
                                       const SymbolizeOptions *options,
                                       GCancellable *cancellable);
/* Cancels the thread if it still runs, and waits for it. */
void sysprof_lines_ahead_free (LinesAhead *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (LinesAhead, sysprof_lines_ahead_free)
