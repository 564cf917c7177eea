// SPDX-License-Identifier: GPL-3.0-or-later

/* Makes options of the rows of instruments, and instruments of the options that were given. */

#include "record/instruments/registry.h"

#include "record/record.h"
#include "util/util.h"

#include <string.h>

void
sysprof_instrument_selection_init (InstrumentSelection *self)
{
  g_autoptr (GArray) entries = g_array_new (TRUE, TRUE, sizeof (GOptionEntry));

  for (const InstrumentRow *const *row = sysprof_instrument_rows; *row != NULL; row++)
    for (size_t i = 0; i < INSTRUMENT_MAX_OPTIONS && (*row)->options[i].name != NULL; i++)
      {
        const InstrumentOption *option = &(*row)->options[i];
        const GOptionEntry entry = {
          .long_name = option->name,
          .flags = option->help == NULL ? G_OPTION_FLAG_HIDDEN : 0,
          .arg = option->value != NULL ? G_OPTION_ARG_STRING_ARRAY : G_OPTION_ARG_NONE,
          .description = option->help,
          .arg_description = option->value,
        };

        g_array_append_val (entries, entry);
      }
  *self = (InstrumentSelection){ .given = g_new0 (GivenInstrumentOption, entries->len) };
  for (guint i = 0; i < entries->len; i++)
    {
      GOptionEntry *entry = &g_array_index (entries, GOptionEntry, i);

      entry->arg_data = entry->arg == G_OPTION_ARG_NONE ? (void *) &self->given[i].is_given
                                                        : (void *) &self->given[i].values;
    }
  self->entries = (GOptionEntry *) (void *) g_array_free (g_steal_pointer (&entries), FALSE);
}

void
sysprof_instrument_selection_clear (InstrumentSelection *self)
{
  for (size_t i = 0; self->entries != NULL && self->entries[i].long_name != NULL; i++)
    g_strfreev (self->given[i].values);
  g_free (self->entries);
  g_free (self->given);
  *self = (InstrumentSelection){ 0 };
}

static const GivenInstrumentOption *
find_given (const InstrumentSelection *self, const char *option)
{
  size_t i = 0;

  while (self->entries[i].long_name != NULL && strcmp (self->entries[i].long_name, option) != 0)
    i++;
  g_assert (self->entries[i].long_name != NULL);
  return &self->given[i];
}

bool
sysprof_instrument_selection_has (const InstrumentSelection *self, const char *option)
{
  const GivenInstrumentOption *given = find_given (self, option);

  return given->is_given || given->values != NULL;
}

const char *const *
sysprof_instrument_selection_values (const InstrumentSelection *self, const char *option)
{
  return (const char *const *) find_given (self, option)->values;
}

/* Whether an option of the row that omits it, or one that requests it, was given. */
static bool
is_given (const InstrumentSelection *self, const InstrumentRow *row, bool omits)
{
  for (size_t i = 0; i < INSTRUMENT_MAX_OPTIONS && row->options[i].name != NULL; i++)
    if (row->options[i].omits == omits &&
        sysprof_instrument_selection_has (self, row->options[i].name))
      return true;
  return false;
}

bool
sysprof_instrument_selection_includes (const InstrumentSelection *self,
                                       const InstrumentRow *row)
{
  return !is_given (self, row, true) &&
         (row->by_default != INSTRUMENT_OFF || is_given (self, row, false));
}

static bool
check_option (const InstrumentSelection *self,
              const InstrumentRow *row,
              const InstrumentOption *option,
              bool has_command,
              GError **error)
{
  const char *const *values = sysprof_instrument_selection_values (self, option->name);

  if (row->needs_command && !has_command &&
      sysprof_instrument_selection_has (self, option->name))
    {
      g_set_error (error, SYSPROF_ERROR, SYSPROF_ERROR_FAILED,
                   "--%s needs a command to run: add -- COMMAND.", option->name);
      return false;
    }
  for (; option->values != NULL && values != NULL && *values != NULL; values++)
    if (!sysprof_usage_check_choice (option->name, *values, option->values, NULL, error))
      return false;
  return true;
}

bool
sysprof_instrument_selection_check (const InstrumentSelection *self,
                                    bool has_command,
                                    GError **error)
{
  for (const InstrumentRow *const *row = sysprof_instrument_rows; *row != NULL; row++)
    for (size_t i = 0; i < INSTRUMENT_MAX_OPTIONS && (*row)->options[i].name != NULL; i++)
      if (!check_option (self, *row, &(*row)->options[i], has_command, error))
        return false;
  return true;
}

void
sysprof_instrument_selection_add_to (const InstrumentSelection *self,
                                     SysprofProfiler *profiler,
                                     bool reports_all)
{
  for (const InstrumentRow *const *row = sysprof_instrument_rows; *row != NULL; row++)
    {
      g_autoptr (GPtrArray) instruments = g_ptr_array_new ();
      bool is_optional = (*row)->by_default == INSTRUMENT_OPTIONAL && !reports_all &&
                         !is_given (self, *row, false);

      if (!sysprof_instrument_selection_includes (self, *row))
        continue;
      if ((*row)->create != NULL)
        (*row)->create (self, instruments);
      else
        g_ptr_array_add (instruments, (*row)->new ());
      for (guint i = 0; i < instruments->len; i++)
        {
          sysprof_instrument_set_optional (instruments->pdata[i], is_optional);
          sysprof_profiler_add_instrument (profiler, instruments->pdata[i]);
        }
    }
}

char *
sysprof_instrument_manual (void)
{
  GString *text = g_string_new ("");

  for (const InstrumentRow *const *row = sysprof_instrument_rows; *row != NULL; row++)
    {
      const InstrumentOption *options = (*row)->options;

      if (options[0].help == NULL)
        continue;
      g_string_append (text, ".TP\n.BR");
      for (size_t i = 0; i < INSTRUMENT_MAX_OPTIONS && options[i].name != NULL; i++)
        {
          g_string_append_printf (text, "%s --%s", i > 0 ? " ,\\ " : "", options[i].name);
          if (options[i].value != NULL)
            g_string_append_printf (text, "\\  \\fI%s\\fR", options[i].value);
        }
      if ((*row)->manual != NULL)
        g_string_append_printf (text, "\n%s\n", (*row)->manual);
      else
        g_string_append_printf (text, "\n%s.\n", options[0].help);
    }
  return g_string_free (text, FALSE);
}
