// SPDX-License-Identifier: GPL-3.0-or-later

/* Computes trees and tables again when only the selection changes. See refold.h. */

#include "analyze/fold/list.h"
#include "analyze/fold/node-set.h"
#include "analyze/fold/plan.h"
#include "analyze/fold/sample-matcher.h"
#include "analyze/fold/stack-terms.h"
#include "analyze/fold/work.h"

#include <stdlib.h>
#include <string.h>

struct Refold /* refold.h */
{
  const Store *store;
  const SymbolTable *symbols;
  const StackEvents *events;
  bool is_table;
  FoldPlan plan;          /* of a tree */
  FoldTablePlan table;    /* of a table */
  const FoldRuns *runs;   /* of either */
  uint32_t *run_of_event; /* [events->n] as FoldRuns.of_end */

  uint64_t *sums; /* [runs->n + 2] of the selection */

  char *
      terms; /* that `stack_is_in` is about, as selections with the same terms follow each other */
  uint8_t *stack_is_in; /* [stacks.n] or NULL: all are */
};

/* The distinct stacks of the events, by thread where the shape tells threads apart. */
typedef struct
{
  uint32_t *of_event; /* [events->n] */
  StackId *stack;     /* [n] */
  int32_t *tid;       /* [n] or NULL: threads are no matter */
  uint32_t n;
} Ends;

/* --- the distinct stacks --- */

static bool
find_ends (Ends *self, const Store *store, const StackEvents *events, FoldWork *work)
{
  g_autofree uint32_t *end_of_stack =
      sysprof_large_new0 (MAX (store->stacks.n, 1), sizeof (uint32_t));

  self->stack = sysprof_large_new (MAX (MIN (events->n, store->stacks.n), 1), sizeof (StackId));
  for (uint32_t i = 0; i < events->n; i++)
    {
      uint32_t *end = &end_of_stack[events->stack[i]];

      if (*end == 0)
        {
          self->stack[self->n++] = events->stack[i];
          *end = self->n;
        }
      self->of_event[i] = *end - 1;
      if (!sysprof_fold_work_at (work, i))
        return false;
    }
  return true;
}

/* The distinct pairs of stack and thread, in the order in which they are met. */
typedef struct
{
  NodeSet pairs, threads;
  NumberList stack;  /* [n_ends] */
  NumberList thread; /* [n_ends] index into `tid` */
  NumberList tid;    /* as unsigned numbers */
} Threads;

static bool
find_pairs (Ends *self, Threads *threads, const StackEvents *events, FoldWork *work)
{
  for (uint32_t i = 0; i < events->n; i++)
    {
      uint32_t tid = (uint32_t) events->tid[i], fresh = threads->stack.n + 1;
      uint32_t end =
          sysprof_node_set_find_or_add (&threads->pairs, events->stack[i], tid, fresh);

      self->of_event[i] = end - 1;
      if (end == fresh)
        {
          uint32_t next = threads->tid.n + 1;
          uint32_t thread = sysprof_node_set_find_or_add (&threads->threads, 0, tid, next);

          if (thread == next)
            number_list_add (&threads->tid, tid);
          number_list_add (&threads->stack, events->stack[i]);
          number_list_add (&threads->thread, thread - 1);
        }
      if (!sysprof_fold_work_at (work, i))
        return false;
    }
  return true;
}

static int
compare_tids (const void *a, const void *b, void *data)
{
  const uint32_t *tids = data;
  int32_t left = (int32_t) tids[*(const uint32_t *) a];
  int32_t right = (int32_t) tids[*(const uint32_t *) b];

  return (left > right) - (left < right);
}

/* [threads] where the ends of each begin, when they lie by rising tid. NULL if cancelled. */
static uint32_t *
find_begins (const Threads *threads, const FoldWork *work)
{
  uint32_t n = threads->tid.n, at = 0;
  g_autofree uint32_t *order = g_new (uint32_t, MAX (n, 1));
  g_autofree uint32_t *count = g_new0 (uint32_t, MAX (n, 1));
  uint32_t *begin;

  for (uint32_t i = 0; i < n; i++)
    order[i] = i;
  if (!sysprof_fold_work_sort (work, order, n, sizeof *order, compare_tids, threads->tid.item))
    return NULL;
  for (uint32_t i = 0; i < threads->stack.n; i++)
    count[threads->thread.item[i]]++;
  begin = g_new (uint32_t, MAX (n, 1));
  for (uint32_t i = 0; i < n; i++)
    {
      begin[order[i]] = at;
      at += count[order[i]];
    }
  return begin;
}

