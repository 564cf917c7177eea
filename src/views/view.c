// SPDX-License-Identifier: GPL-3.0-or-later

/* Finding views, and the steps that all of them share. */

#include "views/fold.h"
#include "views/render.h"
#include "views/rows.h"

#include <string.h>

extern const View *const sysprof_view_table[]; /* generated from the list in meson.build */

const View *const *
sysprof_view_list (void)
{
  return sysprof_view_table;
}

const View *
sysprof_view_find (const char *name)
{
  for (const View *const *view = sysprof_view_table; *view; view++)
    if (strcmp ((*view)->name, name) == 0)
      return *view;
  return NULL;
}

bool
sysprof_view_fill (const View *view, const ViewRequest *request, Rows *rows, GError **error)
{
  *rows = (Rows){ 0 };
  if (!view->fill (request, rows, error))
    {
      sysprof_rows_clear (rows);
      return false;
    }
  if (request->search != NULL && !view->searches)
    sysprof_rows_search (rows, request->search);
  if (!rows->is_event_list)
    sysprof_rows_name_weight (rows, request->store, request->filter);
  if (request->sort && !sysprof_rows_sort (rows, request->sort, error))
    {
      sysprof_rows_clear (rows);
      return false;
    }
  /* A drawing needs the widths of what it leaves out, and shows that something is there. */
  if (!view->draw || request->limit || request->depth)
    sysprof_rows_cut (rows, request->limit, request->depth,
                      view->draw ? 0 : request->min_percent);
  return true;
}

bool
sysprof_render (RenderFormat format,
                const View *view,
                const ViewRequest *request,
                const Rows *rows,
                GOutputStream *stream,
                GError **error)
{
  static bool (*const renderers[]) (const View *, const ViewRequest *, const Rows *,
                                    GOutputStream *, GError **) = {
    [RENDER_TEXT] = sysprof_render_text,         [RENDER_JSON] = sysprof_render_json,
    [RENDER_HTML] = sysprof_render_html,         [RENDER_SVG] = sysprof_render_svg,
    [RENDER_FOLDED] = sysprof_render_folded,     [RENDER_CSV] = sysprof_render_csv,
    [RENDER_MARKDOWN] = sysprof_render_markdown,
  };

  if (view->draw && (view->draws & (1u << format)))
    return view->draw (format, request, rows, stream, error);
  return renderers[format](view, request, rows, stream, error);
}

bool
sysprof_view_render (const View *view,
                     RenderFormat format,
                     const ViewRequest *request,
                     GOutputStream *stream,
                     GError **error)
{
  Rows rows = { 0 };
  bool is_done;

  if (format == RENDER_FOLDED)
    return sysprof_render_folded (view, request, &rows, stream, error);
  if (!sysprof_view_fill (view, request, &rows, error))
    return false;
  is_done = sysprof_render (format, view, request, &rows, stream, error);
  sysprof_rows_clear (&rows);
  return is_done;
}
