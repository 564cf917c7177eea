// SPDX-License-Identifier: GPL-3.0-or-later

/* Actions on rows of tables. */

#include "app/widgets/row-actions.h"

#include <glib/gi18n.h>
#include <string.h>

static const Cell *
find_cell (const RowResult *result, uint32_t row, const char *name)
{
  int column = sysprof_rows_column (&result->rows, name);

  return column >= 0 ? &sysprof_rows_cells (&result->rows, row)[column] : NULL;
}

static const char *
get_text (const RowResult *result, uint32_t row, const char *name)
{
  int column = sysprof_rows_column (&result->rows, name);

  return column >= 0 && result->rows.columns[column].kind == COLUMN_TEXT
             ? sysprof_rows_cells (&result->rows, row)[column].text
             : "";
}

const char *
app_row_get_function (const RowResult *result, uint32_t row)
{
  static const char *const others[] = { "process", "thread", "root", "marker", NULL };
  const char *symbol = get_text (result, row, "symbol");

  return symbol[0] != '\0' && !g_strv_contains (others, get_text (result, row, "kind")) ? symbol
                                                                                        : NULL;
}

bool
app_row_get_span (const RowResult *result, uint32_t row, int64_t *begin, int64_t *end)
{
  int64_t length;

  *begin = app_row_result_get_number (result, row, "time", -1);
  length = app_row_result_get_number (result, row, "duration", 0);
  if (*begin < 0)
    {
      *begin = app_row_result_get_number (result, row, "start", -1);
      length = app_row_result_get_number (result, row, "end", 0) - *begin;
    }
  *end = *begin + MAX (length, 0);
  return *begin >= 0 && length > 0;
}

static bool
is_function (const RowResult *result, uint32_t row)
{
  return app_row_get_function (result, row) != NULL;
}

static void
make_root (AppSession *session, const RowResult *result, uint32_t row)
{
  app_session_set_root (session, app_row_get_function (result, row));
}

static void
keep_function (AppSession *session, const RowResult *result, uint32_t row)
{
  app_session_add_filter (session, "symbol", app_row_get_function (result, row));
}

static void
drop_function (AppSession *session, const RowResult *result, uint32_t row)
{
  g_autofree char *term = g_strdup_printf ("!%s", app_row_get_function (result, row));

  app_session_add_filter (session, "symbol", term);
}

static void
merge_function (AppSession *session, const RowResult *result, uint32_t row)
{
  app_session_add_filter (session, "merge-function", app_row_get_function (result, row));
}

static bool
has_binary (const RowResult *result, uint32_t row)
{
  return is_function (result, row) && get_text (result, row, "binary")[0] != '\0';
}

static void
collapse_binary (AppSession *session, const RowResult *result, uint32_t row)
{
  g_autofree char *name = g_path_get_basename (get_text (result, row, "binary"));

  app_session_add_filter (session, "collapse", name);
}

static bool
has_recursion (const RowResult *result, uint32_t row)
{
  return is_function (result, row) && result->rows.parent != NULL;
}

static void
fold_recursion (AppSession *session, const RowResult *result, uint32_t row)
{
  Focus *focus = app_session_copy_focus (session);

  focus->selection.fold_recursion = !focus->selection.fold_recursion;
  app_session_push (session, focus);
}

static bool
has_pid (const RowResult *result, uint32_t row)
{
  return app_row_result_get_number (result, row, "pid", -1) >= 0;
}

static void
add_number (AppSession *session,
            const RowResult *result,
            uint32_t row,
            const char *option,
            const char *column)
{
  g_autofree char *value = g_strdup_printf (
      "%" G_GINT64_FORMAT, app_row_result_get_number (result, row, column, -1));

  app_session_add_filter (session, option, value);
}

static void
keep_process (AppSession *session, const RowResult *result, uint32_t row)
{
  add_number (session, result, row, "process", "pid");
}

static bool
has_tid (const RowResult *result, uint32_t row)
{
  return app_row_result_get_number (result, row, "tid", -1) >= 0;
}

static void
keep_thread (AppSession *session, const RowResult *result, uint32_t row)
{
  add_number (session, result, row, "thread", "tid");
}

static bool
is_mark (const RowResult *result, uint32_t row)
{
  return strcmp (result->view->name, "marks") == 0 && find_cell (result, row, "name") != NULL;
}

static void
keep_mark (AppSession *session, const RowResult *result, uint32_t row)
{
  g_autofree char *value = g_strdup_printf ("%s/%s", get_text (result, row, "group"),
                                            get_text (result, row, "name"));

  app_session_add_filter (session, "mark", value);
}

static bool
has_span (const RowResult *result, uint32_t row)
{
  int64_t begin, end;

  return app_row_get_span (result, row, &begin, &end);
}

static void
select_span (AppSession *session, const RowResult *result, uint32_t row)
{
  int64_t begin, end;

  if (app_row_get_span (result, row, &begin, &end))
    app_session_select (session, begin, end);
}

static void
zoom_to_span (AppSession *session, const RowResult *result, uint32_t row)
{
  int64_t begin, end;

  if (app_row_get_span (result, row, &begin, &end))
    app_session_zoom_to (session, begin, end);
}

const RowAction app_row_actions[] = {
  { "root", N_ ("Make Function _Root"), 0, is_function, make_root },
  { "keep", N_ ("Only Stacks _Through Function"), GDK_KEY_f, is_function, keep_function },
  { "drop", N_ ("_Drop Stacks Through Function"), GDK_KEY_x, is_function, drop_function },
  { "merge", N_ ("_Merge Function Into Its Callers"), GDK_KEY_m, is_function, merge_function },
  { "library", N_ ("Show _Library as One Function"), GDK_KEY_l, has_binary, collapse_binary },
  { "recursion", N_ ("Fold _Recursion"), GDK_KEY_r, has_recursion, fold_recursion },
  { "process", N_ ("Only This _Process"), GDK_KEY_p, has_pid, keep_process },
  { "thread", N_ ("Only This T_hread"), GDK_KEY_t, has_tid, keep_thread },
  { "mark", N_ ("Set as _Filter"), GDK_KEY_m, is_mark, keep_mark },
  { "select", N_ ("_Select Time Span"), GDK_KEY_s, has_span, select_span },
  { "zoom", N_ ("_Zoom to Time Span"), GDK_KEY_z, has_span, zoom_to_span },
  { NULL },
};
