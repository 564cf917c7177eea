// SPDX-License-Identifier: GPL-3.0-or-later

#include "views/render.h"

bool
sysprof_for_each_section (const View *view,
                          const ViewRequest *request,
                          SectionFunc *func,
                          void *data,
                          GError **error)
{
  for (const char *const *name = view->sections; *name; name++)
    {
      const View *section = sysprof_view_find (*name);
      ViewRequest part = *request;
      Rows rows = { 0 };

      part.sort = NULL; /* a column of one section is none of the next */
      if (!sysprof_view_fill (section, &part, &rows, error))
        return false;
      func (section, &part, &rows, data);
      sysprof_rows_clear (&rows);
    }
  return true;
}
