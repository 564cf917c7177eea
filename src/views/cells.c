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
  double value = (double) nsec;

  if (nsec >= 600 * INT64_C (1000000000))
    return g_strdup_printf ("%" G_GINT64_FORMAT " min %02d s", nsec / 60000000000,
                            (int) (nsec / 1000000000 % 60));
  if (nsec >= 1000000000)
    return g_strdup_printf ("%.2f s", value / 1e9);
  if (nsec >= 1000000)
    return g_strdup_printf ("%.2f ms", value / 1e6);
  if (nsec >= 1000)
    return g_strdup_printf ("%.2f us", value / 1e3);
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
      return g_strdup_printf ("%.6f s", (double) cell.number / 1e9);
    case COLUMN_NUMBER:
      return g_strdup_printf ("%" G_GINT64_FORMAT, cell.number);
    case COLUMN_BOOL:
      return g_strdup (cell.flag ? "yes" : "no");
    }
  g_assert_not_reached ();
}
