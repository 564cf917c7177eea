// SPDX-License-Identifier: GPL-3.0-or-later

/* Colors of flame graphs. A name has the same color in every picture, so that pictures can
 * be compared. */

#include "flame/flame.h"
#include "flame/layout.h"

#include <math.h>
#include <string.h>

/* Color range: base, and the greatest value that a name adds, per channel. */
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

/* By kind of function: hues of "kind", equal to the light theme of the page
 * (web/flamegraph.js), and the ranges of "java". */
static const struct
{
  const char *kind;
  double hue, span; /* degrees */
  double saturation, lightness; /* percent */
  Range by_language;
} kinds[] = {
  { "user",    14, 36, 82, 66, { "", { 210,  70, 60 }, { 45, 70, 60 } } },
  { "kernel", 205, 16, 82, 76, { "", { 190,  90,  0 }, { 65, 65,  0 } } },
  { "wait",   168, 14, 45, 68, { "", { 110, 170, 160 }, { 40, 45, 45 } } }, /* off the CPU */
  { "inline",  54,  8, 82, 66, { "", {  50, 165, 165 }, { 60, 55, 55 } } },
  { "jit",    130, 24, 82, 66, { "", {  50, 200, 50 }, { 60, 55, 60 } } },
  { "process", 258, 20, 38, 76, { "", { 195, 190, 205 }, { 25, 25, 25 } } },
  { "thread", 290, 20, 38, 76, { "", { 195, 190, 205 }, { 25, 25, 25 } } },
  { "",         0,  0,  3, 76, { "", { 195, 190, 205 }, { 25, 25, 25 } } }, /* root, markers */
};
/* clang-format on */

#define LIGHTNESS_SPAN 8   /* percent */
#define HASHED_LETTERS 256 /* of a name */

const char *const *
sysprof_flame_color_schemes (void)
{
  static const char *const names[] = { "kind", "hot",    "mem",    "io",    "java",
                                       "red",  "orange", "yellow", "green", "aqua",
                                       "blue", "purple", "grey",   NULL };

  return names;
}

/* Returns 0 to 1. */
static double
hash_name (const char *name)
{
  uint32_t hash = 2166136261u; /* FNV-1a */

  for (size_t i = 0; i < HASHED_LETTERS && name[i]; i++)
    hash = (hash ^ (unsigned char) name[i]) * 16777619u;
  /* Names that differ only in their last letter should look different. */
  hash = (hash ^ hash >> 16) * 0x85ebca6bu;
  hash = (hash ^ hash >> 13) * 0xc2b2ae35u;
  return (double) (hash ^ hash >> 16) / 4294967296.0;
}

static double
fraction (double value)
{
  return value - floor (value);
}

static uint8_t
channel_of_hsl (double hue, double saturation, double lightness, double offset)
{
  double k = fmod (offset + hue / 30, 12);
  double amplitude = saturation * MIN (lightness, 1 - lightness);

  return (uint8_t) lround (255 *
                           (lightness - amplitude * MAX (-1, MIN (MIN (k - 3, 9 - k), 1))));
}

static size_t
index_of_kind (const char *kind)
{
  size_t i = 0;

  while (i + 1 < G_N_ELEMENTS (kinds) && strcmp (kind, kinds[i].kind) != 0)
    i++;
  return i;
}

static Color
color_by_kind (const char *kind, double share)
{
  size_t i = index_of_kind (kind);
  double hue = round (kinds[i].hue + kinds[i].span * share);
  double saturation = kinds[i].saturation / 100;
  double lightness = round (kinds[i].lightness + LIGHTNESS_SPAN * fraction (7 * share)) / 100;

  return (Color){ channel_of_hsl (hue, saturation, lightness, 0),
                  channel_of_hsl (hue, saturation, lightness, 8),
                  channel_of_hsl (hue, saturation, lightness, 4) };
}

static const Range *
find_range (const char *scheme, const char *kind, const char *name)
{
  static const Range cxx = { "", { 175, 175, 50 }, { 55, 55, 20 } };

  for (size_t i = 0; i < G_N_ELEMENTS (ranges); i++)
    if (strcmp (scheme, ranges[i].name) == 0)
      return &ranges[i];
  return strcmp (kind, "user") == 0 && strstr (name, "::")
             ? &cxx
             : &kinds[index_of_kind (kind)].by_language;
}

Color
sysprof_flame_color (const char *scheme, const char *kind, const char *name)
{
  double share = hash_name (name);
  const Range *range;
  uint8_t channel[3];

  if (!scheme || strcmp (scheme, "kind") == 0)
    return color_by_kind (kind, share);
  /* All channels use one share, so that the hue stays within the scheme; the first one
   * varies independently. */
  range = find_range (scheme, kind, name);
  for (size_t i = 0; i < 3; i++)
    channel[i] =
        (uint8_t) (range->base[i] + range->span[i] * (i == 0 ? fraction (7 * share) : share));
  return (Color){ channel[0], channel[1], channel[2] };
}
