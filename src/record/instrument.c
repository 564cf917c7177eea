// SPDX-License-Identifier: GPL-3.0-or-later

/* The base class of all instruments: the type, its table of functions, and whether the user
 * requested it. */

#include "record/instrument.h"

#include "record/record.h"

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

void
sysprof_instrument_set_optional (SysprofInstrument *self, gboolean is_optional)
{
  g_return_if_fail (SYSPROF_IS_INSTRUMENT (self));

  self->is_optional = is_optional;
}

void
sysprof_instrument_report_missing (SysprofInstrument *self,
                                   RecordingContext *context,
                                   const char *name,
                                   const char *reason)
{
  if (self->is_optional)
    sysprof_context_note_missing (context, name, reason);
  else
    sysprof_context_report (context, name, false, "%s", reason);
}
