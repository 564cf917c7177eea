// SPDX-License-Identifier: GPL-3.0-or-later

/* What a shell needs to complete a command line, from the tables that the program parses it with, so that the two
 * cannot disagree. */

#pragma once

#include "util/usage.h"

typedef struct
{
  const char *word;
  const char *description;
} CompletionWord;

/* What stands behind an option. */
typedef struct
{
  const char *option;        /* long name */
  const char *const *values; /* NULL-terminated */
} CompletionValues;

typedef struct
{
  const char *program;
  const OptionSection *sections;
  const CompletionWord *words;    /* that may stand first, up to one without; NULL = none */
  const CompletionValues *values; /* up to one without an option */
} Completion;

/* For "bash", "zsh" or "fish"; NULL with `error` for another shell. *(full)* */
char *sysprof_completion_script (const Completion *self, const char *shell, GError **error);
