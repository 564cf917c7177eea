// SPDX-License-Identifier: GPL-3.0-or-later

/* Texts as they are compared: in lower case, a blank for each control character. Bytes that are not UTF-8 stay. */

#include "analyze/search/text-index-parts.h"

typedef enum
{
  LETTERLESS, /* no letter or digit */
  SMALL,
  CAPITAL,
  OTHER, /* digits; what has no case */
} LetterKind;

static inline LetterKind
kind_of_ascii (char c)
{
  return g_ascii_islower (c)   ? SMALL
         : g_ascii_isupper (c) ? CAPITAL
         : g_ascii_isdigit (c) ? OTHER
                               : LETTERLESS;
}

/* The character at `text`; returns its bytes, with 1 for one that is not UTF-8, which is left as it is. */
static size_t
read_wide (const char *text, size_t size, gunichar *wide)
{
  *wide = g_utf8_get_char_validated (text, (gssize) size);
  return *wide >= 0x110000 ? 1 : (size_t) (g_utf8_next_char (text) - text);
}

static bool
is_ascii (const char *text, size_t size)
{
  uint8_t all = 0;

  for (size_t i = 0; i < size; i++)
    all |= (uint8_t) text[i];
  return all < 0x80;
}

static size_t
folded_size_of_field (const char *text)
{
  size_t size = strlen (text), folded = 0, step;

  if (is_ascii (text, size))
    return size;
  for (size_t at = 0; at < size; at += step)
    {
      gunichar wide;

      step = read_wide (text + at, size - at, &wide);
      folded +=
          wide >= 0x110000 ? 1 : (size_t) g_unichar_to_utf8 (g_unichar_tolower (wide), NULL);
    }
  return folded;
}

static char *
fold_field (const char *text, char *to, uint8_t *words, size_t first_bit)
{
  const size_t size = strlen (text);
  const char *begin = to;
  LetterKind before = LETTERLESS;

  for (size_t at = 0, step = 1; at < size; at += step)
    {
      const char c = text[at];
      const size_t bit = first_bit + (size_t) (to - begin);
      LetterKind kind = OTHER;

      if ((c & 0x80) == 0)
        {
          kind = kind_of_ascii (c);
          step = 1;
          *to++ = c < ' ' ? ' ' : g_ascii_tolower (c);
        }
      else
        {
          gunichar wide;

          step = read_wide (text + at, size - at, &wide);
          if (wide >= 0x110000)
            *to++ = c;
          else
            {
              const gunichar small = g_unichar_tolower (wide);

              kind = small != wide ? CAPITAL : g_unichar_islower (wide) ? SMALL : OTHER;
              to += g_unichar_to_utf8 (small, to);
            }
        }
      if (words != NULL && kind != LETTERLESS &&
          (before == LETTERLESS ||
           (kind == CAPITAL && (before == SMALL || (before == CAPITAL && at + step < size &&
                                                    g_ascii_islower (text[at + step]))))))
        words[bit >> 3] |= (uint8_t) (1u << (bit & 7));
      before = kind;
    }
  return to;
}

size_t
sysprof_folded_size (const TextFields *text)
{
  size_t size = 0;

  for (uint32_t i = 0; i < TEXT_MOST_FIELDS && text->field[i] != NULL; i++)
    size += folded_size_of_field (text->field[i]) + (i > 0);
  return size;
}

char *
sysprof_fold_text (const TextFields *text, char *to, uint8_t *words, size_t first_bit)
{
  const char *begin = to;

  for (uint32_t i = 0; i < TEXT_MOST_FIELDS && text->field[i] != NULL; i++)
    {
      if (i > 0)
        *to++ = FIELD_END;
      to = fold_field (text->field[i], to, words, first_bit + (size_t) (to - begin));
    }
  return to;
}
