// SPDX-License-Identifier: GPL-3.0-or-later

/* Extends GOption: help in sections, values attached to their letter (-F99), switches that
 * refuse values, and errors with suggestions. */

#pragma once

#include <glib.h>

typedef struct
{
  const char *title;
  const GOptionEntry *entries; /* terminated by an entry without a name */
} OptionSection;

/* The text of --help: `sections`, terminated by one without a title, between two texts.
 * *(full)* */
char *sysprof_usage_help (const char *before, const OptionSection *sections, const char *after);

/* The words in GOption's form: NULL-terminated, *(full)*. NULL with `error` for a switch with a
 * value. */
char **
sysprof_usage_split (const OptionSection *sections, const char *const *words, GError **error);

/* Adds a suggestion to an error of GOption's. */
void sysprof_usage_explain (const char *program,
                            const OptionSection *sections,
                            const char *const *words,
                            GError **error);
