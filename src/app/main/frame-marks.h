// SPDX-License-Identifier: GPL-3.0-or-later

/* Marks of the frames of a window, in a recording of the application itself. */

#pragma once

#include <gtk/gtk.h>

/* Does nothing unless a recorder runs the application. */
void app_frame_marks_follow (GtkWindow *window);
