// SPDX-License-Identifier: GPL-3.0-or-later

/* Counters from texts that the kernel keeps in /proc and /sys.
 *
 * A source is a SampledCounters: which files, how often, a parser, and tables of counters. The machinery
 * reads the files through descriptors that stay open, hands the text to the parser, and turns what it
 * found into values: growth of running sums, shares, sums over devices. Nothing is allocated per reading.
 *
 * Some counters are there once (`rows`), others once per CPU, disk, interface … (`instance_rows`, "%s" is
 * its name). An instance exists from the first text that names it on. While it is gone it has no values;
 * when it comes back its series goes on, measured anew from there.
 *
 *     const SampledCounters sysprof_pressure_counters = { … };
 *     SYSPROF_DEFINE_SAMPLED_COUNTERS (SysprofPressure, sysprof_pressure, sysprof_pressure_counters)
 *
 * All of it is *owned* by the pump thread. */

#pragma once

#include "record/instrument.h"
#include "util/util.h"

#include <sysprof-capture.h>

#ifndef N_
#  define N_(text) text /* marked for translation */
#endif

#define MSEC INT64_C (1000000)

#define COUNTER_MAX_ROWS          16
#define COUNTER_MAX_INSTANCE_ROWS 4
#define COUNTER_MAX_PATHS         4
#define COUNTER_MAX_FILES         2
#define COUNTER_MAX_INSTANCES     4096
#define COUNTER_NAME_SIZE         32 /* as in the capture; longer names are cut */

typedef enum
{
  COUNTER_VALUE,   /* integer: what was read */
  COUNTER_TOTAL,   /* integer: a running sum as it is */
  COUNTER_GROWTH,  /* integer: growth of a running sum since the reading before */
  COUNTER_RATE,    /* double: growth of a running sum per second */
  COUNTER_RATIO,   /* double: percent that a part is of a whole */
  COUNTER_PERCENT, /* double: the same for the growth of two running sums; never above 100 */
  COUNTER_N_KINDS
} CounterKind;

typedef struct
{
  const char *category;
  const char *name;        /* "%s" becomes the name of the instance */
  const char *description; /* likewise */
  CounterKind kind;
  double scale; /* what a unit read is worth; 0 = 1 */
  unsigned
      sum_of; /* n: not read, but added up over all instances from instance row n - 1 (TOTAL, GROWTH) */
} CounterRow;

typedef struct
{
  char name[COUNTER_NAME_SIZE];
  bool is_part; /* of another instance, which is in the sums already */
  bool is_defined;
  bool has_files; /* its own files are open, as far as they are there */
  uint64_t seen;  /* the reading that named it last; 0 = never */
  double values[COUNTER_MAX_INSTANCE_ROWS];
  double wholes[COUNTER_MAX_INSTANCE_ROWS];
  bool is_set[COUNTER_MAX_INSTANCE_ROWS];
  double old_values[COUNTER_MAX_INSTANCE_ROWS];
  double old_wholes[COUNTER_MAX_INSTANCE_ROWS];
  bool has_old[COUNTER_MAX_INSTANCE_ROWS];
  unsigned first_id;
  int fds[COUNTER_MAX_PATHS]; /* of the instance's own files; -1 = none */
} CounterInstance;

/* What a parser fills. Zero is empty. */
typedef struct
{
  double values[COUNTER_MAX_ROWS];
  double wholes[COUNTER_MAX_ROWS];
  bool is_set[COUNTER_MAX_ROWS];
  CounterInstance *instances; /* [n_instances] */
  unsigned n_instances;
  unsigned capacity;
  unsigned hint; /* where the next instance is looked for first: texts keep their order */
  uint64_t reading;
} CounterValues;

typedef struct
{
  const char *name;  /* domain of diagnostics */
  const char *title; /* for people */
  const char *paths[COUNTER_MAX_PATHS];
  const char *files[COUNTER_MAX_FILES]; /* embedded whole when recording begins */
  int64_t interval;                     /* ns */

  const CounterRow *rows;
  unsigned n_rows;
  const CounterRow *instance_rows;
  unsigned n_instance_rows;

  /* `text` is what paths[path] holds. FALSE: it is not what it should be; nothing of this reading counts. */
  bool (*parse) (unsigned path, Text text, CounterValues *values);

  /* Files of each instance, "%s" being its name; may be absent. The first n_constant are read when the
   * instance appears, the others each time. */
  const char *instance_paths[COUNTER_MAX_PATHS];
  unsigned n_constant;
  void (*parse_instance) (unsigned path, Text text, CounterInstance *instance);

  /* Whether what the instance counts is counted by another one as well. May be NULL. */
  bool (*is_part) (const char *root, const char *name);
} SampledCounters;

/* For parsers. Rows out of range are a mistake of ours. */
void sysprof_counter_values_set (CounterValues *self, unsigned row, double value);
void
sysprof_counter_values_set_share (CounterValues *self, unsigned row, double part, double whole);

/* The instance of that name, made if it is new; NULL when there are too many. Valid until the next call. */
CounterInstance *sysprof_counter_values_instance (CounterValues *self, Text name);
void sysprof_counter_instance_set (CounterInstance *self, unsigned row, double value);
void sysprof_counter_instance_set_share (CounterInstance *self,
                                         unsigned row,
                                         double part,
                                         double whole);

void sysprof_counter_values_clear (CounterValues *self);

/* One source at work, without a pump, as tests use it. */
typedef struct CounterSampler CounterSampler;

/* Opens the files below `root` ("" = as they are). NULL with `error` when none of the source's files can be
 * read. */
CounterSampler *sysprof_counter_sampler_open (const SampledCounters *counters,
                                              const char *root,
                                              GError **error);
void sysprof_counter_sampler_free (CounterSampler *self);

/* Reads everything, defines counters that are new, and writes the values with the time `now` (ns). FALSE with
 * `error` when a text was not understood; the next reading may be. */
bool sysprof_counter_sampler_read (CounterSampler *self,
                                   SysprofCaptureWriter *writer,
                                   int64_t now,
                                   GError **error);

/* --- the instrument around it --- */

typedef struct
{
  SysprofInstrument parent_instance;
  CounterSampler *sampler; /* while recording */
  bool has_complained;
} CounterInstrument;

typedef struct
{
  SysprofInstrumentClass parent_class;
  const SampledCounters *counters;
} CounterInstrumentClass;

GType sysprof_counter_instrument_get_type (void) G_GNUC_CONST;

/* The public type and its constructor for the source `table`. */
#define SYSPROF_DEFINE_SAMPLED_COUNTERS(TypeName, type_name, table)                 \
  struct _##TypeName                                                                \
  {                                                                                 \
    CounterInstrument parent_instance;                                              \
  };                                                                                \
  typedef struct                                                                    \
  {                                                                                 \
    CounterInstrumentClass parent_class;                                            \
  } TypeName##Class;                                                                \
  G_DEFINE_FINAL_TYPE (TypeName, type_name, sysprof_counter_instrument_get_type ()) \
  static void type_name##_class_init (TypeName##Class *klass)                       \
  {                                                                                 \
    klass->parent_class.counters = &(table);                                        \
    klass->parent_class.parent_class.name = (table).name;                           \
  }                                                                                 \
  static void type_name##_init (TypeName *self)                                     \
  {                                                                                 \
  }                                                                                 \
  SysprofInstrument *type_name##_new (void)                                         \
  {                                                                                 \
    return g_object_new (type_name##_get_type (), NULL);                            \
  }
