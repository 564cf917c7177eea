// SPDX-License-Identifier: GPL-3.0-or-later

/* The rows of instruments, and which instruments their options select. */

#include "record/instruments/registry.h"

#include <string.h>

/* As if these options had been given; "" ends them. */
static void
give (InstrumentSelection *selection, const char *const *options)
{
  sysprof_instrument_selection_init (selection);
  for (; **options != '\0'; options++)
    for (size_t i = 0; selection->entries[i].long_name != NULL; i++)
      if (strcmp (selection->entries[i].long_name, *options) == 0)
        selection->given[i].is_given = TRUE;
}

/* The first options of the instruments that are selected, each after a blank. *(full)* */
static char *
dup_selected (const char *const *options)
{
  InstrumentSelection selection;
  GString *names = g_string_new ("");

  give (&selection, options);
  for (const InstrumentRow *const *row = sysprof_instrument_rows; *row != NULL; row++)
    if (sysprof_instrument_selection_includes (&selection, *row))
      g_string_append_printf (names, " %s", (*row)->options[0].name);
  sysprof_instrument_selection_clear (&selection);
  return g_string_free (names, FALSE);
}

static void
test_selects (void)
{
  static const struct
  {
    const char *options[4];
    const char *selected;
  } cases[] = {
    { { "" },
      " no-cpu no-disk no-memory no-network no-battery pressure gpu no-process-usage "
      "no-recorder no-system-log no-graphics-info" },
    { { "no-cpu", "no-disk", "no-gpu", "" },
      " no-memory no-network no-battery pressure no-process-usage no-recorder no-system-log "
      "no-graphics-info" },
    { { "thermal", "scheduler", "no-throttle", "" },
      " no-cpu no-disk no-memory no-network no-battery pressure gpu no-process-usage "
      "no-recorder thermal scheduler no-system-log no-graphics-info power-profile" },
    /* An option that omits takes precedence. */
    { { "thermal", "no-thermal", "no-pressure", "" },
      " no-cpu no-disk no-memory no-network no-battery gpu no-process-usage "
      "no-recorder no-system-log no-graphics-info" },
  };

  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *selected = dup_selected (cases[i].options);

      g_assert_cmpstr (selected, ==, cases[i].selected);
    }
}

static void
test_rows_are_complete (void)
{
  g_autoptr (GHashTable) names = g_hash_table_new (g_str_hash, g_str_equal);

  for (const InstrumentRow *const *row = sysprof_instrument_rows; *row != NULL; row++)
    {
      g_assert_nonnull ((*row)->options[0].name);
      g_assert_true (((*row)->new == NULL) != ((*row)->create == NULL));
      for (size_t i = 0; i < INSTRUMENT_MAX_OPTIONS && (*row)->options[i].name != NULL; i++)
        {
          const InstrumentOption *option = &(*row)->options[i];

          g_test_message ("--%s", option->name);
          g_assert_true (g_hash_table_add (names, (char *) option->name));
          g_assert_true (!option->omits || g_str_has_prefix (option->name, "no-"));
          g_assert_true (option->values == NULL || option->value != NULL);
        }
    }
}

static void
test_refuses_unknown_values_and_missing_commands (void)
{
  InstrumentSelection selection;
  g_autoptr (GError) bad_value = NULL;
  g_autoptr (GError) no_command = NULL;

  give (&selection, (const char *const[]){ "memprof", "" });
  g_assert_false (sysprof_instrument_selection_check (&selection, false, &no_command));
  g_assert_cmpstr (no_command->message, ==,
                   "--memprof needs a command to run: add -- COMMAND.");
  g_assert_true (sysprof_instrument_selection_check (&selection, true, NULL));
  for (size_t i = 0; selection.entries[i].long_name != NULL; i++)
    if (strcmp (selection.entries[i].long_name, "power-profile") == 0)
      selection.given[i].values = g_strsplit ("balanced turbo", " ", -1);
  g_assert_false (sysprof_instrument_selection_check (&selection, true, &bad_value));
  g_assert_cmpstr (bad_value->message, ==,
                   "--power-profile turbo: give power-saver, balanced or performance.");
  sysprof_instrument_selection_clear (&selection);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/record/registry/selects", test_selects);
  g_test_add_func ("/record/registry/rows-are-complete", test_rows_are_complete);
  g_test_add_func ("/record/registry/refuses-unknown-values-and-missing-commands",
                   test_refuses_unknown_values_and_missing_commands);
  return g_test_run ();
}
