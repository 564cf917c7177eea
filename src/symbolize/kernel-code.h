// SPDX-License-Identifier: GPL-3.0-or-later

/* Instructions of the kernel's functions, from its own file. */

#pragma once

#include "symbolize/batch.h"
#include "symbolize/elf-sandbox.h"

/* The functions that addresses of the batch are in, as far as their bounds are known, from the file that is open in the sandbox for its
 * lines; the kernel ran `shift` above where that was linked (negative as a number below 2^64). */
void sysprof_kernel_code_read (Symbolization *self,
                               ElfSandbox *sandbox,
                               const FileBatch *batch,
                               uint64_t shift);
