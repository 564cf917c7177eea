// SPDX-License-Identifier: GPL-3.0-or-later

/* Single samples with their stacks, in order of time. */

#include "capture/capture.h"
#include "views/sample-rows.h"
#include "views/stack-texts.h"

enum
{
  TIME,
  PID,
  TID,
  THREAD,
  CPU,
  STACK,
  COMPLETE,
  REASON,
  UNWIND,
  CATEGORY,
  N_COLUMNS,
};

static const Column columns[] = {
  [TIME] = { "time", "TIME", COLUMN_TIME },
  [PID] = { "pid", "PID", COLUMN_NUMBER },
  [TID] = { "tid", "TID", COLUMN_NUMBER },
  [THREAD] = { "name", "THREAD", COLUMN_TEXT, .extra = 3 },
  [CPU] = { "cpu", "CPU", COLUMN_NUMBER },
  [STACK] = { "stack", "STACK (innermost first)", COLUMN_STACK, .is_long = true },
  [COMPLETE] = { "complete", "COMPLETE", COLUMN_BOOL },
  [REASON] = { "reason", "ENDS", COLUMN_TEXT, .json_only = true },
  [UNWIND] = { "unwind", "UNWOUND BY", COLUMN_TEXT, .json_only = true },
  [CATEGORY] = { "category", "CATEGORY", COLUMN_TEXT, .json_only = true },
};

typedef struct
{
  const ViewRequest *request;
  Rows *rows;
  uint8_t *category; /* [stacks.n] */
  uint8_t *end;      /* [stacks.n] StackEnd + 1; 0 = not known yet */
  const char **cut;  /* [stacks.n] why a stack is truncated; NULL = not known yet */
  StackTexts texts;
} Samples;

/* Code for how a stack ended (docs/format.md). */
static const char *
reason_of (Samples *self, uint32_t sample, StackEnd end)
{
  /* By StackEnd, for stacks that the kernel unwound by frame pointers, which do not give a
   * reason. */
  static const char *const reasons[] = {
    [STACK_WHOLE] = "end",   [STACK_KERNEL_ONLY] = "fault", [STACK_CUT] = "bad-fp",
    [STACK_EMPTY] = "fault", [STACK_NOT_UNWOUND] = "none",
  };
  const Store *store = self->request->store;
  const SymbolTable *symbols = self->request->symbols;
  StackId stack = store->samples.stack[sample];

  if (self->cut[stack] == NULL)
    {
      Text cut = sysprof_stack_cut_reason (store, symbols, stack);
      g_autofree char *code = g_strndup (cut.at, sysprof_text_size (cut));

      self->cut[stack] = sysprof_rows_dup (self->rows, code);
    }
  if (self->cut[stack][0] != '\0')
    return self->cut[stack];
  if (end != STACK_WHOLE)
    return reasons[end];
  if (store->processes.row[store->samples.process[sample]].is_kernel)
    return "kernel-thread";
  while (store->stacks.depth[stack] > 1)
    stack = store->stacks.parent[stack];
  if (store->has_walks &&
      symbols->row[symbols->of_address[store->stacks.address[stack]]].kind == SYMBOL_KERNEL)
    return "in-exec";
  return "end";
}

/* The unwind method of the sample if it is recorded, else that of the capture. "none" if
 * there was no user part to unwind. */
