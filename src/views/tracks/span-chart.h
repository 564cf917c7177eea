// SPDX-License-Identifier: GPL-3.0-or-later

/* Charts of spans: rows of bars over a time.
 *
 *   SpanChart *chart = sysprof_span_chart_new ("marks", begin, end, &request);
 *   GArray *bars = g_array_new (FALSE, FALSE, sizeof (TrackSpan));
 *
 *   for (uint32_t row = 0; row < chart->n_rows; row++)
 *     sysprof_span_chart_cut (chart, row, begin, end, width, bars);
 *
 * The time of the selection does not apply, its other filters do. Spans whose texts lack the
 * text of `request->search` are left out, in any case of letters. All times are ns since the
 * start of the recording. To add a chart, add a row to `sources` in span-chart.c. */

#pragma once

#include "views/tracks/tracks.h"

typedef struct
{
  int64_t begin, end; /* equal for an instant */
  uint32_t item;      /* index in its column of the store */
  uint32_t kind;      /* spans of one kind share a row */
} ChartSpan;

/* A row without spans is the heading of the group of the rows after it. */
typedef struct
{
  uint32_t first; /* index in `spans`; of a heading: that of the row after it */
  uint32_t n;
} SpanRow;

/* *Owned*, frozen after it was made. */
typedef struct
{
  const struct SpanSource *source;
  const Store *store; /* borrowed */
  SpanRow *rows;      /* [n_rows] */
  uint32_t n_rows;
  ChartSpan *spans; /* [n_spans] by row, then by time */
  uint32_t n_spans;
  int64_t *reach; /* [n_spans] latest end of the span and those before it in its row */
} SpanChart;

/* The spans that touch [begin, end]. `name`: "marks", "waterfall", "processes" or "calls". NULL
 * if canceled. *(full)* */
SpanChart *sysprof_span_chart_new (const char *name,
                                   int64_t begin,
                                   int64_t end,
                                   const ViewRequest *request);
void sysprof_span_chart_free (SpanChart *self);

/* Appends what `n_bins` columns of pixels can show of a row in [begin, end]: at most one
 * TrackSpan per bin, because spans that begin in the same bin are merged. */
void sysprof_span_chart_cut (const SpanChart *self,
                             uint32_t row,
                             int64_t begin,
                             int64_t end,
                             uint32_t n_bins,
                             GArray *bars);

/* The span of a row at `time`: the one that began last. If there is none, the nearest one
 * within `distance` ns. Its index in `spans`, or -1. */
int64_t
sysprof_span_chart_find (const SpanChart *self, uint32_t row, int64_t time, int64_t distance);

/* Name of a row or of a heading. *(full)* */
char *sysprof_span_chart_dup_title (const SpanChart *self, uint32_t row);
/* Text at or in the bar of an item. *(full)* */
char *sysprof_span_chart_dup_label (const SpanChart *self, uint32_t item);
/* Equal for items that have the same color. *(none)* */
const char *sysprof_span_chart_get_name (const SpanChart *self, uint32_t item);
/* A sentence about a span. *(full)* */
char *sysprof_span_chart_dup_text (const SpanChart *self, const ChartSpan *span);
int32_t sysprof_span_chart_get_pid (const SpanChart *self, uint32_t item); /* -1 unknown */
/* Whether the items are marks. */
bool sysprof_span_chart_is_of_marks (const SpanChart *self);
/* Whether each span has a row of its own. */
bool sysprof_span_chart_has_row_per_span (const SpanChart *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SpanChart, sysprof_span_chart_free)
