// SPDX-License-Identifier: GPL-3.0-or-later

/* Names of functions for where there is little room: what a person can do without is left out. Only what people look at
 * is short: searches, files and everything that programs read have names whole.
 *
 * Names are any bytes, of any length; the time that they take grows with their length only. */

#pragma once

#include <stddef.h>

/* Where begins what the compiler appended, as ".isra.0", " [clone .cold]" or "::h0123456789abcdef"; the length of the
 * name if it appended nothing. */
size_t sysprof_name_stem (const char *name);

/* With as little left out as makes it fit so many columns of a terminal, or as short as it can be: parameters, inner
 * template arguments, outer ones, the type that a template returns, the modules of what a trait is implemented for.
 * What is left out is an ellipsis: "std::vector<…>::push_back(…)". *(full)* */
char *sysprof_dup_short_name (const char *name, size_t columns);
