// SPDX-License-Identifier: GPL-3.0-or-later

/* The flame graph as a view of a section. */

#include "app/charts/flame.h"
#include "app/panes/panes.h"

GtkWidget *
app_flame_view_new (AppSession *session, const SectionView *view)
{
  return app_flame_new (session, &view->query);
}
