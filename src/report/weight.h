// SPDX-License-Identifier: GPL-3.0-or-later

/* What is summed: --weight. */

#pragma once

#include "report/options.h"

/* What a filter's columns are made of, where they are not the store's. *Owned*. */
typedef struct
{
  WeighedEvent event;
  WeighedWaits waits;
} ReportWeights;

/* Sets what `filter` weighs, whose selection is complete. `weights` is the caller's, and has what the filter points to. FALSE with
 * `error` when the capture does not say what was asked for. */
bool sysprof_report_weigh (const ReportOptions *options,
                           const Store *store,
                           const SymbolTable *symbols,
                           SampleFilter *filter,
                           ReportWeights *weights,
                           GError **error);
void sysprof_report_weights_clear (ReportWeights *self);
