// SPDX-License-Identifier: GPL-3.0-or-later

/* Code that came to the kernel or went from it during the recording, which the kernel's list of symbols, read at its end, has
 * not or has of later: programs of BPF, trampolines. */

#pragma once

#include "symbolize/symbolizer.h"

/* Names the addresses in it that are still open, by the embedded file `__ksymbols__`. */
void sysprof_name_passing_code (Symbolization *self);
