// SPDX-License-Identifier: GPL-3.0-or-later

/* File and line beside the names of functions, as people read them. */

#include "views/render.h"
#include "views/rows.h"

#include <string.h>

char *
sysprof_dup_place (const char *file, uint32_t line)
{
  const char *slash = strrchr (file, '/');
  g_autofree char *base = sysprof_dup_one_line (slash && slash[1] ? slash + 1 : file);

  return g_strdup_printf ("%s:%u", base, line);
}

void
sysprof_places_init (Places *self, const Rows *rows)
{
  *self = (Places){ .rows = rows, .function = UINT32_MAX };
  for (uint32_t i = 0; i < rows->n_columns; i++)
    if (rows->columns[i].is_function)
      self->function = i;
  self->file = sysprof_rows_column (rows, "file");
  self->line = sysprof_rows_column (rows, "line");
  if (self->file < 0 || self->line < 0)
    self->function = UINT32_MAX;
}

char *
sysprof_places_dup (const Places *self, uint32_t row, uint32_t column, const char **file)
{
  const Cell *cells;

  if (self->function == UINT32_MAX || column != self->function)
    return NULL;
  cells = sysprof_rows_cells (self->rows, row);
  if (cells[self->line].number <= 0 || cells[self->file].text[0] == '\0')
    return NULL;
  if (file != NULL)
    *file = cells[self->file].text;
  return sysprof_dup_place (cells[self->file].text, (uint32_t) cells[self->line].number);
}
