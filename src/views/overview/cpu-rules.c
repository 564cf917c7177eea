// SPDX-License-Identifier: GPL-3.0-or-later

/* Findings about where CPU time, or the weight of the samples, went. */

#include "document/document.h"
#include "views/overview/findings.h"

#include <string.h>

/* Least percentage for a finding. */
#define BIG_PROCESS  25
#define BIG_FUNCTION 10
#define BIG_KERNEL   30
#define BIG_CATEGORY 5
#define BIG_TIMER    5
#define BIG_BESIDE   50
#define BIG_CALLEE   50
#define BIG_TRUNK    75
#define WHOLE        99

#define MOST_BRANCHES 3  /* in one sentence */
#define SHOWN_NAME    60 /* columns */

#define FEW_SAMPLES     50
#define MOST_CATEGORIES 4 /* in one sentence */

/* Counts the processes of each name that have samples. */
static uint32_t *
count_processes (const Findings *self, const ProcessId *process_of)
{
  const Store *store = self->store;
  g_autofree bool *is_counted = g_new0 (bool, MAX (store->processes.n, 1));
  uint32_t *n_of = g_new0 (uint32_t, MAX (store->strings.n_strings, 1));

  for (StackId i = 0; i < store->stacks.n && sysprof_is_wanted_at (i); i++)
    if (self->weights.self[i] > 0 && !is_counted[process_of[i]])
      {
        is_counted[process_of[i]] = true;
        n_of[store->processes.row[process_of[i]].comm]++;
      }
  return n_of;
}

static void
find_process (Findings *self)
{
  const Store *store = self->store;
  g_autofree ProcessId *process_of = sysprof_processes_of_stacks (store);
  g_autofree uint64_t *weight = g_new0 (uint64_t, MAX (store->strings.n_strings, 1));
  g_autofree uint32_t *n_of = count_processes (self, process_of);
  ProcessId command = sysprof_store_find_command (store);
  uint64_t of_command = 0;
  g_autofree char *name = NULL;
  StringId top = 0;
  double percent;

  for (StackId i = 0; i < store->stacks.n && sysprof_is_wanted_at (i); i++)
    {
      StringId comm = store->processes.row[process_of[i]].comm;

      weight[comm] += self->weights.self[i];
      of_command += process_of[i] == command ? self->weights.self[i] : 0;
      if (comm != 0 && weight[comm] > weight[top])
        top = comm;
    }
  percent = sysprof_findings_percent (self, weight[top]);
  /* A selection of one process is all of the time. */
  if (top == 0 || percent < BIG_PROCESS || (n_of[top] == 1 && percent == 100) ||
      (command != 0 && sysprof_findings_percent (self, of_command) >= WHOLE))
    return;

  name = sysprof_dup_one_line (sysprof_store_string (store, top));
  if (n_of[top] > 1)
    sysprof_findings_add (self,
                          &(Finding){ .kind = "cpu",
                                      .view = "flame",
                                      .process = name,
                                      .share = percent / 100,
                                      .options = { "process", name, "merge-processes", "" } },
                          "%.1f %% of the %s went to %s, in %u processes.", percent,
                          sysprof_findings_noun (self), name, n_of[top]);
  else
    sysprof_findings_add (self,
                          &(Finding){ .kind = "cpu",
                                      .view = "tree",
                                      .process = name,
                                      .share = percent / 100,
                                      .options = { "process", name } },
                          "%.1f %% of the %s went to %s.", percent,
                          sysprof_findings_noun (self), name);
}

/* The function of the program that uses most of the time, with all that it calls. */
static void
find_own_function (Findings *self, SymbolId innermost)
{
  const OwnFunction *own = &self->own_function;
  double percent = sysprof_findings_percent (self, own->weight);
  g_autofree char *name = NULL, *shown = NULL, *location = NULL, *callee = NULL;
  double part = sysprof_percent (own->callee_weight, own->weight);

  if (own->symbol == 0 || own->symbol == innermost || percent < BIG_FUNCTION)
    return;
  name = sysprof_dup_one_line (sysprof_symbol_name (self->symbols, own->symbol));
  shown = sysprof_findings_dup_shown_name (self, own->symbol);
  location = sysprof_findings_dup_location (self, own->symbol);
  if (part >= BIG_CALLEE)
    {
      g_autofree char *called = sysprof_findings_dup_shown_name (self, own->callee);

      callee = g_strdup_printf (", %.0f %% of that in %s", part, called);
    }
  sysprof_findings_add (self,
                        &(Finding){ .kind = "cpu",
                                    .view = "callees",
                                    .symbol = name,
                                    .share = percent / 100,
                                    .options = { "focus", name } },
                        "%.1f %% of the %s %s in %s%s and what it calls%s.", percent,
                        sysprof_findings_noun (self), sysprof_findings_verb (self, "was"),
                        shown, location, callee != NULL ? callee : "");
}

