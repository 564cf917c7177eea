// SPDX-License-Identifier: BSD-2-Clause

#pragma once

#include "sysprof-macros.h"
#include "sysprof-version-macros.h"

SYSPROF_BEGIN_DECLS

/* Anonymous memory behind a descriptor (close-on-exec), a deleted temporary file where the system has none. The caller closes
 * it. -1 with errno set on failure. */
SYSPROF_AVAILABLE_IN_ALL
int sysprof_memfd_create (const char *name);

/* Size of a page of memory, bytes. */
SYSPROF_AVAILABLE_IN_ALL
size_t sysprof_getpagesize (void);

SYSPROF_END_DECLS
