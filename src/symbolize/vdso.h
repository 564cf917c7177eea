// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "symbolize/elf-worker.h"

/* Names offsets in the kernel's library ("[vdso]") as our own process has it mapped. */
ElfStatus sysprof_vdso_resolve (const uint64_t *offsets, size_t n, ElfAnswers *answers);
