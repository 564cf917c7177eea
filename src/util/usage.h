// SPDX-License-Identifier: GPL-3.0-or-later

/* What GOption leaves to be wished for: help in sections, values that stick to their letter (-F99), switches that
 * refuse values, and errors that say what was meant. */

#pragma once

#include <glib.h>

typedef struct
{
  const char *title;
  const GOptionEntry *entries; /* up to one without a name */
} OptionSection;

/* What --help prints: `sections`, which end with one without a title, between two texts. *(full)* */
char *sysprof_usage_help (const char *before, const OptionSection *sections, const char *after);

/* The words as GOption wants them: NULL-terminated, *(full)*. NULL with `error` for a switch with a value. */
char **
sysprof_usage_split (const OptionSection *sections, const char *const *words, GError **error);

/* Puts what to do next behind an error of GOption's. */
void sysprof_usage_explain (const char *program,
                            const OptionSection *sections,
                            const char *const *words,
                            GError **error);
