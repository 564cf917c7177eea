// SPDX-License-Identifier: GPL-3.0-or-later

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

typedef struct
{
  int32_t tid;
  StackId stack;
  uint32_t end;
} ThreadEnd;

static int
compare_thread_ends (const void *a, const void *b)
{
  const ThreadEnd *left = a, *right = b;

  if (left->tid != right->tid)
    return left->tid < right->tid ? -1 : 1;
  return (left->stack > right->stack) - (left->stack < right->stack);
}

/* By thread, `tids` [n_ends] ascending. */
static bool
find_ends_of_threads (Refold *self, int32_t **tids, FoldWork *work)
{
  const StackEvents *events = self->events;
  g_autoptr (GArray) found = g_array_new (FALSE, FALSE, sizeof (ThreadEnd));
  g_autofree uint32_t *moved = NULL;
  bool is_done = true;
  NodeSet set;

  self->end_of_event = sysprof_large_new (MAX (events->n, 1), sizeof (uint32_t));
  sysprof_node_set_init (&set);
  for (uint32_t i = 0; i < events->n && is_done; i++)
    {
      uint32_t fresh = found->len + 1;
      uint32_t end = sysprof_node_set_find_or_add (&set, events->stack[i],
                                                   (uint32_t) events->tid[i], fresh);

      if (end == fresh)
        {
          ThreadEnd thread_end = { events->tid[i], events->stack[i], end - 1 };

          g_array_append_val (found, thread_end);
        }
      self->end_of_event[i] = end - 1;
      is_done = sysprof_fold_work_at (work, i);
    }
  sysprof_node_set_clear (&set);
  if (!is_done)
    return false;

  qsort (found->data, found->len, sizeof (ThreadEnd), compare_thread_ends);
  self->n_ends = found->len;
  self->stack_of_end = g_new (StackId, MAX (self->n_ends, 1));
  *tids = g_new (int32_t, MAX (self->n_ends, 1));
  moved = g_new (uint32_t, MAX (self->n_ends, 1));
  for (uint32_t i = 0; i < self->n_ends; i++)
    {
      const ThreadEnd *end = &g_array_index (found, ThreadEnd, i);

      self->stack_of_end[i] = end->stack;
      (*tids)[i] = end->tid;
      moved[end->end] = i;
    }
  for (uint32_t i = 0; i < events->n; i++)
    self->end_of_event[i] = moved[self->end_of_event[i]];
  return sysprof_fold_work_step (work, events->n);
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
  return sysprof_function_sums_finish (&sums, self->symbols, self->weight);
}

uint64_t
sysprof_refold_estimate_work (const Store *store, const StackEvents *events)
{
  /* Ends, sizes, places, nodes. */
  return (events != NULL ? events : &store->samples)->n + 3 * (uint64_t) store->stacks.n;
}
