// SPDX-License-Identifier: GPL-3.0-or-later

/* Reading, growth, ids and values of the sources that sampled-counters.h describes.
 *
 * Per reading: every file → parser → CounterValues; then each value is compared with the one of the reading
 * before. A sum that went down (its device was replaced) starts anew, without a value for that reading. */

#include "record/sampled-counters.h"

#include <assert.h>
#include <fcntl.h>
#include <sys/stat.h>

/* 127 definitions keep a frame below the 16384 bytes that old programs can join (128 bytes each), and 1024
 * values (96 bytes for eight) as well. */
#define MAX_DEFINITIONS_PER_FRAME 127
#define MAX_VALUES_PER_FRAME      1024

/* /proc/stat lists every interrupt; on machines with thousands of CPUs that is some hundred KiB. */
#define FIRST_TEXT_SIZE (16 * 1024)
#define MAX_TEXT_SIZE   (4 * 1024 * 1024)

/* The kernel writes such texts into a page, and stops early only where a line does not fit. */
#define SURELY_WHOLE 2048

#define NSEC_PER_SEC 1e9

struct CounterSampler
{
  const SampledCounters *counters;
  char *root;
  int fds[COUNTER_MAX_PATHS]; /* -1 = absent */

  char *text; /* [text_size] what was read last */
  size_t text_size;

  CounterValues values;
  double old_values[COUNTER_MAX_ROWS];
  double old_wholes[COUNTER_MAX_ROWS];
  bool has_old[COUNTER_MAX_ROWS];
  double sums[COUNTER_MAX_ROWS]; /* of rows with sum_of */
  int64_t old_time;
  bool has_begun;    /* a reading was written */
  unsigned first_id; /* of the rows; 0 = not defined yet */

  /* what a reading writes: [n], of room for all counters */
  unsigned *ids;
  SysprofCaptureCounterValue *numbers;
  unsigned n;
  unsigned room;
};

static const uint8_t counter_types[] = {
  [COUNTER_VALUE] = SYSPROF_CAPTURE_COUNTER_INT64,
  [COUNTER_TOTAL] = SYSPROF_CAPTURE_COUNTER_INT64,
  [COUNTER_GROWTH] = SYSPROF_CAPTURE_COUNTER_INT64,
  [COUNTER_RATE] = SYSPROF_CAPTURE_COUNTER_DOUBLE,
  [COUNTER_RATIO] = SYSPROF_CAPTURE_COUNTER_DOUBLE,
  [COUNTER_PERCENT] = SYSPROF_CAPTURE_COUNTER_DOUBLE,
};
static_assert (G_N_ELEMENTS (counter_types) == COUNTER_N_KINDS, "a type for each kind");

/* --- what parsers call --- */

void
sysprof_counter_values_set (CounterValues *self, unsigned row, double value)
{
  sysprof_counter_values_set_share (self, row, value, 0);
}

void
sysprof_counter_values_set_share (CounterValues *self, unsigned row, double part, double whole)
{
  g_assert (row < COUNTER_MAX_ROWS);
  self->values[row] = part;
  self->wholes[row] = whole;
  self->is_set[row] = true;
}

void
sysprof_counter_instance_set (CounterInstance *self, unsigned row, double value)
{
  sysprof_counter_instance_set_share (self, row, value, 0);
}

void
sysprof_counter_instance_set_share (CounterInstance *self,
                                    unsigned row,
                                    double part,
                                    double whole)
{
  g_assert (row < COUNTER_MAX_INSTANCE_ROWS);
  self->values[row] = part;
  self->wholes[row] = whole;
  self->is_set[row] = true;
}

static void
close_files (CounterInstance *self)
{
  for (unsigned i = 0; i < COUNTER_MAX_PATHS; i++)
    {
      sysprof_autofd_close (&self->fds[i]);
      self->fds[i] = -1;
    }
  self->has_files = false;
}

static bool
has_name (const CounterInstance *self, Text name)
{
  size_t size = sysprof_text_size (name);

  return memcmp (self->name, name.at, size) == 0 && self->name[size] == '\0';
}

/* Containers come with interfaces of new names all day: the place of one that is gone is taken again. */
static CounterInstance *
free_place (CounterValues *self)
{
  if (self->n_instances < self->capacity)
    return &self->instances[self->n_instances++];

  for (unsigned i = 0; i < self->n_instances; i++)
    {
      CounterInstance *instance = &self->instances[i];

      if (instance->seen + 1 < self->reading)
        {
          close_files (instance);
          return instance;
        }
    }

  if (self->capacity >= COUNTER_MAX_INSTANCES)
    return NULL;

  self->capacity = MAX (32, self->capacity * 2);
  self->instances = g_renew (CounterInstance, self->instances, self->capacity);
  return &self->instances[self->n_instances++];
}

