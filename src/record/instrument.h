// SPDX-License-Identifier: GPL-3.0-or-later

/* What an instrument is to the recorder (its public face is only a GType).
 *
 * All calls come from the pump thread, in this order:
 *
 *   prepare   open what is needed, register descriptors and ticks with the pump. FALSE with `error` set: the
 *             instrument is left out; the recorder turns the error into a diagnostic and goes on.
 *   record    everything is on; kernel events flow. /proc is read here, not before.
 *   stop      no more data: drain what is left, close.
 *   augment   may add files (symbols last).
 *
 * Any of them may be NULL. What an instrument has to tell goes through sysprof_pump_report(). */

#pragma once

#include "record/pump.h"

#include <sysprof.h>

struct _SysprofInstrument
{
  GObject parent_instance;
};

struct _SysprofInstrumentClass
{
  GObjectClass parent_class;

  const char *name; /* domain of its diagnostics */
  gboolean (*prepare) (SysprofInstrument *self, Pump *pump, GError **error);
  void (*record) (SysprofInstrument *self, Pump *pump);
  void (*stop) (SysprofInstrument *self, Pump *pump);
  gboolean (*augment) (SysprofInstrument *self, Pump *pump, GError **error);
  /* Lets the instrument change the program to be started (variables, descriptors). Called on the pump thread
   * after prepare and before it starts. */
  void (*prepare_spawnable) (SysprofInstrument *self, Pump *pump, SysprofSpawnable *spawnable);
};
