// SPDX-License-Identifier: GPL-3.0-or-later

/* How a finding becomes a row: sentence, command, and members for programs. */

#include "document/document.h"
#include "views/overview/findings.h"

#include <string.h>

#define SHOWN_NAME      60               /* columns */
#define DEFAULT_CAPTURE "capture.syscap" /* sysprof-report reads it without being told */

enum
{
  TEXT,
  COMMAND,
  KIND,
  PROCESS,
  SYMBOL,
  REASON,
  REMEDY,
  SHARE,
  SELECTION,
  N_COLUMNS,
};

static const Column columns[] = {
  [TEXT] = { "text", "FINDING", COLUMN_TEXT },
  [COMMAND] = { "command", "COMMAND THAT SHOWS MORE", COLUMN_TEXT, .may_miss = true,
                .is_long = true },
  [KIND] = { "kind", "KIND", COLUMN_TEXT, .json_only = true },
  [PROCESS] = { "process", "PROCESS", COLUMN_TEXT, .json_only = true, .may_miss = true },
  [SYMBOL] = { "symbol", "FUNCTION", COLUMN_TEXT, .json_only = true, .may_miss = true },
  [REASON] = { "reason", "REASON", COLUMN_TEXT, .json_only = true, .may_miss = true },
  [REMEDY] = { "remedy", "REMEDY", COLUMN_TEXT, .json_only = true, .may_miss = true },
  [SHARE] = { "share", "SHARE", COLUMN_REAL, .json_only = true, .may_miss = true },
  [SELECTION] = { "selection", "SELECTION", COLUMN_OPTIONS, .json_only = true,
                  .may_miss = true },
};

double
sysprof_findings_percent (const Findings *self, uint64_t part)
{
  return sysprof_percent (part, self->weights.total);
}

const char *
sysprof_findings_noun (const Findings *self)
{
  const SampleFilter *filter = self->request->filter;
  const Store *store = self->store;

  if (filter != NULL && filter->weight_name != NULL)
    return g_str_equal (filter->weight_unit, "ns") ? "time" : filter->weight_name;
  if (store->n_sampled_events != 1)
    return "samples";
  return store->sampled_events[0].is_time
             ? "time"
             : sysprof_store_string (store, store->sampled_events[0].name);
}

const char *
sysprof_findings_verb (const Findings *self, const char *of_time)
{
  return g_str_equal (sysprof_findings_noun (self), "time") ? of_time : "were";
}

bool
sysprof_findings_weigh_waits (const Findings *self)
{
  const SampleFilter *filter = self->request->filter;

  return filter != NULL && filter->events != NULL &&
         filter->events != &self->store->allocations &&
         !sysprof_filter_is_of_samples (filter, self->store);
}

char *
sysprof_findings_dup_shown_name (const Findings *self, SymbolId symbol)
{
  g_autofree char *name = sysprof_dup_one_line (sysprof_symbol_name (self->symbols, symbol));

  return sysprof_dup_short_name (name, SHOWN_NAME);
}

char *
sysprof_findings_dup_location (const Findings *self, SymbolId symbol)
{
  const Symbol *row = &self->symbols->row[symbol];
  g_autofree char *location = sysprof_dup_source_location (
      sysprof_intern_get (&self->symbols->strings, row->file), row->line, row->is_inlined);

  return location != NULL ? g_strdup_printf (" (%s)", location) : g_strdup ("");
}

/* Quotes a word for a shell if that is necessary. */
static void
append_word (GString *line, const char *word)
{
  g_autofree char *text = sysprof_dup_one_line (word);
  bool is_plain = text[0] != '\0' && text[0] != '-' &&
                  strspn (text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789_-./:@,") == strlen (text);
  g_autofree char *quoted = is_plain ? g_strdup (text) : g_shell_quote (text);

  g_string_append_printf (line, " %s", quoted);
}

static void
add_option (GPtrArray *options, const char *name, const char *value)
{
  g_ptr_array_add (options, (char *) name);
  g_ptr_array_add (options, (char *) value);
}

/* The options of the request, then those of the finding. The texts are borrowed. */
static GPtrArray *
list_options (const Findings *self, const Finding *finding)
{
  const Selection *selection = self->request->selection;
  GPtrArray *options = g_ptr_array_new ();

  for (const SelectionOption *row = sysprof_selection_options; selection && row->name; row++)
    {
      const void *member = (const char *) selection + row->offset;

      if (row->kind == SELECTION_SWITCH && *(const gboolean *) member && row->selects)
        add_option (options, row->name, "");
      for (char **value = row->kind == SELECTION_LIST ? *(char ***) member : NULL;
           value != NULL && *value != NULL; value++)
        add_option (options, row->name, *value);
    }
  for (size_t i = 0; finding->options[i] != NULL; i += 2)
    add_option (options, finding->options[i], finding->options[i + 1]);
  g_ptr_array_add (options, NULL);
  return options;
}

static char *
dup_command (const Findings *self, const char *view, const GPtrArray *options)
{
  const char *path = sysprof_capture_path (self->request);
  GString *line = g_string_new ("sysprof-report ");

  g_string_append (line, view);
  for (guint i = 0; i + 1 < options->len; i += 2)
    {
      const char *value = options->pdata[i + 1];

      g_string_append_printf (line, " --%s", (const char *) options->pdata[i]);
      if (value[0] != '\0')
        append_word (line, value);
    }
  if (!g_str_equal (path, DEFAULT_CAPTURE))
    append_word (line, path);
  return g_string_free (line, FALSE);
}

static const char *
keep (Findings *self, const char *text)
{
  return text != NULL ? sysprof_rows_dup (self->rows, text) : "";
}

void
sysprof_findings_add (Findings *self, const Finding *finding, const char *format, ...)
{
  g_autoptr (GPtrArray) options = list_options (self, finding);
  g_autofree char *command =
      finding->view != NULL ? dup_command (self, finding->view, options) : NULL;
  Cell *cells = sysprof_rows_add (self->rows);
  GString *text = g_string_new (NULL);
  const char **texts = sysprof_arena_alloc (&self->rows->arena, options->len * sizeof *texts);
  va_list arguments;

  va_start (arguments, format);
  g_string_append_vprintf (text, format, arguments);
  va_end (arguments);
  if (finding->remedy != NULL &&
      !(self->request->hides_options && strstr (finding->remedy, "--") != NULL))
    g_string_append_printf (text, " %s", finding->remedy);

  for (guint i = 0; i + 1 < options->len; i++)
    texts[i] = keep (self, options->pdata[i]);
  texts[options->len - 1] = NULL;
  cells[TEXT].text = keep (self, text->str);
  cells[COMMAND].text = keep (self, command);
  cells[KIND].text = finding->kind;
  cells[PROCESS].text = keep (self, finding->process);
  cells[SYMBOL].text = keep (self, finding->symbol);
  cells[REASON].text = keep (self, finding->reason);
  cells[REMEDY].text = keep (self, finding->remedy);
  cells[SHARE].real = finding->share > 0 ? finding->share : NAN;
  cells[SELECTION].texts = texts;
  g_string_free (text, TRUE);
}

void
sysprof_findings_init_rows (Findings *self)
{
  sysprof_rows_init (self->rows, columns, N_COLUMNS, self->weights.total);
}
