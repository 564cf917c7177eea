// SPDX-License-Identifier: GPL-3.0-or-later

/* What is summed: --weight. */

#pragma once

#include "report/options.h"

/* Sets what `filter` weighs. `weighed` is the caller's, and has what the filter points to. FALSE with `error` when the capture does not
 * say what was asked for. */
bool sysprof_report_weigh (const ReportOptions *options,
                           const Store *store,
                           SampleFilter *filter,
                           WeighedEvent *weighed,
                           GError **error);
