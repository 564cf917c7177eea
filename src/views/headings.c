// SPDX-License-Identifier: GPL-3.0-or-later

/* Headings of rows and titles of pictures. */

#include "document/document.h"
#include "text/text.h"
#include "views/views.h"

#include <string.h>

#define COMMAND_COLUMNS 80
#define EN_DASH         "\342\200\223"
#define NSEC_PER_SECOND INT64_C (1000000000)

/* "heavy_work in run.syscap", or without a focus "run.syscap". *(full)* */
static char *
dup_subject (const View *view, const ViewRequest *request)
{
  g_autofree char *path = sysprof_dup_one_line (sysprof_capture_path (request));
  const char *focus = request->shape ? request->shape->focus : NULL;
  g_autofree char *name = NULL;
  g_autofree bool *matches = NULL;
  uint32_t n_matches = 0;
  SymbolId match = 0;

  if ((view->options & OPTIONS_FOCUS) == 0 || !focus)
    return g_strdup (path);
  matches = sysprof_focus_match (request->symbols, focus, &n_matches);
  while (n_matches == 1 && !matches[match])
    match++;
  name = sysprof_dup_one_line (match ? sysprof_symbol_name (request->symbols, match) : focus);
  if (n_matches == 1)
    return g_strdup_printf ("%s in %s", name, path);
  return g_strdup_printf ("'%s' (%u functions) in %s", name, n_matches, path);
}

char *
sysprof_dup_weight (const Rows *rows, uint64_t weight)
{
  size_t letters = strlen (rows->weight_name);
  char grouped[SYSPROF_GROUPED_SIZE];

  if (g_str_equal (rows->weight_unit, "ns"))
    return sysprof_dup_duration ((int64_t) MIN (weight, INT64_MAX));
  if (weight == 1 && letters > 0 && rows->weight_name[letters - 1] == 's')
    letters--;
  return g_strdup_printf ("%s %.*s", sysprof_format_grouped (weight, grouped), (int) letters,
                          rows->weight_name);
}

/* The whole weight: "1,234 samples", "9.26 s off the CPU". *(full)* */
static char *
dup_total (const Rows *rows)
{
  /* These sums are over all threads, so they may exceed the duration of the recording. */
  static const struct
  {
    const char *weight;
    const char *text;
  } times[] = { { "time", " off the CPU" }, { "wall", " on and off the CPU" }, { "path", "" } };
  g_autofree char *total = sysprof_dup_weight (rows, rows->total);

  if (!g_str_equal (rows->weight_unit, "ns"))
    return g_steal_pointer (&total);
  for (size_t i = 0; i < G_N_ELEMENTS (times); i++)
    if (g_str_equal (rows->weight_name, times[i].weight))
      return g_strconcat (total, times[i].text, NULL);
  return g_strdup_printf ("%s of %s", total, rows->weight_name);
}

/* "at 1000 Hz", "each one", "one of 10,000"; "" if it is unknown. *(full)* */
static char *
dup_rate (const SampledEvent *event)
{
  char period[SYSPROF_GROUPED_SIZE];

  if (event->rate > 0)
    return g_strdup_printf ("at %u Hz", event->rate);
  if (event->is_time && event->period > 0 && event->period <= NSEC_PER_SECOND)
    return g_strdup_printf ("at %" G_GINT64_FORMAT " Hz",
                            (NSEC_PER_SECOND + event->period / 2) / event->period);
  if (event->period == 1)
    return g_strdup ("each one");
  if (event->period > 1)
    return g_strdup_printf ("one of %s",
                            sysprof_format_grouped ((uint64_t) event->period, period));
  return g_strdup ("");
}

char *
sysprof_dup_events (const Store *store, const char *weight_name)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (uint32_t i = 0; i < store->n_sampled_events; i++)
    {
      const char *name = sysprof_store_string (store, store->sampled_events[i].name);
      g_autofree char *rate = dup_rate (&store->sampled_events[i]);
      const char *between = rate[0] == '\0' ? "" : g_str_has_prefix (rate, "at") ? " " : ", ";

      if (g_strcmp0 (name, weight_name) == 0)
        return rate[0] != '\0' ? g_strdup_printf (" (%s)", rate) : g_strdup ("");
      g_string_append_printf (text, "%s%s%s%s", i > 0 ? "; " : " (", name, between, rate);
    }
  if (text->len > 0)
    g_string_append_c (text, ')');
  return g_string_free (g_steal_pointer (&text), FALSE);
}

