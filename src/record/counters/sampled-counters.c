// SPDX-License-Identifier: GPL-3.0-or-later

/* Reads the sources that sampled-counters.h describes, and writes their counter values.
 *
 * Each reading passes every file to the parser (see counter-files.c), which sets CounterValues.
 * Then each value is compared with that of the previous reading. A sum that has decreased
 * (because its device was replaced) starts again, without a value for that reading. */

#include "record/counters/sampled-counters-private.h"

#include <assert.h>

/* Limits that keep a frame below the 16,384 bytes that Sysprof 3.46 can join: 127 definitions
 * of 128 bytes, or 1,024 values (96 bytes for eight). */
#define MAX_DEFINITIONS_PER_FRAME 127
#define MAX_VALUES_PER_FRAME      1024

#define NSEC_PER_SEC 1e9

static const uint8_t counter_types[] = {
  [COUNTER_VALUE] = SYSPROF_CAPTURE_COUNTER_INT64,
  [COUNTER_REAL] = SYSPROF_CAPTURE_COUNTER_DOUBLE,
  [COUNTER_TOTAL] = SYSPROF_CAPTURE_COUNTER_INT64,
  [COUNTER_GROWTH] = SYSPROF_CAPTURE_COUNTER_INT64,
  [COUNTER_RATE] = SYSPROF_CAPTURE_COUNTER_DOUBLE,
  [COUNTER_RATIO] = SYSPROF_CAPTURE_COUNTER_DOUBLE,
  [COUNTER_PERCENT] = SYSPROF_CAPTURE_COUNTER_DOUBLE,
};
static_assert (G_N_ELEMENTS (counter_types) == COUNTER_N_KINDS, "a type for each kind");

/* --- definitions --- */

static void
define_row (SysprofCaptureCounter *counter,
            const CounterRow *row,
            const CounterInstance *instance,
            unsigned id)
{
  const char *label = instance != NULL ? instance->label : "";
  const char *detail = instance != NULL ? instance->detail : "";

  memset (counter, 0, sizeof *counter);
  sysprof_counter_fill_in (counter->category, sizeof counter->category, row->category, label);
  sysprof_counter_fill_in (counter->name, sizeof counter->name, row->name, label);
  sysprof_counter_fill_in (counter->description, sizeof counter->description, row->description,
                           detail);
  counter->id = id & 0xffffff;
  counter->type = counter_types[row->kind];
}

/* Collects definitions into frames. */
typedef struct
{
  SysprofCaptureWriter *writer;
  int64_t now;
  unsigned n;
  SysprofCaptureCounter counters[MAX_DEFINITIONS_PER_FRAME];
  /* the variables that hold the ids of these counters */
  unsigned *ids[MAX_DEFINITIONS_PER_FRAME];
} Definitions;

static void
flush_definitions (Definitions *self)
{
  /* If there is no space, the next reading tries again. Values without a definition would be
   * useless. */
  if (self->n > 0 && !sysprof_capture_writer_define_counters (self->writer, self->now, -1, -1,
                                                              self->counters, self->n))
    for (unsigned i = 0; i < self->n; i++)
      *self->ids[i] = 0;
  self->n = 0;
}

static void
define (Definitions *self, const CounterRow *row, const CounterInstance *instance, unsigned *id)
{
  *id = sysprof_capture_writer_request_counter (self->writer, 1);
  if (*id == 0)
    return; /* all 2^24 ids are in use */
  if (self->n == MAX_DEFINITIONS_PER_FRAME)
    flush_definitions (self);
  self->ids[self->n] = id;
  define_row (&self->counters[self->n++], row, instance, *id);
}

/* A row exists if it was read; a sum exists if it has at least one addend. */
static bool
is_there (const CounterSampler *self, unsigned row)
{
  unsigned sum_of = self->counters->rows[row].sum_of;

  if (sum_of == 0)
    return self->values.is_set[row];
  for (unsigned i = 0; i < self->values.n_instances; i++)
    if (self->values.instances[i].is_set[sum_of - 1])
      return true;
  return false;
}

static bool
is_to_define (const CounterSampler *self, unsigned row)
{
  return self->row_ids[row] == 0 && is_there (self, row);
}

static bool
has_undefined (const CounterSampler *self)
{
  for (unsigned i = 0; i < self->counters->n_rows; i++)
    if (is_to_define (self, i))
      return true;
  for (unsigned i = 0; i < self->values.n_instances; i++)
    for (unsigned j = 0; j < self->counters->n_instance_rows; j++)
      if (self->values.instances[i].is_set[j] && self->values.instances[i].ids[j] == 0)
        return true;
  return false;
}

