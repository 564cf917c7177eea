// SPDX-License-Identifier: GPL-3.0-or-later

/* Findings: short sentences about what stands out in a recording, each with the command that
 * shows more. Each rule is a function that adds a sentence or nothing. A rule must use the
 * figures of the view that it names. */

#include "text/text.h"
#include "views/views.h"

#include "views/overview/summary-parts.h"
#include "views/sample-rows.h"

#include <string.h>

/* Least percentage for a finding. */
#define MANY_LOST       1
#define MANY_CUT        5
#define MANY_UNNAMED    5
#define BIG_PROCESS     25
#define BIG_FUNCTION    10
#define BIG_KERNEL      30
#define BIG_LEAK        10
#define BIG_CATEGORY    5
#define BURST           300 /* percent of the mean second */
#define MOST_CATEGORIES 4   /* in one sentence */
#define LEAST_SECONDS   5   /* least duration in which one second can be a burst */

enum
{
  TEXT,
  MORE,
  N_COLUMNS,
};

static const Column columns[] = {
  [TEXT] = { "text", "FINDING", COLUMN_TEXT },
  [MORE] = { "more", "MORE: sysprof-report ...", COLUMN_TEXT, .is_long = true },
};

typedef struct
{
  const ViewRequest *request;
  const Store *store;
  const SymbolTable *symbols;
  Rows *rows;
  StackWeights weights;
  Quality *quality;
} Findings;

static void add_finding (Findings *self, const char *more, const char *format, ...)
    G_GNUC_PRINTF (3, 4);

static void
add_finding (Findings *self, const char *more, const char *format, ...)
{
  g_autofree char *text = NULL;
  Cell *cells = sysprof_rows_add (self->rows);
  va_list arguments;

  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  cells[TEXT].text = sysprof_rows_dup (self->rows, text);
  cells[MORE].text = sysprof_rows_dup (self->rows, more);
}

static double
share (const Findings *self, uint64_t part)
{
  return sysprof_percent (part, self->weights.total);
}

