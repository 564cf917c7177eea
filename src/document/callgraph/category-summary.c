// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofCategorySummary: a category of code and its share of the samples. */

#include "document/callgraph/callgraph.h"
#include "document/properties.h"

/* For who collects texts to translate. */
#define N_(text) text

struct _SysprofCategorySummary
{
  GObject parent_instance;
  SysprofCallgraphCategory category;
  double fraction;
};

G_DEFINE_FINAL_TYPE (SysprofCategorySummary, sysprof_category_summary, G_TYPE_OBJECT)

static const char *const names[] = {
  [SYSPROF_CALLGRAPH_CATEGORY_UNCATEGORIZED] = N_ ("Uncategorized"),
  [SYSPROF_CALLGRAPH_CATEGORY_PRESENTATION] = N_ ("Presentation"),
  [SYSPROF_CALLGRAPH_CATEGORY_A11Y] = N_ ("Accessibility"),
  [SYSPROF_CALLGRAPH_CATEGORY_ACTIONS] = N_ ("Actions"),
  [SYSPROF_CALLGRAPH_CATEGORY_CONTEXT_SWITCH] = N_ ("Context Switches"),
  [SYSPROF_CALLGRAPH_CATEGORY_COREDUMP] = N_ ("Core Dumps"),
  [SYSPROF_CALLGRAPH_CATEGORY_CSS] = N_ ("CSS"),
  [SYSPROF_CALLGRAPH_CATEGORY_GRAPHICS] = N_ ("Graphics"),
  [SYSPROF_CALLGRAPH_CATEGORY_ICONS] = N_ ("Icons"),
  [SYSPROF_CALLGRAPH_CATEGORY_INPUT] = N_ ("Input"),
  [SYSPROF_CALLGRAPH_CATEGORY_IO] = N_ ("I/O"),
  [SYSPROF_CALLGRAPH_CATEGORY_IPC] = N_ ("Inter-Process Communication"),
  [SYSPROF_CALLGRAPH_CATEGORY_JAVASCRIPT] = N_ ("JavaScript"),
  [SYSPROF_CALLGRAPH_CATEGORY_KERNEL] = N_ ("Kernel"),
  [SYSPROF_CALLGRAPH_CATEGORY_LAYOUT] = N_ ("Layout"),
  [SYSPROF_CALLGRAPH_CATEGORY_LOCKING] = N_ ("Locking"),
  [SYSPROF_CALLGRAPH_CATEGORY_MAIN_LOOP] = N_ ("Main Loop"),
  [SYSPROF_CALLGRAPH_CATEGORY_MEMORY] = N_ ("Memory"),
  [SYSPROF_CALLGRAPH_CATEGORY_PAINT] = N_ ("Painting"),
  [SYSPROF_CALLGRAPH_CATEGORY_TYPE_SYSTEM] = N_ ("Type System"),
  [SYSPROF_CALLGRAPH_CATEGORY_UNWINDABLE] = N_ ("Unwindable"),
  [SYSPROF_CALLGRAPH_CATEGORY_WINDOWING] = N_ ("Windowing"),
};

G_STATIC_ASSERT (G_N_ELEMENTS (names) == SYSPROF_CALLGRAPH_CATEGORY_LAST);

SysprofCategorySummary *
sysprof_category_summary_new (SysprofCallgraphCategory category, double fraction)
{
  SysprofCategorySummary *self = g_object_new (SYSPROF_TYPE_CATEGORY_SUMMARY, NULL);

  self->category = category;
  self->fraction = fraction;
  return self;
}

SysprofCallgraphCategory
sysprof_category_summary_get_category (SysprofCategorySummary *self)
{
  g_return_val_if_fail (SYSPROF_IS_CATEGORY_SUMMARY (self),
                        SYSPROF_CALLGRAPH_CATEGORY_UNCATEGORIZED);

  return self->category;
}

const char *
sysprof_category_summary_get_category_name (SysprofCategorySummary *self)
{
  g_return_val_if_fail (SYSPROF_IS_CATEGORY_SUMMARY (self), NULL);

  return g_dgettext ("sysprof", names[self->category]);
}

double
sysprof_category_summary_get_fraction (SysprofCategorySummary *self)
{
  g_return_val_if_fail (SYSPROF_IS_CATEGORY_SUMMARY (self), 0);

  return self->fraction;
}

static void
sysprof_category_summary_class_init (SysprofCategorySummaryClass *class)
{
  static const PropertyRow rows[] = {
    { "category", PROPERTY_ENUM, G_CALLBACK (sysprof_category_summary_get_category),
      sysprof_callgraph_category_get_type },
    { "category-name", PROPERTY_STRING,
      G_CALLBACK (sysprof_category_summary_get_category_name) },
    { "fraction", PROPERTY_DOUBLE, G_CALLBACK (sysprof_category_summary_get_fraction) },
  };

  sysprof_properties_install (G_OBJECT_CLASS (class), rows, G_N_ELEMENTS (rows));
}

static void
sysprof_category_summary_init (SysprofCategorySummary *self)
{
}
