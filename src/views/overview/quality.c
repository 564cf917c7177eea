// SPDX-License-Identifier: GPL-3.0-or-later

/* Quality: which stacks are truncated or have unnamed functions, by binary, with the reason
 * and a remedy. Other views must take reasons from here as values, not from the texts. */

#include "capture/capture.h"
#include "views/overview/summary-parts.h"
#include "views/sample-rows.h"

#include <string.h>

enum
{
  BINARY,
  SAMPLES,
  REMEDY,
  REASON,
  EXAMPLE,
  N_COLUMNS,
};

static const Column columns[] = {
  [BINARY] = { "binary", "BINARY", COLUMN_TEXT },
  [SAMPLES] = { "samples", "SAMPLES", COLUMN_COUNT, .share = true, .title_of_time = "TIME" },
  [REMEDY] = { "remedy", "REMEDY", COLUMN_TEXT, .may_stand_below = true },
  [REASON] = { "reason", "REASON", COLUMN_TEXT, .extra = 3 },
  [EXAMPLE] = { "example", "MOST OFTEN IN", COLUMN_TEXT, .is_long = true, .extra = 4 },
};

/* A problem of stacks: how they end, or why their innermost function has no name. */
typedef struct
{
  StringId binary;
  uint8_t end;          /* StackEnd; STACK_WHOLE for problems with names */
  uint8_t reason;       /* UnnamedReason */
  uint8_t cut;          /* index into cut_reasons */
  bool may_miss_caller; /* the immediate caller of `example`, the innermost function */
  SymbolId example;     /* the function with the most samples */
  uint64_t most;        /* samples of `example` */
  uint64_t samples;
} Finding;

static const struct
{
  const char *reason;
  const char *remedy;
} ends[] = {
  [STACK_WHOLE] = { "complete", "" },
  [STACK_KERNEL_ONLY] = { "kernel part only: exec, exit, or user stacks not requested", "" },
  [STACK_CUT] = { "truncated", "" }, /* see cut_reasons */
  [STACK_EMPTY] = { "empty: the kernel gave no address", "" },
  [STACK_NOT_UNWOUND] = { "not unwound: recorded with --unwind none", "" },
};

/* Why a stack is truncated, by the codes of docs/format.md. */
static const struct
{
  const char *code;
  const char *cause; /* shown after "truncated: " */
  const char *remedy;
  bool is_perhaps; /* the stack may be complete */
} cut_reasons[] = {
  { "", "no frame pointers",
    /* the capture has no reason */
    "record as root, which does not need frame pointers, or build with -fno-omit-frame-pointer" },
  { "no-process", "process had just started; mappings not known yet",
    "usually few; fewer as root or with CAP_SYS_NICE" },
  { "no-mapping", "called from memory without a file or no longer mapped",
    "nothing: that code is gone" },
  { "no-table", "unwind table not ready yet", "record longer" },
  { "escape", "unsupported unwind information, or a switch of stacks (Go)",
    "for Go: record as root with --unwind tables; else nothing" },
  { "bad-fp", "no unwind information, no frame pointers", NULL }, /* fp_remedy() */
  { "fault", "stack not in memory", "nothing: the stack was paged out" },
  { "sp-not-rising", "wrong unwind information",
    "nothing; if frequent, report it to the package's maintainer" },
  { "zero", "return address of 0",
    "nothing; if frequent, report it to the package's maintainer" },
  { "depth", "stack deeper than a sample or a stack copy can hold",
    "with --unwind copy, record with --stack-size 65536" },
  { "compat", "32-bit code without frame pointers",
    "build for 64 bits, or the program and its libraries with -fno-omit-frame-pointer" },
  { "not-yet", "unwound by frame pointers; the unwinder was not loaded yet", "record longer",
    .is_perhaps = true },
  { "overload", "stack copies arrived faster than they could be unwound",
    "lower --frequency, or record as root" },
  { "table-failed",
    "no unwind table: file not readable, limit reached, or unknown version of Go",
    "record as root; if the limit was reached, record fewer processes (--pid)" },
};

#define N_ENDS (N_STACK_ENDS + G_N_ELEMENTS (cut_reasons))

