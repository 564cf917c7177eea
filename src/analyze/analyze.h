// SPDX-License-Identifier: GPL-3.0-or-later

/* analyze: computes trees, tables and sums from the columns of a store.
 *
 * Every computation takes the same steps. Each is cheap enough to repeat:
 *
 *   StackWeights weights = { 0 };
 *   sysprof_stack_weights_fold (&weights, store, symbols, &filter);        // one pass over samples
 *   CallTree *tree = sysprof_call_tree_new (store, symbols, &weights, &shape);  // one pass over stacks
 *   FunctionTable *functions = sysprof_functions_new (store, symbols, &weights, &shape);
 *
 * A caller that makes the same tree for many selections keeps a Refold (refold.h), which does
 * most of that once.
 *
 * Sub-folders: selection (which events take part), fold (trees, tables and graphs of stacks),
 * categories, search, waits. They do not include this file.
 *
 * Results are *frozen*, exact and never truncated. The caller owns each and frees it with its
 * `_free`. */

#pragma once

#include "analyze/categories/categories.h"
#include "analyze/fold/graph.h"
#include "analyze/fold/refold.h"
#include "analyze/search/search.h"
#include "analyze/waits/waits.h"

/* Which allocations a HeapQuery selects. */
typedef enum
{
  HEAP_LIVE,      /* allocated before the given time and not freed until then */
  HEAP_TEMPORARY, /* freed by the same thread before it allocated or freed anything else */
} HeapQuery;

/* [allocations.n] 1 for the selected allocations. *(full)* A second allocation at an address
 * that is in use means that freeing it was missed. `time` is the end of the selection,
 * exclusive; INT64_MAX = the whole recording. */
uint8_t *sysprof_heap_ask (const Store *store, HeapQuery question, int64_t time);
/* [heap.n] 1 + the row of the allocation that each event freed; 0 = none is known. Computed at
 * the first call for a store, which keeps it. Any thread may call this. NULL if that was
 * canceled. */
const uint32_t *sysprof_heap_get_freed (const Store *store);

/* For each message, 1 + the index of what answers it or of the call that it answers; 0 = none. [n_dbus] *(full)* */
uint32_t *sysprof_dbus_find_replies (const Store *store);

/* How numbers spread. Percentiles are the least number that at least so many percent do not exceed; the median of an even
 * number of them is the mean of the middle two. */
typedef struct
{
  uint64_t n;
  int64_t min, median, mean, p95, p99, max; /* without meaning if n is 0 */
  int64_t sum;                              /* INT64_MAX: that much or more */
} Spread;

/* Of none that is negative. Sorts `values`. */
Spread sysprof_spread_of (int64_t *values, size_t n);

/* How often, how long and how regularly a thing happened. */
#define MARK_HISTOGRAM_SIZE \
  64 /* [i]: durations of 2^i ns and more, less than 2^(i+1); [0] with the instants */
#define MARK_RHYTHM_SIZE 24 /* slices of the time from the first to the last */
typedef struct
{
  StringId group;
  StringId name;
  Spread durations;
  int64_t
      self; /* ns, durations without what lies within other marks of the same process, together */
  bool is_periodic;
  int64_t interval; /* ns, median time from one begin to the next in the same process */
  int64_t jitter;   /* ns by which at most 5 % of the intervals differ more from it */
  uint32_t histogram[MARK_HISTOGRAM_SIZE];
  double rhythm[MARK_RHYTHM_SIZE]; /* ns, mean interval in each slice; NaN = none ended there */
  double rhythm_jitter
      [MARK_RHYTHM_SIZE]; /* ns, largest difference from `interval` in each slice; NaN likewise */
} MarkSummary;

/* One row per (group, name) of the marks with is_in[mark]; most time first. *(full)* */
MarkSummary *
sysprof_marks_summarize (const Store *store, const bool *is_in, uint32_t *n_summaries);
/* [n_marks] duration of each mark without that of the marks within it. *(full)* */
int64_t *sysprof_marks_find_self (const Store *store);

/* Values of one counter: store->counters.time[first] … [first + n - 1]. */
typedef struct
{
  uint32_t first;
  uint32_t n;
} CounterPart;

/* The CPU time and resident memory of a process. Of several processes with one pid, the CPU
 * time is the sum. -1 = not recorded. */
typedef struct
{
  int64_t cpu_time;       /* ns */
  int64_t resident_first; /* bytes, at the start of the time or of the process */
  int64_t resident_last;
  int64_t resident_max;
  CounterPart resident; /* the values that these summarize, of the last such process */
} ProcessUsage;

/* Of each process in the times that `filter` (may be NULL) selects, [processes.n]. Sets `time`
 * to their hull. *(full)* */
