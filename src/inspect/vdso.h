// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "inspect/elf-worker.h"

/* Resolves offsets in the vDSO ("[vdso]") with the copy that is mapped into this process. */
ElfStatus sysprof_vdso_resolve (const uint64_t *offsets, size_t n, ElfAnswers *answers);
