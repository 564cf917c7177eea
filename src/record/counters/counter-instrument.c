// SPDX-License-Identifier: GPL-3.0-or-later

/* The instrument around counter sources: reads them on ticks of the pump. */

#include "record/counters/sampled-counters.h"

G_DEFINE_ABSTRACT_TYPE (CounterInstrument, sysprof_counter_instrument, SYSPROF_TYPE_INSTRUMENT)

struct CounterSource
{
  const SampledCounters *counters;
  SysprofInstrument *instrument; /* borrowed */
  CounterSampler *sampler;       /* NULL = unavailable */
  char *absence;                 /* why it is unavailable; owned */
  bool has_complained;
};

static CounterInstrument *
counter_instrument (void *object)
{
  return G_TYPE_CHECK_INSTANCE_CAST (object, sysprof_counter_instrument_get_type (),
                                     CounterInstrument);
}

static const SampledCounters *const *
counters_of (CounterInstrument *self)
{
  return G_TYPE_INSTANCE_GET_CLASS (self, sysprof_counter_instrument_get_type (),
                                    CounterInstrumentClass)
      ->counters;
}

static void
read_counters (RecordingContext *context, int64_t now, void *data)
{
  CounterSource *source = data;
  const char *name = source->counters->name;
  g_autoptr (GError) error = NULL;
  g_autofree char *complaint = NULL;

  if (!sysprof_counter_sampler_read (source->sampler, context->writer, now, &error))
    {
      if (!source->has_complained)
        sysprof_context_report (context, name, false, "%s", error->message);
      source->has_complained = true;
    }

  complaint = sysprof_counter_sampler_take_complaint (source->sampler);
  if (complaint != NULL)
    sysprof_instrument_report_missing (source->instrument, context, name, complaint);
}

static void
clear_sources (CounterInstrument *self)
{
  for (unsigned i = 0; self->sources != NULL && i < COUNTER_MAX_SOURCES; i++)
    {
      sysprof_counter_sampler_free (self->sources[i].sampler);
      g_free (self->sources[i].absence);
    }
  g_clear_pointer (&self->sources, g_free);
}

/* Whether the source is available. */
static bool
prepare_source (CounterSource *self, RecordingContext *context)
{
  g_autoptr (GError) cause = NULL;

  self->sampler = sysprof_counter_sampler_open (self->counters, context->privilege, &cause);
  if (self->sampler == NULL)
    {
      self->absence = g_strdup (cause->message);
      return false;
    }

  sysprof_pump_add_tick (context->pump, self->counters->interval, read_counters, self);
  return true;
}

static gboolean
sysprof_counter_instrument_prepare (SysprofInstrument *instrument,
                                    RecordingContext *context,
                                    GError **error)
{
  CounterInstrument *self = counter_instrument (instrument);
  const SampledCounters *const *counters = counters_of (self);
  unsigned n = 0, n_there = 0;

  clear_sources (self);
  self->sources = g_new0 (CounterSource, COUNTER_MAX_SOURCES);
  for (; n < COUNTER_MAX_SOURCES && counters[n] != NULL; n++)
    {
      self->sources[n].counters = counters[n];
      self->sources[n].instrument = instrument;
      n_there += prepare_source (&self->sources[n], context);
    }

  for (unsigned i = n_there > 0 ? 0 : 1; i < n; i++)
    if (self->sources[i].absence != NULL)
      sysprof_instrument_report_missing (instrument, context, counters[i]->name,
                                         self->sources[i].absence);
  if (n_there == 0)
    g_set_error_literal (error, SYSPROF_ERROR, SYSPROF_ERROR_UNSUPPORTED,
                         self->sources[0].absence);
  return n_there > 0;
}

static void
embed_file (RecordingContext *context, const SampledCounters *counters, const char *path)
{
  g_autofree char *whole =
      g_strconcat (sysprof_privilege_get_root (context->privilege), path, NULL);
  g_autofree char *bytes = NULL;
  gsize size;
  g_autoptr (GError) error = NULL;

  if (!g_file_get_contents (whole, &bytes, &size, &error))
    sysprof_context_report (
        context, counters->name, false,
        "Cannot keep a copy of '%s': %s. The counters are recorded without it.", path,
        error->message);
  /* sysprof_context_add_file() counts a failure. */
  else
    (void) sysprof_context_add_file (context, SYSPROF_CAPTURE_CURRENT_TIME, -1, path, bytes,
                                     size, true);
}

static void
sysprof_counter_instrument_record (SysprofInstrument *instrument, RecordingContext *context)
{
  CounterInstrument *self = counter_instrument (instrument);
  const SampledCounters *const *counters = counters_of (self);

  for (unsigned i = 0; i < COUNTER_MAX_SOURCES && counters[i] != NULL; i++)
    for (unsigned j = 0; j < COUNTER_MAX_FILES && counters[i]->files[j] != NULL; j++)
      embed_file (context, counters[i], counters[i]->files[j]);
}

static void
sysprof_counter_instrument_stop (SysprofInstrument *instrument, RecordingContext *context)
{
  CounterInstrument *self = counter_instrument (instrument);

  for (unsigned i = 0; self->sources != NULL && i < COUNTER_MAX_SOURCES; i++)
    sysprof_pump_remove_tick (context->pump, read_counters, &self->sources[i]);
  clear_sources (self);
}

static void
sysprof_counter_instrument_finalize (GObject *object)
{
  clear_sources (counter_instrument (object));
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
