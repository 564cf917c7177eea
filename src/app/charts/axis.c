// SPDX-License-Identifier: GPL-3.0-or-later

/* The time axis. */

#include "app/charts/axis.h"

#include <glib.h>
#include <math.h>

static const struct
{
  int64_t nsec;
  const char *name;
} units[] = { { 1000000000, "s" }, { 1000000, "ms" }, { 1000, "µs" }, { 1, "ns" } };

/* ns; a loop over steps passes the latest time of a capture, 2^62, without overflow. */
#define LONGEST_STEP 1e18

int64_t
app_axis_get_step (const Axis *self, int least)
{
  double wanted = (double) (self->end - self->begin) * least / MAX (self->width, 1);
  double power = pow (10, floor (log10 (MAX (wanted, 1))));
  double step = wanted <= power ? power : wanted <= 2 * power ? 2 * power : 5 * power;

  return (int64_t) CLAMP (wanted > 5 * power ? 10 * power : step, 1, LONGEST_STEP);
}

char *
app_axis_dup_time (int64_t time, int64_t step)
{
  size_t unit = 0;
  int decimals = 0;

  /* Seconds, unless the recording is shown in detail. */
  while (unit + 1 < G_N_ELEMENTS (units) && ABS (time) < units[unit].nsec &&
         step < units[unit].nsec / 10)
    unit++;
  for (int64_t digit = units[unit].nsec; digit > step && decimals < 9; digit /= 10)
    decimals++;
  return g_strdup_printf ("%.*f %s", decimals, (double) time / (double) units[unit].nsec,
                          units[unit].name);
}

char *
app_axis_dup_exact (const Axis *self, int64_t time)
{
  int64_t pixel = MAX ((self->end - self->begin) / MAX (self->width, 1), 1);

  return app_axis_dup_time (time, (int64_t) pow (10, floor (log10 ((double) pixel))));
}
