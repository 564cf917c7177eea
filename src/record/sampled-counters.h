// SPDX-License-Identifier: GPL-3.0-or-later

/* Counters from texts that the kernel keeps in /proc and /sys.
 *
 * A source is a SampledCounters: which files, how often, a parser, and tables of counters. The machinery
 * reads the files through descriptors that stay open, hands the text to the parser, and turns what it
 * found into values: growth of running sums, shares, sums over devices. Nothing is allocated per reading.
 *
 * Some counters are there once (`rows`), others once per CPU, disk, interface … (`instance_rows`, "%s" is
 * its name). An instance exists from the first text that names it on, or once `find` has found its directory. While it is gone
 * it has no values; when it comes back its series goes on, measured anew from there. A counter is defined when it has its first
 * value: what a machine lacks leaves no empty series.
 *
 *     const SampledCounters sysprof_pressure_counters = { … };
 *     SYSPROF_DEFINE_SAMPLED_COUNTERS (SysprofPressure, sysprof_pressure, &sysprof_pressure_counters)
 *
 * All of it is *owned* by the pump thread. */

#pragma once

#include "record/instrument.h"
#include "record/privilege.h"
#include "util/util.h"

#include <sysprof-capture.h>

#ifndef N_
#  define N_(text) text /* marked for translation */
#endif

#define MSEC INT64_C (1000000)

#define COUNTER_MAX_ROWS          32
#define COUNTER_MAX_INSTANCE_ROWS 6
#define COUNTER_MAX_PATHS         6
#define COUNTER_MAX_FILES         2
#define COUNTER_MAX_SOURCES       3 /* of an instrument */
#define COUNTER_MAX_INSTANCES     4096
#define COUNTER_NAME_SIZE         32 /* as in the capture; longer names are cut */
#define COUNTER_DETAIL_SIZE       52 /* likewise, of descriptions */

typedef enum
{
  COUNTER_VALUE,   /* integer: what was read */
  COUNTER_REAL,    /* double: the same */
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
  const char *name;        /* "%s" becomes the instance's label */
  const char *description; /* "%s" becomes its detail */
  CounterKind kind;
  double scale; /* what a unit read is worth; 0 = 1 */
  unsigned
      sum_of; /* n: not read, but added up over all instances from instance row n - 1 (VALUE, TOTAL, GROWTH, RATE) */
} CounterRow;

typedef struct
{
  char *key; /* what it is known by, and in the paths of its files; owned */
  char label[COUNTER_NAME_SIZE];
  char detail[COUNTER_DETAIL_SIZE];
  bool is_part;    /* of another instance, which is in the sums already */
  bool is_checked; /* whether it is a part */
  bool has_files;  /* its own files are open, as far as they are there */
  bool
      is_lost; /* its device went away under them: it may be there again under its name any time */
  uint64_t seen; /* the reading that named it last; 0 = never */
  double values[COUNTER_MAX_INSTANCE_ROWS];
  double wholes[COUNTER_MAX_INSTANCE_ROWS];
  bool is_set[COUNTER_MAX_INSTANCE_ROWS];
  double old_values[COUNTER_MAX_INSTANCE_ROWS];
  double old_wholes[COUNTER_MAX_INSTANCE_ROWS];
  bool has_old[COUNTER_MAX_INSTANCE_ROWS];
  unsigned ids[COUNTER_MAX_INSTANCE_ROWS]; /* 0 = not defined yet */
  int fds[COUNTER_MAX_PATHS];              /* of the instance's own files; -1 = none */
  uint8_t n_slow[COUNTER_MAX_PATHS];       /* readings in a row that took too long */
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
  int64_t now;     /* ns */
  char *complaint; /* what is to be told, once; owned */
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

  /* Files of each instance, "%s" being its key; may be absent. The first n_constant are read when the
   * instance appears, the others each time. */
  const char *instance_paths[COUNTER_MAX_PATHS];
  unsigned n_constant;
  void (*parse_instance) (unsigned path, Text text, CounterInstance *instance);
  /* ns: a file that takes longer, several times in a row, is not read any more, as the pump may not wait for a sensor; 0 = none
   * is slow. */
  int64_t patience;

  /* Whether what the instance counts is counted by another one as well. May be NULL. */
  bool (*is_part) (Privilege *machine, const char *key);

  /* Names the instances that no text names: what is plugged in is found within COUNTER_FIND_INTERVAL. */
  void (*find) (Privilege *machine, CounterValues *values);

  /* A source that reads by itself. NULL with `error` where there is nothing to read. */
  void *(*open) (Privilege *machine, GError **error);
  bool (*read) (void *state, CounterValues *values, GError **error);
  void (*close) (void *state);

  /* Where neither files nor instances were found: why, and what to do. NULL = /proc is hidden. */
  const char *absence;
} SampledCounters;

