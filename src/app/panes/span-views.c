// SPDX-License-Identifier: GPL-3.0-or-later

/* Charts of spans as views of sections, and the table of marks. */

#include "app/charts/spans.h"
#include "app/panes/panes.h"
#include "app/sections/page.h"
#include "app/widgets/row-actions.h"
#include "app/widgets/table.h"

#include <glib/gi18n.h>

GtkWidget *
app_span_view_new (AppSession *session, const SectionView *view)
{
  return app_spans_new (session, view->chart, _ (view->title));
}

/* A mark without duration has no span to select. */
static void
on_mark_activated (AppTable *table, guint row, AppSession *session)
{
  int64_t begin, end;

  if (app_row_get_span (app_table_get_result (table), row, &begin, &end))
    app_session_select (session, begin, end);
}

GtkWidget *
app_mark_table_new (AppSession *session, const SectionView *view)
{
  GtkWidget *table = app_section_table_new (session, view);

  g_signal_connect (table, "activated", G_CALLBACK (on_mark_activated), session);
  return table;
}
