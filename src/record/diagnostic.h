// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <stdbool.h>
#include <sysprof.h>

/* The strings are copied. *(full)* */
SysprofDiagnostic *sysprof_diagnostic_new (const char *domain, const char *message, bool fatal);
