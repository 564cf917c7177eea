// SPDX-License-Identifier: GPL-3.0-or-later

/* The instruments that options of sysprof-cli select.
 *
 * The file of each instrument ends in its InstrumentRow, and meson.build has its name. The rows
 * are the only source of these options: --help, the completion scripts and the manual page are
 * made from them.
 *
 *     sysprof_instrument_selection_init (&selection);
 *     … GOption fills selection.entries …
 *     if (sysprof_instrument_selection_check (&selection, has_command, error))
 *       sysprof_instrument_selection_add_to (&selection, profiler, false); */

#pragma once

#include <gio/gio.h>
#include <stdbool.h>
#include <sysprof.h>

typedef struct SamplerOptions SamplerOptions;
typedef struct InstrumentSelection InstrumentSelection;

typedef enum
{
  INSTRUMENT_OFF, /* recorded if an option requests it */
  INSTRUMENT_ON,  /* recorded, unless an option omits it */
  /* the same; if it is unavailable, the user sees that only if an option requested it */
  INSTRUMENT_OPTIONAL,
} InstrumentDefault;

#define INSTRUMENT_MAX_OPTIONS 3

typedef struct
{
  const char *name;          /* without the dashes */
  const char *help;          /* NULL = not in --help and the manual */
  bool omits;                /* omits the instrument instead of requesting it */
  const char *value;         /* "ADDRESS" = has a value, and may be repeated; NULL = a switch */
  const char *const *values; /* NULL-terminated: the permitted values; NULL = any text */
} InstrumentOption;

typedef struct
{
  InstrumentDefault by_default;
  bool needs_command;
  InstrumentOption options[INSTRUMENT_MAX_OPTIONS]; /* without a name after the last */
  const char *manual; /* roff; NULL = the help of the first option is sufficient */
  SysprofInstrument *(*new) (void);
  /* Instead of `new`, if it depends on the selection: appends new instruments. */
  void (*create) (const InstrumentSelection *selection, GPtrArray *instruments);
} InstrumentRow;

typedef struct
{
  gboolean is_given; /* of a switch */
  char **values;     /* NULL-terminated, or NULL = not given */
} GivenInstrumentOption;

struct InstrumentSelection
{
  GOptionEntry *entries;         /* [n] in the order of the rows, then an empty one */
  GivenInstrumentOption *given;  /* [n] set by GOption */
  const SamplerOptions *sampler; /* which threads to record; borrowed */
};

/* Generated from the list in meson.build. NULL-terminated. */
extern const InstrumentRow *const sysprof_instrument_rows[];

void sysprof_instrument_selection_init (InstrumentSelection *self);
void sysprof_instrument_selection_clear (InstrumentSelection *self);

/* Whether the option was given. */
bool sysprof_instrument_selection_has (const InstrumentSelection *self, const char *option);
/* The values of an option, NULL-terminated; NULL if it was not given. *(none)* */
const char *const *sysprof_instrument_selection_values (const InstrumentSelection *self,
                                                        const char *option);
/* Whether the instrument is recorded. */
bool sysprof_instrument_selection_includes (const InstrumentSelection *self,
                                            const InstrumentRow *row);

/* FALSE with `error`, which names the option, for a value that is not permitted and for an
 * instrument without the command that it needs. */
bool sysprof_instrument_selection_check (const InstrumentSelection *self,
                                         bool has_command,
                                         GError **error);

/* Adds the selected instruments. `reports_all`: the user sees which instruments are
 * unavailable, also those that no option requested. */
void sysprof_instrument_selection_add_to (const InstrumentSelection *self,
                                          SysprofProfiler *profiler,
                                          bool reports_all);

/* The options as paragraphs of a manual page. *(full)* */
char *sysprof_instrument_manual (void);
