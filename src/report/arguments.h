// SPDX-License-Identifier: GPL-3.0-or-later

/* The arguments of sysprof-report that are not options: [VIEW] [CAPTURE]. */

#pragma once

#include "report/options.h"
#include "util/util.h"

#define DEFAULT_CAPTURE "capture.syscap" /* as sysprof-cli writes it without a name */

/* Sets the view and the capture from `words`, NULL-terminated. FALSE with `error`, of
 * G_OPTION_ERROR or, for something that this version does not have,
 * SYSPROF_ERROR_UNSUPPORTED. */
bool sysprof_report_take_arguments (ReportOptions *options, char **words, GError **error);

/* Returns false with an error if the view does not have one of these options, named without
 * dashes; NULL-terminated. */
bool sysprof_report_check_options (const ReportOptions *options,
                                   const char *const *names,
                                   GError **error);

/* Advice on options of perf, for sysprof_usage_parse(). */
extern const OptionAdvice sysprof_report_advice[];

/* An error of usage. */
void sysprof_report_set_usage (GError **error, const char *format, ...) G_GNUC_PRINTF (2, 3);
