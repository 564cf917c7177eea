// SPDX-License-Identifier: GPL-3.0-or-later

/* Colors of categories, functions and series, for light and dark styles. No information is in a
 * color alone. */

#pragma once

#include <gdk/gdk.h>
#include <stdbool.h>
#include <stdint.h>

bool app_palette_is_dark (void);
/* Color of a category as sysprof_category_to_string() spells it; false if it has none. */
bool app_palette_find_category (const char *category, bool is_dark, GdkRGBA *color);
/* Color of a frame in a flame graph: the hue of its category, the brightness of its name. */
void
app_palette_get_frame (const char *category, const char *name, bool is_dark, GdkRGBA *color);
/* Color of a wait by its reason (OffCpuReason); 0 = the thread had nothing to do. */
void app_palette_get_wait (uint32_t reason, bool is_dark, GdkRGBA *color);
/* Color of series or item number `i`. */
void app_palette_get_series (uint32_t i, bool is_dark, GdkRGBA *color);
/* Color of an area or a bar without text: calmer than a line. The category may be NULL. */
void app_palette_get_area (const char *category, uint32_t i, bool is_dark, GdkRGBA *color);
/* Color of a bar with text on it: the hue and brightness of its name. */
void app_palette_get_span (const char *name, bool is_dark, GdkRGBA *color);
