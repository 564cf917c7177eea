// SPDX-License-Identifier: GPL-3.0-or-later

/* Reference results, computed sample by sample. See reference.h. */

#include "reference.h"

#include <string.h>

typedef void (*AddFunc) (GHashTable *sums,
                         GPtrArray *labels,
                         GArray *in_focus,
                         uint64_t weight);

char *
reference_label (const Fixture *fixture, SymbolId symbol)
{
  return g_strdup_printf ("%s@%s", sysprof_symbol_name (&fixture->symbols, symbol),
                          sysprof_symbol_binary (&fixture->symbols, symbol));
}

static SymbolId
symbol_at (const Fixture *fixture, const PlainSample *sample, uint32_t i)
{
  return fixture->symbols.of_address[sample->addresses[i]];
}

static bool
contains (const char *text, const char *part)
{
  g_autofree char *lower_text = g_ascii_strdown (text, -1);
  g_autofree char *lower_part = g_ascii_strdown (part, -1);

  return strstr (lower_text, lower_part) != NULL;
}

static bool
any_contains (const Fixture *fixture,
              const PlainSample *sample,
              const char *term,
              bool in_binary)
{
  for (uint32_t i = 0; i < sample->n; i++)
    {
      SymbolId symbol = symbol_at (fixture, sample, i);
      const char *text = in_binary ? sysprof_symbol_binary (&fixture->symbols, symbol)
                                   : sysprof_symbol_name (&fixture->symbols, symbol);

      if (in_binary && strchr (term, '/') != NULL)
        text =
            sysprof_intern_get (&fixture->symbols.strings, fixture->symbols.row[symbol].path);
      if (contains (text, term))
        return true;
    }
  return false;
}

static bool
terms_take (const Fixture *fixture,
            const PlainSample *sample,
            const char *const *terms,
            bool in_binary)
{
  bool asked = false;
  bool found = false;

  for (uint32_t i = 0; terms != NULL && terms[i] != NULL; i++)
    {
      if (terms[i][0] == '!')
        {
          if (any_contains (fixture, sample, terms[i] + 1, in_binary))
            return false;
          continue;
        }
      asked = true;
      found = found || any_contains (fixture, sample, terms[i], in_binary);
    }
  return found || !asked;
}

static bool
is_among (int32_t number, const int32_t *numbers, uint32_t n)
{
  for (uint32_t i = 0; i < n; i++)
    if (numbers[i] == number)
      return true;
  return false;
}

static bool
times_take (const SampleFilter *filter, int64_t time)
{
  for (uint32_t i = 0; i < filter->n_times; i++)
    if (time >= filter->times[i].begin && time < filter->times[i].end)
      return true;
  return filter->times == NULL;
}

static bool
takes (const Fixture *fixture, const PlainSample *sample, const SampleFilter *filter)
{
  if (filter->time_end != 0 && sample->time >= filter->time_end)
    return false;
  if ((filter->time_begin != 0 || filter->time_end != 0) && sample->time < filter->time_begin)
    return false;
  if (!times_take (filter, sample->time))
    return false;
  if (filter->has_processes &&
      !is_among ((int32_t) sample->process, (const int32_t *) filter->processes,
                 filter->n_processes))
    return false;
  if (filter->has_tids && !is_among (sample->tid, filter->tids, filter->n_tids))
    return false;
  if (filter->has_cpus && !is_among (sample->cpu, filter->cpus, filter->n_cpus))
    return false;
  return terms_take (fixture, sample, filter->symbol_terms, false) &&
         terms_take (fixture, sample, filter->binary_terms, true);
}

static bool
is_focus (const Fixture *fixture, SymbolId symbol, const char *focus)
{
  for (SymbolId i = 1; i < fixture->symbols.n; i++)
    if (g_str_equal (sysprof_symbol_name (&fixture->symbols, i), focus))
      return g_str_equal (sysprof_symbol_name (&fixture->symbols, symbol), focus);

  return contains (sysprof_symbol_name (&fixture->symbols, symbol), focus);
}

static void
add_to (GHashTable *sums, const char *key, bool to_self, uint64_t weight)
{
  Sums *sum = g_hash_table_lookup (sums, key);

  if (weight == 0)
    return;

  if (sum == NULL)
    {
      sum = g_new0 (Sums, 1);
      g_hash_table_insert (sums, g_strdup (key), sum);
    }
  if (to_self)
    sum->self += weight;
  else
    sum->total += weight;
}

