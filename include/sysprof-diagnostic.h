// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofDiagnostic: a message of an instrument for the user. */

#pragma once

#include <gio/gio.h>

#include "sysprof-version-macros.h"

G_BEGIN_DECLS

#define SYSPROF_TYPE_DIAGNOSTIC (sysprof_diagnostic_get_type ())

SYSPROF_AVAILABLE_IN_ALL
G_DECLARE_FINAL_TYPE (SysprofDiagnostic, sysprof_diagnostic, SYSPROF, DIAGNOSTIC, GObject)

/* The name of the instrument. Property "domain". *(none)* */
SYSPROF_AVAILABLE_IN_ALL
const char *sysprof_diagnostic_get_domain (SysprofDiagnostic *self);

/* The failure, its object, the reason, and the remedy. Property "message". *(none)* */
SYSPROF_AVAILABLE_IN_ALL
const char *sysprof_diagnostic_get_message (SysprofDiagnostic *self);

/* Whether it ended the recording. Property "fatal". */
SYSPROF_AVAILABLE_IN_ALL
gboolean sysprof_diagnostic_get_fatal (SysprofDiagnostic *self);

G_END_DECLS