/* The weight and the duration of the recording with `separator` between them. *(full)* */
static char *
dup_total_and_duration (const ViewRequest *request, const Rows *rows, const char *separator)
{
  const Store *store = request->store;
  int64_t nsec = sysprof_time_between (store->begin, store->end);
  g_autofree char *duration = sysprof_dup_duration (nsec);
  g_autofree char *total = dup_total (rows);
  bool are_samples = !rows->is_event_list || g_str_equal (rows->weight_name, "wall") ||
                     g_str_equal (rows->weight_name, "samples");
  g_autofree char *events =
      are_samples ? sysprof_dup_events (store, rows->weight_name) : g_strdup ("");

  /* Imported captures may have no times. */
  if (nsec == 0 && !g_str_equal (rows->weight_unit, "ns"))
    return g_strconcat (total, events, NULL);
  return g_strconcat (total, events, separator, duration, NULL);
}

char *
sysprof_dup_amount (const ViewRequest *request, const Rows *rows)
{
  return dup_total_and_duration (request, rows, " in ");
}

static void
append_values (GString *text, const char *name, char **values)
{
  for (; values != NULL && *values != NULL; values++)
    {
      g_autofree char *value = sysprof_dup_one_line (*values);

      g_string_append_printf (text, "%s--%s %s", text->len > 0 ? ", " : "", name, value);
    }
}

/* Appends a word as a user types it: in quotes only if it needs them. */
static void
append_word (GString *line, const char *word)
{
  g_autofree char *quoted = g_shell_quote (word);
  bool is_plain =
      word[0] &&
      word[strspn (word, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "_-+=./,:@%")] == '\0';

  g_string_append_printf (line, "%s%s", line->len > 0 ? " " : "", is_plain ? word : quoted);
}

char *
sysprof_dup_command (const ViewRequest *request)
{
  g_autofree char *command = sysprof_store_dup_command (request->store);
  g_autoptr (GString) line = g_string_new (NULL);
  g_auto (GStrv) words = NULL;

  if (command == NULL)
    return NULL;
  if (!g_shell_parse_argv (command, NULL, &words, NULL))
    return sysprof_dup_one_line (command);
  for (char **word = words; *word; word++)
    {
      g_autofree char *program = g_path_get_basename (*word);

      append_word (line, word == words ? program : *word);
    }
  return sysprof_dup_one_line (line->str);
}

/* The options of the selection after `text`, which may be empty. */
static void
append_selection (GString *text, const Selection *selection)
{
  for (const SelectionOption *option = sysprof_selection_options; option->name; option++)
    if (option->selects && option->kind == SELECTION_LIST)
      append_values (text, option->name, *(char ***) ((char *) selection + option->offset));
  if (selection->no_kernel)
    g_string_append (text, text->len > 0 ? ", --no-kernel" : "--no-kernel");
}

char *
sysprof_dup_selection (const ViewRequest *request)
{
  const Selection *selection = request->selection;
  g_autoptr (GString) text = g_string_new (NULL);

  if (selection == NULL)
    return NULL;
  if (selection->command)
    {
      g_autofree char *command = sysprof_dup_command (request);

      g_string_append_printf (text, "command %s", command != NULL ? command : "unknown");
    }
  append_selection (text, selection);
  return text->len > 0 ? g_string_free (g_steal_pointer (&text), FALSE) : NULL;
}

char *
sysprof_dup_heading (const View *view, const ViewRequest *request, const Rows *rows)
{
  g_autofree char *subject = dup_subject (view, request);
  g_autofree char *amount = sysprof_dup_amount (request, rows);
  g_autofree char *selection = sysprof_dup_selection (request);

  return g_strdup_printf ("%s of %s%s%s%s: %s", view->title, subject, selection ? " (" : "",
                          selection ? selection : "", selection ? ")" : "", amount);
}

char *
sysprof_dup_title (const ViewRequest *request, const Rows *rows)
{
  const Selection *selection = request->selection;
  const char *focus = request->shape ? request->shape->focus : NULL;
  g_autofree char *amount = dup_total_and_duration (request, rows, ", ");
  g_autofree char *command =
      selection != NULL && selection->all ? NULL : sysprof_dup_command (request);
  g_autofree char *subject =
      sysprof_dup_abbreviated (command ? command : "whole machine", COMMAND_COLUMNS);
  g_autofree char *function = sysprof_dup_one_line (focus ? focus : "");
  g_autoptr (GString) selected = g_string_new (amount);

  if (selection != NULL)
    append_selection (selected, selection);
  if (focus)
    g_string_append_printf (selected, ", below %s", function);
  return g_strdup_printf ("%s " EN_DASH " %s", subject, selected->str);
}
