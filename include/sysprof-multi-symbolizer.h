// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofMultiSymbolizer: asks several, in the order they were added; the first answer wins. */

#pragma once

#include "sysprof-symbolizer.h"

G_BEGIN_DECLS

#define SYSPROF_TYPE_MULTI_SYMBOLIZER (sysprof_multi_symbolizer_get_type ())

SYSPROF_DECLARE_TYPE (SysprofMultiSymbolizer,
                      sysprof_multi_symbolizer,
                      MULTI_SYMBOLIZER,
                      SYSPROF_AVAILABLE_IN_ALL)

/* Without any, it names nothing. *(full)* */
SYSPROF_AVAILABLE_IN_ALL
SysprofMultiSymbolizer *sysprof_multi_symbolizer_new (void);

/**
 * sysprof_multi_symbolizer_take:
 * @self: several symbolizers
 * @symbolizer: (transfer full): one more
 *
 * Adds one behind the others.
 */
SYSPROF_AVAILABLE_IN_ALL
void sysprof_multi_symbolizer_take (SysprofMultiSymbolizer *self,
                                    SysprofSymbolizer *symbolizer);

G_END_DECLS