static void
check_part (CounterSampler *self, CounterInstance *instance)
{
  if (!instance->is_checked && self->counters->is_part != NULL)
    instance->is_part = self->counters->is_part (self->machine, instance->key);
  instance->is_checked = true;
}

static void
define_new (CounterSampler *self, SysprofCaptureWriter *writer, int64_t now)
{
  const SampledCounters *counters = self->counters;
  g_autofree Definitions *definitions = NULL;

  if (!has_undefined (self))
    return;

  definitions = g_new0 (Definitions, 1);
  definitions->writer = writer;
  definitions->now = now;

  for (unsigned i = 0; i < counters->n_rows; i++)
    if (is_to_define (self, i))
      define (definitions, &counters->rows[i], NULL, &self->row_ids[i]);

  for (unsigned i = 0; i < self->values.n_instances; i++)
    {
      CounterInstance *instance = &self->values.instances[i];

      check_part (self, instance);
      for (unsigned j = 0; j < counters->n_instance_rows; j++)
        if (instance->is_set[j] && instance->ids[j] == 0)
          define (definitions, &counters->instance_rows[j], instance, &instance->ids[j]);
    }
  flush_definitions (definitions);

  self->room = counters->n_rows + self->values.n_instances * counters->n_instance_rows;
  self->ids = g_renew (unsigned, self->ids, self->room);
  self->numbers = g_renew (SysprofCaptureCounterValue, self->numbers, self->room);
}

/* --- values --- */

static void
write_value (CounterSampler *self, unsigned id, CounterKind kind, double value)
{
  SysprofCaptureCounterValue number = { 0 };

  if (id == 0 || self->n == self->room)
    return;

  if (counter_types[kind] == SYSPROF_CAPTURE_COUNTER_DOUBLE)
    number.vdbl = value;
  else if (value >= (double) INT64_MAX)
    number.v64 = INT64_MAX;
  else
    number.v64 = (int64_t) value;

  self->ids[self->n] = id;
  self->numbers[self->n] = number;
  self->n++;
}

/* A number that was read, and the one from the previous reading. */
typedef struct
{
  double value, whole;
  double old_value, old_whole;
  bool has_old;
} Reading;

static double
percent (double part, double whole)
{
  return part >= whole ? 100 : 100 * part / whole;
}

/* Computes the value for `kind`; FALSE if there is none yet. */
static bool
derive (CounterKind kind, const Reading *reading, double seconds, double *result)
{
  double growth = reading->value - reading->old_value;
  double whole = reading->whole - reading->old_whole;
  bool has_growth = reading->has_old && growth >= 0;

  switch (kind)
    {
    case COUNTER_VALUE:
    case COUNTER_REAL:
    case COUNTER_TOTAL:
      *result = reading->value;
      return true;

    case COUNTER_GROWTH:
      *result = growth;
      return has_growth;

    case COUNTER_RATE:
      *result = growth / seconds;
      return has_growth && seconds > 0;

    case COUNTER_RATIO:
      *result = percent (reading->value, reading->whole);
      return reading->whole > 0;

    case COUNTER_PERCENT:
      *result = percent (growth, whole);
      return has_growth && whole > 0;

    case COUNTER_N_KINDS:
      break;
    }
  g_assert_not_reached ();
}

static double
scale_of (const CounterRow *row)
{
  return row->scale != 0 ? row->scale : 1;
}

static void
add_to_sums (CounterSampler *self, unsigned instance_row, const Reading *reading)
{
  const SampledCounters *counters = self->counters;

  for (unsigned i = 0; i < counters->n_rows; i++)
    {
      const CounterRow *row = &counters->rows[i];

      if (row->sum_of != instance_row + 1)
        continue;

      /* Bytes that an interface transferred before it was plugged in must not count as new, so
       * only growth is added. */
      if (row->kind == COUNTER_VALUE)
        self->sums[i] += reading->value;
      else if (row->kind == COUNTER_TOTAL && !self->has_begun)
        self->sums[i] += reading->value;
      else if (reading->has_old && reading->value >= reading->old_value)
        self->sums[i] += reading->value - reading->old_value;
    }
}

