// SPDX-License-Identifier: GPL-3.0-or-later

/* Views as text: a heading and a table, or the sections of the summary fitted to the height
 * of the terminal. */

#include "flame/flame.h"
#include "render/text-table.h"
#include "views/views.h"

#include <string.h>

#define SUMMARY_COLUMNS 120
#define PROSE_INDENT    2
#define COMMAND_INDENT  4
#define LOW_TERMINAL    40 /* lines, below which sentences come without their commands */

/* Lines of the summary outside its sections. */
#define LAST_LINES 3 /* a blank, the hint for more, the shell's prompt */

/* Truncates the line at the width of the terminal. */
static void
write_line (TextWriter *writer, const ViewRequest *request, const char *text)
{
  g_autofree char *line = request->terminal_width
                              ? sysprof_dup_ellipsized (text, request->terminal_width)
                              : g_strdup (text);

  sysprof_text_writer_printf (writer, "%s\n", line);
}

/* --- the summary --- */

typedef struct
{
  FilledSection section;
  uint32_t n_least;
  uint32_t n_rows; /* number of rows to show */
  char *prose;     /* owned: formatted rows of a section of sentences */
} Part;

/* Formats sentences, each with the command that shows more in a line of its own if the
 * terminal is high enough. *(full)* */
static char *
dup_prose (const ViewRequest *request, const Rows *rows)
{
  bool has_commands = request->terminal_height == 0 || request->terminal_height >= LOW_TERMINAL;
  GString *prose = g_string_new (NULL);

  for (uint32_t row = 0; row < rows->n_rows; row++)
    {
      const Cell *cells = sysprof_rows_cells (rows, row);
      g_autofree char *wrapped =
          sysprof_dup_wrapped (cells[0].text, request->terminal_width, PROSE_INDENT);

      g_string_append_printf (prose, "- %s\n", wrapped);
      if (has_commands && cells[1].text[0] != '\0')
        {
          g_autofree char *command =
              sysprof_dup_wrapped (cells[1].text, request->terminal_width, COMMAND_INDENT);

          g_string_append_printf (prose, "%*s%s\n", COMMAND_INDENT, "", command);
        }
    }
  return g_string_free (prose, FALSE);
}

static size_t
count_lines (const char *text)
{
  size_t n = 0;

  for (; *text; text++)
    n += *text == '\n';
  return n;
}

/* Counts a blank, the title, the column titles of a table, and the rows. */
static size_t
lines_of_part (const Part *part)
{
  if (part->n_rows == 0)
    return 0;
  return part->prose ? 2 + count_lines (part->prose) : 3 + part->n_rows;
}

/* Removes rows of a part until `least` rows remain or `excess` lines are gone. Returns the
 * remaining excess. */
static size_t
take_rows (Part *part, uint32_t least, size_t excess)
{
  while (excess > 0 && !part->prose && part->n_rows > least)
    {
      size_t before = lines_of_part (part);

      part->n_rows--;
      excess -= MIN (excess, before - lines_of_part (part));
    }
  return excess;
}

/* Removes rows from the last part to the first until all fit: first down to half, then down
 * to the least number. FALSE if they still do not fit. */
static bool
fit_height (Part *parts, size_t n, size_t height)
{
  size_t lines = 0, excess;

  for (size_t i = 0; i < n; i++)
    lines += lines_of_part (&parts[i]);
  excess = lines > height ? lines - height : 0;
  for (size_t i = n; i-- > 0;)
    excess =
        take_rows (&parts[i], MAX (parts[i].section.n_wanted / 2, parts[i].n_least), excess);
  for (size_t i = n; i-- > 0;)
    excess = take_rows (&parts[i], parts[i].n_least, excess);
  return excess == 0;
}

/* Shows all rows. Text that does not fit is paged, so there is nothing to gain from less. */
static void
show_all (Part *parts, size_t n)
{
  for (size_t i = 0; i < n; i++)
    {
      Part *part = &parts[i];

      part->n_rows = part->section.rows.n_rows;
      part->section.request.terminal_height = 0;
      if (part->prose)
        {
          g_free (part->prose);
          part->prose = dup_prose (&part->section.request, &part->section.rows);
        }
    }
}

static void
write_part (TextWriter *writer, const Part *part)
{
  const FilledSection *section = &part->section;
  const ViewRequest *request = &section->request;
  Rows shown = section->rows;
  uint64_t n_all = (uint64_t) shown.n_rows + shown.n_hidden;

  if (part->n_rows == 0)
    return;
  sysprof_text_writer_printf (writer, "\n%s%s%s", request->use_color ? COLOR_TITLE : "",
                              section->view->title, request->use_color ? COLOR_RESET : "");
  if (part->n_rows < n_all)
    sysprof_text_writer_printf (writer, " (%u of %" G_GUINT64_FORMAT ")", part->n_rows, n_all);
  sysprof_text_writer_puts (writer, "\n");
  shown.n_rows = part->n_rows;
  if (part->prose)
    sysprof_text_writer_puts (writer, part->prose);
  else
    sysprof_text_table_write (writer, request, &shown, true);
}

