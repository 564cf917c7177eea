// SPDX-License-Identifier: GPL-3.0-or-later

/* Source locations of functions in rows: the file, the line, and whether the function is inlined. */

#pragma once

#include "views/rows.h"

/* Formats "sort.c:123" or "sort.c:123, inlined", without folders, on one line. NULL if nothing is known (line 0 and not
 * inlined). *(full)* */
char *sysprof_dup_source_location (const char *file, uint32_t line, bool is_inlined);
/* Same for an entry of a stack. *(full)* */
char *sysprof_dup_source_location_of_entry (const StackEntry *entry);

/* Reads the columns "file", "line" and "inlined" of rows that it borrows. */
typedef struct
{
  const Rows *rows;
  uint32_t function; /* column with function names; UINT32_MAX = none */
  int file;
  int line;
  int inlined; /* -1 = no such column */
} SourceLocations;

void sysprof_source_locations_init (SourceLocations *self, const Rows *rows);
/* Returns the line and sets `*file` to the whole path, borrowed; 0 and "" if they are unknown. */
uint32_t
sysprof_source_locations_find (const SourceLocations *self, uint32_t row, const char **file);
bool sysprof_source_locations_is_inlined (const SourceLocations *self, uint32_t row);
/* Text to show after a cell; NULL if the column is not that of function names, or if nothing is known. *(full)* */
char *
sysprof_source_locations_format (const SourceLocations *self, uint32_t row, uint32_t column);