/* Index of how a stack ends: a StackEnd, or N_STACK_ENDS + index into cut_reasons. */
static size_t
find_end (const Store *store, const SymbolTable *symbols, StackId stack)
{
  StackEnd end = sysprof_stack_end (store, symbols, stack);
  Text code;

  if (end != STACK_CUT)
    return end;

  code = sysprof_stack_cut_reason (store, symbols, stack);
  for (size_t i = 1; i < G_N_ELEMENTS (cut_reasons); i++)
    if (sysprof_text_equal (code, cut_reasons[i].code))
      return N_STACK_ENDS + i;
  return N_STACK_ENDS;
}

const char *
sysprof_find_most_common_cut (const Store *store,
                              const SymbolTable *symbols,
                              const StackWeights *weights)
{
  uint64_t samples[N_ENDS] = { 0 };
  size_t most = N_STACK_ENDS;

  for (StackId i = 0; i < store->stacks.n && sysprof_is_wanted_at (i); i++)
    if (weights->self[i] > 0)
      samples[find_end (store, symbols, i)] += weights->self[i];
  for (size_t end = N_STACK_ENDS; end < N_ENDS; end++)
    if (samples[end] > samples[most])
      most = end;
  return samples[most] > 0 ? cut_reasons[most - N_STACK_ENDS].cause : NULL;
}

/* Adds samples to the finding with the same binary, end and reason. */
static void
count (GHashTable *findings, Finding finding)
{
  /* g_int64_hash() uses the lower half, and there may be many binaries. */
  uint64_t key = (uint64_t) finding.may_miss_caller << 56 | (uint64_t) finding.cut << 48 |
                 (uint64_t) finding.end << 40 | (uint64_t) finding.reason << 32 |
                 finding.binary;
  Finding *found;

  if (finding.samples == 0)
    return;
  found = g_hash_table_lookup (findings, &key);
  if (!found)
    {
      found = g_new0 (Finding, 1);
      *found = finding;
      found->samples = found->most = 0;
      g_hash_table_insert (findings, g_memdup2 (&key, sizeof key), found);
    }
  found->samples += finding.samples;
  if (finding.samples > found->most)
    {
      found->most = finding.samples;
      found->example = finding.example;
    }
}

static GHashTable *
find_all (const ViewRequest *request, const StackWeights *weights)
{
  const Store *store = request->store;
  const SymbolTable *symbols = request->symbols;
  const StackTree *stacks = &store->stacks;
  GHashTable *findings = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, g_free);
  g_autofree StackId *end_of = sysprof_stack_ends_find (store, symbols);
  g_autofree uint64_t *nameless = g_new0 (uint64_t, MAX (symbols->n, 1));
  uint64_t *ending[N_ENDS]; /* [symbols->n] each */

  for (size_t end = 0; end < N_ENDS; end++)
    ending[end] = g_new0 (uint64_t, MAX (symbols->n, 1));
  for (StackId i = 0; i < stacks->n && sysprof_is_wanted_at (i); i++)
    if (weights->self[i] > 0)
      {
        size_t end = find_end (store, symbols, i);

        ending[end][symbols->of_address[stacks->address[end_of[i]]]] += weights->self[i];
        if (end != STACK_EMPTY)
          nameless[symbols->of_address[stacks->address[i]]] += weights->self[i];
      }
  for (SymbolId i = 0; i < symbols->n && sysprof_is_wanted_at (i); i++)
    {
      const Symbol *symbol = &symbols->row[i];

      for (size_t end = 0; end < N_ENDS; end++)
        count (findings,
               (Finding){ .binary = end == STACK_EMPTY ? 0 : symbol->binary,
                          .end = end < N_STACK_ENDS ? (uint8_t) end : STACK_CUT,
                          .cut = end < N_STACK_ENDS ? 0 : (uint8_t) (end - N_STACK_ENDS),
                          .example = i,
                          .samples = ending[end][i] });
      if (symbol->reason != UNNAMED_NOT)
        count (findings, (Finding){ .binary = symbol->binary,
                                    .end = STACK_WHOLE,
                                    .reason = symbol->reason,
                                    .example = i,
                                    .samples = nameless[i] });
    }
  for (size_t end = 0; end < N_ENDS; end++)
    g_free (ending[end]);
  return findings;
}

