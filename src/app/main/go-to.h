// SPDX-License-Identifier: GPL-3.0-or-later

/* Go To: finds functions, processes, marks, files and sections by name, and goes there. */

#pragma once

#include "app/session/session.h"

void app_go_to_show (GtkWindow *parent, AppSession *session);
