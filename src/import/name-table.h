// SPDX-License-Identifier: GPL-3.0-or-later

/* Addresses for functions that have only a name.
 *
 * User and kernel functions get an address each, and the capture gets a table that names
 * them, like that of a recorder. Names of generated code become jitmap frames. *Owned* by
 * the importer. */

#pragma once

#include "util/util.h"

#include <stdbool.h>
#include <stdint.h>
#include <sysprof-capture.h>

typedef enum
{
  NAME_USER,
  NAME_KERNEL,
  NAME_JIT,
} NameKind;

typedef struct
{
  Intern names;      /* a letter for the kind, then the name */
  uint64_t *address; /* [names.n_strings] 0 = not assigned */
  uint32_t capacity;
  GHashTable *uses; /* (pid << 32 | name) of user functions */
} NameTable;

void sysprof_name_table_init (NameTable *self);
void sysprof_name_table_clear (NameTable *self);

/* Index of the function with that name. */
uint32_t sysprof_name_table_intern (NameTable *self, NameKind kind, Text name);
NameKind sysprof_name_table_kind (const NameTable *self, uint32_t name);

/* Address of the function in a process that calls it. 0 if the writer failed. */
uint64_t sysprof_name_table_address (NameTable *self,
                                     SysprofCaptureWriter *writer,
                                     uint32_t name,
                                     int32_t pid);

/* Appends the symbol table. FALSE with errno set if the writer failed. */
bool
sysprof_name_table_write (const NameTable *self, SysprofCaptureWriter *writer, int64_t time);
