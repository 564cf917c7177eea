// SPDX-License-Identifier: GPL-3.0-or-later

/* What an instrument is to the recorder (its public face is only a GType).
 *
 * All calls come from the pump thread, in this order:
 *
 *   prepare   open what is needed, register descriptors and ticks with the pump. FALSE with `error` set: the
 *             instrument is left out; the recorder turns the error into a diagnostic and goes on.
 *   record    the recording has begun; kernel events flow. /proc is read here, not before.
 *   stop      no more data: drain what is left, close.
 *   augment   may add files (symbols last). What was recorded is on the disk: sysprof_pump_dup_fd() opens it.
 *             Long work asks sysprof_pump_is_augment_skipped() now and then.
 *   append    the last of all: traces, D-Bus messages and frames of unknown type, at which readers of version 3.46 stop. Only
 *             where augment gave TRUE.
 *
 * Any of them may be NULL. What an instrument has to tell goes through sysprof_pump_report().
 *
 * A kind of instrument:
 *
 *   struct _SysprofThing
 *   {
 *     SysprofInstrument parent_instance;
 *   };
 *
 *   SYSPROF_DEFINE_INSTRUMENT (SysprofThing, sysprof_thing)
 *
 *   static void
 *   sysprof_thing_class_init (SysprofThingClass *klass)
 *   {
 *     klass->parent_class.name = "Thing";
 *     klass->parent_class.prepare = sysprof_thing_prepare;
 *   } */

#pragma once

#include "record/pump.h"

#include <sysprof.h>

struct _SysprofInstrument
{
  GObject parent_instance;
  bool is_optional; /* frozen once it records: nobody asked for it */
};

struct _SysprofInstrumentClass
{
  GObjectClass parent_class;

  const char *name; /* domain of its diagnostics */

  /* Prepared before all others: its events are to be on as early as possible. */
  bool opens_events;
  /* Its augment phase embeds /proc/kallsyms.gz (reduced to what was sampled), so that the recorder need
   * not embed the whole. */
  bool bundles_kernel_symbols;
  /* Its augment phase reads the recording. A recording to a pipe then keeps an unlinked copy. */
  bool reads_recording;

  gboolean (*prepare) (SysprofInstrument *self, Pump *pump, GError **error);
  void (*record) (SysprofInstrument *self, Pump *pump);
  void (*stop) (SysprofInstrument *self, Pump *pump);
  gboolean (*augment) (SysprofInstrument *self, Pump *pump, GError **error);
  gboolean (*append) (SysprofInstrument *self, Pump *pump, GError **error);
  /* Lets the instrument change the program to be started (variables, descriptors). Called on the pump thread
   * after prepare and before it starts. */
  void (*prepare_spawnable) (SysprofInstrument *self, Pump *pump, SysprofSpawnable *spawnable);
};

/* Tells that there is no `name` here, and why (whole sentences): whoever asked for the instrument, else only who looks into the
 * capture. Before the end of augment. */
void sysprof_instrument_tell_lack (SysprofInstrument *self,
                                   Pump *pump,
                                   const char *name,
                                   const char *reason);

#define SYSPROF_INSTRUMENT_CLASS(klass) ((SysprofInstrumentClass *) (klass))
#define SYSPROF_INSTRUMENT_GET_CLASS(self) \
  (G_TYPE_INSTANCE_GET_CLASS ((self), SYSPROF_TYPE_INSTRUMENT, SysprofInstrumentClass))

/* The class structure, which nobody else needs, and the type. */
#define SYSPROF_DEFINE_INSTRUMENT(TypeName, type_name) \
  typedef struct                                       \
  {                                                    \
    SysprofInstrumentClass parent_class;               \
  } TypeName##Class;                                   \
                                                       \
  G_DEFINE_FINAL_TYPE (TypeName, type_name, SYSPROF_TYPE_INSTRUMENT)
