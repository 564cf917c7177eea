// SPDX-License-Identifier: GPL-3.0-or-later

/* What the views of allocations share. */

#pragma once

#include "views/sample-rows.h"

/* Fills rows like those of the view `functions`, from the selected allocations with
 * is_in[row]; NULL = all. The weight is bytes, or with --weight count the number of
 * allocations. */
void sysprof_rows_fill_heap (Rows *rows, const ViewRequest *request, const uint8_t *is_in);
