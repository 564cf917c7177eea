// SPDX-License-Identifier: GPL-3.0-or-later

/* Functions by allocated memory; with --live, by memory that is not freed by the end of the
 * selection. */

#include "views/events/heap-rows.h"

static bool
fill_allocations (const ViewRequest *request, Rows *rows, GError **error)
{
  const SampleFilter *filter = request->filter;
  int64_t end = filter != NULL && filter->time_end != 0 ? filter->time_end : INT64_MAX;
  g_autofree uint8_t *lives = sysprof_request_has (request, "live")
                                  ? sysprof_heap_ask (request->store, HEAP_LIVE, end)
                                  : NULL;

  sysprof_rows_fill_heap (rows, request, lives);
  return true;
}

static const ViewSwitch switches[] = {
  { "live", "Show only memory not freed by the end of the selection" },
  { NULL },
};

const View sysprof_allocations_view = {
  .name = "allocations",
  .title = "Allocations",
  .summary = "functions by bytes allocated; --live: not freed until the end",
  .switches = switches,
  .recorded_by = RECORDED_AS_ALLOCATIONS,
  .options = OPTIONS_FUNCTION_TABLE,
  .fill = fill_allocations,
};
