// SPDX-License-Identifier: GPL-3.0-or-later

/* Counters from texts in /proc and /sys.
 *
 * A source is a SampledCounters: which files, how often, a parser, and tables of counters. The
 * code here keeps the files open, reads them, passes the text to the parser, and computes
 * values: growth of running sums, ratios, sums over devices. A reading does not allocate
 * memory.
 *
 * Some counters exist once (`rows`), others once per CPU, disk, interface … (`instance_rows`,
 * "%s" is the name). An instance exists from the first text that names it, or once `find` has
 * found its directory. While it is gone, it has no values. When it comes back, its counters
 * continue, and sums are compared from there. A counter is defined when it has its first value,
 * so that data that a machine does not have leaves no empty counter.
 *
 *     const SampledCounters sysprof_pressure_counters = { … };
 *     SYSPROF_DEFINE_SAMPLED_COUNTERS (SysprofPressure,
 *                                      sysprof_pressure,
 *                                      &sysprof_pressure_counters)
 *
 * All of it is *owned* by the pump thread. */

#pragma once

#include "access/access.h"
#include "record/instrument.h"
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
#define COUNTER_NAME_SIZE         32 /* as in the capture; longer names are truncated */
#define COUNTER_DETAIL_SIZE       52 /* the same for descriptions */

typedef enum
{
  COUNTER_VALUE,   /* integer: the number that was read */
  COUNTER_REAL,    /* double: the number that was read */
  COUNTER_TOTAL,   /* integer: a running sum, unchanged */
  COUNTER_GROWTH,  /* integer: growth of a running sum since the previous reading */
  COUNTER_RATE,    /* double: growth of a running sum per second */
  COUNTER_RATIO,   /* double: a part in percent of a whole */
  COUNTER_PERCENT, /* double: the same for the growth of two running sums; at most 100 */
  COUNTER_N_KINDS
} CounterKind;

typedef struct
{
  const char *category;
  const char *name;        /* "%s" becomes the instance's label */
  const char *description; /* "%s" becomes the instance's detail */
  CounterKind kind;
  double scale; /* factor from the number read; 0 = 1 */
  /* n: the sum of instance row n - 1 over all instances; kinds VALUE, TOTAL, GROWTH, RATE */
  unsigned sum_of;
} CounterRow;

typedef struct
{
  char *key; /* identifies the instance, also in the paths of its files; owned */
  char label[COUNTER_NAME_SIZE];
  char detail[COUNTER_DETAIL_SIZE];
  bool is_part;    /* of another instance, which is already in the sums */
  bool is_checked; /* `is_part` has been computed */
  bool has_files;  /* its own files, as far as they exist, are open */
  /* its device has disappeared, and may come back under the same name at any time */
  bool is_lost;
  uint64_t seen; /* the last reading that named it; 0 = never */
  double values[COUNTER_MAX_INSTANCE_ROWS];
  double wholes[COUNTER_MAX_INSTANCE_ROWS];
  bool is_set[COUNTER_MAX_INSTANCE_ROWS];
  double old_values[COUNTER_MAX_INSTANCE_ROWS];
  double old_wholes[COUNTER_MAX_INSTANCE_ROWS];
  bool has_old[COUNTER_MAX_INSTANCE_ROWS];
  unsigned ids[COUNTER_MAX_INSTANCE_ROWS]; /* 0 = not defined yet */
  int fds[COUNTER_MAX_PATHS];              /* of the instance's own files; -1 = none */
  uint8_t n_slow[COUNTER_MAX_PATHS];       /* consecutive readings that took too long */
} CounterInstance;

/* The output of a parser. All zero = empty. */
typedef struct
{
  double values[COUNTER_MAX_ROWS];
  double wholes[COUNTER_MAX_ROWS];
  bool is_set[COUNTER_MAX_ROWS];
  CounterInstance *instances; /* [n_instances] */
  unsigned n_instances;
  unsigned capacity;
  unsigned hint; /* where to start looking for the next instance: texts keep their order */
  uint64_t reading;
  int64_t now;     /* ns */
  char *complaint; /* a message for the user, reported once; owned */
} CounterValues;

