// SPDX-License-Identifier: GPL-3.0-or-later

/* Markdown for issues and merge requests: a heading and a table. */

#include "render/renderers.h"
#include "views/views.h"

#include <string.h>

#define MOST_LEVELS 100 /* levels of a tree that are indented */

/* Escapes markup, and bars that would end a cell. */
static void
write_text (TextWriter *writer, const char *text)
{
  for (; *text; text++)
    {
      size_t plain = strcspn (text, "\\`*_{}[]<>()#|~&!");

      sysprof_text_writer_bytes (writer, text, plain);
      text += plain;
      if (!*text)
        return;
      sysprof_text_writer_printf (writer,
                                  *text == '<'   ? "&lt;"
                                  : *text == '&' ? "&amp;"
                                                 : "\\%c",
                                  *text);
    }
}

static void
write_cell (TextWriter *writer, const Rows *rows, const Column *column, Cell cell)
{
  g_autofree char *text = sysprof_dup_cell (column, cell);
  char share[SYSPROF_GROUPED_SIZE];

  if (column->share)
    sysprof_text_writer_printf (
        writer, "%s (%s %%)", text,
        sysprof_format_fixed (sysprof_percent (cell.count, rows->total), share));
  else
    write_text (writer, text);
}

static void
write_row (TextWriter *writer, const Rows *rows, uint32_t row, uint32_t depth, const void *data)
{
  const SourceLocations *locations = data;
  bool is_indented = depth == 0;

  sysprof_text_writer_puts (writer, "|");
  for (uint32_t i = 0; i < rows->n_columns; i++)
    {
      const Column *column = &rows->columns[i];
      g_autofree char *location = sysprof_source_locations_format (locations, row, i);

      if (column->json_only)
        continue;
      sysprof_text_writer_puts (writer, " ");
      for (uint32_t level = 0; !is_indented && level < MIN (depth, MOST_LEVELS); level++)
        sysprof_text_writer_puts (writer, "&nbsp;&nbsp;");
      is_indented = is_indented || !sysprof_column_is_figure (column);
      write_cell (writer, rows, column, sysprof_rows_cells (rows, row)[i]);
      if (location != NULL)
        {
          g_autofree char *bracketed = g_strdup_printf (" (%s)", location);

          write_text (writer, bracketed);
        }
      sysprof_text_writer_puts (writer, " |");
    }
  sysprof_text_writer_puts (writer, "\n");
}

static void
write_head (TextWriter *writer, const Rows *rows)
{
  sysprof_text_writer_puts (writer, "|");
  for (uint32_t i = 0; i < rows->n_columns; i++)
    if (!rows->columns[i].json_only)
      sysprof_text_writer_printf (writer, " %s |", rows->columns[i].title);
  sysprof_text_writer_puts (writer, "\n|");
  for (uint32_t i = 0; i < rows->n_columns; i++)
    if (!rows->columns[i].json_only)
      sysprof_text_writer_puts (
          writer, sysprof_column_is_figure (&rows->columns[i]) ? " ---: |" : " --- |");
  sysprof_text_writer_puts (writer, "\n");
}

static void
write_table (TextWriter *writer, const Rows *rows)
{
  SourceLocations locations;

  sysprof_source_locations_init (&locations, rows);
  write_head (writer, rows);
  sysprof_write_each_row (writer, rows, write_row, &locations);
  if (rows->n_hidden > 0)
    sysprof_text_writer_printf (writer, "\n... and %u more\n", rows->n_hidden);
}

static void
write_section (const View *view, const ViewRequest *request, const Rows *rows, void *data)
{
  TextWriter *writer = data;

  if (rows->n_rows == 0)
    return;
  sysprof_text_writer_printf (writer, "\n## %s\n\n", view->title);
  write_table (writer, rows);
}

static bool
write_sections (TextWriter *writer,
                const View *view,
                const ViewRequest *request,
                GError **error)
{
  g_auto (GStrv) facts = sysprof_dup_machine_facts (request);

  for (char **line = facts; *line; line++)
    {
      sysprof_text_writer_puts (writer, "* ");
      write_text (writer, *line);
      sysprof_text_writer_puts (writer, "\n");
    }
  return sysprof_for_each_section (view, request, false, write_section, writer, error);
}

static bool
render_markdown (const View *view,
                 const ViewRequest *request,
                 const Rows *rows,
                 GOutputStream *stream,
                 GError **error)
{
  g_autofree char *heading = sysprof_dup_heading (view, request, rows);
  bool is_filled = true;
  TextWriter writer;

  sysprof_text_writer_init (&writer, stream);
  sysprof_text_writer_puts (&writer, "# ");
  write_text (&writer, request->title ? request->title : heading);
  sysprof_text_writer_puts (&writer, "\n\n");
  if (view->sections)
    is_filled = write_sections (&writer, view, request, error);
  else if (rows->n_rows > 0)
    write_table (&writer, rows);
  else
    {
      g_autofree char *emptiness = sysprof_dup_emptiness (request, rows);

      write_text (&writer, emptiness);
      sysprof_text_writer_puts (&writer, "\n");
    }
  return sysprof_text_writer_finish (&writer, is_filled ? error : NULL) && is_filled;
}

const RenderFormatRow sysprof_markdown_format = {
  .name = "markdown",
  .suffix = ".md",
  .render = render_markdown,
};
