// SPDX-License-Identifier: GPL-3.0-or-later

/* The row of filters below the timeline: each value of an option that selects, the selected
 * time and the root function, as a chip with a remove button. Hidden without filters. */

#pragma once

#include "app/session/session.h"

GtkWidget *app_chips_new (AppSession *session);
/* Whether the row says how much is selected: views of the whole recording do not use it. */
void app_chips_show_amount (GtkWidget *row, bool is_shown);
