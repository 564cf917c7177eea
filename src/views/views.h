// SPDX-License-Identifier: GPL-3.0-or-later

/* views: turns a document and a selection into rows: tables and trees of typed cells. The modules render and flame turn rows
 * into text and pictures; a view must not know them.
 *
 *   const View *view = sysprof_view_find ("functions");
 *   ViewRequest request = { .store = store, .symbols = symbols, .filter = &filter, .limit = 20 };
 *   Rows rows = { 0 };
 *
 *   if (sysprof_view_fill (view, &request, &rows, &error))
 *     …
 *   sysprof_rows_clear (&rows);
 *
 * A view fills rows from frozen data on any thread. Sorting, --search, --limit, --min and --depth work the same way for all
 * views and are applied here. To add a view, add one file and its path in this folder's meson.build. */

#pragma once

#include "analyze/analyze.h"
#include "views/rows.h"

struct Selection;

typedef struct
{
  Store *store;
  const SymbolTable *symbols;
  const SampleFilter *filter; /* NULL = everything */
  const Shape *shape;         /* NULL = default */
  GCancellable *cancellable;  /* borrowed; NULL = the current one of the thread */
  const struct Selection
      *selection;   /* as the user gave it, for the JSON member "selection"; may be NULL */
  const char *path; /* of the capture, to show; NULL = the store's */
  const SymbolizeOptions
      *symbolize; /* where to find programs and their sources; NULL = defaults */
  uint32_t limit; /* number of rows; 0 = all */
  uint32_t depth; /* levels of a tree below its top; 0 = all */
  double min_percent;
  const char *sort;   /* column name or NULL */
  const char *search; /* terms that each row must contain; NULL = all rows */
  /* Names of the switches of views that are set, NULL-terminated; NULL = none. */
  const char *const *switches;
  /* The view is a part of an overview: marks by name, and only counters that changed. */
  bool is_overview;
  bool left_heavy;
  bool annotates;  /* folded stacks: append kinds of functions */
  bool with_lines; /* folded stacks: append source locations */
  /* Flame graphs and other pictures. */
  const char *title;    /* NULL = default */
  const char *subtitle; /* NULL = default, "" = none */
  uint32_t width;       /* px, 0 = default */
  uint32_t row_height;  /* px, 0 = default */
  const char *colors;   /* one of sysprof_flame_color_schemes(), NULL = "kind" */
  bool icicle;
  /* Text. */
  bool hides_options;      /* in sentences: a window has no options */
  const char *recorded_by; /* like that of the view, with the words of a window; or NULL */
  bool use_color;
  uint8_t terminal_colors;  /* TerminalColors */
  bool is_ascii;            /* no drawn characters outside of ASCII */
  uint32_t terminal_width;  /* columns, 0 = not a terminal */
  uint32_t terminal_height; /* lines for the summary; 0 = no limit */
} ViewRequest;

/* A view that is part of another one. */
struct View;
typedef struct ViewSection
{
  const struct View *view;
  uint32_t
      n_rows; /* rows on a screen of usual height; 0 = only formats for programs have the section */
  uint32_t n_least; /* rows on a small screen */
} ViewSection;

/* An option --NAME of one view, without a value. */
typedef struct
{
  const char *name;
  const char *help; /* for --help: an imperative sentence without a full stop */
} ViewSwitch;

/* Groups of options. A view has those that change what it shows. */
typedef enum
{
  OPTIONS_SELECTION = 1 << 0, /* the selection, and where to find symbols */
  OPTIONS_FUNCTIONS = 1 << 1, /* which functions are shown: --hide-system */
  OPTIONS_STACKS = 1 << 2,    /* --fold-recursion */
  OPTIONS_FOCUS = 1 << 3,
  OPTIONS_TREE = 1 << 4,     /* --bottom-up, --depth, --threads */
  OPTIONS_FLAME = 1 << 5,    /* --colors, --icicle */
  OPTIONS_SHARES = 1 << 6,   /* --min */
  OPTIONS_WEIGHT = 1 << 7,   /* --weight */
  OPTIONS_SORT = 1 << 8,     /* --sort */
  OPTIONS_MERGE = 1 << 9,    /* --merge-processes */
  OPTIONS_EXTRACT = 1 << 10, /* --extract */
  OPTIONS_EVENTS = OPTIONS_SELECTION | OPTIONS_SORT,
  OPTIONS_SAMPLES = OPTIONS_EVENTS | OPTIONS_WEIGHT,
  OPTIONS_FUNCTION_TABLE = OPTIONS_SAMPLES | OPTIONS_SHARES | OPTIONS_FUNCTIONS,
  OPTIONS_CALL_TREE =
      OPTIONS_FUNCTION_TABLE | OPTIONS_STACKS | OPTIONS_FOCUS | OPTIONS_TREE | OPTIONS_MERGE,
} ViewOptions;

#define RECORDED_AS_SAMPLES "sysprof-cli takes samples unless --no-perf is given."
#define RECORDED_AS_ALLOCATIONS                                                     \
  "This version cannot record them; it shows those of captures that were recorded " \
  "with --memprof by another version."

/* What formats draw in place of a table, if they can. */
typedef enum
{
  LAYOUT_TABLE,
  LAYOUT_FLAME,
  LAYOUT_HEAT_MAP,
  N_LAYOUTS,
} ViewLayout;

typedef struct View
{
  const char *name;
  const char *title;
  const char *summary; /* one line for --help */
  const ViewSection
      *sections; /* NULL, or the views that this one consists of, ended by a zero row */
  const ViewSwitch *switches; /* NULL, or ended by a zero row */
  bool (*fill) (const ViewRequest *request, Rows *rows, GError **error);
  ViewLayout layout;
  const char *recorded_by;  /* what records its data; a sentence to show if there is none */
  unsigned options;         /* ViewOptions: the options that change what it shows */
  bool begins_with_command; /* it shows the recorded command by default, not the machine */
  /* Default of --min for text, if the user did not limit the rows. */
  double text_min_percent;
  bool searches; /* it applies --search itself */
  bool
      is_listing; /* text shows all rows by default, because the first ones are not the most important */
  bool is_prose; /* each row is a sentence and the command that shows more */
} View;

const View *sysprof_view_find (const char *name);
const View *const *sysprof_view_list (void); /* NULL-terminated, in the order of --help */

/* Whether a view with the ViewOptions `having` has the option, named without dashes. All views have the
 * options that are in no group. */
bool sysprof_view_options_have (unsigned having, const char *name);
/* Whether the view has this switch. */
bool sysprof_view_has_switch (const View *view, const char *name);

/* Fills, sorts and cuts rows. Fails if the view has no column for --sort or needs a --focus, or with G_IO_ERROR_CANCELLED some
 * milliseconds after the request was canceled. `rows` is empty after a failure. */
bool
sysprof_view_fill (const View *view, const ViewRequest *request, Rows *rows, GError **error);

/* Returns false with an error that names `view` if --focus is missing or matches no function. */
bool sysprof_request_needs_focus (const ViewRequest *request, const char *view, GError **error);
/* Whether the request sets a switch of the view. */
bool sysprof_request_has (const ViewRequest *request, const char *name);

/* Makes request->cancellable the cancellable of the thread, for work on rows that were filled. */
void sysprof_request_begin (const ViewRequest *request);
void sysprof_request_end (const ViewRequest *request);

#include "views/headings.h"
#include "views/sections.h"
#include "views/source-locations.h"
#include "views/stack-path.h"
#include "views/unlisted.h"
#include "views/weight.h"
