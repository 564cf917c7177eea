// SPDX-License-Identifier: GPL-3.0-or-later

/* The functions of libgcc that leave their own frame for the frame with an exception
 * handler. */

#pragma once

#include "elf/elf.h"

#include <stdbool.h>
#include <stdint.h>

/* A row of a table. */
typedef struct
{
  uint64_t address;
  uint32_t rule;
} EhReturnRow;

#define EH_RETURN_ROWS 4

typedef struct
{
  uint64_t function;               /* start address */
  uint64_t end;                    /* from here on, the call-frame information applies */
  EhReturnRow row[EH_RETURN_ROWS]; /* replace the rows in [row[0].address, end) */
} EhReturn;

/* Whether these three rows of the call-frame information are those of such an exit. */
bool sysprof_eh_return_is_exit (const EhReturnRow row[3]);

/* Whether [start, end) is such a function, with the exit rows `exit`. */
bool sysprof_eh_return_find (ElfImage *image,
                             uint64_t start,
                             uint64_t end,
                             const EhReturnRow exit[3],
                             EhReturn *found);