/* If an innermost function has no unwind information and no frame of its own, the frame
 * pointer belongs to its caller. Unwinding then skips that caller. */
static void
count_missed_callers (const ViewRequest *request, GHashTable *findings)
{
  const Store *store = request->store;
  const SymbolTable *symbols = request->symbols;
  g_autofree uint32_t *found = NULL;
  g_autofree uint64_t *samples = NULL;
  uint32_t n = 0;

  if (store->sample_notes == NULL || !sysprof_filter_is_of_samples (request->filter, store))
    return;

  found = sysprof_samples_find (store, symbols, request->filter, &n);
  samples = g_new0 (uint64_t, MAX (symbols->n, 1));
  for (uint32_t i = 0; i < n && sysprof_is_wanted_at (i); i++)
    if ((store->sample_notes[found[i]] & CAPTURE_FOUND_BY_FP_FIRST) != 0)
      {
        StackId stack = store->samples.stack[found[i]];

        while (store->stacks.depth[stack] > 1 &&
               store->addresses.kind[store->stacks.address[stack]] == ADDRESS_KERNEL)
          stack = store->stacks.parent[stack];
        samples[symbols->of_address[store->stacks.address[stack]]]++;
      }

  for (SymbolId i = 0; i < symbols->n && sysprof_is_wanted_at (i); i++)
    count (findings, (Finding){ .binary = symbols->row[i].binary,
                                .end = STACK_WHOLE,
                                .may_miss_caller = true,
                                .example = i,
                                .samples = samples[i] });
}

static bool
is_well (const Finding *finding)
{
  return finding->end == STACK_WHOLE && finding->reason == UNNAMED_NOT &&
         !finding->may_miss_caller;
}

/* Problems first, then by weight. */
static int
compare_findings (const void *left, const void *right, void *data)
{
  const Finding *a = *(const Finding *const *) left;
  const Finding *b = *(const Finding *const *) right;
  const SymbolTable *symbols = data;
  bool a_is_well = is_well (a), b_is_well = is_well (b);
  int order;

  if (a_is_well != b_is_well)
    return a_is_well - b_is_well;
  if (a->samples != b->samples)
    return a->samples < b->samples ? 1 : -1;
  order = strcmp (sysprof_intern_get (&symbols->strings, a->binary),
                  sysprof_intern_get (&symbols->strings, b->binary));
  if (order != 0)
    return order;
  if (a->may_miss_caller != b->may_miss_caller)
    return a->may_miss_caller - b->may_miss_caller;
  return (a->end - b->end) * 65536 + (a->cut - b->cut) * 256 + a->reason - b->reason;
}

/* Whether a runtime generated the code. */
static bool
is_generated (const SymbolTable *symbols, const Finding *finding)
{
  const Symbol *example = &symbols->row[finding->example];
  const char *binary = sysprof_intern_get (&symbols->strings, finding->binary);

  return example->kind == SYMBOL_JIT || example->reason == UNNAMED_ANONYMOUS ||
         binary[0] == '\0' || binary[0] == '[';
}

/* Generated code has no unwind information, and the compiler's options do not reach it. */
static const char *
fp_remedy (const SymbolTable *symbols, const Finding *finding)
{
  if (is_generated (symbols, finding))
    return "make the runtime keep frame pointers in generated code (Java: -XX:+PreserveFramePointer)";
  return "install its debug symbols (they may have unwind information), or build it with -fasynchronous-unwind-tables or frame pointers";
}

/* Whether the user can do something about it. */
static bool
has_remedy (const SymbolTable *symbols, const Finding *finding)
{
  const char *remedy;

  if (is_well (finding))
    return false;
  if (finding->reason != UNNAMED_NOT)
    remedy = sysprof_unnamed_reason_remedy ((UnnamedReason) finding->reason);
  else if (finding->may_miss_caller)
    return !is_generated (symbols, finding);
  else if (finding->end == STACK_CUT)
    remedy = cut_reasons[finding->cut].remedy;
  else
    remedy = ends[finding->end].remedy;
  return remedy == NULL || (remedy[0] != '\0' && !g_str_has_prefix (remedy, "nothing") &&
                            !g_str_has_prefix (remedy, "usually few"));
}