CounterInstance *
sysprof_counter_values_instance (CounterValues *self, Text name)
{
  CounterInstance *instance = NULL;

  if (sysprof_text_size (name) >= COUNTER_NAME_SIZE)
    name.end = name.at + COUNTER_NAME_SIZE - 1;

  for (unsigned i = 0; i < self->n_instances; i++)
    {
      unsigned at = (self->hint + i) % self->n_instances;

      if (has_name (&self->instances[at], name))
        {
          self->hint = at + 1;
          instance = &self->instances[at];
          break;
        }
    }

  if (instance == NULL)
    {
      instance = free_place (self);
      if (instance == NULL)
        return NULL;

      *instance = (CounterInstance){ 0 };
      memcpy (instance->name, name.at, sysprof_text_size (name));
      memset (instance->fds, 0xff, sizeof instance->fds);
      self->hint = (unsigned) (instance - self->instances) + 1;
    }

  instance->seen = self->reading;
  return instance;
}

void
sysprof_counter_values_clear (CounterValues *self)
{
  for (unsigned i = 0; i < self->n_instances; i++)
    close_files (&self->instances[i]);
  g_free (self->instances);
  *self = (CounterValues){ 0 };
}

/* --- files --- */

/* `pattern` with its one "%s" replaced, cut to `size` - 1 bytes, the rest zero. */
static void
fill_in (char *out, size_t size, const char *pattern, const char *name)
{
  const char *hole = strstr (pattern, "%s");
  size_t before = hole != NULL ? (size_t) (hole - pattern) : strlen (pattern);

  memset (out, 0, size);
  g_snprintf (out, size, "%.*s%s%s", (int) before, pattern, hole != NULL ? name : "",
              hole != NULL ? hole + 2 : "");
}

static int
open_below (const char *root, const char *path)
{
  g_autofree char *whole = g_strconcat (root, path, NULL);

  return open (whole, O_RDONLY | O_CLOEXEC);
}

/* The file from its beginning. FALSE with errno when it cannot be read. */
static bool
read_text (CounterSampler *self, int fd, Text *text)
{
  size_t used = 0;

  for (;;)
    {
      ssize_t n;

      if (used == self->text_size)
        {
          if (self->text_size >= MAX_TEXT_SIZE)
            {
              errno = EFBIG;
              return false;
            }
          self->text_size *= 2;
          self->text = g_realloc (self->text, self->text_size);
        }

      n = pread (fd, self->text + used, self->text_size - used, (off_t) used);
      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0)
        return false;
      used += (size_t) n;
      if (n == 0 || used <= SURELY_WHOLE)
        break;
    }

  *text = (Text){ self->text, self->text + used };
  return true;
}

static bool
read_files (CounterSampler *self, GError **error)
{
  const SampledCounters *counters = self->counters;

  for (unsigned i = 0; i < COUNTER_MAX_PATHS; i++)
    {
      Text text;

      /* A file may be there and yet not be readable (pressure, when it is switched off): no values. */
      if (self->fds[i] < 0 || !read_text (self, self->fds[i], &text))
        continue;

      if (!counters->parse (i, text, &self->values))
        {
          g_set_error (error, SYSPROF_ERROR, SYSPROF_ERROR_CORRUPT,
                       "Cannot read %s from '%s%s': the text is not what this version knows. "
                       "Values are left out until it is; please report the text.",
                       counters->title, self->root, counters->paths[i]);
          return false;
        }
    }

  return true;
}

/* Files of an instance are opened when it appears, and again when it comes back. */
static void
read_instance_files (CounterSampler *self, CounterInstance *instance)
{
  const SampledCounters *counters = self->counters;
  bool is_new = !instance->has_files;

  if (instance->seen != self->values.reading)
    {
      if (instance->has_files)
        close_files (instance);
      return;
    }

  instance->has_files = true;
  for (unsigned i = 0; i < COUNTER_MAX_PATHS && counters->instance_paths[i] != NULL; i++)
    {
      Text text;

      if (is_new)
        {
          char path[256];

          fill_in (path, sizeof path, counters->instance_paths[i], instance->name);
          instance->fds[i] = open_below (self->root, path);
        }

      if (instance->fds[i] >= 0 && (is_new || i >= counters->n_constant) &&
          read_text (self, instance->fds[i], &text))
        counters->parse_instance (i, text, instance);
    }
}

/* --- definitions --- */

static void
define_row (SysprofCaptureCounter *counter,
            const CounterRow *row,
            const char *name,
            unsigned id)
{
  memset (counter, 0, sizeof *counter);
  fill_in (counter->category, sizeof counter->category, row->category, name);
  fill_in (counter->name, sizeof counter->name, row->name, name);
  fill_in (counter->description, sizeof counter->description, row->description, name);
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
} Definitions;

static void
flush_definitions (Definitions *self)
{
  /* A full disk is the writer's to report, at its next flush. */
  if (self->n > 0)
    (void) sysprof_capture_writer_define_counters (self->writer, self->now, -1, -1,
                                                   self->counters, self->n);
  self->n = 0;
}

