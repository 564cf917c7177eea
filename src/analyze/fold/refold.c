// SPDX-License-Identifier: GPL-3.0-or-later

/* Computes trees and tables again when only the selection changes. See refold.h. */

#include "analyze/fold/call-rows.h"
#include "analyze/fold/node-set.h"
#include "analyze/fold/work.h"
#include "analyze/selection/sample-matcher.h"
#include "analyze/selection/stack-terms.h"

#include <string.h>

struct Refold /* refold.h */
{
  const Store *store;
  const SymbolTable *symbols;
  const StackEvents *events;
  FoldPlan plan;
  FoldRows rows; /* of a table */
  bool is_table;
  uint32_t *run_of_event; /* [events->n]; n_runs = out of focus */
  char *
      terms; /* of which `stack_is_in` is, as selections with the same terms follow each other */
  uint8_t *stack_is_in; /* [stacks.n] or NULL: all are */
};

/* --- making and freeing --- */

/* Each event weighs 1, so that all have nodes. FALSE if cancelled. */
static bool
weigh_all (StackWeights *weights, const Refold *self, bool by_thread, FoldWork *work)
{
  SampleFilter all = { .events = self->events, .weigh_one = true };
  GCancellable *cancellable = work != NULL ? work->cancellable : NULL;

  if (cancellable != NULL)
    g_cancellable_push_current (cancellable);
  sysprof_stack_weights_fold (weights, self->store, self->symbols, &all, by_thread);
  if (cancellable != NULL)
    g_cancellable_pop_current (cancellable);
  return sysprof_fold_work_step (work, self->events->n);
}

/* Replaces the entries of events by runs. */
static bool
find_runs (Refold *self,
           const StackWeights *weights,
           const FoldEntries *entries,
           FoldWork *work)
{
  const StackEvents *events = self->events;
  g_autofree uint32_t *run_of_entry =
      sysprof_large_new (MAX (entries->n, 1), sizeof (uint32_t));
  NodeSet ends; /* (stack, thread) → 1 + index in weights->by_thread */

  if (!sysprof_fold_plan_init_stacks (&self->plan, (FoldEntries *) entries, 0, run_of_entry,
                                      work))
    return false;

  self->run_of_event = sysprof_large_new (MAX (events->n, 1), sizeof *self->run_of_event);
  sysprof_node_set_init (&ends);
  for (uint32_t i = 0; entries->of_thread != NULL && i < weights->by_thread.n; i++)
    (void) sysprof_node_set_find_or_add (&ends, weights->by_thread.stack[i],
                                         (uint32_t) weights->by_thread.tid[i], i + 1);
  for (uint32_t i = 0; i < events->n; i++)
    {
      uint32_t entry = events->stack[i];

      if (entries->of_thread != NULL)
        entry = entries->of_thread[sysprof_node_set_find_or_add (&ends, entry,
                                                                 (uint32_t) events->tid[i], 1) -
                                   1];
      self->run_of_event[i] = MIN (run_of_entry[entry], self->plan.n_runs);
    }
  sysprof_node_set_clear (&ends);
  return true;
}

/* `table` is NULL for a tree. FALSE if cancelled. */
static bool
make (Refold *self, const Shape *shape, const FoldTable *table, FoldWork *work)
{
  Shape asked = table != NULL ? sysprof_fold_table_shape (shape) : *shape;
  StackWeights weights = { 0 };
  FoldEntries entries = { 0 };
  bool is_done;

  self->is_table = table != NULL;
  is_done = weigh_all (&weights, self, asked.threads, work) &&
            sysprof_fold_entries_init (&entries, self->store, self->symbols, &asked, &weights,
                                       work) &&
            find_runs (self, &weights, &entries, work);
  if (is_done && table != NULL)
    {
      g_autofree bool *is_focus = *table != FOLD_FUNCTIONS
                                      ? sysprof_focus_match (self->symbols, shape->focus, NULL)
                                      : NULL;

      if (is_focus != NULL)
        sysprof_shown_symbols_move_focus (entries.keys.shown, self->symbols, is_focus);
      is_done = sysprof_fold_rows_init (&self->rows, &self->plan, self->symbols, *table,
                                        is_focus, work);
    }
  sysprof_fold_entries_clear (&entries);
  sysprof_stack_weights_clear (&weights);
  return is_done;
}

