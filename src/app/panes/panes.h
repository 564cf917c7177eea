// SPDX-License-Identifier: GPL-3.0-or-later

/* Views of sections that are more than one table. */

#pragma once

#include "app/sections/sections.h"

/* A box with `content`, whose panes are side by side. Narrow windows show one of them
 * and buttons with translatable titles below. `panes` ends with NULL. */
GtkWidget *
app_pane_switcher_new (GtkWidget *content, GtkWidget *const *panes, const char *const *titles);
/* Functions, callers and descendants in three panes. */
GtkWidget *app_call_graph_new (AppSession *session, const SectionView *view);
GtkWidget *app_flame_view_new (AppSession *session, const SectionView *view);
/* Source lines or instructions of the root function, with a list of functions beside it. */
GtkWidget *app_code_pane_new (AppSession *session, const SectionView *view);
/* The samples of the chosen row, the stack of one of them, and their categories. */
GtkWidget *app_stack_details_new (AppSession *session);
/* The same for allocations. */
GtkWidget *app_allocation_details_new (AppSession *session);
/* Facts, findings with links, the busiest processes and functions. */
GtkWidget *app_overview_new (AppSession *session, const SectionView *view);
/* The chart of spans that the view names. */
GtkWidget *app_span_view_new (AppSession *session, const SectionView *view);
/* The table of marks; activating one selects its span. */
GtkWidget *app_mark_table_new (AppSession *session, const SectionView *view);
/* The chosen D-Bus message and its reply, printed whole. */
GtkWidget *app_message_details_new (AppSession *session);
/* All cells of the chosen row, as text that can be selected. */
GtkWidget *app_row_details_new (AppSession *session);
/* Chart and table of processes; activating one opens its window. */
GtkWidget *app_process_chart_new (AppSession *session, const SectionView *view);
GtkWidget *app_process_table_new (AppSession *session, const SectionView *view);
/* The counters of the track of the query, a small chart each. */
GtkWidget *app_counters_new (AppSession *session, const SectionView *view);
/* Embedded files; each opens in a window of its own. */
GtkWidget *app_files_new (AppSession *session, const SectionView *view);
