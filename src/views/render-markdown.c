// SPDX-License-Identifier: GPL-3.0-or-later

/* Markdown, to paste into an issue or a merge request: a heading and a table. */

#include "views/render.h"
#include "views/rows.h"

#include <string.h>

#define MOST_LEVELS 100 /* of a tree that blanks show */

/* Names are not markup, and a bar ends no cell. */
static void
write_text (Out *out, const char *text)
{
  for (; *text; text++)
    {
      size_t plain = strcspn (text, "\\`*_{}[]<>()#|~&!");

      sysprof_out_bytes (out, text, plain);
      text += plain;
      if (!*text)
        return;
      sysprof_out_printf (out, *text == '<' ? "&lt;" : *text == '&' ? "&amp;" : "\\%c", *text);
    }
}

static void
write_cell (Out *out, const Rows *rows, const Column *column, Cell cell)
{
  g_autofree char *text = sysprof_dup_cell (column, cell);
  char share[SYSPROF_GROUPED_SIZE];

  if (column->share)
    sysprof_out_printf (
        out, "%s (%s %%)", text,
        sysprof_format_fixed (sysprof_percent (cell.count, rows->total), share));
  else
    write_text (out, text);
}

static void
write_row (Out *out, const Rows *rows, const Places *places, uint32_t row, uint32_t depth)
{
  bool is_indented = depth == 0;

  sysprof_out_text (out, "|");
  for (uint32_t i = 0; i < rows->n_columns; i++)
    {
      const Column *column = &rows->columns[i];
      g_autofree char *place = sysprof_places_dup (places, row, i);

      if (column->json_only)
        continue;
      sysprof_out_text (out, " ");
      for (uint32_t level = 0; !is_indented && level < MIN (depth, MOST_LEVELS); level++)
        sysprof_out_text (out, "&nbsp;&nbsp;");
      is_indented = is_indented || !sysprof_column_is_figure (column);
      write_cell (out, rows, column, sysprof_rows_cells (rows, row)[i]);
      if (place != NULL)
        {
          g_autofree char *bracketed = g_strdup_printf (" (%s)", place);

          write_text (out, bracketed);
        }
      sysprof_out_text (out, " |");
    }
  sysprof_out_text (out, "\n");
}

static void
write_head (Out *out, const Rows *rows)
{
  sysprof_out_text (out, "|");
  for (uint32_t i = 0; i < rows->n_columns; i++)
    if (!rows->columns[i].json_only)
      sysprof_out_printf (out, " %s |", rows->columns[i].title);
  sysprof_out_text (out, "\n|");
  for (uint32_t i = 0; i < rows->n_columns; i++)
    if (!rows->columns[i].json_only)
      sysprof_out_text (out,
                        sysprof_column_is_figure (&rows->columns[i]) ? " ---: |" : " --- |");
  sysprof_out_text (out, "\n");
}

static void
write_table (Out *out, const Rows *rows)
{
  RowTree tree;
  Places places;

  sysprof_places_init (&places, rows);
  write_head (out, rows);
  if (rows->parent)
    {
      sysprof_row_tree_init (&tree, rows);
      for (uint32_t at = sysprof_row_tree_next (&tree, 0); at && sysprof_out_goes_on (out);
           at = sysprof_row_tree_next (&tree, at))
        write_row (out, rows, &places, at - 1, tree.depth[at] - 1);
      sysprof_row_tree_clear (&tree);
    }
  else
    for (uint32_t row = 0; row < rows->n_rows && sysprof_out_goes_on (out); row++)
      write_row (out, rows, &places, row, 0);
  if (rows->n_hidden > 0)
    sysprof_out_printf (out, "\n... and %u more\n", rows->n_hidden);
}

static void
write_section (const View *view, const ViewRequest *request, const Rows *rows, void *data)
{
  Out *out = data;

  if (rows->n_rows == 0)
    return;
  sysprof_out_printf (out, "\n## %s\n\n", view->title);
  write_table (out, rows);
}

static bool
write_sections (Out *out, const View *view, const ViewRequest *request, GError **error)
{
  g_auto (GStrv) facts = sysprof_dup_machine_facts (request);

  for (char **line = facts; *line; line++)
    {
      sysprof_out_text (out, "* ");
      write_text (out, *line);
      sysprof_out_text (out, "\n");
    }
  return sysprof_for_each_section (view, request, false, write_section, out, error);
}

bool
sysprof_render_markdown (const View *view,
                         const ViewRequest *request,
                         const Rows *rows,
                         GOutputStream *stream,
                         GError **error)
{
  g_autofree char *heading = sysprof_dup_heading (view, request, rows);
  bool is_filled = true;
  Out out;

  sysprof_out_init (&out, stream);
  sysprof_out_text (&out, "# ");
  write_text (&out, request->title ? request->title : heading);
  sysprof_out_text (&out, "\n\n");
  if (view->sections)
    is_filled = write_sections (&out, view, request, error);
  else if (rows->n_rows > 0)
    write_table (&out, rows);
  else
    {
      g_autofree char *emptiness = sysprof_dup_emptiness (request, rows);

      write_text (&out, emptiness);
      sysprof_out_text (&out, "\n");
    }
  return sysprof_out_finish (&out, is_filled ? error : NULL) && is_filled;
}
