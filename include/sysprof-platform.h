// SPDX-License-Identifier: BSD-2-Clause

#pragma once

#include "sysprof-macros.h"
#include "sysprof-version-macros.h"

SYSPROF_BEGIN_DECLS

/* Returns a descriptor (close-on-exec) of anonymous memory, or of an unlinked temporary file if
 * the system has no memfd. The caller closes it. Returns -1 with errno set on failure. */
SYSPROF_AVAILABLE_IN_ALL
int sysprof_memfd_create (const char *name);

/* The page size in bytes. */
SYSPROF_AVAILABLE_IN_ALL
size_t sysprof_getpagesize (void);

SYSPROF_END_DECLS
