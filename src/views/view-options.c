// SPDX-License-Identifier: GPL-3.0-or-later

/* Which options a view has. It must not know any view by name. */

#include "document/document.h"
#include "views/views.h"

#include <string.h>

/* A view has an option if it has one of its groups. Options of the selection have no row. */
static const struct
{
  const char *name;
  unsigned groups;
} options[] = {
  { "all", OPTIONS_SELECTION },
  { "annotate", OPTIONS_FUNCTIONS },
  { "bottom-up", OPTIONS_TREE },
  { "collapse", OPTIONS_FUNCTIONS },
  { "colors", OPTIONS_FLAME },
  { "debug-dir", OPTIONS_SELECTION },
  { "debuginfod", OPTIONS_SELECTION },
  { "depth", OPTIONS_TREE },
  { "extract", OPTIONS_EXTRACT },
  { "focus", OPTIONS_FOCUS },
  { "fold-recursion", OPTIONS_TREE | OPTIONS_STACKS },
  { "height", OPTIONS_FLAME },
  { "hide-system", OPTIONS_FUNCTIONS },
  { "icicle", OPTIONS_FLAME },
  { "idle", OPTIONS_SELECTION },
  { "left-heavy", OPTIONS_FLAME },
  { "lines", OPTIONS_FUNCTIONS },
  { "merge-function", OPTIONS_FUNCTIONS },
  { "merge-processes", OPTIONS_MERGE },
  { "min", OPTIONS_SHARES },
  { "no-debuginfod", OPTIONS_SELECTION },
  { "no-inlines", OPTIONS_SELECTION },
  { "no-kernel", OPTIONS_SELECTION },
  { "sort", OPTIONS_SORT },
  { "sysroot", OPTIONS_SELECTION },
  { "threads", OPTIONS_TREE },
  { "weight", OPTIONS_WEIGHT },
  { "width", OPTIONS_FLAME },
};

static unsigned
groups_of (const char *name)
{
  for (size_t i = 0; i < G_N_ELEMENTS (options); i++)
    if (strcmp (options[i].name, name) == 0)
      return options[i].groups;
  for (const SelectionOption *option = sysprof_selection_options; option->name; option++)
    if (option->selects && strcmp (option->name, name) == 0)
      return OPTIONS_SELECTION;
  return 0;
}

bool
sysprof_view_options_have (unsigned having, const char *name)
{
  unsigned groups = groups_of (name);

  return groups == 0 || (groups & having) != 0;
}

bool
sysprof_view_has_switch (const View *view, const char *name)
{
  for (const ViewSwitch *row = view->switches; row && row->name; row++)
    if (strcmp (row->name, name) == 0)
      return true;
  return false;
}
