// SPDX-License-Identifier: GPL-3.0-or-later

/* views: turns a store and a selection into rows or trees, and renders them in our own looks.
 *
 *   const View *view = sysprof_view_find ("functions");
 *   ViewRequest request = { .store = store, .symbols = symbols, .filter = &filter, .limit = 20 };
 *   sysprof_view_render (view, RENDER_TEXT, &request, stream, &error);
 *
 * or in two steps, for who wants the rows themselves:
 *
 *   Rows rows = { 0 };
 *   if (sysprof_view_fill (view, &request, &rows, &error))
 *     sysprof_render (RENDER_TEXT, view, &request, &rows, stream, &error);
 *   sysprof_rows_clear (&rows);
 *
 * A view fills rows from frozen data on any thread; renderers only read them. Sorting, --limit, --min and --depth are
 * the same for all views and are applied here. A new view is one file and one name in this folder's meson.build. */

#pragma once

#include "analyze/analyze.h"

#include <gio/gio.h>

typedef enum
{
  COLUMN_TEXT,
  COLUMN_TEXTS, /* array of text */
  COLUMN_COUNT,
  COLUMN_DURATION, /* ns */
  COLUMN_TIME,     /* ns from the start of the recording */
  COLUMN_BYTES,
  COLUMN_NUMBER, /* integer that is no quantity: a pid */
  COLUMN_STACK,  /* functions, innermost first */
  COLUMN_BOOL,
  COLUMN_REAL,  /* any number; not finite = none */
  COLUMN_GRAPH, /* many of them, drawn small */
} ColumnKind;

/* In place of a number of any kind but COLUMN_COUNT and COLUMN_REAL: there is none. */
#define NO_NUMBER INT64_MIN

typedef struct
{
  const char *name;  /* key in JSON, word for --sort */
  const char *title; /* above the column in text */
  ColumnKind kind;
  bool
      share; /* show the percentage of Rows.total beside it (where people read; JSON has the total) */
  bool is_weight; /* a part of the weight, as those with a share are */
  bool json_only; /* people see it otherwise, or have no room for it */
  bool may_miss;  /* JSON leaves it out where it is an empty text, no number or not so */
  bool is_long;   /* in text it stands last, and is cut where a terminal ends */
  uint8_t
      extra; /* 1 … MOST_EXTRA: the greater, the earlier a narrow terminal goes without it */
  bool hides_zero;  /* in text nothing stands where it is 0 */
  bool is_function; /* names of functions: short where they would be cut */
  bool
      has_place; /* another column, beside which stands where a function is written, as it does beside names */
  bool is_command;      /* the folder of its first word may go where it is cut */
  bool may_stand_below; /* where a terminal is too narrow: below its row */
  uint8_t
      heading; /* 1 … MOST_HEADING: in text it stands in lines of its own, above the rows that share it; 2 below 1 */
  const char *title_of_time; /* the same where the weight is a time; NULL = title */
} Column;

#define MOST_EXTRA   4
#define MOST_HEADING 2

typedef struct
{
  const char *symbol;
  const char *binary;
  uint8_t kind; /* SymbolKind */
  bool is_inlined;
  const char *file; /* where that was; "" = unknown */
  uint32_t line;
} StackEntry;

typedef struct
{
  uint32_t n;
  const StackEntry *entries; /* [n] innermost first */
} StackText;

typedef struct
{
  uint32_t n;
  uint32_t first;       /* people see what begins here */
  bool from_zero;       /* drawn from 0 up; else from the least */
  double most;          /* drawn at full height; 0 = the greatest of them */
  const double *values; /* [n] not finite = none */
} GraphValues;

typedef union
{
  const char
      *text; /* owned by Rows.arena, or living as long as the store; any bytes; never NULL */
  const char *const *texts; /* NULL-terminated */
  uint64_t count;
  int64_t number; /* ns, bytes, numbers */
  const StackText *stack;
  bool flag;
  double real;
  const GraphValues *graph;
} Cell;

#define VIEW_MAX_COLUMNS 16

typedef struct
{
  const Column *columns; /* [n_columns] static, or in the arena */
  uint32_t n_columns;
  Cell *cells; /* [n_rows * n_columns] */
  uint32_t n_rows;
  uint32_t capacity;
  uint32_t *
      parent; /* [n_rows] 1 + index of the parent row, 0 = top; NULL for a flat table. Parents come first. */
  uint32_t n_hidden; /* rows that --limit, --min or --depth left out */
  uint64_t total;    /* 100 % */
  uint64_t
      total_left_out; /* of it, what ends in rows that were never made, as --min leaves them out */
  bool is_event_list;      /* of other things than samples: */
  uint64_t n_available;    /* as many as the capture holds before any selection */
  const char *noun;        /* what people call them, "marks"; NULL = as the weight */
  const char *weight_name; /* "samples" */
  const char *weight_unit; /* "count" */
  const char *note;        /* a sentence for people below the rows, in the arena; or NULL */
  Arena arena;
} Rows;

