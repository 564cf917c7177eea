// SPDX-License-Identifier: GPL-3.0-or-later

/* Hues as published for the categories of Sysprof; their luminance is set so that text on them
 * is readable. */

#include "app/charts/palette.h"

#include <adwaita.h>
#include <math.h>
#include <string.h>

#define LIGHT_LEAST 0.42 /* relative luminance under black text */
#define LIGHT_MOST  0.62
#define DARK_LEAST  0.045 /* under white text */
#define DARK_MOST   0.11
#define LIGHT_AREA  0.36 /* without text */
#define DARK_AREA   0.2
#define GREY        0x9a9996
#define OTHER       0x8ea3c4 /* functions without a category */

static const struct
{
  const char *category;
  uint32_t rgb;
} categories[] = {
  { "a11y", 0x000000 },      { "actions", 0xf66151 },    { "context-switch", 0xffbe6f },
  { "coredump", 0xff0000 },  { "css", 0x62a0ea },        { "graphics", 0xed333b },
  { "icons", 0x613583 },     { "input", 0x1a5fb4 },      { "io", 0xcdab8f },
  { "ipc", 0xe5a50a },       { "javascript", 0x1c71d8 }, { "kernel", 0xa51d2d },
  { "layout", 0x9141ac },    { "locking", 0xf5c211 },    { "main-loop", 0x5e5c64 },
  { "memory", 0xf9f06b },    { "paint", 0x2ec27e },      { "type-system", 0x241f31 },
  { "windowing", 0xc64600 }, { "unwindable", 0xc01c28 },
};

static const uint32_t series_colors[] = {
  0x3584e4, 0x33d17a, 0xff7800, 0x9141ac, 0xe5a50a, 0xe01b24, 0x62a0ea, 0x865e3c,
};

bool
app_palette_is_dark (void)
{
  return adw_style_manager_get_dark (adw_style_manager_get_default ());
}

static GdkRGBA
from_rgb (uint32_t rgb)
{
  return (GdkRGBA){ (float) (rgb >> 16 & 255) / 255, (float) (rgb >> 8 & 255) / 255,
                    (float) (rgb & 255) / 255, 1 };
}

#define LINEAR_STEPS 1024

/* From a table: a frame of a chart has tens of thousands of bars. */
static double
linear (double channel)
{
  static double table[LINEAR_STEPS + 2];
  double place = channel * LINEAR_STEPS;
  int i = (int) place;

  if (table[LINEAR_STEPS] == 0)
    for (int k = LINEAR_STEPS + 2; k-- > 0;)
      {
        double value = (double) k / LINEAR_STEPS;

        table[k] = value <= 0.04045 ? value / 12.92 : pow ((value + 0.055) / 1.055, 2.4);
      }
  return table[i] + (table[i + 1] - table[i]) * (place - i);
}

static double
luminance_of (const GdkRGBA *color)
{
  return 0.2126 * linear (color->red) + 0.7152 * linear (color->green) +
         0.0722 * linear (color->blue);
}

/* Mixes with white or black until the luminance is `wanted`. */
static void
set_luminance (GdkRGBA *color, double wanted)
{
  GdkRGBA base = *color;
  float target = luminance_of (color) < wanted ? 1 : 0;
  double low = 0, high = 1;

  for (int i = 0; i < 12; i++)
    {
      float share = (float) (low + high) / 2;

      color->red = base.red + (target - base.red) * share;
      color->green = base.green + (target - base.green) * share;
      color->blue = base.blue + (target - base.blue) * share;
      if ((luminance_of (color) < wanted) == (target > 0))
        low = share;
      else
        high = share;
    }
}

bool
app_palette_find_category (const char *category, bool is_dark, GdkRGBA *color)
{
  for (size_t i = 0; i < G_N_ELEMENTS (categories); i++)
    if (strcmp (categories[i].category, category) == 0)
      {
        *color = from_rgb (categories[i].rgb);
        if (is_dark && luminance_of (color) < DARK_LEAST)
          set_luminance (color, DARK_MOST);
        return true;
      }
  return false;
}

void
app_palette_get_frame (const char *category, const char *name, bool is_dark, GdkRGBA *color)
{
  double share = (g_str_hash (name) * 2654435761u) / 4294967296.0;

  if (!app_palette_find_category (category, false, color))
    *color = from_rgb (strcmp (category, "uncategorized") == 0 ? OTHER : GREY);
  set_luminance (color, is_dark ? DARK_LEAST + (DARK_MOST - DARK_LEAST) * share
                                : LIGHT_LEAST + (LIGHT_MOST - LIGHT_LEAST) * share);
}

void
app_palette_get_series (uint32_t i, bool is_dark, GdkRGBA *color)
{
  *color = from_rgb (series_colors[i % G_N_ELEMENTS (series_colors)]);
}

void
app_palette_get_area (const char *category, uint32_t i, bool is_dark, GdkRGBA *color)
{
  if (category == NULL)
    app_palette_get_series (i, is_dark, color);
  else if (!app_palette_find_category (category, false, color))
    *color = from_rgb (strcmp (category, "uncategorized") == 0 ? OTHER : GREY);
  set_luminance (color, is_dark ? DARK_AREA : LIGHT_AREA);
}

void
app_palette_get_span (const char *name, bool is_dark, GdkRGBA *color)
{
  uint32_t hash = g_str_hash (name) * 2654435761u;
  double share = (hash >> 8) / 16777216.0;

  app_palette_get_series (hash >> 4, is_dark, color);
  set_luminance (color, is_dark ? DARK_LEAST + (DARK_MOST - DARK_LEAST) * share
                                : LIGHT_LEAST + (LIGHT_MOST - LIGHT_LEAST) * share);
}

void
app_palette_get_wait (uint32_t reason, bool is_dark, GdkRGBA *color)
{
  /* nothing to do, page fault, child, sleep, lock, I/O, system call, other, ready without a CPU
   * */
  static const uint32_t light[] = { 0xdeddda, 0xc061cb, 0xc0bfbc, 0xc0bfbc, 0xf5c211,
                                    0xcdab8f, 0x99c1f1, 0x99c1f1, 0xed333b };
  static const uint32_t dark[] = { 0x2e2e32, 0x813d9c, 0x5e5c64, 0x5e5c64, 0xb58b00,
                                   0x865e3c, 0x3b6ea8, 0x3b6ea8, 0xc01c28 };

  *color = from_rgb ((is_dark ? dark : light)[MIN (reason, G_N_ELEMENTS (light) - 1)]);
}
