// SPDX-License-Identifier: GPL-3.0-or-later

/* Selects the renderer for a format and a layout. This file must not write anything itself. */

#include "render/render.h"

extern const RenderFormatRow *const sysprof_format_table[]; /* generated from meson.build */

const RenderFormatRow *
sysprof_render_format (RenderFormat format)
{
  return sysprof_format_table[format];
}

bool
sysprof_render (RenderFormat format,
                const View *view,
                const ViewRequest *request,
                const Rows *rows,
                GOutputStream *stream,
                GError **error)
{
  const RenderFormatRow *row = sysprof_render_format (format);
  Renderer *renderer = row->drawings[view->layout];
  bool is_done;

  if (!renderer)
    renderer = row->render;
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
  const RenderFormatRow *row = sysprof_render_format (format);
  Shape shape = request->shape ? *request->shape : (Shape){ 0 };
  ViewRequest shaped = *request;
  Rows rows = { 0 };
  bool is_done;

  if (row->ignores_rows)
    return sysprof_render (format, view, request, &rows, stream, error);
  if (row->merges_processes && view->layout == LAYOUT_FLAME)
    {
      shape.merge_processes = true;
      shaped.shape = &shape;
    }
  if (!sysprof_view_fill (view, &shaped, &rows, error))
    return false;
  is_done = sysprof_render (format, view, &shaped, &rows, stream, error);
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
