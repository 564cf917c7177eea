// SPDX-License-Identifier: BSD-2-Clause

/* What the capture headers need of a compiler, C or C++. */

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

/* Before what a language only has as an extension: no warning from -Wpedantic. */
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