/* The function with the most weight of its own; 0 = none. */
static const FunctionRow *
find_innermost (const Findings *self)
{
  const FunctionTable *table = self->functions;
  const FunctionRow *top = NULL;

  for (uint32_t i = 0; i < table->n; i++)
    if (self->symbols->row[table->row[i].symbol].kind != SYMBOL_MARKER &&
        table->row[i].symbol != 0 && (top == NULL || table->row[i].self > top->self))
      top = &table->row[i];
  return top;
}

/* Where no function stands out: the deepest function below which nearly all of the time was,
 * and the functions that it called. */
static void
find_branches (Findings *self)
{
  uint64_t least = self->weights.total / 100 * BIG_FUNCTION;
  g_autoptr (CallTree) tree = sysprof_call_tree_new_above (
      self->store, self->symbols, &self->weights, self->request->shape, least);
  g_autoptr (GString) branches = g_string_new (NULL);
  g_autofree char *name = NULL, *shown = NULL;
  CallNodeId child = tree->first_child[0];
  SymbolId trunk = 0;

  for (; child != 0 && sysprof_findings_percent (self, tree->total[child]) >= BIG_TRUNK;
       child = tree->first_child[child])
    if (tree->symbol[child] != 0 &&
        sysprof_symbol_name (self->symbols, tree->symbol[child])[0] != '[')
      trunk = tree->symbol[child];
  if (trunk == 0 || child == 0 || tree->total[child] < least)
    return;
  name = sysprof_dup_one_line (sysprof_symbol_name (self->symbols, tree->symbol[child]));
  for (uint32_t n = 0; child != 0 && tree->total[child] >= least && n < MOST_BRANCHES; n++)
    {
      g_autofree char *branch = sysprof_findings_dup_shown_name (self, tree->symbol[child]);

      g_string_append_printf (branches, "%s%.1f %% in %s", n > 0 ? ", " : "",
                              sysprof_findings_percent (self, tree->total[child]), branch);
      child = tree->next_sibling[child];
    }
  shown = sysprof_findings_dup_shown_name (self, trunk);
  sysprof_findings_add (
      self,
      &(Finding){ .kind = "cpu", .view = "tree", .symbol = name, .options = { "focus", name } },
      "No function has %d %% of the %s itself. Below %s: %s.", BIG_FUNCTION,
      sysprof_findings_noun (self), shown, branches->str);
}

static void
find_functions (Findings *self)
{
  const FunctionRow *top = find_innermost (self);
  double percent = top != NULL ? sysprof_findings_percent (self, top->self) : 0;
  g_autofree char *name = NULL, *shown = NULL, *location = NULL;

  find_own_function (self, top != NULL ? top->symbol : 0);
  if (percent < BIG_FUNCTION &&
      sysprof_findings_percent (self, self->own_function.weight) < BIG_FUNCTION)
    find_branches (self);
  if (percent < BIG_FUNCTION ||
      strcmp (sysprof_symbol_binary (self->symbols, top->symbol), "anon") == 0)
    return;
  name = sysprof_dup_one_line (sysprof_symbol_name (self->symbols, top->symbol));
  shown = sysprof_findings_dup_shown_name (self, top->symbol);
  location = sysprof_findings_dup_location (self, top->symbol);
  sysprof_findings_add (self,
                        &(Finding){ .kind = "cpu",
                                    .view = "callers",
                                    .symbol = name,
                                    .share = percent / 100,
                                    .options = { "focus", name } },
                        "%.1f %% of the %s %s in %s%s itself.", percent,
                        sysprof_findings_noun (self), sysprof_findings_verb (self, "was spent"),
                        shown, location);
}

static void
find_idleness (Findings *self)
{
  const Store *store = self->store;
  ProcessId idle = sysprof_store_find_process (store, 0);
  const SampleFilter *filter = self->request->filter;
  uint64_t n = 0;

  if (idle == 0 || filter == NULL || !filter->no_idle || filter->has_processes)
    return;
  for (uint32_t i = 0; i < store->samples.n && sysprof_is_wanted_at (i); i++)
    n += store->samples.process[i] == idle;
  if (n > 0)
    sysprof_findings_add (
        self, &(Finding){ .kind = "idle", .view = "summary", .options = { "idle", "" } },
        "%.1f %% of samples are of the idle task and hidden.",
        sysprof_percent (n, store->samples.n));
}

