// SPDX-License-Identifier: GPL-3.0-or-later

/* The list of rules. The first findings should be the most important ones. */

#include "views/overview/findings.h"

static bool
fill_findings (const ViewRequest *request, Rows *rows, GError **error)
{
  static void (*const rules[]) (Findings *) = {
    sysprof_find_frames,     sysprof_find_waits,         sysprof_find_critical_path,
    sysprof_find_cpu_use,    sysprof_find_memory_growth, sysprof_find_interpreters,
    sysprof_find_kernel_use, sysprof_find_quality,       sysprof_find_events,
  };
  Findings self = {
    .request = request, .store = request->store, .symbols = request->symbols, .rows = rows
  };

  sysprof_request_fold (request, false, &self.weights);
  self.quality = sysprof_quality_new (request->store, request->symbols, &self.weights);
  self.functions =
      sysprof_functions_new (request->store, request->symbols, &self.weights, NULL);
  sysprof_own_functions_init (&self.own, request->store, request->symbols);
  self.own_function = sysprof_own_functions_find_heaviest (&self.own, request->store,
                                                           request->symbols, &self.weights);
  sysprof_findings_init_rows (&self);
  for (size_t i = 0; i < G_N_ELEMENTS (rules) && sysprof_is_wanted (); i++)
    rules[i](&self);
  sysprof_own_functions_clear (&self.own);
  sysprof_quality_free (self.quality);
  sysprof_function_table_free (self.functions);
  sysprof_stack_weights_clear (&self.weights);
  return true;
}

const View sysprof_findings_view = {
  .name = "findings",
  .title = "Findings",
  .summary = "what stands out, and which view shows more",
  .fill = fill_findings,
  .is_prose = true,
};
