// SPDX-License-Identifier: GPL-3.0-or-later

/* How many stacks are complete, and where the others end. */

#include "analyze/analyze.h"
#include "analyze/fold/stack-entry.h"

/* The entry under which a stack stands that was cut. */
static bool
is_marker (const Store *store, const SymbolTable *symbols, StackId stack)
{
  return store->stacks.depth[stack] == 1 &&
         symbols->row[sysprof_stack_symbol (store, symbols, stack)].kind == SYMBOL_MARKER;
}

/* How a stack ends whose outermost entry is that of `outermost`, a stack of depth 1 (or 0: no function). */
static StackEnd
end_at (const Store *store, const SymbolTable *symbols, StackId outermost)
{
  if (store->stacks.depth[outermost] == 0)
    return STACK_EMPTY;

  if (store->is_not_unwound)
    return STACK_NOT_UNWOUND;

  if (is_marker (store, symbols, outermost))
    return STACK_CUT;

  if (store->has_walks || store->is_imported ||
      symbols->row[sysprof_stack_symbol (store, symbols, outermost)].is_entry)
    return STACK_WHOLE;

  /* A kernel thread has no user part, so where its stack ends is where it was cut. */
  if (sysprof_stack_is_kernel (store, outermost) &&
      !store->processes.row[store->stacks.parent[outermost]].is_kernel)
    return STACK_KERNEL_ONLY;

  return STACK_CUT;
}

static StackId
find_last (const Store *store, StackId stack)
{
  while (store->stacks.depth[stack] > 1)
    stack = store->stacks.parent[stack];
  return stack;
}

StackEnd
sysprof_stack_end (const Store *store, const SymbolTable *symbols, StackId stack)
{
  return end_at (store, symbols, find_last (store, stack));
}

Text
sysprof_stack_cut_reason (const Store *store, const SymbolTable *symbols, StackId stack)
{
  StackId last = find_last (store, stack);
  Text name;

  if (!is_marker (store, symbols, last))
    return sysprof_text_from_string ("");

  name = sysprof_text_from_string (
      sysprof_symbol_name (symbols, sysprof_stack_symbol (store, symbols, last)));
  if (!sysprof_text_skip (&name, SYMBOL_TRUNCATED_PREFIX))
    (void) sysprof_text_skip (&name, SYMBOL_CUT_PREFIX);
  if (sysprof_text_size (name) > 0 && name.end[-1] == ']')
    name.end--;
  return name;
}

/* [stacks.n] the stack of depth 1 that each one continues; of a process itself, the process. */
static StackId *
find_outermost (const StackTree *stacks)
{
  StackId *outermost = g_new0 (StackId, MAX (stacks->n, 1));

  for (StackId i = 0; i < stacks->n && sysprof_is_wanted_at (i); i++)
    outermost[i] = stacks->depth[i] <= 1 ? i : outermost[stacks->parent[i]];
  return outermost;
}

/* Whether a function is in code. Unwinding by frame pointers may end at a value that a
 * register happened to have: in no file, on the heap, on the stack. */
static bool
is_code (const SymbolTable *symbols, SymbolId symbol)
{
  const char *binary = sysprof_symbol_binary (symbols, symbol);

  return symbols->row[symbol].kind == SYMBOL_JIT ||
         (binary[0] != '\0' && (binary[0] != '[' || g_str_equal (binary, "[vdso]")));
}

StackId *
sysprof_stack_ends_find (const Store *store, const SymbolTable *symbols)
{
  const StackTree *stacks = &store->stacks;
  StackId *end = g_new0 (StackId, MAX (stacks->n, 1));

  for (StackId i = 0; i < stacks->n && sysprof_is_wanted_at (i); i++)
    {
      StackId caller = stacks->depth[i] <= 1 || is_marker (store, symbols, stacks->parent[i])
                           ? i
                           : end[stacks->parent[i]];

      end[i] = caller;
      if (caller != i && !sysprof_stack_is_kernel (store, i) &&
          !sysprof_stack_is_kernel (store, caller) &&
          !is_code (symbols, sysprof_stack_symbol (store, symbols, caller)) &&
          is_code (symbols, sysprof_stack_symbol (store, symbols, i)))
        end[i] = i;
    }
  return end;
}

static int
compare_rows (const void *a, const void *b, void *data)
{
  const SymbolTable *symbols = data;
  const QualityRow *left = a;
  const QualityRow *right = b;

  if (left->samples != right->samples)
    return left->samples < right->samples ? 1 : -1;
  return g_strcmp0 (sysprof_intern_get (&symbols->strings, left->binary),
                    sysprof_intern_get (&symbols->strings, right->binary));
}

/* One row per binary with truncated stacks; cut[symbol] is their number at each function. */
static void
make_rows (Quality *self, const SymbolTable *symbols, const uint64_t *cut)
{
  g_autofree uint32_t *row_of_binary =
      g_new0 (uint32_t, MAX (symbols->strings.n_strings, 1)); /* + 1 */

  self->row = g_new0 (QualityRow, MAX (symbols->n, 1));
  for (SymbolId i = 0; i < symbols->n; i++)
    {
      uint32_t *number = &row_of_binary[symbols->row[i].binary];
      QualityRow *row;

      if (cut[i] == 0)
        continue;

      if (*number == 0)
        {
          *number = ++self->n;
          self->row[*number - 1] = (QualityRow){ i, symbols->row[i].binary, STACK_CUT, 0 };
        }
      row = &self->row[*number - 1];
      row->samples += cut[i];
      if (cut[i] > cut[row->outermost])
        row->outermost = i;
    }
  (void) sysprof_sort_if_wanted (self->row, self->n, sizeof *self->row, compare_rows, symbols);
}

Quality *
sysprof_quality_new (const Store *store,
                     const SymbolTable *symbols,
                     const StackWeights *weights)
{
  const StackTree *stacks = &store->stacks;
  g_autofree StackId *outermost = find_outermost (stacks);
  g_autofree StackId *ends = sysprof_stack_ends_find (store, symbols);
  g_autofree uint64_t *cut = g_new0 (uint64_t, MAX (symbols->n, 1));
  Quality *self = g_new0 (Quality, 1);
  uint64_t *const sums[] = {
    [STACK_WHOLE] = &self->whole,
    [STACK_KERNEL_ONLY] = &self->kernel_only,
    [STACK_CUT] = &self->cut,
    [STACK_EMPTY] = &self->empty,
    [STACK_NOT_UNWOUND] = &self->not_unwound,
  };

  for (StackId i = 0; i < stacks->n && sysprof_is_wanted_at (i); i++)
    {
      uint64_t weight = weights->self[i];
      StackEnd end;
      uint8_t reason;

      if (weight == 0)
        continue;

      end = end_at (store, symbols, outermost[i]);
      *sums[end] += weight;
      self->total += weight;
      if (end == STACK_EMPTY)
        continue;

      if (end == STACK_CUT)
        cut[sysprof_stack_symbol (store, symbols, ends[i])] += weight;

      reason = symbols->row[sysprof_stack_symbol (store, symbols, i)].reason;
      self->by_reason[reason] += weight;
      if (reason != UNNAMED_NOT)
        self->unnamed += weight;
    }

  make_rows (self, symbols, cut);
  return self;
}

void
sysprof_quality_free (Quality *self)
{
  if (self == NULL)
    return;

  g_free (self->row);
  g_free (self);
}
