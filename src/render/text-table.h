// SPDX-License-Identifier: GPL-3.0-or-later

/* Rows as lines of text. */

#pragma once

#include "render/renderers.h"

#define COLOR_RESET  "\033[0m"
#define COLOR_TITLE  "\033[1m"
#define COLOR_DIM    "\033[2m"
#define COLOR_KERNEL "\033[34m"
#define COLOR_OTHER  "\033[35m"

/* Titles and rows, a line each if it is a section of a screen; else also what has no room in its row, and how many rows
 * were left out. */
void sysprof_text_table_write (TextWriter *writer,
                               const ViewRequest *request,
                               const Rows *rows,
                               bool is_section);
