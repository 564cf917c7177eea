// SPDX-License-Identifier: GPL-3.0-or-later

/* Instructions of kernel functions, from the kernel's ELF file. */

#pragma once

#include "inspect/inspect.h"
#include "symbolize/batch.h"

/* Reads the functions that contain addresses of the batch, if their bounds are known, from the
 * file that is open in the sandbox for its lines. The kernel ran at the link-time addresses
 * plus `shift` (modulo 2^64). */
void sysprof_kernel_code_read (Symbolization *self,
                               ElfSandbox *sandbox,
                               const FileBatch *batch,
                               uint64_t shift);
