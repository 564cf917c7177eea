// SPDX-License-Identifier: GPL-3.0-or-later

/* Texts for labels. GTK needs seconds to wrap a name of ten thousand letters. */

#pragma once

#include <glib.h>

#define CUT_LETTERS 400

/* The text; an ellipsis replaces letters beyond CUT_LETTERS. Valid UTF-8. *(full)* */
static inline char *
app_dup_cut_text (const char *text)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1);
  g_autofree char *start = NULL;

  if (g_utf8_strlen (valid, -1) <= CUT_LETTERS)
    return g_steal_pointer (&valid);
  start = g_utf8_substring (valid, 0, CUT_LETTERS);
  return g_strconcat (start, "…", NULL);
}