static unsigned
define_rows (Definitions *self, const CounterRow *rows, unsigned n_rows, const char *name)
{
  unsigned first_id = sysprof_capture_writer_request_counter (self->writer, n_rows);

  for (unsigned i = 0; first_id != 0 && i < n_rows; i++)
    {
      if (self->n == MAX_DEFINITIONS_PER_FRAME)
        flush_definitions (self);
      define_row (&self->counters[self->n++], &rows[i], name, first_id + i);
    }

  return first_id;
}

static void
define_new (CounterSampler *self, SysprofCaptureWriter *writer, int64_t now)
{
  const SampledCounters *counters = self->counters;
  g_autofree Definitions *definitions = NULL;
  bool has_new = self->first_id == 0;

  for (unsigned i = 0; i < self->values.n_instances; i++)
    has_new |= !self->values.instances[i].is_defined;
  if (!has_new)
    return;

  definitions = g_new0 (Definitions, 1);
  definitions->writer = writer;
  definitions->now = now;

  if (self->first_id == 0 && counters->n_rows > 0)
    self->first_id = define_rows (definitions, counters->rows, counters->n_rows, "");

  for (unsigned i = 0; i < self->values.n_instances; i++)
    {
      CounterInstance *instance = &self->values.instances[i];

      if (instance->is_defined || instance->seen != self->values.reading)
        continue;

      instance->is_defined = true;
      instance->is_part =
          counters->is_part != NULL && counters->is_part (self->root, instance->name);
      instance->first_id = define_rows (definitions, counters->instance_rows,
                                        counters->n_instance_rows, instance->name);
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

/* A number that was read, and what it was in the reading before. */
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

/* What `kind` makes of it; FALSE when there is nothing to say yet. */
static bool
derive (CounterKind kind, const Reading *reading, double seconds, double *result)
{
  double growth = reading->value - reading->old_value;
  double whole = reading->whole - reading->old_whole;
  bool has_growth = reading->has_old && growth >= 0;

  switch (kind)
    {
    case COUNTER_VALUE:
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

      /* What an interface had carried before it was plugged in did not happen now: only growth counts. */
      if (row->kind == COUNTER_TOTAL && !self->has_begun)
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
                write_value (self, instance->first_id + j, row->kind, result * scale_of (row));
              if (!instance->is_part)
                add_to_sums (self, j, &reading);
            }

          instance->old_values[j] = instance->values[j];
          instance->old_wholes[j] = instance->wholes[j];
          instance->has_old[j] = instance->is_set[j];
        }
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
      double result = self->sums[i];
      bool is_known = row->sum_of != 0 ? row->kind == COUNTER_TOTAL || self->has_begun
                                       : self->values.is_set[i] &&
                                             derive (row->kind, &reading, seconds, &result);

      if (is_known)
        write_value (self, self->first_id + i, row->kind, result * scale_of (row));

      self->old_values[i] = self->values.values[i];
      self->old_wholes[i] = self->values.wholes[i];
      self->has_old[i] = self->values.is_set[i];
      if (row->kind == COUNTER_GROWTH)
        self->sums[i] = 0;
    }
}

CounterSampler *
sysprof_counter_sampler_open (const SampledCounters *counters, const char *root, GError **error)
{
  CounterSampler *self = g_new0 (CounterSampler, 1);
  unsigned n_open = 0;

  self->counters = counters;
  self->root = g_strdup (root);
  self->text_size = FIRST_TEXT_SIZE;
  self->text = g_malloc (self->text_size);

  for (unsigned i = 0; i < COUNTER_MAX_PATHS; i++)
    {
      self->fds[i] = counters->paths[i] != NULL ? open_below (root, counters->paths[i]) : -1;
      n_open += self->fds[i] >= 0;
    }

  if (n_open == 0)
    {
      g_set_error (
          error, SYSPROF_ERROR, SYSPROF_ERROR_UNSUPPORTED,
          "Cannot record %s: cannot open '%s%s': %s. The recording goes on without; see "
          "that /proc and /sys are mounted, and not hidden.",
          counters->title, root, counters->paths[0], g_strerror (errno));
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

  for (unsigned i = 0; i < COUNTER_MAX_PATHS; i++)
    sysprof_autofd_close (&self->fds[i]);
  sysprof_counter_values_clear (&self->values);
  g_free (self->root);
  g_free (self->text);
  g_free (self->ids);
  g_free (self->numbers);
  g_free (self);
}

bool
sysprof_counter_sampler_read (CounterSampler *self,
                              SysprofCaptureWriter *writer,
                              int64_t now,
                              GError **error)
{
  double seconds = (double) (now - self->old_time) / NSEC_PER_SEC;

  self->values.reading++;
  self->values.hint = 0;
  memset (self->values.is_set, 0, sizeof self->values.is_set);
  for (unsigned i = 0; i < self->values.n_instances; i++)
    memset (self->values.instances[i].is_set, 0, sizeof self->values.instances[i].is_set);

  if (!read_files (self, error))
    return false;

  for (unsigned i = 0; i < self->values.n_instances; i++)
    read_instance_files (self, &self->values.instances[i]);

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
