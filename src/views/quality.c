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
  uint8_t cut;        /* of cut_reasons; 0 = nobody said why */
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
  [STACK_CUT] = { "cut", "" }, /* cut_reasons has more */
  [STACK_EMPTY] = { "empty: the kernel gave no address", "" },
};

/* Why who walked the stack went no further. */
static const struct
{
  const char *code;
  const char *reason;
  const char *remedy;
} cut_reasons[] = {
  { "", "cut: no frame pointers", "build it with -fno-omit-frame-pointer" },
  { "no-process", "cut: the process had just started, what it maps was not known yet", "" },
  { "no-mapping", "cut: called from memory that no file is mapped to, or not any more", "" },
  { "no-table", "cut: its unwind table was still being made",
    "record longer: it is made once" },
  { "escape", "cut: unwind information of a kind that is not followed", "" },
  { "bad-fp", "cut: no unwind information, and no frame pointers",
    "build it with -fasynchronous-unwind-tables or -fno-omit-frame-pointer (Rust: -C "
    "force-unwind-tables; Java: -XX:+PreserveFramePointer)" },
  { "fault", "cut: its stack was not in memory", "" },
  { "sp-not-rising", "cut: unwind information that contradicts the stack", "" },
  { "zero", "cut: a return address of 0", "" },
  { "depth", "cut: deeper than a sample can hold",
    "look at its upper end: the innermost functions" },
  { "compat", "cut: a 32-bit program", "" },
};

static uint8_t
find_cut_reason (Text code)
{
  for (size_t i = 1; i < G_N_ELEMENTS (cut_reasons); i++)
    if (sysprof_text_equal (code, cut_reasons[i].code))
      return (uint8_t) i;
  return 0;
}

static void
count (GHashTable *findings, Finding finding)
{
  uint64_t key = (uint64_t) finding.binary << 24 | (uint64_t) finding.cut << 16 |
                 (uint64_t) finding.end << 8 | finding.reason;
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

  for (StackId i = 0; i < stacks->n; i++)
    {
      const Symbol *innermost, *last;
      StackEnd end;

      if (weights->self[i] == 0)
        continue;
      end = sysprof_stack_end (store, symbols, i);
      last = &symbols->row[symbols->of_address[stacks->address[sysprof_stack_outermost (
          store, symbols, i)]]];
      count (findings,
             (Finding){ end == STACK_EMPTY ? 0 : last->binary, (uint8_t) end, UNNAMED_NOT,
                        find_cut_reason (sysprof_stack_cut_reason (store, symbols, i)),
                        (SymbolId) (last - symbols->row), weights->self[i] });
      innermost = &symbols->row[symbols->of_address[stacks->address[i]]];
      if (end != STACK_EMPTY && innermost->reason != UNNAMED_NOT)
        count (findings, (Finding){ innermost->binary, STACK_WHOLE, innermost->reason, 0, 0,
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
  return (a->end - b->end) * 65536 + (a->cut - b->cut) * 256 + a->reason - b->reason;
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
          g_strdup_printf ("%s, e.g. in %s", cut_reasons[finding->cut].reason,
                           sysprof_symbol_name (symbols, finding->outermost));

      cells[REASON].text = sysprof_rows_dup (rows, reason);
      cells[REMEDY].text = cut_reasons[finding->cut].remedy;
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