static const char *
method_of (const Store *store, uint32_t sample, StackEnd end, const char *reason)
{
  /* Names of methods in reports. Single frames of a stack unwound by tables may come from
   * frame pointers. */
  static const char *const methods[] = {
    [CAPTURE_FOUND_BY_TABLES] = "tables",
    [CAPTURE_FOUND_BY_BOTH] = "tables",
    [CAPTURE_FOUND_BY_FRAME_POINTERS] = "frame-pointer",
    [CAPTURE_FOUND_IN_A_COPY] = "copy",
    [CAPTURE_FOUND_NONE] = "none",
  };
  const unsigned found = store->sample_notes != NULL
                             ? store->sample_notes[sample] & CAPTURE_FOUND_MASK
                             : CAPTURE_FOUND_UNSAID;

  if (found != CAPTURE_FOUND_UNSAID && found < G_N_ELEMENTS (methods))
    return methods[found];

  if (end == STACK_EMPTY || end == STACK_NOT_UNWOUND || g_str_equal (reason, "kernel-thread") ||
      g_str_equal (reason, "in-exec"))
    return "none";
  if (!store->has_walks || g_str_equal (reason, "not-yet"))
    return "frame-pointer";
  return store->has_copies ? "copy" : "tables";
}

static void
add_sample (Samples *self, uint32_t sample)
{
  const Store *store = self->request->store;
  const StackEvents *samples = &store->samples;
  StackId stack = samples->stack[sample];
  Cell *cells = sysprof_rows_add (self->rows);
  StackEnd end;

  if (self->end[stack] == 0)
    self->end[stack] = (uint8_t) (sysprof_stack_end (store, self->request->symbols, stack) + 1);
  end = (StackEnd) (self->end[stack] - 1);
  cells[TIME].number = sysprof_request_offset (self->request, samples->time[sample]);
  cells[PID].number = samples->pid[sample];
  cells[TID].number = samples->tid[sample];
  cells[THREAD].text = sysprof_store_string (
      store, sysprof_store_thread_name (store, samples->process[sample], samples->tid[sample],
                                        samples->time[sample]));
  cells[CPU].number = samples->cpu[sample];
  cells[STACK].stack = sysprof_stack_texts_get (&self->texts, stack);
  cells[COMPLETE].flag = end == STACK_WHOLE;
  cells[REASON].text = reason_of (self, sample, end);
  cells[UNWIND].text = method_of (store, sample, end, cells[REASON].text);
  cells[CATEGORY].text = sysprof_category_to_string ((Category) self->category[stack]);
}

static bool
fill_samples (const ViewRequest *request, Rows *rows, GError **error)
{
  /* With a limit, stop early if rows are in order of time and none is removed. */
  uint32_t limit =
      request->limit && !request->sort && request->search == NULL ? request->limit : UINT32_MAX;
  SampleFilter filter = request->filter ? *request->filter : (SampleFilter){ 0 };
  Samples self = { .request = request, .rows = rows };
  Shape shape = sysprof_request_shape (request);
  g_autofree uint32_t *found = NULL;
  uint32_t n = 0;

  if (!sysprof_filter_is_of_samples (&filter, request->store))
    filter.event_is_in = NULL;
  filter.events = NULL; /* samples, even if something else is weighed */
  found = sysprof_samples_find (request->store, request->symbols, &filter, &n);
  sysprof_rows_init (rows, columns, N_COLUMNS, n);
  rows->is_event_list = true; /* even if samples are weighed */
  rows->n_available = request->store->samples.n;
  sysprof_stack_texts_init (&self.texts, request, rows);
  self.category = sysprof_stacks_categorize (request->store, request->symbols, &shape);
  self.end = g_new0 (uint8_t, MAX (request->store->stacks.n, 1));
  self.cut = g_new0 (const char *, MAX (request->store->stacks.n, 1));
  for (uint32_t i = 0; i < MIN (n, limit) && sysprof_is_wanted_at (i); i++)
    add_sample (&self, found[i]);
  rows->n_hidden = n - rows->n_rows;
  sysprof_stack_texts_clear (&self.texts);
  g_free (self.category);
  g_free (self.end);
  g_free (self.cut);
  return true;
}

const View sysprof_samples_view = {
  .name = "samples",
  .title = "Samples",
  .summary = "single samples with stacks",
  .recorded_by = RECORDED_AS_SAMPLES,
  .options = OPTIONS_SAMPLES | OPTIONS_FUNCTIONS | OPTIONS_STACKS,
  .fill = fill_samples,
};
