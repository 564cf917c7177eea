// SPDX-License-Identifier: GPL-3.0-or-later

/* The last seconds of a running recording: CPU lines and a flame graph, drawn again each
 * second. */

#pragma once

#include <gtk/gtk.h>
#include <sysprof.h>

GtkWidget *app_live_view_new (SysprofRecording *recording);