typedef struct
{
  const char *name;  /* domain of diagnostics */
  const char *title; /* for messages to the user */
  const char *paths[COUNTER_MAX_PATHS];
  const char *files[COUNTER_MAX_FILES]; /* embedded when the recording starts */
  int64_t interval;                     /* ns */

  const CounterRow *rows;
  unsigned n_rows;
  const CounterRow *instance_rows;
  unsigned n_instance_rows;

  /* `text` is the contents of paths[path]. FALSE: the text is invalid, and the reading is
   * discarded. */
  bool (*parse) (unsigned path, Text text, CounterValues *values);

  /* Files of each instance, "%s" is its key; they may be missing. The first n_constant are read
   * when the instance appears, the others at each reading. */
  const char *instance_paths[COUNTER_MAX_PATHS];
  unsigned n_constant;
  void (*parse_instance) (unsigned path, Text text, CounterInstance *instance);
  /* ns: a file that takes longer several times in a row is no longer read, because the pump
   * must not wait for a sensor; 0 = no limit. */
  int64_t patience;

  /* Whether another instance already includes what this one counts. May be NULL. */
  bool (*is_part) (Privilege *machine, const char *key);

  /* Finds instances that no text names. New devices are found within COUNTER_FIND_INTERVAL. */
  void (*find) (Privilege *machine, CounterValues *values);

  /* For a source that reads by itself. NULL with `error` if there is nothing to read. */
  void *(*open) (Privilege *machine, GError **error);
  bool (*read) (void *state, CounterValues *values, GError **error);
  void (*close) (void *state);

  /* If neither files nor instances were found: why, and what to do. NULL = /proc is hidden. */
  const char *absence;
} SampledCounters;

#define COUNTER_FIND_INTERVAL (2000 * MSEC)

/* For parsers. `row` must be in range. */
void sysprof_counter_values_set (CounterValues *self, unsigned row, double value);
void
sysprof_counter_values_set_share (CounterValues *self, unsigned row, double part, double whole);

/* The instance with that key, created if it is new; NULL if there are too many. Valid until the
 * next call. */
CounterInstance *sysprof_counter_values_instance (CounterValues *self, Text key);
/* Sets the text for names and descriptions, if it is not the key. Bytes that are not printable
 * ASCII become '?'. */
void
sysprof_counter_instance_name (CounterInstance *self, const char *label, const char *detail);
/* Whether this reading named the instance. */
void sysprof_counter_instance_close_files (CounterInstance *self);
bool sysprof_counter_instance_is_there (const CounterInstance *self,
                                        const CounterValues *values);
void sysprof_counter_instance_set (CounterInstance *self, unsigned row, double value);
void sysprof_counter_instance_set_share (CounterInstance *self,
                                         unsigned row,
                                         double part,
                                         double whole);

void sysprof_counter_values_clear (CounterValues *self);

/* Reads the first line of a small file into `text`, NUL-terminated; FALSE if it cannot be
 * read. */
bool sysprof_counter_read_line (Privilege *machine, const char *path, char *text, size_t size);
/* Reads `fd` from its start, at most `size` bytes. */
bool sysprof_counter_read_text (int fd, char *buffer, size_t size, Text *text);
/* Calls `each` for the entries of a directory whose names do not start with a dot. FALSE with
 * errno if there is no such directory. */
bool sysprof_counter_list (Privilege *machine,
                           const char *path,
                           void (*each) (const char *name, void *data),
                           void *data);

/* A source without a pump, as tests use it. */
typedef struct CounterSampler CounterSampler;

/* Opens the files of `machine` (referenced). NULL with `error` if the source is unavailable. */
CounterSampler *sysprof_counter_sampler_open (const SampledCounters *counters,
                                              Privilege *machine,
                                              GError **error);
void sysprof_counter_sampler_free (CounterSampler *self);

/* Reads everything, defines new counters, and writes the values with the time `now` (ns). FALSE
 * with `error` if a text was invalid; the next reading may succeed. */
bool sysprof_counter_sampler_read (CounterSampler *self,
                                   SysprofCaptureWriter *writer,
                                   int64_t now,
                                   GError **error);
/* A message about missing data since the last call, in complete sentences, or NULL. *(full)* */
char *sysprof_counter_sampler_take_complaint (CounterSampler *self);

/* --- the instrument around a source --- */

/* The sources of an instrument are independent: an unavailable source is reported, and the
 * others are recorded. The instrument is only dropped if all of its sources are unavailable. */
typedef struct CounterSource CounterSource;

typedef struct
{
  SysprofInstrument parent_instance;
  CounterSource *sources; /* [COUNTER_MAX_SOURCES] while recording */
} CounterInstrument;

typedef struct
{
  SysprofInstrumentClass parent_class;
  const SampledCounters *counters[COUNTER_MAX_SOURCES]; /* NULL after the last */
} CounterInstrumentClass;

GType sysprof_counter_instrument_get_type (void) G_GNUC_CONST;

/* Defines the type of an instrument and its constructor for up to COUNTER_MAX_SOURCES sources. The first
 * source gives the name. */
#define SYSPROF_DEFINE_SAMPLED_COUNTERS(TypeName, type_name, ...)                       \
  typedef struct _##TypeName TypeName;                                                  \
  GType type_name##_get_type (void);                                                    \
  SysprofInstrument *type_name##_new (void);                                            \
                                                                                        \
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
