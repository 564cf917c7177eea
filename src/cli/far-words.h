// SPDX-License-Identifier: GPL-3.0-or-later

/* What is asked of this program, as the words that ask the same of another one, through a shell that is not known. */

#pragma once

#include "util/util.h"

#include <glib.h>

/* The options that were given, from where GOption has put them: "--frequency=99", "--quiet". Those named in `left_out`
 * (NULL-terminated, without dashes) are not among them. *(full)*, NULL-terminated. */
char **sysprof_cli_words_of_options (const OptionSection *sections,
                                     const char *const *left_out);

/* Appends ` word`, so quoted that the shells people log in with (sh, bash, zsh, fish) take it as that word. */
void sysprof_cli_append_shell_word (GString *line, const char *word);
