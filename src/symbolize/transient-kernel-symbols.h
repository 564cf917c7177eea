// SPDX-License-Identifier: GPL-3.0-or-later

/* Kernel code that was loaded or unloaded during the recording: BPF programs and trampolines.
 * The list of kernel symbols is read at the end of the recording, so it does not contain them,
 * or contains later ones. */

#pragma once

#include "symbolize/symbolizer.h"

/* Resolves the unresolved addresses in such code with the embedded file `__ksymbols__`. */
void sysprof_name_transient_kernel_symbols (Symbolization *self);