/* By rising tid. */
static bool
order_by_thread (Ends *self, const Threads *threads, uint32_t n_events, FoldWork *work)
{
  g_autofree uint32_t *next = find_begins (threads, work);
  g_autofree uint32_t *moved = NULL;

  if (next == NULL)
    return false;
  self->n = threads->stack.n;
  self->stack = g_new (StackId, MAX (self->n, 1));
  self->tid = g_new (int32_t, MAX (self->n, 1));
  moved = g_new (uint32_t, MAX (self->n, 1));
  for (uint32_t i = 0; i < self->n; i++)
    {
      uint32_t thread = threads->thread.item[i], to = next[thread]++;

      moved[i] = to;
      self->stack[to] = threads->stack.item[i];
      self->tid[to] = (int32_t) threads->tid.item[thread];
    }
  for (uint32_t i = 0; i < n_events; i++)
    {
      self->of_event[i] = moved[self->of_event[i]];
      if (!sysprof_fold_work_at (work, i))
        return false;
    }
  return true;
}

static bool
find_ends_of_threads (Ends *self, const StackEvents *events, FoldWork *work)
{
  Threads threads = { 0 };
  bool is_done;

  sysprof_node_set_init (&threads.pairs);
  sysprof_node_set_init (&threads.threads);
  is_done = find_pairs (self, &threads, events, work) &&
            order_by_thread (self, &threads, events->n, work);

  sysprof_node_set_clear (&threads.pairs);
  sysprof_node_set_clear (&threads.threads);
  number_list_clear (&threads.stack);
  number_list_clear (&threads.thread);
  number_list_clear (&threads.tid);
  return is_done;
}

/* --- birth and death --- */

static bool
make_plan (Refold *self,
           const TreeShape *shape,
           const FoldRequest *question,
           const Ends *found,
           FoldWork *work)
{
  FoldEnds ends = { found->stack, found->tid, found->n };

  self->is_table = question != NULL;
  self->runs = self->is_table ? &self->table.runs : &self->plan.runs;
  return self->is_table
             ? sysprof_fold_table_plan_init (&self->table, self->store, self->symbols, shape,
                                             question, &ends, work)
             : sysprof_fold_plan_init (&self->plan, self->store, self->symbols, shape, &ends,
                                       work);
}

static Refold *
new_refold (const Store *store,
            const SymbolTable *symbols,
            const StackEvents *events,
            const TreeShape *shape,
            const FoldRequest *question,
            FoldWork *work)
{
  static const TreeShape plain = { 0 };
  g_autoptr (Refold) self = g_new0 (Refold, 1);
  Ends ends = { 0 };
  bool is_done;

  if (events == NULL)
    events = &store->samples;
  if (shape == NULL)
    shape = &plain;
  self->store = store;
  self->symbols = symbols;
  self->events = events;
  self->run_of_event = ends.of_event =
      sysprof_large_new (MAX (events->n, 1), sizeof *ends.of_event);
  is_done = (question == NULL && shape->threads ? find_ends_of_threads (&ends, events, work)
                                                : find_ends (&ends, store, events, work)) &&
            make_plan (self, shape, question, &ends, work);
  g_free (ends.stack);
  g_free (ends.tid);
  if (!is_done)
    return NULL;

  for (uint32_t i = 0; i < events->n; i++)
    self->run_of_event[i] = self->runs->of_end[self->run_of_event[i]];
  self->sums = sysprof_fold_runs_new_sums (self->runs);
  return g_steal_pointer (&self);
}

Refold *
sysprof_refold_new_tree (const Store *store,
                         const SymbolTable *symbols,
                         const StackEvents *events,
                         const TreeShape *shape,
                         FoldWork *work)
{
  return new_refold (store, symbols, events, shape, NULL, work);
}

Refold *
sysprof_refold_new_table (const Store *store,
                          const SymbolTable *symbols,
                          const StackEvents *events,
                          FoldTable table,
                          const TreeShape *shape,
                          FoldWork *work)
{
  FoldRequest question = { table, table != FOLD_FUNCTIONS ? shape->focus : NULL };

  return new_refold (store, symbols, events, shape, &question, work);
}

void
sysprof_refold_free (Refold *self)
{
  if (self == NULL)
    return;

  sysprof_fold_plan_clear (&self->plan);
  sysprof_fold_table_plan_clear (&self->table);
  g_free (self->run_of_event);
  g_free (self->sums);
  g_free (self->terms);
  g_free (self->stack_is_in);
  g_free (self);
}

/* --- selecting --- */

