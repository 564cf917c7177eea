// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofCpuInfo: a CPU of the recorded machine. */

#pragma once

#include <glib-object.h>

#include "sysprof-version-macros.h"

G_BEGIN_DECLS

#define SYSPROF_TYPE_CPU_INFO (sysprof_cpu_info_get_type ())

SYSPROF_AVAILABLE_IN_ALL
G_DECLARE_FINAL_TYPE (SysprofCpuInfo, sysprof_cpu_info, SYSPROF, CPU_INFO, GObject)

/* The number of the CPU. Property "id". */
SYSPROF_AVAILABLE_IN_ALL
guint sysprof_cpu_info_get_id (SysprofCpuInfo *self);

/* The number of the core; CPUs with the same number share a core. Property "core-id". */
SYSPROF_AVAILABLE_IN_ALL
guint sysprof_cpu_info_get_core_id (SysprofCpuInfo *self);

/* *(none, nullable)* Property "model-name". */
SYSPROF_AVAILABLE_IN_ALL
const char *sysprof_cpu_info_get_model_name (SysprofCpuInfo *self);

G_END_DECLS
