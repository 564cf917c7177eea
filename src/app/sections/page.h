// SPDX-License-Identifier: GPL-3.0-or-later

/* The page of one section: its views with a switcher, or the reason why there is no data. */

#pragma once

#include "app/sections/sections.h"

/* The table of the rows of a view. */
GtkWidget *app_section_table_new (AppSession *session, const SectionView *view);
GtkWidget *app_section_page_new (AppSession *session, const Section *section);
void app_section_page_show (GtkWidget *page, const char *view);
void app_section_page_step (GtkWidget *page, int step);
/* The widget of the visible view, for actions like view.find; NULL if there is none. */
GtkWidget *app_section_page_get_view (GtkWidget *page);
