// SPDX-License-Identifier: GPL-3.0-or-later

/* views: turns a document and a selection into rows or trees, and renders them in our own looks.
 *
 *   const View *view = sysprof_view_find ("functions");
 *   ViewRequest request = { .document = document, .selection = &resolved, .limit = 20 };
 *   Rows rows = { 0 };
 *   if (view->fill (&request, &rows, &error))
 *     sysprof_render (RENDER_TEXT, view, &request, &rows, stream, &error);
 *
 * A view fills rows from frozen data on any thread; renderers only read them. A new view is one file and one name
 * in this folder's meson.build. */

#pragma once

#include "document/document.h"

#include <gio/gio.h>

typedef enum
{
  COLUMN_TEXT,
  COLUMN_COUNT,
  COLUMN_PERCENT,  /* derived: of Rows.total */
  COLUMN_DURATION, /* ns */
  COLUMN_TIME,     /* ns from the start of the recording */
  COLUMN_BYTES,
  COLUMN_NUMBER,   /* double */
  COLUMN_ADDRESS,
  COLUMN_STACK,    /* array of text, innermost first */
  COLUMN_BOOL,
} ColumnKind;

typedef struct
{
  const char *name;  /* key in JSON, word for --sort */
  const char *title; /* above the column in text */
  ColumnKind kind;
  bool json_only;
} Column;

typedef union
{
  const char *text; /* owned by Rows.arena, or living as long as the document */
  const char **texts; /* NULL-terminated */
  uint64_t count;
  int64_t ns;
  double number;
} Cell;

#define VIEW_MAX_COLUMNS 16

typedef struct
{
  const Column *columns; /* [n_columns] static */
  uint32_t n_columns;
  Cell *cells; /* [n_rows * n_columns] */
  uint32_t n_rows;
  uint32_t capacity;
  uint32_t *parent; /* [n_rows] 1 + index of the parent row, 0 = top; NULL for a flat table. Parents come first. */
  uint64_t total;   /* 100 % */
  const char *weight_name; /* "samples" */
  const char *weight_unit; /* "count" */
  Arena arena;
} Rows;

typedef enum
{
  RENDER_TEXT,
  RENDER_JSON,
  RENDER_HTML,
  RENDER_SVG,
  RENDER_FOLDED,
} RenderFormat;

typedef struct
{
  SysprofDocument *document;
  const ResolvedSelection *selection;
  const Selection *selection_as_given; /* for the JSON member "selection" */
  uint32_t limit; /* rows; 0 = all */
  uint32_t depth; /* of trees; 0 = all */
  double min_percent;
  const char *sort; /* column name or NULL */
  gboolean details;
  /* flame graphs */
  const char *title;
  const char *subtitle;
  uint32_t width;      /* px, 0 = default */
  uint32_t row_height; /* px, 0 = default */
  const char *colors;  /* scheme, NULL = default */
  gboolean icicle;
  /* text */
  gboolean use_color;
  uint32_t terminal_width; /* columns, 0 = not a terminal */
  uint32_t terminal_height;
} ViewRequest;

typedef struct View
{
  const char *name;
  const char *title;
  const char *summary; /* one line for --help */
  gboolean (*fill) (const ViewRequest *request, Rows *rows, GError **error);
  /* NULL, or a drawing of its own in that format instead of the table. */
  gboolean (*render) (RenderFormat format, const ViewRequest *request, const Rows *rows, GOutputStream *stream, GError **error);
} View;

const View *sysprof_view_find (const char *name);
const View *const *sysprof_view_list (void); /* NULL-terminated, in the order of --help */
void sysprof_rows_clear (Rows *rows);
gboolean sysprof_render (RenderFormat format, const View *view, const ViewRequest *request, const Rows *rows, GOutputStream *stream, GError **error);
