// SPDX-License-Identifier: GPL-3.0-or-later

#include "views/render.h"

bool
sysprof_column_is_figure (const Column *column)
{
  return column->kind != COLUMN_TEXT && column->kind != COLUMN_TEXTS &&
         column->kind != COLUMN_STACK;
}

char *
sysprof_dup_duration (int64_t nsec)
{
  static const struct
  {
    int64_t nsec;
    const char *unit;
  } units[] = { { 1000000000, "s" }, { 1000000, "ms" }, { 1000, "us" } };
  char number[SYSPROF_GROUPED_SIZE];

  if (nsec >= 600 * units[0].nsec)
    return g_strdup_printf ("%" G_GINT64_FORMAT " min %02d s", nsec / (60 * units[0].nsec),
                            (int) (nsec / units[0].nsec % 60));
  for (size_t i = 0; i < G_N_ELEMENTS (units); i++)
    if (nsec >= units[i].nsec)
      return g_strdup_printf (
          "%s %s", sysprof_format_fixed ((double) nsec / (double) units[i].nsec, number),
          units[i].unit);
  return g_strdup_printf ("%" G_GINT64_FORMAT " ns", nsec);
}

static char *
dup_joined (const char *const *texts)
{
  g_autofree char *joined = g_strjoinv (" ", (char **) texts);

  return sysprof_dup_one_line (joined);
}

static char *
dup_stack (const StackText *stack)
{
  g_autoptr (GString) joined = g_string_new (NULL);

  for (uint32_t i = 0; i < stack->n; i++)
    g_string_append_printf (joined, "%s%s", i ? " < " : "", stack->entries[i].symbol);
  return sysprof_dup_one_line (joined->str);
}

char *
sysprof_dup_cell (const Column *column, Cell cell)
{
  char grouped[SYSPROF_GROUPED_SIZE];

  switch (column->kind)
    {
    case COLUMN_TEXT:
      return sysprof_dup_one_line (cell.text);
    case COLUMN_TEXTS:
      return dup_joined (cell.texts);
    case COLUMN_STACK:
      return dup_stack (cell.stack);
    case COLUMN_COUNT:
      return g_strdup (sysprof_format_grouped (cell.count, grouped));
    case COLUMN_BYTES:
      return g_strdup (sysprof_format_grouped ((uint64_t) MAX (cell.number, 0), grouped));
    case COLUMN_DURATION:
      return sysprof_dup_duration (cell.number);
    case COLUMN_TIME:
      return g_strdup_printf ("%" G_GINT64_FORMAT ".%06d s", cell.number / 1000000000,
                              (int) (cell.number % 1000000000 / 1000));
    case COLUMN_NUMBER:
      return g_strdup_printf ("%" G_GINT64_FORMAT, cell.number);
    case COLUMN_BOOL:
      return g_strdup (cell.flag ? "yes" : "no");
    }
  g_assert_not_reached ();
}
