// SPDX-License-Identifier: GPL-3.0-or-later

/* The functions of libgcc that leave their own frame for that of who catches an exception. */

#pragma once

#include "elf/elf.h"

#include <stdbool.h>
#include <stdint.h>

/* A row of a table. */
typedef struct
{
  uint64_t address;
  uint32_t rule;
} HandoverRow;

#define HANDOVER_ROWS 4

typedef struct
{
  uint64_t function;              /* where it begins */
  uint64_t end;                   /* what stands behind is as its call-frame information says */
  HandoverRow row[HANDOVER_ROWS]; /* in the place of the rows in [row[0].address, end) */
} Handover;

/* Is this how such a function is left? So rows would look by its call-frame information. */
bool sysprof_handover_is_exit (const HandoverRow row[3]);

/* Is [start, end) such a function, that is left by rows `exit`? */
bool sysprof_handover_find (ElfImage *image,
                            uint64_t start,
                            uint64_t end,
                            const HandoverRow exit[3],
                            Handover *found);
