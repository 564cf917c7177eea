// SPDX-License-Identifier: GPL-3.0-or-later

/* What views of allocations share. */

#pragma once

#include "views/sample-rows.h"

/* Rows as those of the view `functions`, over the selected allocations with is_in[row], or over all if it is NULL;
 * weighed in bytes, or with --weight count each as one. */
void sysprof_rows_fill_heap (Rows *rows, const ViewRequest *request, const uint8_t *is_in);