typedef enum
{
  RENDER_TEXT,
  RENDER_JSON,
  RENDER_HTML,
  RENDER_SVG,
  RENDER_FOLDED, /* of the selection, whatever the view */
  RENDER_CSV,
  RENDER_MARKDOWN,
  N_RENDER_FORMATS,
} RenderFormat;

struct Selection;

typedef struct
{
  Store *store;
  const SymbolTable *symbols;
  const SampleFilter *filter; /* NULL = everything */
  const TreeShape *shape;     /* NULL = default */
  GCancellable *cancellable;  /* borrowed; NULL = that of the thread, if it has one */
  const struct Selection
      *selection;   /* as given, for the JSON member "selection"; may be NULL */
  const char *path; /* of the capture, for people; NULL = the store's */
  const SymbolizeOptions *
      symbolize; /* where files of programs, and their sources, are looked for, as for names; NULL = defaults */
  uint32_t limit; /* rows; 0 = all */
  uint32_t depth; /* of trees, the top row is at 0; 0 = all */
  double min_percent;
  const char *sort;   /* column name or NULL */
  const char *search; /* terms that rows are to contain; NULL = all rows */
  bool details;
  bool by_name;       /* marks */
  bool by_member;     /* messages of D-Bus */
  bool by_thread;     /* waits */
  bool by_lock;       /* waits */
  bool critical_path; /* waits */
  bool live;          /* allocations: what lives at the end */
  bool telling;       /* counters: only of the whole machine or program, and that changed */
  bool left_heavy;
  bool annotates;  /* folded stacks: kinds of functions, */
  bool with_lines; /* and file and line of them */
  /* flame graphs and tables as pictures */
  const char *title;    /* NULL = default */
  const char *subtitle; /* NULL = default, "" = none */
  uint32_t width;       /* px, 0 = default */
  uint32_t row_height;  /* px, 0 = default */
  const char *colors;   /* one of sysprof_view_color_schemes(), NULL = "kind" */
  bool icicle;
  /* text */
  bool use_color;
  uint32_t terminal_width;  /* columns, 0 = not a terminal */
  uint32_t terminal_height; /* lines that the summary may take; 0 = no matter */
} ViewRequest;

/* A view as a part of another. */
struct View;
typedef struct ViewSection
{
  const struct View *view;
  uint32_t n_rows;  /* that one screen holds beside other parts; 0: only programs see it */
  uint32_t n_least; /* that a small one holds */
} ViewSection;

typedef struct View
{
  const char *name;
  const char *title;
  const char *summary;         /* one line for --help */
  const ViewSection *sections; /* NULL, or the views of which this one is made, ended by zero */
  bool (*fill) (const ViewRequest *request, Rows *rows, GError **error);
  /* NULL, or a drawing of its own instead of the table, in the formats that `draws` has. */
  bool (*draw) (RenderFormat format,
                const ViewRequest *request,
                const Rows *rows,
                GOutputStream *stream,
                GError **error);
  unsigned draws;  /* bits, 1 << RENDER_… */
  bool uses_focus; /* it is about the function of --focus */
  double
      text_min_percent; /* what programs give as `min_percent` for texts where nobody says what to show */
  bool searches;   /* it answers --search itself */
  bool is_listing; /* its rows go together, and the first ones are not those that matter most */
  bool is_prose; /* in text: a sentence, and in the second column the command that shows more */
} View;

const View *sysprof_view_find (const char *name);
const View *const *sysprof_view_list (void); /* NULL-terminated, in the order of --help */
/* NULL-terminated, the default first. */
const char *const *sysprof_view_color_schemes (void);

/* Fills, sorts and cuts. Fails for a --sort column that the view does not have, a focus that it needs, or with
 * G_IO_ERROR_CANCELLED within some milliseconds of being cancelled; `rows` is empty then. */
bool
sysprof_view_fill (const View *view, const ViewRequest *request, Rows *rows, GError **error);
void sysprof_rows_clear (Rows *rows);
bool sysprof_render (RenderFormat format,
                     const View *view,
                     const ViewRequest *request,
                     const Rows *rows,
                     GOutputStream *stream,
                     GError **error);
/* Puts the name of the file into an error of writing to a stream, which has none. `path` NULL: standard output. Other errors stay
 * as they are. */
void sysprof_name_written_file (GError **error, const char *path);
/* Both steps. Writes nothing when filling fails. */
bool sysprof_view_render (const View *view,
                          RenderFormat format,
                          const ViewRequest *request,
                          GOutputStream *stream,
                          GError **error);
