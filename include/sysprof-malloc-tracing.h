// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofMallocTracing: allocations and frees of the spawned program. */

#pragma once

#include "sysprof-instrument.h"

G_BEGIN_DECLS

#define SYSPROF_TYPE_MALLOC_TRACING (sysprof_malloc_tracing_get_type ())

SYSPROF_DECLARE_INSTRUMENT (SysprofMallocTracing,
                            sysprof_malloc_tracing,
                            MALLOC_TRACING,
                            SYSPROF_AVAILABLE_IN_ALL)

/* *(full)* */
SYSPROF_AVAILABLE_IN_ALL
SysprofInstrument *sysprof_malloc_tracing_new (void);

G_END_DECLS
