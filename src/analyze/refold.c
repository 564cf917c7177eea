// SPDX-License-Identifier: GPL-3.0-or-later

#include "analyze/fold-list.h"
#include "analyze/fold-plan.h"
#include "analyze/fold-work.h"
#include "analyze/function-table.h"
#include "analyze/node-set.h"
#include "analyze/sample-sieve.h"
#include "analyze/stack-terms.h"

#include <stdlib.h>
#include <string.h>

struct Refold /* refold.h */
{
  const Store *store;
  const SymbolTable *symbols;
  const StackEvents *events;
  FoldPlan plan;

  /* The distinct stacks of the events, by thread where the shape tells threads apart, in the order in which they are
   * met: neighbours in time are neighbours in memory. */
  uint32_t n_ends;
  uint32_t *end_of_event; /* [events->n] */
  StackId *stack_of_end;  /* [n_ends] */

  uint64_t weight;         /* of what is selected, as all below */
  uint64_t *weight_of_end; /* [n_ends] */
  uint64_t *total;         /* [plan.n] */

  char *
      terms; /* that `stack_is_in` is about, as selections with the same terms follow each other */
  uint8_t *stack_is_in; /* [stacks.n] or NULL: all are */
};

/* --- the distinct stacks --- */

static bool
find_ends (Refold *self, FoldWork *work)
{
  g_autofree uint32_t *end_of_stack =
      sysprof_large_new0 (MAX (self->store->stacks.n, 1), sizeof (uint32_t));
  const StackEvents *events = self->events;

  self->end_of_event = sysprof_large_new (MAX (events->n, 1), sizeof (uint32_t));
  self->stack_of_end =
      sysprof_large_new (MAX (MIN (events->n, self->store->stacks.n), 1), sizeof (StackId));
  for (uint32_t i = 0; i < events->n; i++)
    {
      uint32_t *end = &end_of_stack[events->stack[i]];

      if (*end == 0)
        {
          self->stack_of_end[self->n_ends++] = events->stack[i];
          *end = self->n_ends;
        }
      self->end_of_event[i] = *end - 1;
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
find_pairs (Refold *self, Threads *threads, FoldWork *work)
{
  const StackEvents *events = self->events;

  for (uint32_t i = 0; i < events->n; i++)
    {
      uint32_t tid = (uint32_t) events->tid[i], fresh = threads->stack.n + 1;
      uint32_t end =
          sysprof_node_set_find_or_add (&threads->pairs, events->stack[i], tid, fresh);

      self->end_of_event[i] = end - 1;
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

/* [threads] where the ends of each begin, when they lie by rising tid. */
static uint32_t *
find_begins (const Threads *threads)
{
  uint32_t n = threads->tid.n, at = 0;
  g_autofree uint32_t *order = g_new (uint32_t, MAX (n, 1));
  g_autofree uint32_t *count = g_new0 (uint32_t, MAX (n, 1));
  uint32_t *begin = g_new (uint32_t, MAX (n, 1));

  for (uint32_t i = 0; i < n; i++)
    order[i] = i;
  qsort_r (order, n, sizeof *order, compare_tids, threads->tid.item);
  for (uint32_t i = 0; i < threads->stack.n; i++)
    count[threads->thread.item[i]]++;
  for (uint32_t i = 0; i < n; i++)
    {
      begin[order[i]] = at;
      at += count[order[i]];
    }
  return begin;
}

/* By thread, `tids` [n_ends] ascending. */
static bool
order_by_thread (Refold *self, const Threads *threads, int32_t **tids, FoldWork *work)
{
  g_autofree uint32_t *next = find_begins (threads);
  g_autofree uint32_t *moved = NULL;

  self->n_ends = threads->stack.n;
  self->stack_of_end = g_new (StackId, MAX (self->n_ends, 1));
  *tids = g_new (int32_t, MAX (self->n_ends, 1));
  moved = g_new (uint32_t, MAX (self->n_ends, 1));
  for (uint32_t i = 0; i < self->n_ends; i++)
    {
      uint32_t thread = threads->thread.item[i], to = next[thread]++;

      moved[i] = to;
      self->stack_of_end[to] = threads->stack.item[i];
      (*tids)[to] = (int32_t) threads->tid.item[thread];
    }
  for (uint32_t i = 0; i < self->events->n; i++)
    {
      self->end_of_event[i] = moved[self->end_of_event[i]];
      if (!sysprof_fold_work_at (work, i))
        return false;
    }
  return true;
}

static bool
find_ends_of_threads (Refold *self, int32_t **tids, FoldWork *work)
{
  Threads threads = { 0 };
  bool is_done;

  self->end_of_event = sysprof_large_new (MAX (self->events->n, 1), sizeof (uint32_t));
  sysprof_node_set_init (&threads.pairs);
  sysprof_node_set_init (&threads.threads);
  is_done = find_pairs (self, &threads, work) && order_by_thread (self, &threads, tids, work);

  sysprof_node_set_clear (&threads.pairs);
  sysprof_node_set_clear (&threads.threads);
  number_list_clear (&threads.stack);
  number_list_clear (&threads.thread);
  number_list_clear (&threads.tid);
  return is_done;
}

/* --- birth and death --- */

static Refold *
new_refold (const Store *store,
            const SymbolTable *symbols,
            const StackEvents *events,
            const TreeShape *shape,
            const FoldQuestion *question,
            FoldWork *work)
{
  static const TreeShape plain = { 0 };
  g_autoptr (Refold) self = g_new0 (Refold, 1);
  g_autofree int32_t *tids = NULL;
  FoldEnds ends;

  self->store = store;
  self->symbols = symbols;
  self->events = events != NULL ? events : &store->samples;
  if (shape == NULL)
    shape = &plain;
  if (question == NULL && shape->threads ? !find_ends_of_threads (self, &tids, work)
                                         : !find_ends (self, work))
    return NULL;

  ends = (FoldEnds){ self->stack_of_end, tids, self->n_ends };
  if (!sysprof_fold_plan_init (&self->plan, store, symbols, shape, question, &ends, work))
    return NULL;

  self->weight_of_end = sysprof_large_new0 (MAX (self->n_ends, 1), sizeof (uint64_t));
  self->total = sysprof_large_new0 (self->plan.n, sizeof (uint64_t));
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
  FoldQuestion question = { table, table != FOLD_FUNCTIONS ? shape->focus : NULL };

  return new_refold (store, symbols, events, shape, &question, work);
}

void
sysprof_refold_free (Refold *self)
{
  if (self == NULL)
    return;

  sysprof_fold_plan_clear (&self->plan);
  g_free (self->end_of_event);
  g_free (self->stack_of_end);
  g_free (self->weight_of_end);
  g_free (self->total);
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
weigh_events (Refold *self, SampleSieve *sieve, bool weighs_one, FoldWork *work)
{
  const int64_t *weight = weighs_one ? NULL : self->events->weight;
  uint32_t begin, end;

  while (sysprof_sample_sieve_next_run (sieve, &begin, &end))
    for (uint32_t stop; begin < end; begin = stop)
      {
        stop = MIN (end - begin, FOLD_STEP) + begin;
        if (sieve->is_plain && weight == NULL)
          for (uint32_t i = begin; i < stop; i++)
            self->weight_of_end[self->end_of_event[i]]++;
        else
          for (uint32_t i = begin; i < stop; i++)
            if (sysprof_sample_sieve_takes (sieve, i))
              self->weight_of_end[self->end_of_event[i]] +=
                  weight != NULL ? (uint64_t) MAX (weight[i], 0) : 1;
        if (!sysprof_fold_work_step (work, stop - begin))
          return false;
      }
  return true;
}

static bool
weigh_nodes (Refold *self, FoldWork *work)
{
  for (uint32_t i = 0; i < self->n_ends; i++)
    {
      uint64_t weight = self->weight_of_end[i];
      uint32_t node = self->plan.node_of_end[i];

      if (!sysprof_fold_work_at (work, i))
        return false;
      if (weight == 0)
        continue;
      if (self->stack_is_in != NULL && !self->stack_is_in[self->stack_of_end[i]])
        {
          self->weight_of_end[i] = 0;
          continue;
        }
      self->weight += weight;
      if (node != FOLD_NOWHERE)
        self->total[node] += weight;
    }
  return sysprof_fold_plan_push (&self->plan, self->total, work);
}

static void
forget_weights (Refold *self)
{
  self->weight = 0;
  memset (self->weight_of_end, 0, self->n_ends * sizeof *self->weight_of_end);
  memset (self->total, 0, self->plan.n * sizeof *self->total);
}

bool
sysprof_refold_select (Refold *self, const SampleFilter *filter, FoldWork *work)
{
  static const SampleFilter everything = { 0 };
  SampleFilter asked = filter != NULL ? *filter : everything;
  SampleSieve sieve;
  bool is_done;

  asked.events = self->events;
  forget_weights (self);
  match_terms (self, &asked);
  sysprof_sample_sieve_init_events (&sieve, self->store, &asked);
  is_done =
      weigh_events (self, &sieve, self->events->weight == NULL || asked.weigh_one, work) &&
      weigh_nodes (self, work);
  sysprof_sample_sieve_clear (&sieve);
  if (!is_done)
    forget_weights (self);
  return is_done;
}

/* --- answers --- */

uint64_t
sysprof_refold_get_weight (const Refold *self)
{
  return self->weight;
}

uint32_t
sysprof_refold_n_nodes (const Refold *self)
{
  return self->plan.n;
}

uint64_t
sysprof_refold_get_total (const Refold *self, uint32_t node)
{
  return self->total[node];
}

uint64_t
sysprof_refold_get_self (const Refold *self, uint32_t node)
{
  uint64_t weight = self->total[node];

  for (uint32_t i = self->plan.first_child[node]; i < self->plan.first_child[node + 1]; i++)
    weight -= self->total[i];
  return weight;
}

uint32_t
sysprof_refold_n_children (const Refold *self, uint32_t node)
{
  return self->plan.first_child[node + 1] - self->plan.first_child[node];
}

uint32_t
sysprof_refold_sort_children (const Refold *self, uint32_t node, uint32_t *children)
{
  return sysprof_fold_plan_sort_children (&self->plan, self->total, node, children);
}

SymbolKind
sysprof_refold_get_kind (const Refold *self, uint32_t node, SymbolId *symbol, uint32_t *id)
{
  return sysprof_fold_plan_get_kind (&self->plan, self->store, self->symbols, node, symbol, id);
}

CallTree *
sysprof_refold_dup_tree (const Refold *self, FoldWork *work)
{
  return sysprof_fold_plan_dup_tree (&self->plan, self->store, self->symbols, self->total,
                                     work);
}

/* What ends at a node counts to its row whether or not the row counts what passes there. */
FunctionTable *
sysprof_refold_dup_table (Refold *self, FoldWork *work)
{
  const FoldPlan *plan = &self->plan;
  FunctionSums sums;

  g_return_val_if_fail (plan->row != NULL, NULL);

  sysprof_function_sums_init (&sums, self->symbols);
  for (uint32_t i = 0; i < plan->n; i++)
    {
      if (plan->row[i] & FOLD_ROW_COUNTS)
        sums.of_symbol[plan->row[i] & ~FOLD_ROW_COUNTS].total += self->total[i];
      if (!sysprof_fold_work_at (work, i))
        {
          sysprof_function_sums_clear (&sums);
          return NULL;
        }
    }
  for (uint32_t i = 0; i < self->n_ends; i++)
    if (self->weight_of_end[i] > 0)
      sums.of_symbol[plan->row[plan->node_of_end[i]] & ~FOLD_ROW_COUNTS].self +=
          self->weight_of_end[i];
  return sysprof_function_sums_finish (&sums, self->symbols, plan->rank, self->weight);
}

uint64_t
sysprof_refold_estimate_work (const Store *store, const StackEvents *events)
{
  /* Ends, sizes, places, nodes. */
  return (events != NULL ? events : &store->samples)->n + 3 * (uint64_t) store->stacks.n;
}