static void
forget_weights (Refold *self)
{
  memset (self->plan.sums, 0, ((size_t) self->plan.n_runs + 2) * sizeof *self->plan.sums);
}

static Refold *
new_refold (const Store *store,
            const SymbolTable *symbols,
            const StackEvents *events,
            const Shape *shape,
            const FoldTable *table,
            FoldWork *work)
{
  static const Shape plain = { 0 };
  g_autoptr (Refold) self = g_new0 (Refold, 1);

  self->store = store;
  self->symbols = symbols;
  self->events = events != NULL ? events : &store->samples;
  if (!make (self, shape != NULL ? shape : &plain, table, work))
    return NULL;

  forget_weights (self);
  return g_steal_pointer (&self);
}

Refold *
sysprof_refold_new_tree (const Store *store,
                         const SymbolTable *symbols,
                         const StackEvents *events,
                         const Shape *shape,
                         FoldWork *work)
{
  return new_refold (store, symbols, events, shape, NULL, work);
}

Refold *
sysprof_refold_new_table (const Store *store,
                          const SymbolTable *symbols,
                          const StackEvents *events,
                          FoldTable table,
                          const Shape *shape,
                          FoldWork *work)
{
  return new_refold (store, symbols, events, shape, &table, work);
}

void
sysprof_refold_free (Refold *self)
{
  if (self == NULL)
    return;

  sysprof_fold_plan_clear (&self->plan);
  sysprof_fold_rows_clear (&self->rows);
  g_free (self->run_of_event);
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
  uint64_t *sums = self->plan.sums + 1;
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
      sysprof_fold_plan_sum (&self->plan, work);
  sysprof_sample_matcher_clear (&matcher);
  if (!is_done)
    forget_weights (self);
  return is_done;
}

/* --- answers --- */

uint64_t
sysprof_refold_get_weight (const Refold *self)
{
  return self->plan.sums[self->plan.n_runs + 1];
}

uint64_t
sysprof_refold_get_total (const Refold *self, uint32_t node)
{
  return sysprof_fold_plan_total (&self->plan, sysprof_fold_plan_find_run (&self->plan, node));
}

uint64_t
sysprof_refold_get_self (const Refold *self, uint32_t node)
{
  uint32_t run = sysprof_fold_plan_find_run (&self->plan, node);

  return node + 1 == self->plan.begin[run + 1] ? sysprof_fold_plan_self (&self->plan, run) : 0;
}

uint32_t
sysprof_refold_n_children (const Refold *self, uint32_t node)
{
  return sysprof_fold_plan_n_children (&self->plan, node);
}

uint32_t
sysprof_refold_sort_children (const Refold *self, uint32_t node, uint32_t *children)
{
  return sysprof_fold_plan_sort_children (&self->plan, node, children);
}

SymbolKind
sysprof_refold_get_kind (const Refold *self, uint32_t node, SymbolId *symbol, uint32_t *id)
{
  return sysprof_fold_plan_get_kind (&self->plan, self->store, self->symbols, node, symbol, id);
}

CallTree *
sysprof_refold_dup_tree (const Refold *self, FoldWork *work)
{
  return sysprof_fold_plan_dup_tree (&self->plan, self->store, self->symbols, work);
}

FunctionTable *
sysprof_refold_dup_table (Refold *self, FoldWork *work)
{
  g_return_val_if_fail (self->is_table, NULL);

  return sysprof_fold_rows_dup_table (&self->rows, &self->plan, self->symbols, work);
}
