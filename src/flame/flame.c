// SPDX-License-Identifier: GPL-3.0-or-later

/* Entry points of flame: each lays out the rows, then draws them in one format. */

#include "flame/flame.h"

#include "flame/layout.h"

typedef bool DrawFunc (const Flame *flame, GOutputStream *stream, GError **error);

static bool
draw (DrawFunc *func,
      const ViewRequest *request,
      const Rows *rows,
      GOutputStream *stream,
      GError **error)
{
  Flame flame;
  bool is_done;

  sysprof_flame_init (&flame, request, rows);
  is_done = func (&flame, stream, error);
  sysprof_flame_clear (&flame);
  return is_done;
}

bool
sysprof_flame_render_text (const View *view,
                           const ViewRequest *request,
                           const Rows *rows,
                           GOutputStream *stream,
                           GError **error)
{
  return draw (sysprof_flame_draw_text, request, rows, stream, error);
}

bool
sysprof_flame_render_svg (const View *view,
                          const ViewRequest *request,
                          const Rows *rows,
                          GOutputStream *stream,
                          GError **error)
{
  return draw (sysprof_flame_draw_svg, request, rows, stream, error);
}

bool
sysprof_flame_render_html (const View *view,
                           const ViewRequest *request,
                           const Rows *rows,
                           GOutputStream *stream,
                           GError **error)
{
  return draw (sysprof_flame_draw_html, request, rows, stream, error);
}
