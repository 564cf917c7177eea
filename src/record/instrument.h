// SPDX-License-Identifier: GPL-3.0-or-later

/* The interface between an instrument and the recorder. (The public API only has its GType.)
 *
 * The pump thread makes all calls, in this order:
 *
 *   prepare   Open what is needed, register descriptors and ticks with the pump. FALSE with
 *             `error` set drops the instrument: the recorder reports the error and continues.
 *   record    The recording has started, and kernel events arrive. Read /proc here, not before.
 *   stop      No more data: drain what is left, close.
 *   augment   Add files (symbols last). What was recorded is on the disk, and
 *             sysprof_context_dup_fd() opens it. Long work must check
 *             sysprof_context_is_augment_skipped() from time to time.
 *   append    The last call: add traces, D-Bus messages and frames of unknown type, at which
 *             Sysprof 3.46 stops reading. Only called if augment returned TRUE.
 *
 * Any of them may be NULL. Instruments report problems with sysprof_context_report().
 *
 * An instrument is defined like this:
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

#include "record/instruments/registry.h"
#include "record/recording-context.h"

#include <sysprof.h>

struct _SysprofInstrument
{
  GObject parent_instance;
  bool is_optional; /* frozen once it records: the user did not request it */
};

struct _SysprofInstrumentClass
{
  GObjectClass parent_class;

  const char *name; /* domain of its diagnostics */

  /* Prepared before all others, so that its events are enabled as early as possible. */
  bool opens_events;
  /* Its augment phase embeds /proc/kallsyms.gz, reduced to the sampled symbols, so that the
   * recorder need not embed all of it. */
  bool bundles_kernel_symbols;
  /* Its augment phase reads the recording. A recording to a pipe then keeps an unlinked
   * copy. */
  bool reads_recording;

  gboolean (*prepare) (SysprofInstrument *self, RecordingContext *context, GError **error);
  void (*record) (SysprofInstrument *self, RecordingContext *context);
  void (*stop) (SysprofInstrument *self, RecordingContext *context);
  gboolean (*augment) (SysprofInstrument *self, RecordingContext *context, GError **error);
  gboolean (*append) (SysprofInstrument *self, RecordingContext *context, GError **error);
  /* Lets the instrument change the program to be spawned (environment variables, descriptors).
   * Called on the pump thread after prepare and before the program starts. */
  void (*prepare_spawnable) (SysprofInstrument *self,
                             RecordingContext *context,
                             SysprofSpawnable *spawnable);
};

/* Reports that `name` is unavailable, and why (complete sentences). The user sees this if they
 * requested the instrument; otherwise it is only recorded in the capture. Call this before the
 * end of augment. */
void sysprof_instrument_report_missing (SysprofInstrument *self,
                                        RecordingContext *context,
                                        const char *name,
                                        const char *reason);

#define SYSPROF_INSTRUMENT_CLASS(klass) ((SysprofInstrumentClass *) (klass))
#define SYSPROF_INSTRUMENT_GET_CLASS(self) \
  (G_TYPE_INSTANCE_GET_CLASS ((self), SYSPROF_TYPE_INSTRUMENT, SysprofInstrumentClass))

/* Defines the class structure, which is private to the file, and the type. */
#define SYSPROF_DEFINE_INSTRUMENT(TypeName, type_name) \
  typedef struct                                       \
  {                                                    \
    SysprofInstrumentClass parent_class;               \
  } TypeName##Class;                                   \
                                                       \
  G_DEFINE_FINAL_TYPE (TypeName, type_name, SYSPROF_TYPE_INSTRUMENT)
