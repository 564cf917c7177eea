// SPDX-License-Identifier: GPL-3.0-or-later

/* Reads and formats the source locations of functions in rows. */

#include "text/text.h"
#include "views/views.h"

#include <string.h>

#define INLINED "inlined"

char *
sysprof_dup_source_location (const char *file, uint32_t line, bool is_inlined)
{
  const char *slash;
  g_autofree char *base = NULL;

  if (line == 0 || file[0] == '\0')
    return is_inlined ? g_strdup (INLINED) : NULL;
  slash = strrchr (file, '/');
  base = sysprof_dup_one_line (slash && slash[1] ? slash + 1 : file);
  return g_strdup_printf ("%s:%u%s", base, line, is_inlined ? ", " INLINED : "");
}

char *
sysprof_dup_source_location_of_entry (const StackEntry *entry)
{
  return sysprof_dup_source_location (entry->file, entry->line, entry->is_inlined);
}

void
sysprof_source_locations_init (SourceLocations *self, const Rows *rows)
{
  *self = (SourceLocations){ .rows = rows, .function = UINT32_MAX };
  for (uint32_t i = 0; i < rows->n_columns; i++)
    if (rows->columns[i].is_function || rows->columns[i].has_location)
      self->function = i;
  self->file = sysprof_rows_column (rows, "file");
  self->line = sysprof_rows_column (rows, "line");
  self->inlined = sysprof_rows_column (rows, "inlined");
  if (self->file < 0 || self->line < 0)
    self->function = UINT32_MAX;
}

uint32_t
sysprof_source_locations_find (const SourceLocations *self, uint32_t row, const char **file)
{
  const Cell *cells;

  *file = "";
  if (self->function == UINT32_MAX)
    return 0;
  cells = sysprof_rows_cells (self->rows, row);
  if (cells[self->line].number <= 0 || cells[self->file].text[0] == '\0')
    return 0;
  *file = cells[self->file].text;
  return (uint32_t) cells[self->line].number;
}

bool
sysprof_source_locations_is_inlined (const SourceLocations *self, uint32_t row)
{
  return self->function != UINT32_MAX && self->inlined >= 0 &&
         sysprof_rows_cells (self->rows, row)[self->inlined].flag;
}

char *
sysprof_source_locations_format (const SourceLocations *self, uint32_t row, uint32_t column)
{
  const char *file;
  uint32_t line;

  if (column != self->function)
    return NULL;
  line = sysprof_source_locations_find (self, row, &file);
  return sysprof_dup_source_location (file, line,
                                      sysprof_source_locations_is_inlined (self, row));
}
