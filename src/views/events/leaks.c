// SPDX-License-Identifier: GPL-3.0-or-later

/* Functions by memory allocated in the selection and not freed in the recording. */

#include "views/events/heap-rows.h"

static bool
fill_leaks (const ViewRequest *request, Rows *rows, GError **error)
{
  g_autofree uint8_t *lives = sysprof_heap_ask (request->store, HEAP_LIVE, INT64_MAX);

  sysprof_rows_fill_heap (rows, request, lives);
  return true;
}

const View sysprof_leaks_view = {
  .name = "leaks",
  .title = "Leaks",
  .summary = "functions by bytes that were never freed",
  .recorded_by = RECORDED_AS_ALLOCATIONS,
  .options = OPTIONS_FUNCTION_TABLE,
  .fill = fill_leaks,
};
