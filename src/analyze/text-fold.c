// SPDX-License-Identifier: GPL-3.0-or-later

/* Texts as they are compared: case ignored, a blank for each control character. */

#include "analyze/text-index-parts.h"

char *
sysprof_fold_text (const char *text, size_t size, char *to)
{
  const char *end = text + size;

  while (text < end)
    {
      const unsigned char c = (unsigned char) *text;
      gunichar wide;

      if (c < 0x80)
        {
          *to++ = c < ' ' ? ' ' : g_ascii_tolower (*text);
          text++;
          continue;
        }
      wide = g_utf8_get_char_validated (text, end - text);
      if (wide == (gunichar) -1 || wide == (gunichar) -2)
        {
          *to++ = *text++;
          continue;
        }
      text = g_utf8_next_char (text);
      to += g_unichar_to_utf8 (g_unichar_tolower (wide), to);
    }
  return to;
}

static inline bool
is_in_word (char c)
{
  return g_ascii_isalnum (c) || (c & 0x80) != 0;
}

static inline bool
begins_word (const char *text, size_t at)
{
  return is_in_word (text[at]) && (at == 0 || !is_in_word (text[at - 1]));
}

bool
sysprof_begins_word (const char *folded,
                     size_t folded_size,
                     const char *name,
                     size_t size,
                     size_t at)
{
  if (begins_word (folded, at))
    return true;
  return at > 0 && folded_size == size && g_ascii_isupper (name[at]) &&
         g_ascii_islower (name[at - 1]);
}
