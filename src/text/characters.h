// SPDX-License-Identifier: GPL-3.0-or-later

/* Decodes characters of names, which are untrusted bytes. */

#pragma once

#include <glib.h>

#define REPLACEMENT "\357\277\275" /* U+FFFD in UTF-8 */

/* Decodes the character at `at` and returns its size in bytes. `*character` is U+FFFD for a
 * byte that is not valid UTF-8. */
static inline size_t
sysprof_next_character (const char *at, gunichar *character)
{
  gunichar found;

  if ((unsigned char) *at < 0x80)
    {
      *character = (unsigned char) *at;
      return 1;
    }
  found = g_utf8_get_char_validated (at, -1);
  if (found == (gunichar) -1 || found == (gunichar) -2)
    {
      *character = 0xfffd;
      return 1;
    }
  *character = found;
  return (size_t) (g_utf8_next_char (at) - at);
}