static void
add_path (GHashTable *sums, GPtrArray *labels, uint64_t weight)
{
  g_autoptr (GString) path = g_string_new (NULL);

  add_to (sums, path->str, false, weight);
  for (uint32_t i = 0; i < labels->len; i++)
    {
      g_string_append_printf (path, "/%s", (char *) labels->pdata[i]);
      add_to (sums, path->str, false, weight);
    }
  add_to (sums, path->str, true, weight);
}

static void
reverse (GPtrArray *array)
{
  for (uint32_t i = 0; i < array->len / 2; i++)
    {
      gpointer swapped = array->pdata[i];

      array->pdata[i] = array->pdata[array->len - 1 - i];
      array->pdata[array->len - 1 - i] = swapped;
    }
}

static bool
is_collapsed (const Fixture *fixture, SymbolId symbol, const Shape *shape)
{
  return shape->collapse != NULL &&
         strstr (sysprof_symbol_binary (&fixture->symbols, symbol), "libc") != NULL;
}

/* The first function of its binary. */
static SymbolId
first_of_binary (const Fixture *fixture, SymbolId symbol)
{
  for (SymbolId i = 1; i < symbol; i++)
    if (g_str_equal (sysprof_symbol_binary (&fixture->symbols, i),
                     sysprof_symbol_binary (&fixture->symbols, symbol)))
      return i;
  return symbol;
}

static bool
any_is_focus (const Fixture *fixture, SymbolId symbol, const Shape *shape)
{
  if (!is_collapsed (fixture, symbol, shape))
    return is_focus (fixture, symbol, shape->focus);
  for (SymbolId i = 1; i < fixture->symbols.n; i++)
    if (g_str_equal (sysprof_symbol_binary (&fixture->symbols, i),
                     sysprof_symbol_binary (&fixture->symbols, symbol)) &&
        is_focus (fixture, i, shape->focus))
      return true;
  return false;
}

/* The functions of a sample that show, outermost first. */
static GPtrArray *
visible_labels (const Fixture *fixture,
                const PlainSample *sample,
                const Shape *shape,
                GArray *in_focus)
{
  GPtrArray *labels = g_ptr_array_new_with_free_func (g_free);

  for (uint32_t i = 0; i < sample->n; i++)
    {
      SymbolId symbol = symbol_at (fixture, sample, i);
      bool focused = shape->focus != NULL && any_is_focus (fixture, symbol, shape);
      bool collapsed = is_collapsed (fixture, symbol, shape);
      const char *path =
          sysprof_intern_get (&fixture->symbols.strings, fixture->symbols.row[symbol].path);
      g_autofree char *label =
          reference_label (fixture, collapsed ? first_of_binary (fixture, symbol) : symbol);

      if ((shape->no_kernel && fixture->symbols.row[symbol].kind == SYMBOL_KERNEL) ||
          (shape->hide_system && g_str_has_prefix (path, "/usr/lib") && strstr (path, ".so")))
        continue;
      if (collapsed && labels->len > 0 &&
          g_str_equal (g_ptr_array_index (labels, labels->len - 1), label))
        continue;
      g_ptr_array_add (labels, g_steal_pointer (&label));
      g_array_append_val (in_focus, focused);
    }
  return labels;
}

/* FALSE when the sample has no function in focus. */
static bool
cut_to_focus (GPtrArray *labels, const GArray *in_focus, bool bottom_up)
{
  uint32_t first = 0;
  uint32_t last = labels->len;

  while (first < labels->len && !g_array_index (in_focus, bool, first))
    first++;
  while (last > 0 && !g_array_index (in_focus, bool, last - 1))
    last--;
  if (last == 0)
    return false;

  if (bottom_up)
    g_ptr_array_set_size (labels, (int) last);
  else
    g_ptr_array_remove_range (labels, 0, first);
  return true;
}

static void
fold_recursion (GPtrArray *labels)
{
  for (uint32_t i = labels->len; i-- > 1;)
    if (g_str_equal (labels->pdata[i], labels->pdata[i - 1]))
      g_ptr_array_remove_index (labels, i);
}

static char *
process_label (const Fixture *fixture, ProcessId process, const Shape *shape)
{
  const char *comm =
      sysprof_store_string (&fixture->store, fixture->store.processes.row[process].comm);

  if (shape->merge_processes)
    return g_strdup (comm);
  return g_strdup_printf ("%s:%d", comm, fixture->store.processes.row[process].pid);
}

