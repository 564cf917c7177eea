// SPDX-License-Identifier: GPL-3.0-or-later

/* Fills the views that another view consists of, one after the other. */

#include "text/text.h"
#include "views/views.h"

size_t
sysprof_count_sections (const View *view)
{
  size_t n = 0;

  while (view->sections[n].view)
    n++;
  return n;
}

bool
sysprof_fill_section (const ViewSection *section,
                      const ViewRequest *request,
                      bool is_whole,
                      FilledSection *filled,
                      GError **error)
{
  *filled = (FilledSection){ .view = section->view,
                             .request = *request,
                             .n_wanted = section->n_rows };
  if (filled->request.limit == 0 && !is_whole)
    filled->request.limit = section->n_rows;
  filled->request.is_overview = true;
  filled->request.sort = NULL; /* other sections do not have that column */
  return sysprof_view_fill (section->view, &filled->request, &filled->rows, error);
}

bool
sysprof_for_each_section (const View *view,
                          const ViewRequest *request,
                          bool is_whole,
                          SectionFunc *func,
                          void *data,
                          GError **error)
{
  for (const ViewSection *section = view->sections; section->view; section++)
    {
      FilledSection filled;

      if (section->n_rows == 0 && !is_whole)
        continue;
      if (!sysprof_fill_section (section, request, is_whole, &filled, error))
        return false;
      func (section->view, &filled.request, &filled.rows, data);
      sysprof_rows_clear (&filled.rows);
    }
  return true;
}
