// SPDX-License-Identifier: GPL-3.0-or-later

/* Instruments that programs can name and this version does not have yet: they say so, and the recording goes on
 * without them. */

#pragma once

#include "record/instrument.h"

/* Always FALSE, with an error that names `what` of its kind is meant; "" where there is one only. */
gboolean sysprof_absent_instrument_refuse (const char *what, GError **error);

/* For SysprofInstrumentClass.prepare, of those of which there is one only. */
gboolean
sysprof_absent_instrument_prepare (SysprofInstrument *self, Pump *pump, GError **error);
