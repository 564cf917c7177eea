// SPDX-License-Identifier: GPL-3.0-or-later

/* The row of filters below the timeline: each value of an option that selects, the selected
 * time and the root function, as a chip with a remove button. Hidden without filters. */

#pragma once

#include "app/session/session.h"

GtkWidget *app_chips_new (AppSession *session);
