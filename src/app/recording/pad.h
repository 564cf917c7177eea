// SPDX-License-Identifier: GPL-3.0-or-later

/* AppPad: the small window of a running recording, with its time and a button to stop it. When
 * all is written, the capture window opens. */

#pragma once

#include <adwaita.h>
#include <json-glib/json-glib.h>
#include <sysprof.h>

#define APP_TYPE_PAD (app_pad_get_type ())
G_DECLARE_FINAL_TYPE (AppPad, app_pad, APP, PAD, AdwApplicationWindow)

/* `file`: where the recording is written. `target`: the name it gets at the end; NULL = none
 * yet. `settings`: those it was started with. */
GtkWidget *app_pad_new (GtkApplication *application,
                        SysprofRecording *recording,
                        GFile *file,
                        GFile *target,
                        JsonObject *settings);
