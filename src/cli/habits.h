// SPDX-License-Identifier: GPL-3.0-or-later

/* What users of perf, or of profilers that need no --, type here, and what to type instead. */

#pragma once

#include "util/util.h"

#include <glib.h>

/* For sysprof_usage_parse(). */
extern const OptionAdvice sysprof_cli_option_advice[];

/* Checks whether `words[at]`, which would name the capture, is rather a command of perf or, if
 * there is no `command`, a program in PATH. FALSE with `error`, which contains the command line
 * that was probably meant. `words` are those before `--`, `command` those after it or NULL. */
gboolean sysprof_cli_check_capture_name (const OptionSection *sections,
                                         const char *const *words,
                                         size_t at,
                                         char *const *command,
                                         GError **error);

/* Checks a value of --env: `-e cycles` of perf would silently set a variable. */
gboolean sysprof_cli_check_variable (const char *variable, GError **error);
