// SPDX-License-Identifier: GPL-3.0-or-later

/* Selects the renderer for a format and a layout. This file must not write anything itself. */

#include "render/render.h"

#include "flame/flame.h"
#include "render/renderers.h"

#include <assert.h>

static Renderer *const tables[] = {
  [RENDER_TEXT] = sysprof_render_text,         [RENDER_JSON] = sysprof_render_json,
  [RENDER_HTML] = sysprof_render_html,         [RENDER_SVG] = sysprof_render_svg,
  [RENDER_FOLDED] = sysprof_render_folded,     [RENDER_CSV] = sysprof_render_csv,
  [RENDER_MARKDOWN] = sysprof_render_markdown,
};
static_assert (G_N_ELEMENTS (tables) == N_RENDER_FORMATS, "each format has a renderer");

/* Formats without a drawing of a layout show its table. */
static Renderer *const drawings[][N_RENDER_FORMATS] = {
  [LAYOUT_FLAME] = {
    [RENDER_TEXT] = sysprof_flame_render_text,
    [RENDER_HTML] = sysprof_flame_render_html,
    [RENDER_SVG] = sysprof_flame_render_svg,
  },
  [LAYOUT_HEAT_MAP] = {
    [RENDER_SVG] = sysprof_render_heat_svg,
  },
};

bool
sysprof_render (RenderFormat format,
                const View *view,
                const ViewRequest *request,
                const Rows *rows,
                GOutputStream *stream,
                GError **error)
{
  Renderer *renderer = drawings[view->layout][format];
  bool is_done;

  if (!renderer)
    renderer = tables[format];
  sysprof_request_begin (request);
  is_done = renderer (view, request, rows, stream, error);
  sysprof_request_end (request);
  return is_done;
}

bool
sysprof_render_view (const View *view,
                     RenderFormat format,
                     const ViewRequest *request,
                     GOutputStream *stream,
                     GError **error)
{
  Rows rows = { 0 };
  bool is_done;

  if (format == RENDER_FOLDED)
    return sysprof_render (format, view, request, &rows, stream, error);
  if (!sysprof_view_fill (view, request, &rows, error))
    return false;
  is_done = sysprof_render (format, view, request, &rows, stream, error);
  sysprof_rows_clear (&rows);
  return is_done;
}

void
sysprof_name_written_file (GError **error, const char *path)
{
  if (error == NULL || *error == NULL || (*error)->domain != G_IO_ERROR)
    return;
  if (path != NULL)
    g_prefix_error (error, "Cannot write to '%s': ", path);
  else
    g_prefix_error_literal (error, "Cannot write to standard output: ");
}
