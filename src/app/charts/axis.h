// SPDX-License-Identifier: GPL-3.0-or-later

/* The time axis of charts: time to pixels and back, distances of ticks, and times as text. */

#pragma once

#include <stdint.h>

typedef struct
{
  int64_t begin, end; /* ns, end > begin */
  int width;          /* px */
} Axis;

static inline double
app_axis_get_x (const Axis *self, int64_t time)
{
  return (double) (time - self->begin) / (double) (self->end - self->begin) * self->width;
}

static inline int64_t
app_axis_get_time (const Axis *self, double x)
{
  return self->begin + (int64_t) (x / (self->width > 0 ? self->width : 1) *
                                  (double) (self->end - self->begin));
}

/* ns between two ticks that are at least `least` px apart: 1, 2 or 5 times a power of ten. */
int64_t app_axis_get_step (const Axis *self, int least);
/* A time with as many digits as tell ticks of `step` apart: "1.25 s". *(full)* */
char *app_axis_dup_time (int64_t time, int64_t step);
/* A time under the pointer: a pixel is the precision. *(full)* */
char *app_axis_dup_exact (const Axis *self, int64_t time);
