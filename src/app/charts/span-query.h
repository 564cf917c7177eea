// SPDX-License-Identifier: GPL-3.0-or-later

/* The query of charts of spans. */

#pragma once

#include "app/session/query.h"
#include "views/tracks/tracks.h"

typedef struct
{
  const char *name; /* of the chart (views/tracks/span-chart.h), static */
  int64_t begin, end;
} SpanQuery;

extern const QueryKind app_span_query_kind; /* input: SpanQuery *, result: SpanChart * */
