// SPDX-License-Identifier: GPL-3.0-or-later

/* Charts as pictures in files. */

#pragma once

#include <gtk/gtk.h>

/* Lets the user choose a file; PNG if its name ends in .png, else SVG. */
void app_chart_export (GtkWidget *chart, const char *name);
