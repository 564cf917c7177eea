// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofMultiSymbolizer: tries several symbolizers in the order in which they were added. The
 * first result is used. */

#pragma once

#include "sysprof-symbolizer.h"

G_BEGIN_DECLS

#define SYSPROF_TYPE_MULTI_SYMBOLIZER (sysprof_multi_symbolizer_get_type ())

SYSPROF_DECLARE_TYPE (SysprofMultiSymbolizer,
                      sysprof_multi_symbolizer,
                      MULTI_SYMBOLIZER,
                      SYSPROF_AVAILABLE_IN_ALL)

/* An empty one resolves no symbols. *(full)* */
SYSPROF_AVAILABLE_IN_ALL
SysprofMultiSymbolizer *sysprof_multi_symbolizer_new (void);

/**
 * sysprof_multi_symbolizer_take:
 * @self: a multi symbolizer
 * @symbolizer: (transfer full): a symbolizer
 *
 * Appends a symbolizer.
 */
SYSPROF_AVAILABLE_IN_ALL
void sysprof_multi_symbolizer_take (SysprofMultiSymbolizer *self,
                                    SysprofSymbolizer *symbolizer);

G_END_DECLS
