// SPDX-License-Identifier: GPL-3.0-or-later

/* The search bar of a view: an entry, what it found, and buttons that activate "view.next" and
 * "view.previous" of the view. */

#pragma once

#include <gtk/gtk.h>
#include <stdbool.h>

typedef struct
{
  GtkWidget *bar;
  GtkWidget *entry;
  GtkWidget *count; /* GtkLabel */
  bool is_lasting;  /* it keeps its text when it closes */
} AppSearch;

/* `changed` is called with `data` after each letter. `self` must live as long as the bar. */
void app_search_init (AppSearch *self, void (*changed) (gpointer data), gpointer data);
/* Adds a button behind the others. */
void app_search_add_button (AppSearch *self, const char *title, const char *action);
void app_search_open (AppSearch *self);
/* Opens it with a text. */
void app_search_for (AppSearch *self, const char *text);
const char *app_search_get_text (const AppSearch *self);
/* What the search found; empty if there is no text. */
void app_search_show_count (AppSearch *self, const char *count);
