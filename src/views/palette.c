// SPDX-License-Identifier: GPL-3.0-or-later

/* Colours of flame graphs. A name has the same colour in every picture, so that two can be compared. */

#include "views/flame-draw.h"

#include <string.h>

/* A range per channel: base, and how much a name may add to it. */
typedef struct
{
  const char *name;
  uint8_t base[3];
  uint8_t span[3];
} Range;

/* clang-format off */
static const Range ranges[] = {
  { "hot",    { 205,   0,   0 }, { 50, 230, 55 } },
  { "mem",    {   0, 190,   0 }, {  0,  50, 210 } },
  { "io",     {  80,  80, 190 }, { 60,  60,  55 } },
  { "red",    { 200,  50,  50 }, { 55,  80, 80 } },
  { "orange", { 190,  90,   0 }, { 65,  65,  0 } },
  { "yellow", { 175, 175,  50 }, { 55,  55, 20 } },
  { "green",  {  50, 200,  50 }, { 60,  55, 60 } },
  { "aqua",   {  50, 165, 165 }, { 60,  55, 55 } },
  { "blue",   {  80,  80, 205 }, { 60,  60, 50 } },
  { "purple", { 190,  80, 190 }, { 65,  60, 65 } },
  { "grey",   { 170, 170, 170 }, { 55,  55, 55 } },
};

/* By kind of function: what "kind" and "java" take for each. */
static const struct
{
  const char *kind;
  Range by_kind;
  Range by_language;
} kinds[] = {
  { "user",   { "", { 225, 130,  50 }, { 30, 75, 40 } }, { "", { 210,  70, 60 }, { 45, 70, 60 } } },
  { "kernel", { "", { 105, 160, 215 }, { 55, 45, 40 } }, { "", { 190,  90,  0 }, { 65, 65,  0 } } },
  { "inline", { "", { 225, 195,  70 }, { 30, 40, 60 } }, { "", {  50, 165, 165 }, { 60, 55, 55 } } },
  { "jit",    { "", {  90, 185,  95 }, { 60, 50, 60 } }, { "", {  50, 200, 50 }, { 60, 55, 60 } } },
};
static const Range containers = { "", { 195, 190, 205 }, { 25, 25, 25 } }; /* root, processes, threads, markers */
/* clang-format on */

const char *const *
sysprof_view_color_schemes (void)
{
  static const char *const names[] = { "kind", "hot",    "mem",    "io",    "java",
                                       "red",  "orange", "yellow", "green", "aqua",
                                       "blue", "purple", "grey",   NULL };

  return names;
}

static uint32_t
hash_name (const char *name)
{
  uint32_t hash = 2166136261u; /* FNV-1a */

  for (; *name; name++)
    hash = (hash ^ (unsigned char) *name) * 16777619u;
  return hash ^ hash >> 15;
}

static const Range *
find_range (const char *scheme, const char *kind, const char *name)
{
  static const Range cxx = { "", { 175, 175, 50 }, { 55, 55, 20 } };

  for (size_t i = 0; i < G_N_ELEMENTS (ranges); i++)
    if (scheme && strcmp (scheme, ranges[i].name) == 0)
      return &ranges[i];
  for (size_t i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (strcmp (kind, kinds[i].kind) == 0)
      {
        if (!scheme || strcmp (scheme, "java") != 0)
          return &kinds[i].by_kind;
        return strcmp (kind, "user") == 0 && strstr (name, "::") ? &cxx : &kinds[i].by_language;
      }
  return &containers;
}

Color
sysprof_flame_color (const char *scheme, const char *kind, const char *name)
{
  const Range *range = find_range (scheme, kind, name);
  uint32_t hash = hash_name (name);
  uint8_t channel[3];

  /* All channels of one share, so that the hue stays within the scheme; the first one varies on its own. */
  for (size_t i = 0; i < 3; i++)
    channel[i] = (uint8_t) (range->base[i] +
                            range->span[i] * (i == 0 ? hash >> 8 & 0xff : hash & 0xff) / 255);
  return (Color){ channel[0], channel[1], channel[2] };
}
