// SPDX-License-Identifier: GPL-3.0-or-later

/* Decides whether to write colors to a terminal, and which. */

#include "util/color.h"

#include <glib.h>
#include <string.h>

bool
sysprof_wants_color (void)
{
  const char *no_color = g_getenv ("NO_COLOR");

  return (no_color == NULL || no_color[0] == '\0') &&
         g_strcmp0 (g_getenv ("TERM"), "dumb") != 0;
}

TerminalColors
sysprof_terminal_colors (void)
{
  const char *colors = g_getenv ("COLORTERM"), *terminal = g_getenv ("TERM");

  if (g_strcmp0 (colors, "truecolor") == 0 || g_strcmp0 (colors, "24bit") == 0)
    return TERMINAL_TRUE_COLOR;
  return terminal != NULL && strstr (terminal, "256color") != NULL ? TERMINAL_256_COLORS
                                                                   : TERMINAL_16_COLORS;
}
