// SPDX-License-Identifier: GPL-3.0-or-later

/* Instruments that programs can name and this version does not have yet: they say so, and the recording goes on
 * without them. */

#pragma once

#include "record/instrument.h"

/* For SysprofInstrumentClass.prepare: always FALSE, with an error made of the class's name. */
gboolean
sysprof_absent_instrument_prepare (SysprofInstrument *self, Pump *pump, GError **error);