void
sysprof_find_cpu_use (Findings *self)
{
  if (self->weights.total > 0 && self->weights.total < FEW_SAMPLES &&
      self->request->filter != NULL && self->request->filter->weight_name == NULL)
    sysprof_findings_add (self, &(Finding){ .kind = "few-samples" },
                          "Only %" G_GUINT64_FORMAT " sample%s: the shares below are rough.",
                          self->weights.total, self->weights.total == 1 ? "" : "s");
  find_idleness (self);
  find_process (self);
  find_functions (self);
}

/* Whether samples are taken by a timer, which cannot interrupt code that runs with interrupts
 * off. */
static bool
is_sampled_by_timer (const Store *store)
{
  return store->n_sampled_events == 1 &&
         strcmp (sysprof_store_string (store, store->sampled_events[0].name), "cpu-clock") == 0;
}

/* Functions that enable interrupts show the time of the code before them. */
static void
find_timer (Findings *self, const FunctionTable *table)
{
  static const char *const enablers[] = {
    "_raw_spin_unlock_irqrestore",
    "_raw_spin_unlock_irq",
    "finish_task_switch",
    "exc_page_fault",
    "do_user_addr_fault",
    "handle_softirqs",
    "__do_softirq",
  };
  uint64_t weight = 0, most = 0;
  const char *name = NULL;

  if (!is_sampled_by_timer (self->store))
    return;
  for (uint32_t i = 0; i < table->n; i++)
    {
      const FunctionRow *row = &table->row[i];
      const char *symbol = sysprof_symbol_name (self->symbols, row->symbol);

      for (size_t j = 0; j < G_N_ELEMENTS (enablers); j++)
        if (self->symbols->row[row->symbol].kind == SYMBOL_KERNEL &&
            strncmp (symbol, enablers[j], strcspn (symbol, ".")) == 0 &&
            enablers[j][strcspn (symbol, ".")] == '\0')
          {
            weight += row->self;
            if (row->self > most)
              {
                most = row->self;
                name = symbol;
              }
          }
    }
  if (name != NULL && sysprof_findings_percent (self, weight) >= BIG_TIMER)
    sysprof_findings_add (
        self,
        &(Finding){ .kind = "timer",
                    .symbol = name,
                    .share = sysprof_findings_percent (self, weight) / 100 },
        "%.1f %% of the samples are at functions that enable interrupts, mostly %s: this "
        "machine samples by a timer, so the time of code with interrupts off appears there.",
        sysprof_findings_percent (self, weight), name);
}

/* Kinds of work by category, most time first, and the rest. */
static void
find_categories (Findings *self)
{
  Rows rows = { 0 };
  g_autoptr (GString) text = g_string_new (NULL);
  uint64_t most = 0, named = 0;
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
                              sysprof_findings_percent (self, cells[1].count), cells[0].text);
      most = MAX (most, cells[1].count);
      named += cells[1].count;
    }
  if (sysprof_findings_percent (self, most) >= BIG_CATEGORY)
    {
      if (named < self->weights.total)
        g_string_append_printf (text, ", %.1f %% other",
                                sysprof_findings_percent (self, self->weights.total - named));
      sysprof_findings_add (self, &(Finding){ .kind = "categories" }, "Kinds of work: %s.",
                            text->str);
    }
  sysprof_rows_clear (&rows);
}

static void
find_beside (Findings *self)
{
  Beside beside;

  if (sysprof_find_beside (self->request, &beside) && beside.percent >= BIG_BESIDE)
    sysprof_findings_add (self,
                          &(Finding){ .kind = "other-processes",
                                      .process = beside.most,
                                      .share = beside.percent / 100 },
                          "Other processes took %.1f %% of the samples, mostly %s, and may "
                          "have delayed the command.",
                          beside.percent, beside.most != NULL ? beside.most : "unknown ones");
}

void
sysprof_find_kernel_use (Findings *self)
{
  const FunctionTable *table = self->functions;
  uint64_t in_kernel = 0;

  for (uint32_t i = 0; i < table->n; i++)
    if (self->symbols->row[table->row[i].symbol].kind == SYMBOL_KERNEL)
      in_kernel += table->row[i].self;
  if (sysprof_findings_percent (self, in_kernel) >= BIG_KERNEL &&
      !sysprof_findings_weigh_waits (self))
    sysprof_findings_add (self,
                          &(Finding){ .kind = "kernel",
                                      .view = "functions",
                                      .remedy = "--no-kernel charges the callers.",
                                      .share = sysprof_findings_percent (self, in_kernel) / 100,
                                      .options = { "no-kernel", "" } },
                          "%.1f %% of the %s %s in the kernel.",
                          sysprof_findings_percent (self, in_kernel),
                          sysprof_findings_noun (self), sysprof_findings_verb (self, "was"));
  find_timer (self, table);
  find_categories (self);
  find_beside (self);
}
