// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofTimeSpan: a start and an end, in nanoseconds. */

#pragma once

#include <glib-object.h>

#include "sysprof-version-macros.h"

G_BEGIN_DECLS

#define SYSPROF_TYPE_TIME_SPAN (sysprof_time_span_get_type ())

typedef struct _SysprofTimeSpan
{
  gint64 begin_nsec;
  gint64 end_nsec;
} SysprofTimeSpan;

SYSPROF_AVAILABLE_IN_ALL
GType sysprof_time_span_get_type (void) G_GNUC_CONST;

/* *(full)*; returns NULL if `self` is NULL. */
SYSPROF_AVAILABLE_IN_ALL
SysprofTimeSpan *sysprof_time_span_copy (const SysprofTimeSpan *self);
SYSPROF_AVAILABLE_IN_ALL
void sysprof_time_span_free (SysprofTimeSpan *self);

/* "1.500ms": an offset of that many nanoseconds with three decimals, in μs, ms or s; "0.000s"
 * for none. *(full)* */
SYSPROF_AVAILABLE_IN_ALL
char *sysprof_time_offset_to_string (gint64 offset);

/* "BEGIN", or "BEGIN (DURATION)" unless the duration is 0. *(full)* */
SYSPROF_AVAILABLE_IN_ALL
char *sysprof_time_span_to_string (const SysprofTimeSpan *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SysprofTimeSpan, sysprof_time_span_free)

static inline gint64
sysprof_time_span_duration (SysprofTimeSpan span)
{
  return span.end_nsec - span.begin_nsec;
}

/* The span relative to `point`. */
static inline SysprofTimeSpan
sysprof_time_span_relative_to (SysprofTimeSpan span, gint64 point)
{
  span.begin_nsec -= point;
  span.end_nsec -= point;
  return span;
}

/* The start and end of the span within `allowed`: 0 is the start of `allowed`, 1 its end. */
static inline void
sysprof_time_span_normalize (SysprofTimeSpan span, SysprofTimeSpan allowed, float values[2])
{
  double duration = (double) sysprof_time_span_duration (allowed);

  values[0] = (float) ((double) (span.begin_nsec - allowed.begin_nsec) / duration);
  values[1] = (float) ((double) (span.end_nsec - allowed.begin_nsec) / duration);
}

/* The span with its ends in order. */
static inline SysprofTimeSpan
sysprof_time_span_order (SysprofTimeSpan span)
{
  if (span.begin_nsec > span.end_nsec)
    {
      gint64 begin_nsec = span.end_nsec;

      span.end_nsec = span.begin_nsec;
      span.begin_nsec = begin_nsec;
    }
  return span;
}

/* Reduces `span` to its part in `allowed`. Returns FALSE and clears `span` if they do not
 * overlap. */
static inline gboolean
sysprof_time_span_clamp (SysprofTimeSpan *span, SysprofTimeSpan allowed)
{
  if (span->end_nsec <= allowed.begin_nsec || span->begin_nsec >= allowed.end_nsec)
    {
      span->begin_nsec = 0;
      span->end_nsec = 0;
      return FALSE;
    }

  if (span->begin_nsec < allowed.begin_nsec)
    span->begin_nsec = allowed.begin_nsec;
  if (span->end_nsec > allowed.end_nsec)
    span->end_nsec = allowed.end_nsec;
  return TRUE;
}

/* NULL equals NULL only. */
static inline gboolean
sysprof_time_span_equal (const SysprofTimeSpan *a, const SysprofTimeSpan *b)
{
  if (a == NULL || b == NULL)
    return a == b;

  return a->begin_nsec == b->begin_nsec && a->end_nsec == b->end_nsec;
}

G_END_DECLS
