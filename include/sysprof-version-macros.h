// SPDX-License-Identifier: BSD-2-Clause

/* Which generation of the library a name came with. */

#pragma once

#ifndef _SYSPROF_EXTERN
#  define _SYSPROF_EXTERN __attribute__ ((visibility ("default"))) extern
#endif

#define SYSPROF_AVAILABLE_IN_ALL _SYSPROF_EXTERN
#define SYSPROF_AVAILABLE_IN_48  _SYSPROF_EXTERN
#define SYSPROF_AVAILABLE_IN_49  _SYSPROF_EXTERN
