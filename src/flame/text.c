// SPDX-License-Identifier: GPL-3.0-or-later

/* The flame graph in a terminal: one line per level. A frame is as wide as its share,
 * between bars. Frames narrower than two columns are merged into dots. */

#include "flame/layout.h"

#include "text/text.h"
#include "views/views.h"

#include <string.h>

#define MANY_PROCESSES 20
#define PLAIN_WIDTH    100 /* width without a terminal */
#define MAX_LEVELS     200

typedef struct
{
  uint32_t *nodes; /* nodes of one level, by x */
  uint32_t n;
} Level;

static uint32_t
column_of (const Flame *flame, uint64_t x, uint32_t width)
{
  return (uint32_t) ((double) x / (double) flame->total * width + 0.5);
}

/* --- colors --- */

/* Nearest color of the cube of 256 colors: 6 levels per channel. */
static unsigned
cube_color (Color color)
{
  unsigned levels[] = { color.red, color.green, color.blue }, number = 0;

  for (size_t i = 0; i < G_N_ELEMENTS (levels); i++)
    number = 6 * number + (levels[i] < 48 ? 0 : levels[i] < 115 ? 1 : (levels[i] - 35) / 40);
  return 16 + number;
}

/* Number of the basic color with the same hue: 1 red, 2 green, 3 yellow, 4 blue, 5 magenta, 6
 * cyan, 7 white. */
static unsigned
basic_color (Color color)
{
  int least = MIN (MIN (color.red, color.green), color.blue);
  int most = MAX (MAX (color.red, color.green), color.blue);
  int middle = least + (most - least) / 2;

  if (most - least < 20)
    return 7;
  return (color.red > middle ? 1 : 0) + (color.green > middle ? 2 : 0) +
         (color.blue > middle ? 4 : 0);
}

static void
begin_color (const Flame *flame, TextWriter *writer, Color color)
{
  unsigned basic = basic_color (color);

  if (flame->request->terminal_colors == TERMINAL_TRUE_COLOR)
    sysprof_text_writer_printf (writer, "\033[48;2;%u;%u;%um\033[38;2;0;0;0m", color.red,
                                color.green, color.blue);
  else if (flame->request->terminal_colors == TERMINAL_256_COLORS)
    sysprof_text_writer_printf (writer, "\033[48;5;%u;38;5;16m", cube_color (color));
  else /* black on red or blue cannot be read */
    sysprof_text_writer_printf (writer, "\033[4%u;3%um", basic,
                                basic == 1 || basic == 4 ? 7u : 0u);
}

/* For what is less important than the name before it. */
static const char *
dim_color (const Flame *flame)
{
  static const char *const dim[] = {
    [TERMINAL_16_COLORS] = "",
    [TERMINAL_256_COLORS] = "\033[38;5;240m",
    [TERMINAL_TRUE_COLOR] = "\033[38;2;96;96;96m",
  };

  return flame->request->use_color ? dim[flame->request->terminal_colors] : "";
}

/* --- frames --- */

/* Suffixes by the compiler are gray. */
static void
write_label (const Flame *flame, TextWriter *writer, const char *label)
{
  size_t stem = flame->request->use_color ? sysprof_name_stem (label) : strlen (label);

  sysprof_text_writer_bytes (writer, label, stem);
  if (label[stem])
    sysprof_text_writer_printf (writer, "%s%s", dim_color (flame), label + stem);
}

/* Writes the source location after a name if it fits, with a blank. Returns the number of
 * columns. */
static size_t
write_location (const Flame *flame, TextWriter *writer, uint32_t node, size_t room)
{
  g_autofree char *location = sysprof_flame_dup_location (flame, node);
  size_t columns = location != NULL ? 2 + sysprof_text_columns (location) : 0;

  if (location == NULL || columns >= room)
    return 0;
  sysprof_text_writer_printf (writer, "  %s%s", dim_color (flame), location);
  return columns;
}

static void
write_frame (const Flame *flame, TextWriter *writer, uint32_t node, uint32_t width)
{
  g_autofree char *line =
      sysprof_dup_one_line (sysprof_flame_text (flame, node, flame->symbol));
  g_autofree char *name = width > 3 ? sysprof_dup_short_name (line, width - 1) : g_strdup ("");
  g_autofree char *label = sysprof_dup_abbreviated (name, width - 1);
  size_t columns = sysprof_text_columns (label);
  const char *kind = sysprof_flame_look (flame, node);

  if (flame->request->use_color)
    begin_color (flame, writer, sysprof_flame_color (flame->request->colors, kind, line));
  sysprof_text_writer_puts (writer, "\342\224\202"); /* a vertical bar */
  write_label (flame, writer, label);
  columns +=
      write_location (flame, writer, node, width - 1 > columns ? width - 1 - columns : 0);
  sysprof_text_writer_fill (writer, ' ', width - 1 > columns ? width - 1 - columns : 0);
  if (flame->request->use_color)
    sysprof_text_writer_puts (writer, "\033[0m");
}

