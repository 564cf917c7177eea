// SPDX-License-Identifier: GPL-3.0-or-later

/* The renderers: one for each format and layout. render.c selects one; none calls render.c. */

#pragma once

#include "render/cells.h"
#include "text/text.h"
#include "views/views.h"

/* Writes rows to a stream. Returns false with the first error of the stream, or when canceled. */
typedef bool Renderer (const View *view,
                       const ViewRequest *request,
                       const Rows *rows,
                       GOutputStream *stream,
                       GError **error);

Renderer sysprof_render_text;
Renderer sysprof_render_json;
Renderer sysprof_render_html;
Renderer sysprof_render_svg;
Renderer sysprof_render_svg_graphs;
Renderer sysprof_render_heat_svg;
Renderer sysprof_render_folded;
Renderer sysprof_render_csv;
Renderer sysprof_render_markdown;
