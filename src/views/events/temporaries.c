// SPDX-License-Identifier: GPL-3.0-or-later

/* Functions by temporary memory: freed by the same thread before its next allocation or
 * free. */

#include "views/events/heap-rows.h"

static bool
fill_temporaries (const ViewRequest *request, Rows *rows, GError **error)
{
  g_autofree uint8_t *is_temporary =
      sysprof_heap_ask (request->store, HEAP_TEMPORARY, INT64_MAX);

  sysprof_rows_fill_heap (rows, request, is_temporary);
  return true;
}

const View sysprof_temporaries_view = {
  .name = "temporaries",
  .title = "Temporary allocations",
  .summary = "functions by bytes that were freed immediately",
  .recorded_by = RECORDED_AS_ALLOCATIONS,
  .options = OPTIONS_FUNCTION_TABLE,
  .fill = fill_temporaries,
};
