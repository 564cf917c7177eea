// SPDX-License-Identifier: GPL-3.0-or-later

/* Instruments that are in the API but that this version does not implement yet. They report
 * that, and the recording continues without them. */

#pragma once

#include "record/instrument.h"

/* Always FALSE, with an error. `what` names the variant of the instrument; "" if there is only
 * one. */
gboolean sysprof_absent_instrument_refuse (const char *what, GError **error);

/* For SysprofInstrumentClass.prepare of instruments that have only one variant. */
gboolean sysprof_absent_instrument_prepare (SysprofInstrument *self,
                                            RecordingContext *context,
                                            GError **error);
