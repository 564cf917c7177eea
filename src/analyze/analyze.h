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
 * Results are *frozen*, exact and never truncated. The caller owns each and frees it with its
 * `_free`. */

#pragma once

#include "analyze/categories/categories.h"
#include "analyze/fold/graph.h"
#include "analyze/search/search.h"
#include "symbolize/symbolize.h"

typedef struct
{
  int64_t begin; /* ns, absolute */
  int64_t end;   /* ns, first instant that is out */
} TimeRange;

/* A time that counts for the events of one process, or of one CPU; for all where both are -1. */
typedef struct
{
  int32_t pid;
  int32_t cpu;
  TimeRange time;
} OwnedSpan;

/* Whether `spans` contain the event. They are sorted by pid, CPU and time, and do not
 * overlap for one pid and CPU. */
bool sysprof_owned_spans_contain (const OwnedSpan *spans,
                                  uint32_t n,
                                  int64_t time,
                                  int32_t pid,
                                  int32_t cpu);

/* What takes part, of the samples or of another table. A zeroed filter takes all samples. AND between members, OR within one. */
typedef struct SampleFilter
{
  const StackEvents *
      events; /* of the store, or with weights of their own (WeighedEvent); NULL = its samples */
  const uint8_t *event_is_in; /* [events->n] or NULL: all */
  bool weigh_one;             /* each weighs 1, whatever its weight */
  const char *
      weight_name; /* what the weight is, and its unit ("ns", "count"); NULL = as usual of such events */
  const char *weight_unit;
  int64_t time_begin; /* ns, absolute; with time_end = 0: no limit */
  int64_t time_end;   /* ns, first instant that is out; 0: no limit */
  const TimeRange *
      times; /* [n_times] ascending, disjoint, all within the limits above; NULL: the limits alone count */
  uint32_t n_times;
  const OwnedSpan *
      spans; /* [n_spans] samples and waits must lie in one of these, too: `times` is their union, or less; NULL: no matter */
  uint32_t n_spans;
  const ProcessId *processes; /* [n_processes] */
  uint32_t n_processes;
  const int32_t *tids; /* [n_tids] */
  uint32_t n_tids;
  const int32_t *cpus; /* [n_cpus] */
  uint32_t n_cpus;
  bool has_processes; /* so that "none matched" differs from "not asked" */
  bool has_tids;
  bool has_cpus;
  bool no_idle; /* of samples, those of the kernel's idle task are out: process 0 */
  const char *const *
      symbol_terms; /* NULL-terminated or NULL: stacks that contain one as a substring, case ignored; */
  const char *const *
      binary_terms; /* a term that begins with ! excludes. A binary term with a / is sought in the path */
} SampleFilter;

/* Whether it leaves nothing out, whatever it weighs. It may be NULL. */
bool sysprof_filter_is_whole (const SampleFilter *filter);

static inline const StackEvents *
sysprof_filter_events (const SampleFilter *filter, const Store *store)
{
  return filter != NULL && filter->events != NULL ? filter->events : &store->samples;
}

/* Whether its events are the store's samples, whatever they weigh: then indices of them are indices of samples. */
static inline bool
sysprof_filter_is_of_samples (const SampleFilter *filter, const Store *store)
{
  return sysprof_filter_events (filter, store)->time == store->samples.time;
}

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

/* For each message, 1 + the index of what answers it or of the call that it answers; 0 = none. [n_dbus] *(full)* */
uint32_t *sysprof_dbus_find_replies (const Store *store);

/* Selects marks, counters, logs and messages by the times, processes and CPUs of a filter.
 * They have no thread and no stack, so a filter with threads or functions selects none of
 * them. *Owned*. */
typedef struct
{
  const SampleFilter *filter; /* borrowed */
  GHashTable *pids;           /* NULL: all */
  bool is_empty;
} EventMatcher;

void sysprof_event_matcher_init (EventMatcher *self,
                                 const Store *store,
                                 const SampleFilter *filter); /* may be NULL */
bool
sysprof_event_matcher_takes (const EventMatcher *self, int64_t time, int32_t pid, int16_t cpu);
void sysprof_event_matcher_clear (EventMatcher *self);

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

/* Weight per distinct stack. *Owned* while it is folded, then *frozen*. */
typedef struct
{
  uint64_t *self; /* [store->stacks.n] */
  uint64_t total; /* sum of all */
  struct          /* the same split by thread, on request */
  {
    StackId *stack;
    int32_t *tid;
    uint64_t *self;
    uint32_t n;
  } by_thread;
} StackWeights;

void sysprof_stack_weights_fold (
    StackWeights *self,
    const Store *store,
    const SymbolTable *symbols, /* may be NULL without symbol and binary terms */
    const SampleFilter *filter, /* may be NULL */
    bool by_thread);
