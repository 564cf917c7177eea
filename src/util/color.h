// SPDX-License-Identifier: GPL-3.0-or-later

/* The colors of a terminal. */

#pragma once

#include <stdbool.h>

/* FALSE if NO_COLOR has a value, or for a terminal without colors (TERM=dumb). The caller
 * checks that it is a terminal. */
bool sysprof_wants_color (void);

/* Colors that a terminal can show, by COLORTERM and TERM. */
typedef enum
{
  TERMINAL_16_COLORS,
  TERMINAL_256_COLORS,
  TERMINAL_TRUE_COLOR, /* 24 bits */
} TerminalColors;

TerminalColors sysprof_terminal_colors (void);
