// SPDX-License-Identifier: BSD-2-Clause

/* Compiler support for the capture headers, in C and C++. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#  define SYSPROF_BEGIN_DECLS \
    extern "C"                \
    {
#  define SYSPROF_END_DECLS }
#else
#  define SYSPROF_BEGIN_DECLS
#  define SYSPROF_END_DECLS
#endif

/* Suppresses warnings of -Wpedantic about language extensions. */
#ifdef __GNUC__
#  define SYSPROF_EXTENSION __extension__
#else
#  define SYSPROF_EXTENSION
#endif

#ifdef __GNUC__
#  define SYSPROF_PRINTF(format, first) __attribute__ ((__format__ (__printf__, format, first)))
#else
#  define SYSPROF_PRINTF(format, first)
#endif