static bool
fill_parts (const View *view, const ViewRequest *request, Part *parts, GError **error)
{
  for (size_t i = 0; view->sections[i].view; i++)
    {
      Part *part = &parts[i];

      if (view->sections[i].n_rows == 0)
        continue;
      if (!sysprof_fill_section (&view->sections[i], request, false, &part->section, error))
        return false;
      part->n_rows = part->section.rows.n_rows;
      part->n_least = view->sections[i].n_least;
      if (part->section.view->is_prose)
        part->prose = dup_prose (&part->section.request, &part->section.rows);
    }
  return true;
}

static bool
write_sections (TextWriter *writer,
                const View *view,
                const ViewRequest *request,
                const Rows *rows,
                GError **error)
{
  g_auto (GStrv) facts = sysprof_dup_machine_facts (request);
  g_autofree char *path = sysprof_dup_one_line (sysprof_capture_path (request));
  g_autofree Part *parts = g_new0 (Part, sysprof_count_sections (view));
  size_t n = sysprof_count_sections (view), n_facts = 1 + g_strv_length (facts);
  ViewRequest part = *request;
  bool is_filled, is_empty = true;

  /* Limit the width without a terminal as well, because command lines may have thousands of
   * characters. */
  if (part.terminal_width == 0)
    part.terminal_width = SUMMARY_COLUMNS;
  is_filled = fill_parts (view, &part, parts, error);
  if (is_filled)
    {
      if (request->terminal_height > 0 && request->limit == 0 &&
          !fit_height (parts, n,
                       request->terminal_height -
                           MIN (request->terminal_height, n_facts + LAST_LINES)))
        show_all (parts, n);
      sysprof_text_writer_printf (writer, "%-9s %s\n", "Capture", path);
      for (char **line = facts; *line; line++)
        write_line (writer, &part, *line);
      for (size_t i = 0; i < n; i++)
        {
          write_part (writer, &parts[i]);
          is_empty &= parts[i].n_rows == 0;
        }
      if (is_empty)
        {
          g_autofree char *emptiness = sysprof_dup_emptiness (request, rows);

          sysprof_text_writer_printf (writer, "\n%s\n", emptiness);
        }
      sysprof_text_writer_puts (
          writer,
          "\nMore: sysprof-report functions | tree | callers | flame | heat | ... (--help)\n");
    }
  for (size_t i = 0; i < n; i++)
    {
      sysprof_rows_clear (&parts[i].section.rows);
      g_free (parts[i].prose);
    }
  return is_filled;
}

/* --- any view --- */

bool
sysprof_render_text (const View *view,
                     const ViewRequest *request,
                     const Rows *rows,
                     GOutputStream *stream,
                     GError **error)
{
  TextWriter writer;
  bool is_filled = true;

  sysprof_text_writer_init (&writer, stream);
  writer.is_ascii = request->is_ascii;
  if (view->sections)
    is_filled = write_sections (&writer, view, request, rows, error);
  else
    {
      g_autofree char *heading = sysprof_dup_heading (view, request, rows);

      write_line (&writer, request, heading);
      sysprof_text_writer_puts (&writer, "\n");
      if (rows->lead != NULL)
        {
          g_autofree char *lead = sysprof_dup_one_line (rows->lead);

          sysprof_text_writer_printf (&writer, "%s\n\n", lead);
        }
      if (rows->n_rows > 0)
        sysprof_text_table_write (&writer, request, rows, false);
      else if (rows->note == NULL)
        {
          g_autofree char *emptiness = sysprof_dup_emptiness (request, rows);

          sysprof_text_writer_printf (&writer, "%s\n", emptiness);
        }
      if (rows->note != NULL)
        {
          g_autofree char *note = sysprof_dup_one_line (rows->note);

          sysprof_text_writer_printf (&writer, "%s%s\n", rows->n_rows > 0 ? "\n" : "", note);
        }
    }
  return sysprof_text_writer_finish (&writer, is_filled ? error : NULL) && is_filled;
}

const RenderFormatRow sysprof_text_format = {
  .name = "text",
  .suffix = ".txt",
  .render = sysprof_render_text,
  .drawings = { [LAYOUT_FLAME] = sysprof_flame_render_text },
};
