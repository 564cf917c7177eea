// SPDX-License-Identifier: GPL-3.0-or-later

/* AppSession: the document and the focus of one window, and the history of its focuses. A
 * change of the view is a new focus. Widgets follow the signal "focus-changed". */

#pragma once

#include "app/session/focus.h"

#include <gtk/gtk.h>

#define APP_TYPE_SESSION (app_session_get_type ())
G_DECLARE_FINAL_TYPE (AppSession, app_session, APP, SESSION, GObject)

/* Signals: "focus-changed" (); "selection-changed" () after it, unless only the visible time
 * is another one; "open" (section, view): another part asks the window to show a
 * view. */
AppSession *app_session_new (SysprofDocument *document, const char *path);

/* Frozen, from any thread. */
SysprofDocument *app_session_get_document (AppSession *self);
const Store *app_session_get_store (AppSession *self);
const SymbolTable *app_session_get_symbols (AppSession *self);
const char *app_session_get_path (AppSession *self);
const SymbolizeOptions *app_session_get_symbolize (AppSession *self);

const Focus *app_session_get_focus (AppSession *self);
/* A copy of the focus to change, for app_session_push(). *(full)* */
Focus *app_session_copy_focus (AppSession *self);
/* Takes `focus` as the new one. Movements of the visible time in short succession are one step
 * of the history. */
void app_session_push (AppSession *self, Focus *focus);
void app_session_back (AppSession *self);
void app_session_forward (AppSession *self);
bool app_session_can_go (AppSession *self, int steps);

/* Zooms by a factor around a time, or around the middle of the visible time if `at` is
 * negative. */
void app_session_zoom (AppSession *self, double factor, int64_t at);
/* Moves the visible time by a part of its width. */
void app_session_pan (AppSession *self, double widths);
/* The same by commands, which also select what is visible then. */
void app_session_zoom_and_select (AppSession *self, double factor);
void app_session_pan_and_select (AppSession *self, double widths);
void app_session_zoom_to (AppSession *self, int64_t begin, int64_t end);
void app_session_select (AppSession *self, int64_t begin, int64_t end);
void app_session_add_filter (AppSession *self, const char *option, const char *value);
void app_session_set_root (AppSession *self, const char *function);
/* Announces the row that the user looks at, for the panel of details; the signal "chosen"
 * (result, row) has a RowResult. */
void app_session_choose (AppSession *self, gpointer result, uint32_t row);
/* The user chose the event at `time` in the timeline; selects all visible time if it is not
 * selected. Tables follow the signal "picked" (time) with their row of it. */
void app_session_pick (AppSession *self, int64_t time);
void app_session_open (AppSession *self, const char *section, const char *view);
