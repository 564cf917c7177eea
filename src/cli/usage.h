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

/* `sections` end with one without a title. *(full)* */
char *sysprof_cli_usage_help (const OptionSection *sections);

/* The words as GOption wants them: NULL-terminated, *(full)*. NULL with `error` for a switch with a value. */
char **sysprof_cli_usage_split (const OptionSection *sections,
                                const char *const *words,
                                GError **error);

/* Puts what to do next behind an error of GOption's. */
void sysprof_cli_usage_explain (const OptionSection *sections,
                                const char *const *words,
                                GError **error);