ProcessUsage *
sysprof_usage_of_processes (const Store *store, const SampleFilter *filter, TimeRange *time);

/* What was at one line of a source file, in entries of stacks. */
typedef struct
{
  StringId file; /* in the table's strings */
  uint32_t line;
  uint64_t self;
  uint64_t total; /* once per stack, however often it is in it */
} LineWeight;

/* Of all lines of the functions is_wanted[symbols->n], by file and line; [n], *(full)*. None where lines were not loaded. */
LineWeight *sysprof_lines_weigh (const Store *store,
                                 const SymbolTable *symbols,
                                 const StackWeights *weights,
                                 const bool *is_wanted,
                                 uint32_t *n);

/* Where the stacks of a selection meet functions. */
typedef struct
{
  bool *is_at; /* [store->addresses.n] */
  uint64_t
      elsewhere; /* weight of stacks whose entries for them are in no file: of the kernel, generated code */
  SymbolId example; /* such a function; 0 = none */
  AddressId kernel; /* one of those at which the kernel is; 0 = none */
} CodePlaces;

/* The addresses of the functions is_wanted[symbols->n], or of those that they are inlined into. *(full)* `is_at`. */
void sysprof_code_find_places (CodePlaces *places,
                               const Store *store,
                               const SymbolTable *symbols,
                               const StackWeights *weights,
                               const bool *is_wanted);

/* self[code->n] is the weight at each instruction. total[code->n] also has the weight of
 * what it called, counted once per stack. Inlined calls are at their own instructions. */
void sysprof_code_weigh (const Store *store,
                         const SymbolTable *symbols,
                         const StackWeights *weights,
                         const Disassembly *code,
                         uint64_t *self,
                         uint64_t *total);

/* Rectangles of a flame graph, parents before children. x and width are exact at any zoom: weight units of the root. */
typedef struct
{
  CallNodeId *node; /* [n] */
  uint64_t *x;      /* [n] */
  uint64_t *width;  /* [n] */
  uint16_t *depth;  /* [n] */
  uint32_t n;
  uint32_t max_depth;
} FlameLayout;

/* Children in alphabetical order (so that equal profiles look equal), or heaviest first. Rectangles narrower than
 * `min_width` weight units are left out. */
FlameLayout *sysprof_flame_layout_new (const CallTree *tree,
                                       const Store *store,
                                       const SymbolTable *symbols,
                                       bool left_heavy,
                                       uint64_t min_width);
void sysprof_flame_layout_free (FlameLayout *self);

/* How a stack ends. Whole: its outermost function is where a process or a thread begins, or who walked it found nothing
 * missing. */
typedef enum
{
  STACK_WHOLE, /* user entry reached, or a kernel thread's */
  /* a process in the kernel without a recorded user part (exec, exit, or sampling of the
   * kernel only) */
  STACK_KERNEL_ONLY,
  STACK_CUT, /* ends in a function that is no entry, or under an entry that says why */
  STACK_EMPTY,
  STACK_NOT_UNWOUND, /* one address by choice (--unwind none) */
} StackEnd;
#define N_STACK_ENDS (STACK_NOT_UNWOUND + 1)

typedef struct
{
  SymbolId outermost; /* where most of such stacks end: see sysprof_stack_ends_find() */
  StringId binary;    /* in SymbolTable.strings; one row for each */
  uint8_t end;        /* StackEnd */
  uint64_t samples;
} QualityRow;

typedef struct
{
  uint64_t whole;
  uint64_t kernel_only;
  uint64_t cut;
  uint64_t empty;
  uint64_t not_unwound;
  uint64_t total;
  uint64_t unnamed; /* samples whose innermost function has no name */
  QualityRow *row;  /* [n] of the cut ones, by binary, most samples first */
  uint32_t n;
  uint64_t by_reason[N_UNNAMED]; /* samples by the UnnamedReason of their innermost function */
} Quality;

Quality *sysprof_quality_new (const Store *store,
                              const SymbolTable *symbols,
                              const StackWeights *weights);
/* The code of the truncation reason, *borrowed* and without NUL at its end; empty if not
 * recorded. */
Text sysprof_stack_cut_reason (const Store *store, const SymbolTable *symbols, StackId stack);
StackEnd sysprof_stack_end (const Store *store, const SymbolTable *symbols, StackId stack);
/* [stacks.n] *(full)* the stack whose function a stack's end is put down to: the outermost one, or, where the walk ended
 * among numbers that are no code, the last one before them. */
StackId *sysprof_stack_ends_find (const Store *store, const SymbolTable *symbols);
void sysprof_quality_free (Quality *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlameLayout, sysprof_flame_layout_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Quality, sysprof_quality_free)
