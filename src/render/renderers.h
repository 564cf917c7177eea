// SPDX-License-Identifier: GPL-3.0-or-later

/* What the formats share. Each format is one file with a RenderFormatRow; none calls render.c. */

#pragma once

#include "render/cells.h"
#include "render/render.h"
#include "text/text.h"

/* Renderers that several formats use. */
Renderer sysprof_render_text;
Renderer sysprof_render_svg_graphs;
Renderer sysprof_render_heat_svg;
