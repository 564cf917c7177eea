// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofTracer: function entry and exit of a program built with -finstrument-functions. */

#pragma once

#include "sysprof-instrument.h"

G_BEGIN_DECLS

#define SYSPROF_TYPE_TRACER (sysprof_tracer_get_type ())

SYSPROF_DECLARE_INSTRUMENT (SysprofTracer, sysprof_tracer, TRACER, SYSPROF_AVAILABLE_IN_ALL)

/* *(full)* */
SYSPROF_AVAILABLE_IN_ALL
SysprofInstrument *sysprof_tracer_new (void);

G_END_DECLS