static void
add_finding (Rows *rows, const SymbolTable *symbols, const Finding *finding)
{
  Cell *cells = sysprof_rows_add (rows);

  cells[BINARY].text = sysprof_intern_get (&symbols->strings, finding->binary);
  cells[SAMPLES].count = finding->samples;
  if (finding->end == STACK_CUT || finding->reason != UNNAMED_NOT || finding->may_miss_caller)
    cells[EXAMPLE].text = sysprof_symbol_name (symbols, finding->example);
  if (finding->reason != UNNAMED_NOT)
    {
      g_autofree char *reason = g_strconcat (
          "unnamed: ", sysprof_unnamed_reason_to_string ((UnnamedReason) finding->reason),
          NULL);

      cells[REASON].text = sysprof_rows_dup (rows, reason);
      cells[REMEDY].text = sysprof_unnamed_reason_remedy ((UnnamedReason) finding->reason);
      return;
    }
  if (finding->may_miss_caller)
    {
      cells[REASON].text = "immediate caller may be missing (frame-pointer unwind)";
      cells[REMEDY].text = is_generated (symbols, finding)
                               ? "nothing if its runtime keeps frame pointers "
                                 "(Java: -XX:+PreserveFramePointer)"
                               : fp_remedy (symbols, finding);
      return;
    }
  if (finding->end == STACK_CUT)
    {
      const bool is_perhaps = cut_reasons[finding->cut].is_perhaps;
      g_autofree char *reason = g_strconcat (
          is_perhaps ? "possibly truncated: " : "truncated: ", cut_reasons[finding->cut].cause,
          NULL);

      cells[REASON].text = sysprof_rows_dup (rows, reason);
      cells[REMEDY].text = cut_reasons[finding->cut].remedy != NULL
                               ? cut_reasons[finding->cut].remedy
                               : fp_remedy (symbols, finding);
      return;
    }
  cells[REASON].text = ends[finding->end].reason;
  cells[REMEDY].text = ends[finding->end].remedy;
}

/* One line per file: number of functions with wrong rules, number of all functions, path. */
static void
add_contradictions (const ViewRequest *request, Rows *rows, const char *lines)
{
  g_auto (GStrv) line = g_strsplit (lines, "\n", -1);

  for (size_t i = 0; line[i] != NULL; i++)
    {
      g_auto (GStrv) word = g_strsplit (line[i], " ", 3);
      g_autofree char *reason = NULL;
      Cell *cells;

      if (g_strv_length (word) != 3)
        continue;
      reason = g_strdup_printf ("wrong unwind information in %s of %s functions (ignored)",
                                word[0], word[1]);
      cells = sysprof_rows_add (rows);
      cells[BINARY].text = sysprof_rows_dup (rows, word[2]);
      cells[REASON].text = sysprof_rows_dup (rows, reason);
      cells[REMEDY].text = "report it to the package's maintainer";
    }
}

/* Counts of the unwinder: "lost=N without-room=N failed=N without-copy=N". */
static void
add_shortcomings (Rows *rows, const char *counts)
{
  static const struct
  {
    const char *code;
    const char *reason;
    const char *remedy;
  } kinds[] = {
    { "lost", "events (mappings, forks) were lost, which truncates stacks",
      "record fewer processes (--pid)" },
    { "without-room", "times the limit of unwind tables or mappings was reached",
      "record fewer processes (--pid)" },
    { "failed", "files were not readable or have unusable unwind information",
      "record as root" },
    { "without-copy", "samples had no unwind table yet and no room for a stack copy",
      "lower --frequency" },
  };
  g_auto (GStrv) word = g_strsplit (counts, " ", -1);

  for (size_t i = 0; word[i] != NULL; i++)
    for (size_t k = 0; k < G_N_ELEMENTS (kinds); k++)
      {
        size_t size = strlen (kinds[k].code);
        g_autofree char *reason = NULL;
        uint64_t n;
        Cell *cells;

        if (strncmp (word[i], kinds[k].code, size) != 0 || word[i][size] != '=' ||
            (n = g_ascii_strtoull (word[i] + size + 1, NULL, 10)) == 0)
          continue;
        reason = g_strdup_printf ("%" G_GUINT64_FORMAT " %s", n, kinds[k].reason);
        cells = sysprof_rows_add (rows);
        cells[BINARY].text = "(unwinder)";
        cells[REASON].text = sysprof_rows_dup (rows, reason);
        cells[REMEDY].text = kinds[k].remedy;
      }
}