void sysprof_stack_weights_clear (StackWeights *self);

/* The samples that the filter takes, by time: indices into store->samples. *(full)* */
uint32_t *sysprof_samples_find (const Store *store,
                                const SymbolTable *symbols,
                                const SampleFilter *filter,
                                uint32_t *n_samples);

/* What a focus means: the functions whose bare name (or name in the file) is exactly `name`; if there is none, all
 * that contain it, case ignored. matches[symbol], *(full)*; `n_matches` may be NULL. */
bool *sysprof_focus_match (const SymbolTable *symbols, const char *name, uint32_t *n_matches);

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

typedef uint32_t CallNodeId;

/* Nodes lie parents first; node 0 is the root ("All Processes"). Siblings are linked by falling total, then by name.
 * total = self + the totals of the children, everywhere. self is the weight of the paths that end at the node: top
 * down, where its function is innermost; bottom up, where it is outermost (there the totals of the first functions
 * are their self weights). */
typedef struct
{
  CallNodeId *parent;       /* [n]; of the root: 0 */
  CallNodeId *first_child;  /* [n]; 0 = none */
  CallNodeId *next_sibling; /* [n]; 0 = none */
  SymbolId *symbol;         /* [n]; 0 for root, processes and threads */
  uint64_t *self;           /* [n] */
  uint64_t *total;          /* [n] */
  uint8_t *kind;            /* [n] SymbolKind: root, process, thread, or the symbol's */
  uint32_t *id;             /* [n] ProcessId of a process node, tid of a thread node, else 0 */
  uint32_t n;
} CallTree;

CallTree *sysprof_call_tree_new (const Store *store,
                                 const SymbolTable *symbols,
                                 const StackWeights *weights,
                                 const Shape *shape);
/* The same in less time, without nodes of less than `least`: what ends there is only in the totals of their callers.
 * Bottom up they are there. */
CallTree *sysprof_call_tree_new_above (const Store *store,
                                       const SymbolTable *symbols,
                                       const StackWeights *weights,
                                       const Shape *shape,
                                       uint64_t least);
void sysprof_call_tree_free (CallTree *self);
/* The text a person reads: a function's name, "comm" of a process, "NAME (TID)" of a thread, "All Processes". *(full)* */
char *sysprof_call_tree_dup_label (const CallTree *self,
                                   const Store *store,
                                   const SymbolTable *symbols,
                                   CallNodeId node);

typedef struct
{
  SymbolId symbol;
  uint64_t self;
  uint64_t total; /* once per stack, however often it recurs in it */
} FunctionRow;

/* Every function once, by falling self, then total, then name. */
typedef struct
{
  FunctionRow *row; /* [n] */
  uint32_t n;
  uint64_t total; /* weight of all stacks */
} FunctionTable;

/* [tree->n] the Category of each node. Top down, what callers hand on counts; bottom up, each function's own does: its
 * callers are many. *(full)* */
uint8_t *sysprof_call_tree_categorize (const CallTree *self,
                                       const SymbolTable *symbols,
                                       const Shape *shape);
/* [stacks.n] the Category of the innermost function that shows, as its callers make it. `shape` may be NULL. *(full)* */
uint8_t *
sysprof_stacks_categorize (const Store *store, const SymbolTable *symbols, const Shape *shape);
/* [symbols->n] what the rules say of each function as it is shown, as sysprof_symbol_categories(): of one that stands for
 * its binary, what they say of all of it. `shape` may be NULL. *(full)* */
uint8_t *sysprof_shown_categories_new (const SymbolTable *symbols, const Shape *shape);

FunctionTable *sysprof_functions_new (const Store *store,
                                      const SymbolTable *symbols,
                                      const StackWeights *weights,
                                      const Shape *shape); /* no_kernel counts; may be NULL */
/* Who calls the functions that match `shape->focus` / whom they call. self: weight with the row directly beside it
 * where the focused function (callers) or the row (callees) is innermost; total: once per stack. `no_kernel` counts. */
FunctionTable *sysprof_callers_new (const Store *store,
                                    const SymbolTable *symbols,
                                    const StackWeights *weights,
                                    const Shape *shape);
FunctionTable *sysprof_callees_new (const Store *store,
                                    const SymbolTable *symbols,
                                    const StackWeights *weights,
                                    const Shape *shape);
void sysprof_function_table_free (FunctionTable *self);

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

G_DEFINE_AUTOPTR_CLEANUP_FUNC (CallTree, sysprof_call_tree_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FunctionTable, sysprof_function_table_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlameLayout, sysprof_flame_layout_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Quality, sysprof_quality_free)

#include "analyze/fold/refold.h" /* of the types above */
#include "analyze/waits/waits.h"