GHashTable *
reference_tree (const Fixture *fixture, const SampleFilter *filter, const Shape *shape)
{
  GHashTable *sums = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);

  for (uint32_t i = 0; i < fixture->samples->len; i++)
    {
      const PlainSample *sample = &g_array_index (fixture->samples, PlainSample, i);
      g_autoptr (GArray) in_focus = g_array_new (FALSE, FALSE, sizeof (bool));
      g_autoptr (GPtrArray) labels = visible_labels (fixture, sample, shape, in_focus);

      if (!takes (fixture, sample, filter) ||
          (shape->focus != NULL && !cut_to_focus (labels, in_focus, shape->bottom_up)))
        continue;

      if (shape->fold_recursion)
        fold_recursion (labels);
      if (shape->bottom_up)
        reverse (labels);
      if (shape->focus == NULL && shape->threads)
        g_ptr_array_insert (labels, 0, g_strdup_printf ("Thread %d", sample->tid));
      if (shape->focus == NULL && !shape->no_processes)
        g_ptr_array_insert (labels, 0, process_label (fixture, sample->process, shape));
      add_path (sums, labels, sample->weight);
    }
  return sums;
}

static GHashTable *
reference_rows (const Fixture *fixture,
                const SampleFilter *filter,
                const Shape *shape,
                AddFunc add)
{
  GHashTable *sums = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);

  for (uint32_t i = 0; i < fixture->samples->len; i++)
    {
      const PlainSample *sample = &g_array_index (fixture->samples, PlainSample, i);
      g_autoptr (GArray) in_focus = g_array_new (FALSE, FALSE, sizeof (bool));
      g_autoptr (GPtrArray) labels = visible_labels (fixture, sample, shape, in_focus);

      if (takes (fixture, sample, filter))
        add (sums, labels, in_focus, sample->weight);
    }
  return sums;
}

/* `rows[i]`, if not NULL, is the row of the i-th function. */
static void
add_rows (GHashTable *sums, const GPtrArray *rows, uint64_t weight)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);

  for (uint32_t i = 0; i < rows->len; i++)
    if (rows->pdata[i] != NULL && g_hash_table_add (seen, rows->pdata[i]))
      add_to (sums, rows->pdata[i], false, weight);
  if (rows->len > 0 && rows->pdata[rows->len - 1] != NULL)
    add_to (sums, rows->pdata[rows->len - 1], true, weight);
}

static void
add_functions (GHashTable *sums, GPtrArray *labels, GArray *in_focus, uint64_t weight)
{
  add_rows (sums, labels, weight);
}

static void
add_callers (GHashTable *sums, GPtrArray *labels, GArray *in_focus, uint64_t weight)
{
  g_autoptr (GPtrArray) rows = g_ptr_array_new ();

  for (uint32_t i = 0; i < labels->len; i++)
    g_ptr_array_add (rows,
                     i > 0 && g_array_index (in_focus, bool, i) ? labels->pdata[i - 1] : NULL);
  add_rows (sums, rows, weight);
}

static void
add_callees (GHashTable *sums, GPtrArray *labels, GArray *in_focus, uint64_t weight)
{
  g_autoptr (GPtrArray) rows = g_ptr_array_new ();

  for (uint32_t i = 0; i < labels->len; i++)
    g_ptr_array_add (rows,
                     i > 0 && g_array_index (in_focus, bool, i - 1) ? labels->pdata[i] : NULL);
  add_rows (sums, rows, weight);
}

GHashTable *
reference_functions (const Fixture *fixture, const SampleFilter *filter, const Shape *shape)
{
  return reference_rows (fixture, filter, shape, add_functions);
}

GHashTable *
reference_callers (const Fixture *fixture, const SampleFilter *filter, const Shape *shape)
{
  return reference_rows (fixture, filter, shape, add_callers);
}

GHashTable *
reference_callees (const Fixture *fixture, const SampleFilter *filter, const Shape *shape)
{
  return reference_rows (fixture, filter, shape, add_callees);
}

uint64_t
reference_total (const Fixture *fixture, const SampleFilter *filter)
{
  uint64_t total = 0;

  for (uint32_t i = 0; i < fixture->samples->len; i++)
    {
      const PlainSample *sample = &g_array_index (fixture->samples, PlainSample, i);

      if (takes (fixture, sample, filter))
        total += sample->weight;
    }
  return total;
}
