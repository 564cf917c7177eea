// SPDX-License-Identifier: GPL-3.0-or-later

/* Rebuilds the command line of this program as words for sysprof-cli on another machine,
 * whose login shell is unknown. */

#pragma once

#include "util/util.h"

#include <glib.h>

/* Returns the options that were given, from the places where GOption stored them:
 * "--frequency=99", "--quiet". Leaves out the options named in `left_out` (NULL-terminated,
 * without dashes). *(full)*, NULL-terminated. */
char **sysprof_cli_words_of_options (const OptionSection *sections,
                                     const char *const *left_out);

/* Appends ` word`, quoted so that common login shells (sh, bash, zsh, fish) read it as that
 * word. */
void sysprof_cli_append_shell_word (GString *line, const char *word);
