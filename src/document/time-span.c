// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofTimeSpan: a span of time in nanoseconds, and its text. */

#include <sysprof.h>

G_DEFINE_BOXED_TYPE (SysprofTimeSpan,
                     sysprof_time_span,
                     sysprof_time_span_copy,
                     sysprof_time_span_free)

SysprofTimeSpan *
sysprof_time_span_copy (const SysprofTimeSpan *self)
{
  return g_memdup2 (self, sizeof *self);
}

void
sysprof_time_span_free (SysprofTimeSpan *self)
{
  g_free (self);
}

char *
sysprof_time_offset_to_string (gint64 offset)
{
  static const struct
  {
    double from_nsec;
    const char *unit;
  } units[] = {
    { 1e9, "s" },
    { 1e6, "ms" },
    { 1e3, "μs" },
  };
  double nsec = (double) offset;
  size_t i = 0;

  if (offset == 0)
    return g_strdup ("0.000s");

  while (i + 1 < G_N_ELEMENTS (units) && ABS (nsec) < units[i].from_nsec)
    i++;
  return g_strdup_printf ("%.3f%s", nsec / units[i].from_nsec, units[i].unit);
}

char *
sysprof_time_span_to_string (const SysprofTimeSpan *self)
{
  g_autofree char *begin = sysprof_time_offset_to_string (self->begin_nsec);
  g_autofree char *duration = NULL;

  if (self->begin_nsec == self->end_nsec)
    return g_steal_pointer (&begin);

  duration = sysprof_time_offset_to_string (sysprof_time_span_duration (*self));
  return g_strdup_printf ("%s (%s)", begin, duration);
}
