// SPDX-License-Identifier: GPL-3.0-or-later

/* Writes rows as a text table. */

#pragma once

#include "render/renderers.h"

#define COLOR_RESET  "\033[0m"
#define COLOR_TITLE  "\033[1m"
#define COLOR_DIM    "\033[2m"
#define COLOR_KERNEL "\033[34m"
#define COLOR_OTHER  "\033[35m"

/* Writes titles and rows. A section of a screen has one line per row. Otherwise texts that
 * do not fit follow below their row, and a last line has the number of hidden rows. */
void sysprof_text_table_write (TextWriter *writer,
                               const ViewRequest *request,
                               const Rows *rows,
                               bool is_section);
