// SPDX-License-Identifier: GPL-3.0-or-later

/* The implicit instrument of recordings that start a program: receives the frames that the
 * program writes with the collector (sysprof-collector.h), over SYSPROF_CONTROL_FD. */

#pragma once

#include "record/instrument.h"

#define SYSPROF_TYPE_PROGRAM_RINGS (sysprof_program_rings_get_type ())

SYSPROF_DECLARE_INSTRUMENT (SysprofProgramRings, sysprof_program_rings, PROGRAM_RINGS, extern)

SysprofInstrument *sysprof_program_rings_new (void);
