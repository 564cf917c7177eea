// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofCategorySummary: the share of one category below a node of a call graph. */

#pragma once

#include "sysprof-callgraph.h"

G_BEGIN_DECLS

#define SYSPROF_TYPE_CATEGORY_SUMMARY (sysprof_category_summary_get_type ())

SYSPROF_AVAILABLE_IN_ALL
G_DECLARE_FINAL_TYPE (SysprofCategorySummary,
                      sysprof_category_summary,
                      SYSPROF,
                      CATEGORY_SUMMARY,
                      GObject)

/* Property "category". */
SYSPROF_AVAILABLE_IN_ALL
SysprofCallgraphCategory sysprof_category_summary_get_category (SysprofCategorySummary *self);

/* For people, in their language. *(none)* Property "category-name". */
SYSPROF_AVAILABLE_IN_ALL
const char *sysprof_category_summary_get_category_name (SysprofCategorySummary *self);

/* 0 … 1. Property "fraction". */
SYSPROF_AVAILABLE_IN_ALL
double sysprof_category_summary_get_fraction (SysprofCategorySummary *self);

G_END_DECLS
