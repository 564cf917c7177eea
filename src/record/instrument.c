// SPDX-License-Identifier: GPL-3.0-or-later

/* The base of all instruments: nothing but the type and its table of functions. */

#include "record/instrument.h"

G_DEFINE_ABSTRACT_TYPE (SysprofInstrument, sysprof_instrument, G_TYPE_OBJECT)

static void
sysprof_instrument_class_init (SysprofInstrumentClass *klass)
{
  klass->name = "Instrument";
}

static void
sysprof_instrument_init (SysprofInstrument *self)
{
}
