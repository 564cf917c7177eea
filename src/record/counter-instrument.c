// SPDX-License-Identifier: GPL-3.0-or-later

/* The instrument around a source of counters: reads it whenever the pump's timer says so. */

#include "record/sampled-counters.h"

G_DEFINE_ABSTRACT_TYPE (CounterInstrument, sysprof_counter_instrument, SYSPROF_TYPE_INSTRUMENT)

static CounterInstrument *
counter_instrument (void *object)
{
  return G_TYPE_CHECK_INSTANCE_CAST (object, sysprof_counter_instrument_get_type (),
                                     CounterInstrument);
}

static const SampledCounters *
counters_of (CounterInstrument *self)
{
  return G_TYPE_INSTANCE_GET_CLASS (self, sysprof_counter_instrument_get_type (),
                                    CounterInstrumentClass)
      ->counters;
}

static void
read_counters (Pump *pump, int64_t now, void *data)
{
  CounterInstrument *self = data;
  g_autoptr (GError) error = NULL;

  if (self->sampler == NULL ||
      sysprof_counter_sampler_read (self->sampler, sysprof_pump_get_writer (pump), now, &error))
    return;

  if (!self->has_complained)
    sysprof_pump_report (pump, counters_of (self)->name, false, "%s", error->message);
  self->has_complained = true;
}

static gboolean
sysprof_counter_instrument_prepare (SysprofInstrument *instrument, Pump *pump, GError **error)
{
  CounterInstrument *self = counter_instrument (instrument);
  const SampledCounters *counters = counters_of (self);

  self->sampler = sysprof_counter_sampler_open (counters, "", error);
  if (self->sampler == NULL)
    return FALSE;

  self->has_complained = false;
  sysprof_pump_add_tick (pump, counters->interval, read_counters, self);
  return TRUE;
}

static void
sysprof_counter_instrument_record (SysprofInstrument *instrument, Pump *pump)
{
  const SampledCounters *counters = counters_of (counter_instrument (instrument));

  for (unsigned i = 0; i < COUNTER_MAX_FILES && counters->files[i] != NULL; i++)
    {
      g_autofree char *bytes = NULL;
      gsize size;
      g_autoptr (GError) error = NULL;

      if (!g_file_get_contents (counters->files[i], &bytes, &size, &error))
        sysprof_pump_report (
            pump, counters->name, false,
            "Cannot keep a copy of '%s': %s. The counters are recorded without it.",
            counters->files[i], error->message);
      else
        (void) sysprof_pump_add_file (pump, SYSPROF_CAPTURE_CURRENT_TIME, -1,
                                      counters->files[i], bytes, size,
                                      true); /* counted there */
    }
}

static void
sysprof_counter_instrument_stop (SysprofInstrument *instrument, Pump *pump)
{
  CounterInstrument *self = counter_instrument (instrument);

  g_clear_pointer (&self->sampler, sysprof_counter_sampler_free);
}

static void
sysprof_counter_instrument_finalize (GObject *object)
{
  CounterInstrument *self = counter_instrument (object);

  g_clear_pointer (&self->sampler, sysprof_counter_sampler_free);
  G_OBJECT_CLASS (sysprof_counter_instrument_parent_class)->finalize (object);
}

static void
sysprof_counter_instrument_class_init (CounterInstrumentClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = sysprof_counter_instrument_finalize;
  klass->parent_class.prepare = sysprof_counter_instrument_prepare;
  klass->parent_class.record = sysprof_counter_instrument_record;
  klass->parent_class.stop = sysprof_counter_instrument_stop;
}

static void
sysprof_counter_instrument_init (CounterInstrument *self)
{
}
