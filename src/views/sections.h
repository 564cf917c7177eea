// SPDX-License-Identifier: GPL-3.0-or-later

/* Sections: the views that a view like the summary consists of, each filled with the request of the whole. */

#pragma once

#include "views/views.h"

typedef struct
{
  const View *view;
  ViewRequest request; /* with which the rows were filled */
  Rows rows;
  uint32_t n_wanted; /* rows for a screen of usual height */
} FilledSection;

size_t sysprof_count_sections (const View *view);
/* Fills one section; clear its rows. It has request->limit rows if that is not 0. Else it has all rows if `is_whole`, or the
 * rows that fit one screen. */
bool sysprof_fill_section (const ViewSection *section,
                           const ViewRequest *request,
                           bool is_whole,
                           FilledSection *filled,
                           GError **error);

typedef void
SectionFunc (const View *view, const ViewRequest *request, const Rows *rows, void *data);
/* Fills each section of `view` and calls `func` with its rows. Fails if one section cannot be filled. */
bool sysprof_for_each_section (const View *view,
                               const ViewRequest *request,
                               bool is_whole,
                               SectionFunc *func,
                               void *data,
                               GError **error);
