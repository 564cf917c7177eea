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

/* Parses `words`, the first of which is the name of the program. `data` is for callbacks of the
 * entries. Returns the words that are not options, with the name; NULL-terminated, *(full)*.
 * NULL with `error`, which ends in a full stop. */
char **sysprof_usage_parse (const char *program,
                            const OptionSection *sections,
                            const char *const *words,
                            void *data,
                            GError **error);

/* Finds `value` in `choices`, NULL-terminated, and sets `index`, which may be NULL. FALSE with
 * `error` if it is not there. */
gboolean sysprof_usage_check_choice (const char *option,
                                     const char *value,
                                     const char *const *choices,
                                     size_t *index,
                                     GError **error);

/* The parts of sysprof_usage_parse(). */

/* The words in GOption's form: NULL-terminated, *(full)*. NULL with `error` for a switch with a
 * value. */
char **
sysprof_usage_split (const OptionSection *sections, const char *const *words, GError **error);

/* Adds a suggestion to an error of GOption's. */
void sysprof_usage_explain (const char *program,
                            const OptionSection *sections,
                            const char *const *words,
                            GError **error);
