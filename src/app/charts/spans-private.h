// SPDX-License-Identifier: GPL-3.0-or-later

/* The parts of charts of spans: spans.c has rows, pointer and keys, spans-actions.c has what
 * can be done with the span at the cursor, and its menu. */

#pragma once

#include "app/charts/spans-area.h"
#include "app/charts/spans.h"
#include "app/session/query.h"
#include "app/widgets/search.h"

struct _AppSpans
{
  GtkWidget parent_instance;
  AppSession *session;
  const char *name;
  AppQuery *query;
  SpanPicture picture;
  /* Of `picture`; -1 = none. */
  int64_t cursor_row, cursor_span;
  int64_t picked_begin, picked_end; /* selection that was made here; equal = none */
  double clicked_x, clicked_y;      /* px in the window */
  uint32_t clicked_at;              /* ms; 0 = the next click is a first one */
  bool clicked_span;
  GtkWidget *stack; /* chart, status */
  GtkWidget *status;
  GtkWidget *ruler;
  GtkWidget *layer; /* AppSelectionLayer */
  GtkWidget *area;
  AppSearch search;
};

const ChartSpan *app_spans_get_span (AppSpans *self); /* at the cursor; NULL = none */
void app_spans_select (AppSpans *self);               /* the time of the span */
/* The axis stays. */
void app_spans_select_time (AppSpans *self, int64_t begin, int64_t end);
void app_spans_activate (AppSpans *self);
/* Shows or hides a row of the chart. */
void app_spans_toggle (AppSpans *self, uint32_t row);
void app_spans_show_menu (AppSpans *self);
/* Moves the cursor to the next span, or to the one before. */
void app_spans_step (AppSpans *self, int step);
bool app_spans_run_key (AppSpans *self, guint key);
void app_spans_class_add_actions (GtkWidgetClass *class);
