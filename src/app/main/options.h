// SPDX-License-Identifier: GPL-3.0-or-later

/* View options: check items of the window that change the focus. To add an option, add a row to
 * the table in options.c. */

#pragma once

#include "app/session/session.h"

/* Adds the actions win.NAME, and win.weight, which follow the focus. */
void app_options_add_actions (GActionMap *map, AppSession *session);
/* The menu "View Options". *(full)* */
GMenuModel *app_options_make_menu (AppSession *session);
/* Words for a weight of the focus. */
const char *app_options_name_weight (Weight weight);
