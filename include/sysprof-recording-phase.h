// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofRecordingPhase: the phase in which an instrument works. */

#pragma once

#include <glib-object.h>

#include "sysprof-version-macros.h"

G_BEGIN_DECLS

typedef enum
{
  SYSPROF_RECORDING_PHASE_PREPARE = 1, /* before anything is recorded */
  SYSPROF_RECORDING_PHASE_RECORD = 2,  /* while recording */
  SYSPROF_RECORDING_PHASE_AUGMENT = 3, /* after it: what only adds to the capture */
} SysprofRecordingPhase;

G_END_DECLS
