// SPDX-License-Identifier: GPL-3.0-or-later

/* Short function names for places with little room. Only text for people is shortened;
 * searches, files and formats for programs have whole names.
 *
 * Names are untrusted bytes of any length; the run time is linear in their length. */

#pragma once

#include <stddef.h>

/* Index of the suffix that the compiler appended, such as ".isra.0", " [clone .cold]" or
 * "::h0123456789abcdef"; the length of the name if there is none. */
size_t sysprof_name_stem (const char *name);

/* The part of a name after the return type, which templates have: "void std::sort<…>(…)". */
const char *sysprof_skip_return_type (const char *name);

/* Shortens a name until it fits `columns` of a terminal, or as far as possible. It omits, in
 * this order: parameters, inner template arguments, outer ones, the return type of a
 * template, the module of the type that a trait is implemented for. An ellipsis replaces
 * each omission: "std::vector<…>::push_back(…)". *(full)* */
char *sysprof_dup_short_name (const char *name, size_t columns);
