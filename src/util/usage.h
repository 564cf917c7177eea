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

/* An option that other programs have, and what to do instead of it. */
typedef struct
{
  const char *option;  /* with its dashes: "-g", "--call-graph" */
  const char *text;    /* ends in a full stop */
  const char *instead; /* ours, which takes the value that follows; NULL = none */
} OptionAdvice;

/* The text of --help: `sections`, terminated by one without a title, between two texts.
 * *(full)* */
char *sysprof_usage_help (const char *before, const OptionSection *sections, const char *after);

/* Parses `words`, the first of which is the name of the program. `advice` is for unknown
 * options; it ends with an entry without an option, and may be NULL. `data` is for callbacks of
 * the entries. Returns the name and the words that are not options; NULL-terminated, *(full)*.
 * NULL with `error`, which ends in a full stop. */
char **sysprof_usage_parse (const char *program,
                            const OptionSection *sections,
                            const OptionAdvice *advice,
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

/* Returns the number of the first word, not before `from`, that is neither an option nor its
 * value; 0 if there is none. */
size_t
sysprof_usage_find_word (const OptionSection *sections, const char *const *words, size_t from);

/* Adds advice to an error of GOption's. */
void sysprof_usage_explain (const char *program,
                            const OptionSection *sections,
                            const OptionAdvice *advice,
                            const char *const *words,
                            GError **error);