#define COUNTER_FIND_INTERVAL (2000 * MSEC)

/* For parsers. Rows out of range are a mistake of ours. */
void sysprof_counter_values_set (CounterValues *self, unsigned row, double value);
void
sysprof_counter_values_set_share (CounterValues *self, unsigned row, double part, double whole);

/* The instance of that key, made if it is new; NULL when there are too many. Valid until the next call. */
CounterInstance *sysprof_counter_values_instance (CounterValues *self, Text key);
/* What stands for it in names and descriptions, where that is not the key. Bytes that are no printable ASCII become '?'. */
void
sysprof_counter_instance_name (CounterInstance *self, const char *label, const char *detail);
/* Whether it was named in this reading. */
void sysprof_counter_instance_close_files (CounterInstance *self);
bool sysprof_counter_instance_is_there (const CounterInstance *self,
                                        const CounterValues *values);
void sysprof_counter_instance_set (CounterInstance *self, unsigned row, double value);
void sysprof_counter_instance_set_share (CounterInstance *self,
                                         unsigned row,
                                         double part,
                                         double whole);

void sysprof_counter_values_clear (CounterValues *self);

/* The first line of a small file, NUL-terminated in `text`; FALSE when it cannot be read. */
bool sysprof_counter_read_line (Privilege *machine, const char *path, char *text, size_t size);
/* The text of `fd` from its beginning, at most `size` bytes. */
bool sysprof_counter_read_text (int fd, char *buffer, size_t size, Text *text);
/* Calls `each` for the entries of a directory but "." and "..". FALSE with errno when there is none. */
bool sysprof_counter_list (Privilege *machine,
                           const char *path,
                           void (*each) (const char *name, void *data),
                           void *data);

/* One source at work, without a pump, as tests use it. */
typedef struct CounterSampler CounterSampler;

/* Opens the files of `machine` (referenced). NULL with `error` when the source has none there. */
CounterSampler *sysprof_counter_sampler_open (const SampledCounters *counters,
                                              Privilege *machine,
                                              GError **error);
void sysprof_counter_sampler_free (CounterSampler *self);

/* Reads everything, defines counters that are new, and writes the values with the time `now` (ns). FALSE with
 * `error` when a text was not understood; the next reading may be. */
bool sysprof_counter_sampler_read (CounterSampler *self,
                                   SysprofCaptureWriter *writer,
                                   int64_t now,
                                   GError **error);
/* What could not be had since it was asked last, in whole sentences, or NULL. *(full)* */
char *sysprof_counter_sampler_take_complaint (CounterSampler *self);

/* --- the instrument around it --- */

/* The sources of an instrument are independent: one that is not there is told, and the others are recorded. Only where none is
 * there, the instrument is left out. */
typedef struct CounterSource CounterSource;

typedef struct
{
  SysprofInstrument parent_instance;
  CounterSource *sources; /* [COUNTER_MAX_SOURCES] while recording */
} CounterInstrument;

typedef struct
{
  SysprofInstrumentClass parent_class;
  const SampledCounters *counters[COUNTER_MAX_SOURCES]; /* NULL behind the last */
} CounterInstrumentClass;

GType sysprof_counter_instrument_get_type (void) G_GNUC_CONST;

/* The public type and its constructor for one to COUNTER_MAX_SOURCES sources, the first of which gives the name. */
#define SYSPROF_DEFINE_SAMPLED_COUNTERS(TypeName, type_name, ...)                       \
  struct _##TypeName                                                                    \
  {                                                                                     \
    CounterInstrument parent_instance;                                                  \
  };                                                                                    \
  typedef struct                                                                        \
  {                                                                                     \
    CounterInstrumentClass parent_class;                                                \
  } TypeName##Class;                                                                    \
  G_DEFINE_FINAL_TYPE (TypeName, type_name, sysprof_counter_instrument_get_type ())     \
  static void type_name##_class_init (TypeName##Class *klass)                           \
  {                                                                                     \
    static const SampledCounters *const sources[COUNTER_MAX_SOURCES] = { __VA_ARGS__ }; \
    memcpy (klass->parent_class.counters, sources, sizeof sources);                     \
    klass->parent_class.parent_class.name = sources[0]->name;                           \
  }                                                                                     \
  static void type_name##_init (TypeName *self)                                         \
  {                                                                                     \
  }                                                                                     \
  SysprofInstrument *type_name##_new (void)                                             \
  {                                                                                     \
    return g_object_new (type_name##_get_type (), NULL);                                \
  }
