// SPDX-License-Identifier: GPL-3.0-or-later

/* Formats sizes in bytes with a unit. */

#include "util/size.h"

#include <glib.h>

#define NO_BREAK_SPACE "\xc2\xa0"

char *
sysprof_text_of_size (uint64_t bytes)
{
  g_autofree char *text = g_format_size (bytes);
  g_auto (GStrv) parts = g_strsplit (text, NO_BREAK_SPACE, -1);

  return g_strjoinv (" ", parts);
}
