// SPDX-License-Identifier: GPL-3.0-or-later

/* The weight to sum: --weight. */

#pragma once

#include "report/options.h"

/* Columns that a filter borrows if they are not the store's. *Owned*. */
typedef struct
{
  WeighedEvent event;
  WeighedWaits waits;
} ReportWeights;

/* Sets the weight of `filter`, whose selection must be complete. The filter borrows from
 * `weights`, which the caller owns. FALSE with `error` if the capture lacks the data. */
bool sysprof_report_weigh (const ReportOptions *options,
                           const Store *store,
                           const SymbolTable *symbols,
                           SampleFilter *filter,
                           ReportWeights *weights,
                           GError **error);
void sysprof_report_weights_clear (ReportWeights *self);