/* Stacks of waits that were unwound before the mappings of their program were known. */
static void
add_unfinished_waits (Rows *rows, const char *value)
{
  uint64_t n = g_ascii_strtoull (value, NULL, 10);
  g_autofree char *reason = NULL;
  Cell *cells;

  if (n == 0)
    return;
  reason = g_strdup_printf (
      "%" G_GUINT64_FORMAT " stacks of waits truncated, of programs that had just started", n);
  cells = sysprof_rows_add (rows);
  cells[BINARY].text = "(unwinder)";
  cells[REASON].text = sysprof_rows_dup (rows, reason);
  cells[REMEDY].text = "start recording before the programs, or record longer";
}

/* Debug files that are missing or unreadable, and what the report lacks because of it. */
static void
add_debug_gap (Rows *rows, const SymbolTable *symbols, const DebugGap *gap)
{
  const char *clause = sysprof_debug_gap_to_string ((DebugGapKind) gap->kind);
  const char *what = sysprof_intern_get (&symbols->strings, gap->what);
  g_autofree char *more =
      gap->n > 1 ? g_strdup_printf (" and %u more", gap->n - 1) : g_strdup ("");
  bool is_of_inlines = gap->kind != DEBUG_GAP_FAILED && gap->kind != DEBUG_GAP_SKIPPED &&
                       gap->kind != DEBUG_GAP_MODULES_LEFT_OUT;
  g_autofree char *reason = g_strdup_printf (
      "%s%s: '%s'%s", is_of_inlines ? "inlined functions missing: " : "", clause, what, more);
  Cell *cells = sysprof_rows_add (rows);

  cells[BINARY].text = sysprof_intern_get (&symbols->strings, gap->binary);
  cells[REASON].text = sysprof_rows_dup (rows, reason);
  cells[REMEDY].text = sysprof_debug_gap_remedy ((DebugGapKind) gap->kind);
}

/* What the recorder and debug files report about whole files. These rows have no samples. */
static void
add_facts (const ViewRequest *request, Rows *rows)
{
  const Store *store = request->store;

  for (uint32_t i = 0; i < store->n_metadata; i++)
    {
      const char *id = sysprof_store_string (store, store->metadata[i].id);
      const char *value = sysprof_store_string (store, store->metadata[i].value);

      if (g_str_equal (id, "org.gnome.sysprof.contradictions"))
        add_contradictions (request, rows, value);
      else if (g_str_equal (id, "org.gnome.sysprof.unwinder"))
        add_shortcomings (rows, value);
      else if (g_str_equal (id, "org.gnome.sysprof.unfinished-waits"))
        add_unfinished_waits (rows, value);
    }
  for (uint32_t i = 0; i < request->symbols->n_gaps; i++)
    add_debug_gap (rows, request->symbols, &request->symbols->gap[i]);
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
  count_missed_callers (request, findings);
  sysprof_rows_init (rows, columns, N_COLUMNS, weights.total);
  sysprof_stack_weights_clear (&weights);

  sorted = g_new (gpointer, MAX (g_hash_table_size (findings), 1));
  g_hash_table_iter_init (&iter, findings);
  while (g_hash_table_iter_next (&iter, NULL, &finding))
    sorted[n++] = finding;
  (void) sysprof_sort_if_wanted (sorted, n, sizeof *sorted, compare_findings, request->symbols);
  for (uint32_t i = 0; i < n && sysprof_is_wanted_at (i); i++)
    if (!request->is_overview || has_remedy (request->symbols, sorted[i]))
      add_finding (rows, request->symbols, sorted[i]);
  /* An overview has what the user can improve, and where it costs samples. */
  if (!request->is_overview)
    add_facts (request, rows);
  return true;
}

const View sysprof_quality_view = {
  .name = "quality",
  .title = "Quality of stacks",
  .summary = "truncated and unnamed stacks by binary, with remedies",
  .recorded_by = RECORDED_AS_SAMPLES,
  .options = OPTIONS_SAMPLES,
  .fill = fill_quality,
};
