// SPDX-License-Identifier: GPL-3.0-or-later

/* The layout of a flame graph, which all formats draw. Borrows request and rows. */

#pragma once

#include "text/text.h"
#include "views/views.h"

#include <string.h>

typedef struct
{
  const ViewRequest *request;
  const Rows *rows;
  RowTree tree;   /* node i is row i - 1 */
  uint64_t *x;    /* [tree.n] left edge, in weight */
  uint64_t total; /* weight of all top-level rows: the full width */
  int symbol, binary, kind, self, weight, off_cpu; /* columns */
  SourceLocations locations;                       /* source locations */
  char *title;
  char *subtitle;
} Flame;

void sysprof_flame_init (Flame *self, const ViewRequest *request, const Rows *rows);
void sysprof_flame_clear (Flame *self);

static inline const char *
sysprof_flame_text (const Flame *self, uint32_t node, int column)
{
  return column >= 0 ? sysprof_rows_cells (self->rows, node - 1)[column].text : "";
}

static inline uint64_t
sysprof_flame_weight (const Flame *self, uint32_t node)
{
  return sysprof_rows_cells (self->rows, node - 1)[self->weight].count;
}

/* Source location of a node's function and whether it is inlined; NULL = unknown. *(full)* */
static inline char *
sysprof_flame_dup_location (const Flame *self, uint32_t node)
{
  return sysprof_source_locations_format (&self->locations, node - 1, self->locations.function);
}

/* Path and line: "/src/sort.c:123"; NULL = unknown. *(full)* */
static inline char *
sysprof_flame_dup_whole_location (const Flame *self, uint32_t node)
{
  const char *file;
  uint32_t line = sysprof_source_locations_find (&self->locations, node - 1, &file);

  return line != 0 ? g_strdup_printf ("%s:%u", file, line) : NULL;
}

/* Whether the thread waits in this function of the kernel for most of its weight. */
static inline bool
sysprof_flame_is_off_cpu (const Flame *self, uint32_t node)
{
  return self->off_cpu >= 0 && sysprof_rows_cells (self->rows, node - 1)[self->off_cpu].flag;
}

/* The kind to draw. Functions without file and name are drawn as unknown. */
static inline const char *
sysprof_flame_look (const Flame *self, uint32_t node)
{
  const char *kind = sysprof_flame_text (self, node, self->kind);

  if (sysprof_flame_is_off_cpu (self, node))
    return "wait";

  return strcmp (kind, "user") == 0 && !sysprof_flame_text (self, node, self->binary)[0] &&
                 sysprof_flame_text (self, node, self->symbol)[0] == '['
             ? "marker"
             : kind;
}

bool sysprof_flame_draw_svg (const Flame *self, GOutputStream *stream, GError **error);
bool sysprof_flame_draw_html (const Flame *self, GOutputStream *stream, GError **error);
bool sysprof_flame_draw_text (const Flame *self, GOutputStream *stream, GError **error);

/* Color of a function in a scheme of sysprof_flame_color_schemes(). A name always has the
 * same color. */
typedef struct
{
  uint8_t red, green, blue;
} Color;
Color sysprof_flame_color (const char *scheme, const char *kind, const char *name);
