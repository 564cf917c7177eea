// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofDiagnostic: what an instrument has to tell the person who records. */

#pragma once

#include <gio/gio.h>

#include "sysprof-version-macros.h"

G_BEGIN_DECLS

#define SYSPROF_TYPE_DIAGNOSTIC (sysprof_diagnostic_get_type ())

SYSPROF_AVAILABLE_IN_ALL
G_DECLARE_FINAL_TYPE (SysprofDiagnostic, sysprof_diagnostic, SYSPROF, DIAGNOSTIC, GObject)

/* The instrument that tells it. Property "domain". *(none)* */
SYSPROF_AVAILABLE_IN_ALL
const char *sysprof_diagnostic_get_domain (SysprofDiagnostic *self);

/* What failed, on what, why, and what to do. Property "message". *(none)* */
SYSPROF_AVAILABLE_IN_ALL
const char *sysprof_diagnostic_get_message (SysprofDiagnostic *self);

/* Whether it ended the recording. Property "fatal". */
SYSPROF_AVAILABLE_IN_ALL
gboolean sysprof_diagnostic_get_fatal (SysprofDiagnostic *self);

G_END_DECLS
