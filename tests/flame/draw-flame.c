// SPDX-License-Identifier: GPL-3.0-or-later

/* Draws rows that a test wrote down, so that the drawings can be tested without a capture.
 *
 * usage: draw-flame svg|html|text [TITLE [SUBTITLE [COLORS [icicle]]]] < rows
 *
 * A row: DEPTH TAB TOTAL TAB KIND TAB BINARY TAB NAME [TAB FILE TAB LINE], with \n, \t and
 * \xHH in the name, parents first. The kind "wait" is a function of the kernel off the CPU;
 * with such rows, weights are ns of wall time. */

#include "flame/layout.h"

#include <gio/gunixinputstream.h>
#include <gio/gunixoutputstream.h>
#include <stdlib.h>
#include <string.h>

static const Column columns[] = {
  { "symbol", "FUNCTION", COLUMN_TEXT, .is_function = true },
  { "binary", "BINARY", COLUMN_TEXT },
  { "kind", "KIND", COLUMN_TEXT },
  { "self", "SELF", COLUMN_COUNT },
  { "total", "TOTAL", COLUMN_COUNT },
  { "file", "FILE", COLUMN_TEXT },
  { "line", "LINE", COLUMN_NUMBER },
  { "off-cpu", "OFF CPU", COLUMN_BOOL },
};

static const char *
dup_unescaped (Rows *rows, const char *text)
{
  GString *out = g_string_new (NULL);
  const char *kept;

  for (; *text; text++)
    if (text[0] == '\\' && text[1] == 'x')
      {
        g_string_append_c (
            out, (char) (g_ascii_xdigit_value (text[2]) * 16 + g_ascii_xdigit_value (text[3])));
        text += 3;
      }
    else if (text[0] == '\\' && text[1])
      g_string_append_c (out, *++text == 'n' ? '\n' : *text == 't' ? '\t' : *text);
    else
      g_string_append_c (out, *text);
  kept = sysprof_rows_dup (rows, out->str);
  g_string_free (out, TRUE);
  return kept;
}

static void
add_row (Rows *rows, GArray *open, char *line)
{
  g_auto (GStrv) parts = g_strsplit (line, "\t", 7);
  uint32_t depth = (uint32_t) strtoul (parts[0], NULL, 10);
  uint32_t parent = depth ? g_array_index (open, uint32_t, depth - 1) : 0;
  Cell *cells = sysprof_rows_add_child (rows, parent);

  cells[4].count = strtoull (parts[1], NULL, 10);
  cells[7].flag = strcmp (parts[2], "wait") == 0;
  cells[2].text = cells[7].flag ? "kernel" : sysprof_rows_dup (rows, parts[2]);
  if (cells[7].flag)
    {
      rows->weight_name = "wall";
      rows->weight_unit = "ns";
    }
  cells[1].text = sysprof_rows_dup (rows, parts[3]);
  cells[0].text = dup_unescaped (rows, parts[4]);
  if (parts[5] != NULL && parts[6] != NULL)
    {
      cells[5].text = sysprof_rows_dup (rows, parts[5]);
      cells[6].number = strtoll (parts[6], NULL, 10);
    }
  g_array_set_size (open, depth);
  g_array_append_val (open, rows->n_rows);
}

int
main (int argc, char **argv)
{
  g_autoptr (GInputStream) in = g_unix_input_stream_new (0, FALSE);
  g_autoptr (GDataInputStream) lines = g_data_input_stream_new (in);
  g_autoptr (GOutputStream) out = g_unix_output_stream_new (1, FALSE);
  g_autoptr (GArray) open = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  g_autoptr (GError) error = NULL;
  ViewRequest request = { .title = argc > 2 ? argv[2] : NULL,
                          .subtitle = argc > 3 ? argv[3] : "",
                          .colors = argc > 4 ? argv[4] : NULL,
                          .icicle = argc > 5 };
  Rows rows;
  Flame flame;
  char *line;
  bool is_done;

  sysprof_rows_init (&rows, columns, G_N_ELEMENTS (columns), 0);
  while ((line = g_data_input_stream_read_line (lines, NULL, NULL, NULL)))
    {
      add_row (&rows, open, line);
      g_free (line);
    }
  sysprof_flame_init (&flame, &request, &rows);
  if (strcmp (argv[1], "svg") == 0)
    is_done = sysprof_flame_draw_svg (&flame, out, &error);
  else if (strcmp (argv[1], "html") == 0)
    is_done = sysprof_flame_draw_html (&flame, out, &error);
  else
    is_done = sysprof_flame_draw_text (&flame, out, &error);
  sysprof_flame_clear (&flame);
  sysprof_rows_clear (&rows);
  if (!is_done)
    g_printerr ("%s\n", error->message);
  return is_done ? 0 : 1;
}
