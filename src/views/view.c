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

/* From here on all that this thread does asks the request's cancellable: sysprof_is_wanted(). */
static void
begin_request (const ViewRequest *request)
{
  if (request->cancellable != NULL)
    g_cancellable_push_current (request->cancellable);
}

static void
end_request (const ViewRequest *request)
{
  if (request->cancellable != NULL)
    g_cancellable_pop_current (request->cancellable);
}

static bool
fill (const View *view, const ViewRequest *request, Rows *rows, GError **error)
{
  if (!view->fill (request, rows, error))
    return false;
  if (request->search != NULL && !view->searches)
    sysprof_rows_search (rows, request->search);
  if (!rows->is_event_list)
    sysprof_rows_name_weight (rows, request->store, request->filter);
  if (request->sort && !sysprof_rows_sort (rows, request->sort, error))
    return false;
  /* A drawing needs the widths of what it leaves out, and shows that something is there. */
  if (!view->draw || request->limit || request->depth)
    sysprof_rows_cut (rows, request->limit, request->depth,
                      view->draw ? 0 : request->min_percent);
  return true;
}

bool
sysprof_view_fill (const View *view, const ViewRequest *request, Rows *rows, GError **error)
{
  g_autoptr (GError) reason = NULL;
  bool is_filled;

  *rows = (Rows){ 0 };
  begin_request (request);
  is_filled = fill (view, request, rows, &reason);
  /* Whatever else was found wrong with half of the rows. */
  if (!sysprof_is_wanted ())
    {
      g_clear_error (&reason);
      (void) g_cancellable_set_error_if_cancelled (g_cancellable_get_current (), &reason);
      is_filled = false;
    }
  end_request (request);

  if (!is_filled)
    {
      sysprof_rows_clear (rows);
      g_propagate_error (error, g_steal_pointer (&reason));
    }
  return is_filled;
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

  bool is_done;

  begin_request (request);
  if (view->draw && (view->draws & (1u << format)))
    is_done = view->draw (format, request, rows, stream, error);
  else
    is_done = renderers[format](view, request, rows, stream, error);
  end_request (request);
  return is_done;
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
    return sysprof_render (format, view, request, &rows, stream, error);
  if (!sysprof_view_fill (view, request, &rows, error))
    return false;
  is_done = sysprof_render (format, view, request, &rows, stream, error);
  sysprof_rows_clear (&rows);
  return is_done;
}
