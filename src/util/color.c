// SPDX-License-Identifier: GPL-3.0-or-later

/* Decides whether to write colors to a terminal. */

#include "util/color.h"

#include <glib.h>

bool
sysprof_wants_color (void)
{
  const char *no_color = g_getenv ("NO_COLOR");

  return (no_color == NULL || no_color[0] == '\0') &&
         g_strcmp0 (g_getenv ("TERM"), "dumb") != 0;
}
