// SPDX-License-Identifier: GPL-3.0-or-later

/* render: writes rows as text, JSON, CSV, Markdown, HTML, SVG or folded stacks.
 *
 *   sysprof_render_view (view, RENDER_TEXT, &request, stream, &error);
 *
 * fills the rows of a view and writes them; sysprof_render() writes rows that are there already. A renderer only reads rows. To
 * add a format, add one file NAME.c with a RenderFormatRow, NAME in meson.build, and a value of RenderFormat. */

#pragma once

#include "views/views.h"

typedef enum
{
  RENDER_TEXT,
  RENDER_JSON,
  RENDER_HTML,
  RENDER_SVG,
  RENDER_FOLDED, /* stacks of the selection, for any view */
  RENDER_CSV,
  RENDER_MARKDOWN,
  N_RENDER_FORMATS,
} RenderFormat;

/* Writes rows to a stream. Returns false with the first error of the stream, or when canceled. */
typedef bool Renderer (const View *view,
                       const ViewRequest *request,
                       const Rows *rows,
                       GOutputStream *stream,
                       GError **error);

typedef struct
{
  const char *name;              /* value of --format */
  const char *suffix;            /* of file names, with the point */
  Renderer *render;              /* for tables, and for layouts without a drawing */
  Renderer *drawings[N_LAYOUTS]; /* by ViewLayout; NULL = none */
  bool merges_processes;         /* in flame graphs, as the page does at first */
  bool ignores_rows;             /* it renders the selection; the view need not fill rows */
} RenderFormatRow;

/* The properties of a format. */
const RenderFormatRow *sysprof_render_format (RenderFormat format);

bool sysprof_render (RenderFormat format,
                     const View *view,
                     const ViewRequest *request,
                     const Rows *rows,
                     GOutputStream *stream,
                     GError **error);
/* Fills the rows of `view` and renders them. Writes nothing when filling fails. */
bool sysprof_render_view (const View *view,
                          RenderFormat format,
                          const ViewRequest *request,
                          GOutputStream *stream,
                          GError **error);

/* Puts the name of the file into an error of writing to a stream, which does not contain it. `path` NULL: standard output.
 * Other errors stay as they are. */
void sysprof_name_written_file (GError **error, const char *path);

#include "render/cells.h"
