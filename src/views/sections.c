// SPDX-License-Identifier: GPL-3.0-or-later

#include "views/render.h"

bool
sysprof_for_each_section (const View *view,
                          const ViewRequest *request,
                          bool is_whole,
                          SectionFunc *func,
                          void *data,
                          GError **error)
{
  for (const ViewSection *part_of = view->sections; part_of->view; part_of++)
    {
      const View *section = part_of->view;
      ViewRequest part = *request;
      Rows rows = { 0 };

      if (part_of->n_rows == 0 && !is_whole)
        continue;

      if (part.limit == 0 && !is_whole)
        part.limit = part_of->n_rows;
      part.by_name = part.telling = true;
      part.sort = NULL; /* a column of one section is none of the next */
      if (!sysprof_view_fill (section, &part, &rows, error))
        return false;
      func (section, &part, &rows, data);
      sysprof_rows_clear (&rows);
    }
  return true;
}