static void
write_level (const Flame *flame, TextWriter *writer, const Level *level, uint32_t width)
{
  uint32_t at = 0;

  for (uint32_t i = 0; i < level->n; i++)
    {
      uint32_t node = level->nodes[i];
      uint64_t weight = sysprof_flame_weight (flame, node);
      uint32_t begin = column_of (flame, flame->x[node], width);
      uint32_t end = column_of (flame, flame->x[node] + weight, width);

      begin = MAX (begin, at);
      if (end < begin || end == at || begin == width)
        continue;
      end = MAX (end, begin + 1);
      sysprof_text_writer_fill (writer, ' ', begin - at);
      if (end - begin < 2)
        sysprof_text_writer_puts (writer, "\302\267"); /* a middle dot */
      else
        write_frame (flame, writer, node, end - begin);
      at = end;
    }
  sysprof_text_writer_puts (writer, "\n");
}

static bool
is_worth_a_line (const Flame *flame, const Level *level, uint32_t width)
{
  for (uint32_t i = 0; i < level->n; i++)
    if (column_of (flame, sysprof_flame_weight (flame, level->nodes[i]), width) >= 2)
      return true;
  return false;
}

/* Nodes of each level, by x. */
static Level *
collect_levels (const Flame *flame, uint32_t *storage)
{
  const RowTree *tree = &flame->tree;
  Level *levels = g_new0 (Level, tree->max_depth + 1);

  for (uint32_t i = 1; i < tree->n; i++)
    levels[tree->depth[i] - 1].n++;
  for (uint32_t depth = 0; depth < tree->max_depth; depth++)
    {
      levels[depth].nodes = storage;
      storage += levels[depth].n;
      levels[depth].n = 0;
    }
  for (uint32_t at = sysprof_row_tree_next (tree, 0); at; at = sysprof_row_tree_next (tree, at))
    {
      Level *level = &levels[tree->depth[at] - 1];

      level->nodes[level->n++] = at;
    }
  return levels;
}

static char *
dup_title (const Flame *flame, uint32_t width)
{
  g_autofree char *title = g_strconcat (flame->title, flame->subtitle[0] ? " (" : "",
                                        flame->subtitle, flame->subtitle[0] ? ")" : "", NULL);
  g_autofree char *line = sysprof_dup_one_line (title);

  return flame->request->terminal_width ? sysprof_dup_ellipsized (line, width)
                                        : g_steal_pointer (&line);
}

/* Whether there are too many processes to tell them apart. */
static bool
has_many_processes (const Flame *flame)
{
  const Shape *shape = flame->request->shape;
  uint32_t n = 0;

  for (uint32_t i = 1; i < flame->tree.n; i++)
    n += flame->tree.depth[i] == 2;
  return n > MANY_PROCESSES && !(shape && (shape->merge_processes || shape->focus));
}

bool
sysprof_flame_draw_text (const Flame *flame, GOutputStream *stream, GError **error)
{
  uint32_t width =
      flame->request->terminal_width ? flame->request->terminal_width : PLAIN_WIDTH;
  g_autofree uint32_t *storage = g_new0 (uint32_t, flame->tree.n);
  g_autofree Level *levels = collect_levels (flame, storage);
  g_autofree char *heading = dup_title (flame, width);
  uint32_t most_levels = flame->request->terminal_width ? MAX_LEVELS : UINT32_MAX;
  uint32_t n_levels = 0, n_left = 0;
  TextWriter writer;

  while (flame->total > 0 && n_levels < flame->tree.max_depth && n_levels < most_levels &&
         is_worth_a_line (flame, &levels[n_levels], width))
    n_levels++;
  for (uint32_t depth = n_levels; depth < flame->tree.max_depth; depth++)
    n_left += levels[depth].n;

  sysprof_text_writer_init (&writer, stream);
  writer.is_ascii = flame->request->is_ascii;
  sysprof_text_writer_printf (&writer, "%s\n\n", heading);
  if (flame->total == 0 && flame->request->store)
    {
      g_autofree char *emptiness = sysprof_dup_emptiness (flame->request, flame->rows);

      sysprof_text_writer_printf (&writer, "%s\n", emptiness);
    }
  for (uint32_t i = 0; i < n_levels; i++)
    write_level (flame, &writer, &levels[flame->request->icicle ? i : n_levels - 1 - i], width);
  if (n_left > 0 && flame->total > 0)
    sysprof_text_writer_printf (
        &writer, "\n%u narrower or deeper function%s not drawn; -o FILE.html shows all%s\n",
        n_left, n_left == 1 ? " is" : "s are",
        has_many_processes (flame) ? ",\n--merge-processes joins processes with the same name"
                                   : "");
  return sysprof_text_writer_finish (&writer, error);
}
