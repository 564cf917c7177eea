// SPDX-License-Identifier: GPL-3.0-or-later

/* Finds characters in untrusted text that would be invisible or change the order of others. */

#include "util/hidden-text.h"

bool
sysprof_is_hidden_character (gunichar character)
{
  static const gunichar blank_letters[] = { 0x115f, 0x1160, 0x3164, 0xffa0 };

  if (character < 0x80)
    return false;
  for (size_t i = 0; i < G_N_ELEMENTS (blank_letters); i++)
    if (character == blank_letters[i])
      return true;

  switch (g_unichar_type (character))
    {
    case G_UNICODE_FORMAT:
    case G_UNICODE_LINE_SEPARATOR:
    case G_UNICODE_PARAGRAPH_SEPARATOR:
      return true;
    default:
      return false;
    }
}

void
sysprof_append_hidden_character (GString *text, gunichar character)
{
  g_string_append_printf (text, "<U+%04X>", character);
}

char *
sysprof_dup_visible (const char *text)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1);
  GString *visible = g_string_new (NULL);

  for (const char *at = valid; *at != '\0'; at = g_utf8_next_char (at))
    {
      gunichar character = g_utf8_get_char (at);

      if (sysprof_is_hidden_character (character))
        sysprof_append_hidden_character (visible, character);
      else
        g_string_append_len (visible, at, g_utf8_next_char (at) - at);
    }
  return g_string_free (visible, FALSE);
}
