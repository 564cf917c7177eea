// SPDX-License-Identifier: GPL-3.0-or-later

/* Generates shell completion from the same tables that parse the command line, so that the two
 * always agree. */

#pragma once

#include "util/usage.h"

typedef struct
{
  const char *word;
  const char *description;
  const char *options; /* after this word: "--a --b"; NULL = all. Only bash narrows them. */
} CompletionWord;

/* The values of an option. */
typedef struct
{
  const char *option;        /* long name */
  const char *const *values; /* NULL-terminated */
} CompletionValues;

typedef struct
{
  const char *program;
  const OptionSection *sections;
  /* possible first arguments, terminated by an entry without text; NULL = none */
  const CompletionWord *words;
  const CompletionValues *values; /* terminated by an entry without an option */
} Completion;

/* For "bash", "zsh" or "fish"; NULL with `error` for another shell. *(full)* */
char *sysprof_completion_script (const Completion *self, const char *shell, GError **error);
