// SPDX-License-Identifier: GPL-3.0-or-later

/* Which stacks are cut or without names, by binary, and what a person can do about it. */

#include "views/fold.h"

#include <stdlib.h>
#include <string.h>

enum
{
  BINARY,
  REASON,
  SAMPLES,
  REMEDY,
  N_COLUMNS,
};

static const Column columns[] = {
  [BINARY] = { "binary", "BINARY", COLUMN_TEXT },
  [REASON] = { "reason", "REASON", COLUMN_TEXT },
  [SAMPLES] = { "samples", "SAMPLES", COLUMN_COUNT, .share = true },
  [REMEDY] = { "remedy", "REMEDY", COLUMN_TEXT },
};

/* What is wrong with a stack: how it ends, or why its innermost function has no name. */
typedef struct
{
  StringId binary;
  uint8_t end;        /* StackEnd; STACK_WHOLE in rows about names */
  uint8_t reason;     /* UnnamedReason */
  SymbolId outermost; /* the first such end that was found */
  uint64_t samples;
} Finding;

static const struct
{
  const char *reason;
  const char *remedy;
} ends[] = {
  [STACK_WHOLE] = { "whole", "" },
  [STACK_KERNEL_ONLY] = { "kernel part only (exec, exit, or user code not asked for)", "" },
  [STACK_CUT] = { "cut", "build it with -fno-omit-frame-pointer" },
  [STACK_EMPTY] = { "empty: the kernel gave no address", "" },
};

static void
count (GHashTable *findings, Finding finding)
{
  uint64_t key = (uint64_t) finding.binary << 16 | (uint64_t) finding.end << 8 | finding.reason;
  Finding *found = g_hash_table_lookup (findings, &key);

  if (found)
    {
      found->samples += finding.samples;
      return;
    }
  g_hash_table_insert (findings, g_memdup2 (&key, sizeof key),
                       g_memdup2 (&finding, sizeof finding));
}

static GHashTable *
find_all (const ViewRequest *request, const StackWeights *weights)
{
  const Store *store = request->store;
  const SymbolTable *symbols = request->symbols;
  const StackTree *stacks = &store->stacks;
  GHashTable *findings = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, g_free);
  g_autofree StackId *outermost = g_new0 (StackId, MAX (stacks->n, 1));
  /* The outermost function that a file has: what lies outside of it are words that were no return addresses. */
  g_autofree SymbolId *outermost_known = g_new0 (SymbolId, MAX (stacks->n, 1));

  for (StackId i = 0; i < stacks->n; i++)
    {
      SymbolId symbol = symbols->of_address[stacks->address[i]];
      const Symbol *innermost, *last;
      StackEnd end;

      outermost[i] = stacks->depth[i] <= 1 ? i : outermost[stacks->parent[i]];
      outermost_known[i] = stacks->depth[i] <= 1 ? 0 : outermost_known[stacks->parent[i]];
      if (outermost_known[i] == 0 && symbols->row[symbol].binary != 0 &&
          symbols->row[symbol].kind == SYMBOL_USER)
        outermost_known[i] = symbol;
      if (weights->self[i] == 0)
        continue;
      end = sysprof_stack_end (store, symbols, outermost[i]);
      last = &symbols->row[outermost_known[i] != 0
                               ? outermost_known[i]
                               : symbols->of_address[stacks->address[outermost[i]]]];
      count (findings,
             (Finding){ end == STACK_EMPTY ? 0 : last->binary, (uint8_t) end, UNNAMED_NOT,
                        (SymbolId) (last - symbols->row), weights->self[i] });
      innermost = &symbols->row[symbol];
      if (end != STACK_EMPTY && innermost->reason != UNNAMED_NOT)
        count (findings, (Finding){ innermost->binary, STACK_WHOLE, innermost->reason, 0,
                                    weights->self[i] });
    }
  return findings;
}

/* What is wrong before what is well, then by weight. */
static int
compare_findings (const void *left, const void *right, void *data)
{
  const Finding *a = *(const Finding *const *) left;
  const Finding *b = *(const Finding *const *) right;
  const SymbolTable *symbols = data;
  bool a_is_well = a->end == STACK_WHOLE && a->reason == UNNAMED_NOT;
  bool b_is_well = b->end == STACK_WHOLE && b->reason == UNNAMED_NOT;
  int order;

  if (a_is_well != b_is_well)
    return a_is_well - b_is_well;
  if (a->samples != b->samples)
    return a->samples < b->samples ? 1 : -1;
  order = strcmp (sysprof_intern_get (&symbols->strings, a->binary),
                  sysprof_intern_get (&symbols->strings, b->binary));
  if (order != 0)
    return order;
  return (a->end - b->end) * 256 + a->reason - b->reason;
}

static void
add_finding (Rows *rows, const SymbolTable *symbols, const Finding *finding)
{
  Cell *cells = sysprof_rows_add (rows);

  cells[BINARY].text = sysprof_intern_get (&symbols->strings, finding->binary);
  cells[SAMPLES].count = finding->samples;
  if (finding->reason != UNNAMED_NOT)
    {
      g_autofree char *reason = g_strconcat (
          "without name: ", sysprof_unnamed_reason_to_string ((UnnamedReason) finding->reason),
          NULL);

      cells[REASON].text = sysprof_rows_dup (rows, reason);
      cells[REMEDY].text = sysprof_unnamed_reason_remedy ((UnnamedReason) finding->reason);
      return;
    }
  cells[REASON].text = ends[finding->end].reason;
  cells[REMEDY].text = ends[finding->end].remedy;
  if (finding->end == STACK_CUT)
    {
      g_autofree char *reason =
          g_strdup_printf ("cut: no frame pointers, e.g. in %s",
                           sysprof_symbol_name (symbols, finding->outermost));

      cells[REASON].text = sysprof_rows_dup (rows, reason);
    }
}

static bool
fill_quality (const ViewRequest *request, Rows *rows, GError **error)
{
  g_autoptr (GHashTable) findings = NULL;
  g_autofree gpointer *sorted = NULL;
  GHashTableIter iter;
  StackWeights weights;
  gpointer finding;
  uint32_t n = 0;

  sysprof_request_fold (request, false, &weights);
  findings = find_all (request, &weights);
  sysprof_rows_init (rows, columns, N_COLUMNS, weights.total);
  sysprof_stack_weights_clear (&weights);

  sorted = g_new (gpointer, MAX (g_hash_table_size (findings), 1));
  g_hash_table_iter_init (&iter, findings);
  while (g_hash_table_iter_next (&iter, NULL, &finding))
    sorted[n++] = finding;
  qsort_r (sorted, n, sizeof *sorted, compare_findings, (void *) request->symbols);
  for (uint32_t i = 0; i < n; i++)
    add_finding (rows, request->symbols, sorted[i]);
  return true;
}

const View sysprof_quality_view = {
  .name = "quality",
  .title = "Quality of stacks",
  .summary = "stacks whole, cut or without names, by binary, with reason and remedy",
  .fill = fill_quality,
};
