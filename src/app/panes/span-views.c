// SPDX-License-Identifier: GPL-3.0-or-later

/* Charts of spans as views of sections. */

#include "app/charts/spans.h"
#include "app/panes/panes.h"

#include <glib/gi18n.h>

GtkWidget *
app_span_view_new (AppSession *session, const SectionView *view)
{
  return app_spans_new (session, view->chart, _ (view->title));
}
