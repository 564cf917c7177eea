// SPDX-License-Identifier: GPL-3.0-or-later

/* Go To: finds functions, processes, marks, files and sections by name, and goes there. Add
 * Filter: finds functions, binaries and processes, and keeps the stacks with one of them. */

#pragma once

#include "app/session/session.h"

void app_go_to_show (GtkWindow *parent, AppSession *session, bool adds_filter);
