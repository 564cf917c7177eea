// SPDX-License-Identifier: GPL-3.0-or-later

/* flame: draws the rows of the view `flame` as a flame graph: in a terminal, as an SVG picture, or as an interactive page.
 *
 * Each function borrows its arguments, only reads the rows, and writes to the stream. Page and picture take their scripts and
 * styles from the module web. */

#pragma once

#include "views/views.h"

bool sysprof_flame_render_text (const View *view,
                                const ViewRequest *request,
                                const Rows *rows,
                                GOutputStream *stream,
                                GError **error);
bool sysprof_flame_render_svg (const View *view,
                               const ViewRequest *request,
                               const Rows *rows,
                               GOutputStream *stream,
                               GError **error);
bool sysprof_flame_render_html (const View *view,
                                const ViewRequest *request,
                                const Rows *rows,
                                GOutputStream *stream,
                                GError **error);

/* Values of --colors, the default first; NULL-terminated. */
const char *const *sysprof_flame_color_schemes (void);

#include "flame/layout.h"