static void
derive_instances (CounterSampler *self, double seconds)
{
  const SampledCounters *counters = self->counters;

  for (unsigned i = 0; i < self->values.n_instances; i++)
    {
      CounterInstance *instance = &self->values.instances[i];

      for (unsigned j = 0; j < counters->n_instance_rows; j++)
        {
          const CounterRow *row = &counters->instance_rows[j];
          const Reading reading = { instance->values[j], instance->wholes[j],
                                    instance->old_values[j], instance->old_wholes[j],
                                    instance->has_old[j] };
          double result;

          if (instance->is_set[j])
            {
              if (derive (row->kind, &reading, seconds, &result))
                write_value (self, instance->ids[j], row->kind, result * scale_of (row));
              if (!instance->is_part)
                add_to_sums (self, j, &reading);
            }

          instance->old_values[j] = instance->values[j];
          instance->old_wholes[j] = instance->wholes[j];
          instance->has_old[j] = instance->is_set[j];
        }
    }
}

/* The sum over all instances; FALSE if there is none yet. */
static bool
derive_sum (const CounterSampler *self, unsigned i, double seconds, double *result)
{
  *result = self->sums[i];
  switch (self->counters->rows[i].kind)
    {
    case COUNTER_VALUE:
      return is_there (self, i);

    case COUNTER_RATE:
      *result /= seconds;
      return self->has_begun && seconds > 0 && is_there (self, i);

    case COUNTER_TOTAL:
      return true;

    default:
      return self->has_begun;
    }
}

static void
derive_rows (CounterSampler *self, double seconds)
{
  const SampledCounters *counters = self->counters;

  for (unsigned i = 0; i < counters->n_rows; i++)
    {
      const CounterRow *row = &counters->rows[i];
      const Reading reading = { self->values.values[i], self->values.wholes[i],
                                self->old_values[i], self->old_wholes[i], self->has_old[i] };
      double result;
      bool is_known = row->sum_of != 0 ? derive_sum (self, i, seconds, &result)
                                       : self->values.is_set[i] &&
                                             derive (row->kind, &reading, seconds, &result);

      if (is_known)
        write_value (self, self->row_ids[i], row->kind, result * scale_of (row));

      self->old_values[i] = self->values.values[i];
      self->old_wholes[i] = self->values.wholes[i];
      self->has_old[i] = self->values.is_set[i];
      if (row->kind != COUNTER_TOTAL)
        self->sums[i] = 0;
    }
}

CounterSampler *
sysprof_counter_sampler_open (const SampledCounters *counters,
                              Privilege *machine,
                              GError **error)
{
  CounterSampler *self = g_new0 (CounterSampler, 1);

  self->counters = counters;
  self->machine = sysprof_privilege_ref (machine);
  memset (self->fds, 0xff, sizeof self->fds);

  if (!sysprof_counter_sampler_open_files (self, error))
    {
      sysprof_counter_sampler_free (self);
      return NULL;
    }
  return self;
}

void
sysprof_counter_sampler_free (CounterSampler *self)
{
  if (self == NULL)
    return;

  if (self->state != NULL)
    self->counters->close (self->state);
  for (unsigned i = 0; i < COUNTER_MAX_PATHS; i++)
    sysprof_autofd_close (&self->fds[i]);
  sysprof_counter_values_clear (&self->values);
  sysprof_privilege_unref (self->machine);
  g_free (self->text);
  g_free (self->ids);
  g_free (self->numbers);
  g_free (self);
}

char *
sysprof_counter_sampler_take_complaint (CounterSampler *self)
{
  return g_steal_pointer (&self->values.complaint);
}

bool
sysprof_counter_sampler_read (CounterSampler *self,
                              SysprofCaptureWriter *writer,
                              int64_t now,
                              GError **error)
{
  double seconds = (double) (now - self->old_time) / NSEC_PER_SEC;

  self->values.reading++;
  self->values.now = now;
  self->values.hint = 0;
  memset (self->values.is_set, 0, sizeof self->values.is_set);
  for (unsigned i = 0; i < self->values.n_instances; i++)
    memset (self->values.instances[i].is_set, 0, sizeof self->values.instances[i].is_set);

  if (!sysprof_counter_sampler_read_files (self, error))
    return false;

  define_new (self, writer, now);
  self->n = 0;
  derive_instances (self, seconds);
  derive_rows (self, seconds);
  self->old_time = now;
  self->has_begun = true;

  for (unsigned done = 0; done < self->n; done += MAX_VALUES_PER_FRAME)
    (void) sysprof_capture_writer_set_counters (writer, now, -1, -1, self->ids + done,
                                                self->numbers + done,
                                                MIN (MAX_VALUES_PER_FRAME, self->n - done));
  return true;
}
