// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofSymbolsBundle: adds symbols of all sampled addresses to the capture. */

#pragma once

#include "sysprof-instrument.h"

G_BEGIN_DECLS

#define SYSPROF_TYPE_SYMBOLS_BUNDLE (sysprof_symbols_bundle_get_type ())

SYSPROF_DECLARE_INSTRUMENT (SysprofSymbolsBundle,
                            sysprof_symbols_bundle,
                            SYMBOLS_BUNDLE,
                            SYSPROF_AVAILABLE_IN_ALL)

/* After the recording, resolves every address in it and embeds the table, so the capture looks
 * the same on any machine. *(full)* */
SYSPROF_AVAILABLE_IN_ALL
SysprofInstrument *sysprof_symbols_bundle_new (void);

/* Whether debug files may be downloaded from debuginfod servers. Property "enable-debuginfod".
 * Since 48. */
SYSPROF_AVAILABLE_IN_48
gboolean sysprof_symbols_bundle_get_enable_debuginfod (SysprofSymbolsBundle *self);
SYSPROF_AVAILABLE_IN_48
void sysprof_symbols_bundle_set_enable_debuginfod (SysprofSymbolsBundle *self,
                                                   gboolean enable_debuginfod);

G_END_DECLS