static void
match_terms (Refold *self, const SampleFilter *filter)
{
  g_autofree char *terms = sysprof_stack_terms_dup_key (filter);

  if (g_strcmp0 (terms, self->terms) == 0)
    return;

  g_free (self->terms);
  g_free (self->stack_is_in);
  self->stack_is_in = sysprof_stack_terms_match (self->store, self->symbols, filter);
  self->terms = g_steal_pointer (&terms);
}

static bool
weigh_events (Refold *self, SampleMatcher *matcher, bool weighs_one, FoldWork *work)
{
  const int64_t *weight = weighs_one ? NULL : self->events->weight;
  const uint8_t *stack_is_in = self->stack_is_in;
  uint64_t *sums = self->sums + 1;
  uint32_t begin, end;

  while (sysprof_sample_matcher_next_run (matcher, &begin, &end))
    for (uint32_t stop; begin < end; begin = stop)
      {
        stop = MIN (end - begin, FOLD_STEP) + begin;
        if (matcher->is_plain && weight == NULL && stack_is_in == NULL)
          for (uint32_t i = begin; i < stop; i++)
            sums[self->run_of_event[i]]++;
        else
          for (uint32_t i = begin; i < stop; i++)
            if (sysprof_sample_matcher_takes (matcher, i) &&
                (stack_is_in == NULL || stack_is_in[self->events->stack[i]]))
              sums[self->run_of_event[i]] += weight != NULL ? (uint64_t) MAX (weight[i], 0) : 1;
        if (!sysprof_fold_work_step (work, stop - begin))
          return false;
      }
  return true;
}

static void
forget_weights (Refold *self)
{
  memset (self->sums, 0, ((size_t) self->runs->n + 2) * sizeof *self->sums);
}

bool
sysprof_refold_select (Refold *self, const SampleFilter *filter, FoldWork *work)
{
  static const SampleFilter everything = { 0 };
  SampleFilter asked = filter != NULL ? *filter : everything;
  SampleMatcher matcher;
  bool is_done;

  asked.events = self->events;
  forget_weights (self);
  match_terms (self, &asked);
  sysprof_sample_matcher_init_events (&matcher, self->store, &asked);
  is_done =
      weigh_events (self, &matcher, self->events->weight == NULL || asked.weigh_one, work) &&
      sysprof_fold_runs_sum (self->runs, self->sums, work);
  sysprof_sample_matcher_clear (&matcher);
  if (!is_done)
    forget_weights (self);
  return is_done;
}

/* --- answers --- */

uint64_t
sysprof_refold_get_weight (const Refold *self)
{
  return self->sums[self->runs->n + 1];
}

uint32_t
sysprof_refold_n_nodes (const Refold *self)
{
  return self->plan.n;
}

uint64_t
sysprof_refold_get_total (const Refold *self, uint32_t node)
{
  return sysprof_fold_runs_total (self->runs, self->sums,
                                  sysprof_fold_plan_find_run (&self->plan, node));
}

uint64_t
sysprof_refold_get_self (const Refold *self, uint32_t node)
{
  uint32_t run = sysprof_fold_plan_find_run (&self->plan, node);

  return node + 1 == self->plan.begin[run + 1] ? self->sums[run + 1] - self->sums[run] : 0;
}

uint32_t
sysprof_refold_n_children (const Refold *self, uint32_t node)
{
  return sysprof_fold_plan_n_children (&self->plan, node);
}

uint32_t
sysprof_refold_sort_children (const Refold *self, uint32_t node, uint32_t *children)
{
  return sysprof_fold_plan_sort_children (&self->plan, self->sums, node, children);
}

SymbolKind
sysprof_refold_get_kind (const Refold *self, uint32_t node, SymbolId *symbol, uint32_t *id)
{
  return sysprof_fold_plan_get_kind (&self->plan, self->store, self->symbols, node, symbol, id);
}

CallTree *
sysprof_refold_dup_tree (const Refold *self, FoldWork *work)
{
  return sysprof_fold_plan_dup_tree (&self->plan, self->store, self->symbols, self->sums, work);
}

FunctionTable *
sysprof_refold_dup_table (Refold *self, FoldWork *work)
{
  g_return_val_if_fail (self->is_table, NULL);

  return sysprof_fold_table_plan_dup_table (&self->table, self->symbols, self->sums, work);
}

uint64_t
sysprof_refold_estimate_work (const Store *store, const StackEvents *events)
{
  /* Ends, sizes, places, nodes. */
  return (events != NULL ? events : &store->samples)->n + 3 * (uint64_t) store->stacks.n;
}
