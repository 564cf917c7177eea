// SPDX-License-Identifier: GPL-3.0-or-later

/* Characters that a terminal or browser does not show, or that change the order in which it
 * shows others. A name with such characters can look like another name, so all output for
 * people shows them as <U+202E>. */

#pragma once

#include <glib.h>
#include <stdbool.h>

/* Format characters (U+00AD, U+200B-200F, U+202A-202E, U+2066-2069, U+FEFF and others), line
 * and paragraph separators, and letters that are blank by definition; not control
 * characters. */
bool sysprof_is_hidden_character (gunichar character);

/* Appends `<U+XXXX>`. */
void sysprof_append_hidden_character (GString *text, gunichar character);

/* `text` as valid UTF-8 without hidden characters. *(full)* */
char *sysprof_dup_visible (const char *text);