/* Returns a command with a value that is quoted for a shell. *(full)* */
static char *
dup_option (const char *view, const char *option, const char *value)
{
  g_autofree char *line = sysprof_dup_one_line (value);
  bool is_plain = strspn (line, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789_-./:@") == strlen (line) &&
                  line[0] != '-';
  g_autofree char *quoted = is_plain ? g_strdup (line) : g_shell_quote (line);

  return g_strdup_printf ("%s %s %s", view, option, quoted);
}

/* " (sort.c:123)", or "" if the source location is unknown. *(full)* */
static char *
dup_location_suffix (const SymbolTable *symbols, SymbolId symbol)
{
  const Symbol *row = &symbols->row[symbol];
  g_autofree char *place = sysprof_dup_source_location (
      sysprof_intern_get (&symbols->strings, row->file), row->line, row->is_inlined);

  return place != NULL ? g_strdup_printf (" (%s)", place) : g_strdup ("");
}

/* Whether the weights include waits. All waits end in the kernel, and each counts at one
 * moment. */
static bool
weighs_waits (const Findings *self)
{
  const SampleFilter *filter = self->request->filter;

  return filter != NULL && filter->events != NULL &&
         filter->events != &self->store->allocations &&
         !sysprof_filter_is_of_samples (filter, self->store);
}

/* What shares refer to; NULL = samples. */
static const char *
weighed (const Findings *self)
{
  const SampleFilter *filter = self->request->filter;

  if (filter == NULL || filter->weight_name == NULL)
    return NULL;
  return g_str_equal (filter->weight_unit, "ns") ? "time" : filter->weight_name;
}

static void
check_stacks (Findings *self)
{
  const Quality *quality = self->quality;
  double cut = share (self, quality->cut + quality->empty);
  const char *noun = weighed (self);

  if (quality->total == 0 || self->store->is_imported)
    return;
  if (self->store->is_not_unwound)
    add_finding (
        self, "quality",
        "Stacks were not unwound (--unwind none): functions have no callers in this capture.");
  else if (cut >= MANY_CUT)
    {
      const char *reason =
          sysprof_find_most_common_cut (self->store, self->symbols, &self->weights);

      add_finding (self, "quality",
                   "%.1f %% of %s%s are truncated%s%s%s, so totals of callers are too low.",
                   cut, noun ? "the stacks by " : "stacks", noun ? noun : "",
                   reason ? " (mostly: " : "", reason ? reason : "", reason ? ")" : "");
    }
  else
    add_finding (self, "quality", "%.1f %% of %s%s are complete.", 100 - cut,
                 noun ? "the stacks by " : "stacks", noun ? noun : "");
  if (share (self, quality->unnamed) >= MANY_UNNAMED)
    add_finding (self, "quality", "%.1f %% of the %s %s in functions without a name.",
                 share (self, quality->unnamed), noun ? noun : "samples",
                 noun && g_str_equal (noun, "time") ? "is" : "are");
}

static void
check_losses (Findings *self)
{
  uint64_t all = self->store->n_lost_samples + self->store->samples.n;

  if (sysprof_percent (self->store->n_lost_samples, all) >= MANY_LOST)
    add_finding (self, "logs",
                 "%.1f %% of samples were lost; lower sysprof-cli --frequency to lose fewer.",
                 sysprof_percent (self->store->n_lost_samples, all));
}

/* Counts the processes of each name that have samples. */
static void
count_processes (const Findings *self, const ProcessId *process_of, uint32_t *n_of)
{
  const Store *store = self->store;
  g_autofree bool *is_counted = g_new0 (bool, MAX (store->processes.n, 1));

  for (StackId i = 0; i < store->stacks.n && sysprof_is_wanted_at (i); i++)
    if (self->weights.self[i] > 0 && !is_counted[process_of[i]])
      {
        is_counted[process_of[i]] = true;
        n_of[store->processes.row[process_of[i]].comm]++;
      }
}

static void
check_idleness (Findings *self)
{
  const Store *store = self->store;
  ProcessId idle = sysprof_store_find_process (store, 0);
  const SampleFilter *filter = self->request->filter;
  uint64_t n = 0;

  if (idle == 0 || filter == NULL || !filter->no_idle)
    return;
  for (uint32_t i = 0; i < store->samples.n && sysprof_is_wanted_at (i); i++)
    n += store->samples.process[i] == idle;
  if (n > 0)
    add_finding (self, "summary --idle", "%.1f %% of samples are of the idle task and hidden.",
                 sysprof_percent (n, store->samples.n));
}

static void
check_processes (Findings *self)
{
  const Store *store = self->store;
  g_autofree ProcessId *process_of = sysprof_processes_of_stacks (store);
  g_autofree uint64_t *weight = g_new0 (uint64_t, MAX (store->strings.n_strings, 1));
  g_autofree uint32_t *n_of = g_new0 (uint32_t, MAX (store->strings.n_strings, 1));
  StringId top = 0;
  g_autofree char *more = NULL;
  g_autofree char *name = NULL;

  for (StackId i = 0; i < store->stacks.n && sysprof_is_wanted_at (i); i++)
    {
      StringId comm = store->processes.row[process_of[i]].comm;

      weight[comm] += self->weights.self[i];
      if (comm != 0 && weight[comm] > weight[top])
        top = comm;
    }
  if (top == 0 || share (self, weight[top]) < BIG_PROCESS)
    return;
  count_processes (self, process_of, n_of);
  name = sysprof_dup_one_line (sysprof_store_string (store, top));
  if (n_of[top] > 1)
    {
      more = dup_option ("flame --merge-processes", "--process", name);
      add_finding (self, more, "%.1f %% of the time went to %s, in %u processes.",
                   share (self, weight[top]), name, n_of[top]);
      return;
    }
  more = dup_option ("tree", "--process", name);
  add_finding (self, more, "%.1f %% of the time went to %s.", share (self, weight[top]), name);
}

static void
check_functions (Findings *self)
{
  g_autoptr (FunctionTable) table =
      sysprof_functions_new (self->store, self->symbols, &self->weights, NULL);
  SymbolId top = 0;
  uint64_t self_of_top = 0, in_kernel = 0;

  for (uint32_t i = 0; i < table->n; i++)
    {
      const FunctionRow *row = &table->row[i];
      uint8_t kind = self->symbols->row[row->symbol].kind;

      if (kind == SYMBOL_KERNEL)
        in_kernel += row->self;
      if (kind != SYMBOL_MARKER && row->self > self_of_top)
        {
          top = row->symbol;
          self_of_top = row->self;
        }
    }
  if (top != 0 && share (self, self_of_top) >= BIG_FUNCTION)
    {
      g_autofree char *name = sysprof_dup_one_line (sysprof_symbol_name (self->symbols, top));
      g_autofree char *short_name = sysprof_dup_ellipsized (name, 60);
      g_autofree char *location = dup_location_suffix (self->symbols, top);
      g_autofree char *more = dup_option ("callers", "--focus", name);

      add_finding (self, more, "%.1f %% of the time was spent in %s%s itself.",
                   share (self, self_of_top), short_name, location);
    }
  if (share (self, in_kernel) >= BIG_KERNEL && !weighs_waits (self))
    add_finding (
        self, "functions --no-kernel",
        "%.1f %% of the time was in the kernel. --no-kernel charges it to the callers.",
        share (self, in_kernel));
}

/* Kinds of work by category, most time first. */
static void
check_categories (Findings *self)
{
  Rows rows = { 0 };
  g_autoptr (GString) text = g_string_new (NULL);
  uint64_t most = 0;
  uint32_t n = 0;

  if (!sysprof_view_fill (&sysprof_categories_view, self->request, &rows, NULL))
    return;
  for (uint32_t i = 0; i < rows.n_rows && n < MOST_CATEGORIES; i++)
    {
      const Cell *cells = sysprof_rows_cells (&rows, i);

      if (strcmp (cells[0].text, sysprof_category_to_string (CATEGORY_UNCATEGORIZED)) == 0 ||
          strcmp (cells[0].text, sysprof_category_to_string (CATEGORY_UNWINDABLE)) == 0)
        continue;
      g_string_append_printf (text, "%s%.1f %% %s", n++ > 0 ? ", " : "",
                              share (self, cells[1].count), cells[0].text);
      most = MAX (most, cells[1].count);
    }
  if (share (self, most) >= BIG_CATEGORY)
    add_finding (self, "summary --format json", "Kinds of work: %s.", text->str);
  sysprof_rows_clear (&rows);
}

static void
check_time (Findings *self)
{
  Rows rows = { 0 };
  uint64_t most = 0;
  int64_t second = 0;

  if (weighs_waits (self) ||
      !sysprof_view_fill (&sysprof_heat_view, self->request, &rows, NULL))
    return;
  for (uint32_t i = 0; i < rows.n_rows; i++)
    if (sysprof_rows_cells (&rows, i)[1].count > most)
      {
        most = sysprof_rows_cells (&rows, i)[1].count;
        second = sysprof_rows_cells (&rows, i)[0].number / 1000000000;
      }
  if (rows.n_rows >= LEAST_SECONDS && most * rows.n_rows > rows.total * BURST / 100)
    {
      g_autofree char *more = g_strdup_printf (
          "functions --time %" G_GINT64_FORMAT "s..%" G_GINT64_FORMAT "s", second, second + 1);

      add_finding (self, more, "Second %" G_GINT64_FORMAT " was %.1f times as busy as others.",
                   second, (double) most * rows.n_rows / (double) rows.total);
    }
  sysprof_rows_clear (&rows);
}

static void
check_logs (Findings *self)
{
  EventMatcher matcher;
  uint32_t n = 0;

  sysprof_event_matcher_init (&matcher, self->store, self->request->filter);
  for (uint32_t i = 0; i < self->store->n_logs && sysprof_is_wanted_at (i); i++)
    {
      const Log *log = &self->store->logs[i];

      n += (log->severity & (4 | 8)) != 0 && /* G_LOG_LEVEL_ERROR, G_LOG_LEVEL_CRITICAL */
           sysprof_event_matcher_takes (&matcher, log->time, log->pid, log->cpu);
    }
  sysprof_event_matcher_clear (&matcher);
  if (n > 0)
    add_finding (self, "logs", "%u error%s logged.", n, n == 1 ? " was" : "s were");
}

static void
check_marks (Findings *self)
{
  const Store *store = self->store;
  g_autofree bool *is_in = sysprof_request_find_marks (self->request, NULL);
  uint32_t n;
  g_autofree MarkSummary *summaries = sysprof_marks_summarize (store, is_in, &n);

  for (uint32_t i = 0; i < n; i++)
    if (summaries[i].is_periodic && summaries[i].jitter > summaries[i].interval / 2)
      {
        g_autofree char *interval = sysprof_dup_duration (summaries[i].interval);
        g_autofree char *jitter = sysprof_dup_duration (summaries[i].jitter);
        g_autofree char *name =
            sysprof_dup_one_line (sysprof_store_string (store, summaries[i].name));

        add_finding (self, "marks --by-name",
                     "%s repeats every %s, but 5 %% of intervals differ by %s or more.", name,
                     interval, jitter);
        return;
      }
}

static void
check_messages (Findings *self)
{
  const Store *store = self->store;
  g_autofree uint32_t *partner = sysprof_dbus_find_replies (store);
  uint32_t n = 0;

  for (uint32_t i = 0; i < store->n_dbus && sysprof_is_wanted_at (i); i++)
    {
      DBusHeader header;

      n += partner[i] == 0 && sysprof_store_read_dbus_header (store, i, &header) &&
           header.type == DBUS_CALL && !header.wants_no_reply;
    }
  if (n > 0)
    add_finding (self, "dbus --by-member", "%u D-Bus call%s no reply.", n,
                 n == 1 ? " has" : "s have");
}

static void
check_heap (Findings *self)
{
  const StackEvents *allocations = &self->store->allocations;
  g_autofree uint8_t *lives = NULL;
  uint64_t all = 0, leaked = 0;
  char grouped[SYSPROF_GROUPED_SIZE];

  if (allocations->n == 0)
    return;
  lives = sysprof_heap_ask (self->store, HEAP_LIVE, INT64_MAX);
  for (uint32_t i = 0; i < allocations->n && sysprof_is_wanted_at (i); i++)
    {
      all += (uint64_t) allocations->weight[i];
      leaked += lives[i] ? (uint64_t) allocations->weight[i] : 0;
    }
  if (sysprof_percent (leaked, all) >= BIG_LEAK)
    add_finding (self, "leaks", "%.1f %% of allocated memory was never freed: %s bytes.",
                 sysprof_percent (leaked, all), sysprof_format_grouped (leaked, grouped));
}

/* Symbols that were not resolved, while recording or now. */
static void
check_symbols (Findings *self)
{
  const Metadata *row =
      sysprof_store_find_metadata (self->store, "org.gnome.sysprof.lacks.symbols", NULL);
  uint32_t n = 0;

  for (uint32_t i = 0; i < self->symbols->n_gaps; i++)
    n += self->symbols->gap[i].kind == DEBUG_GAP_SKIPPED;
  if (row != NULL)
    add_finding (self, "quality", "Some functions have no names: %s.",
                 sysprof_store_string (self->store, row->value));
  else if (n > 0)
    add_finding (self, "quality",
                 "Some functions may have no names: %u file%s of other users skipped.", n,
                 n == 1 ? " was" : "s were");
}

static bool
fill_findings (const ViewRequest *request, Rows *rows, GError **error)
{
  static void (*const rules[]) (Findings *) = {
    check_stacks,    check_losses,     check_idleness, check_processes,
    check_functions, check_categories, check_time,     check_marks,
    check_heap,      check_messages,   check_logs,     check_symbols,
  };
  Findings self = {
    .request = request, .store = request->store, .symbols = request->symbols, .rows = rows
  };

  sysprof_request_fold (request, false, &self.weights);
  self.quality = sysprof_quality_new (request->store, request->symbols, &self.weights);
  sysprof_rows_init (rows, columns, N_COLUMNS, self.weights.total);
  for (size_t i = 0; i < G_N_ELEMENTS (rules) && sysprof_is_wanted (); i++)
    rules[i](&self);
  sysprof_quality_free (self.quality);
  sysprof_stack_weights_clear (&self.weights);
  return true;
}

const View sysprof_findings_view = {
  .name = "findings",
  .title = "Findings (-> sysprof-report ...)",
  .summary = "what stands out, and which view shows more",
  .fill = fill_findings,
  .is_prose = true,
};
