// SPDX-License-Identifier: GPL-3.0-or-later

/* Recordings that were opened before. */

#pragma once

#include <gio/gio.h>

/* Items that activate app.open-uri, newest first. *(full)* */
GMenu *app_recent_menu_new (void);
