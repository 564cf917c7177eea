// SPDX-License-Identifier: GPL-3.0-or-later

/* The flame graph as an interactive SVG that can be embedded. Classes have a hash of the
 * content, so styles of one picture do not affect another on the same page. It has no IDs,
 * and the script needs no CDATA. */

#include "flame/layout.h"
#include "text/text.h"
#include "web/web.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_WIDTH      1200
#define DEFAULT_ROW_HEIGHT 16
#define SIDE               10 /* px left and right of the frames */
#define TITLE_HEIGHT       36
#define SUBTITLE_HEIGHT    20
#define FOOT               34 /* px, with the line of details */
#define LEGEND             20
#define BUTTONS_WIDTH      130 /* px beside the heading */
#define HEADING_LETTER     9   /* px, about the mean width */
#define SUBTITLE_LETTER    7
#define LEAST_WIDTH        0.1 /* px; narrower frames are invisible, so they are omitted */
/* Browsers become slow and files large with more frames; then the lightest are omitted. */
#define FRAMES_TO_KEEP     8000
#define LONGEST_TO_SHORTEN 4096 /* letters of a name */

typedef struct
{
  const Flame *flame;
  TextWriter *writer;
  char class[24];
  double width;      /* of the picture, px */
  double full;       /* of the root, px */
  double row_height; /* px */
  double font;       /* px */
  double char_width; /* px */
  double top;        /* px, of the top row */
  uint64_t least;    /* lighter frames are omitted */
  uint32_t n_levels;
  bool has_legend;
} Picture;

static void
hash_into_class (Picture *self)
{
  const Flame *flame = self->flame;
  g_autoptr (GChecksum) checksum = g_checksum_new (G_CHECKSUM_SHA256);

  g_checksum_update (checksum, (const guchar *) flame->title, -1);
  g_checksum_update (checksum, (const guchar *) flame->subtitle, -1);
  for (uint32_t i = 1; i < flame->tree.n && sysprof_is_wanted_at (i); i++)
    {
      const char *name = sysprof_flame_text (flame, i, flame->symbol);

      g_checksum_update (checksum, (const guchar *) name, (gssize) strlen (name) + 1);
      g_checksum_update (checksum, (const guchar *) &flame->x[i], sizeof flame->x[i]);
    }
  g_snprintf (self->class, sizeof self->class, "fg-%.12s", g_checksum_get_string (checksum));
}

/* Formats numbers with a decimal point in any locale, without trailing zeros. */
static const char *
px (double value, char buffer[G_ASCII_DTOSTR_BUF_SIZE])
{
  size_t end;

  g_ascii_formatd (buffer, G_ASCII_DTOSTR_BUF_SIZE, "%.3f", value);
  for (end = strlen (buffer); end > 0 && buffer[end - 1] == '0'; end--)
    ;
  if (end > 0 && buffer[end - 1] == '.')
    end--;
  buffer[end] = '\0';
  return buffer;
}

static int
compare_falling (const void *left, const void *right, void *data)
{
  uint64_t a = *(const uint64_t *) left, b = *(const uint64_t *) right;

  return (a < b) - (a > b);
}

/* Least weight of frames to draw. */
static uint64_t
least_weight_to_draw (const Picture *self)
{
  const Flame *flame = self->flame;
  uint32_t n = flame->tree.n - 1;
  g_autofree uint64_t *weights = NULL;
  double least =
      MAX (LEAST_WIDTH / self->full, flame->request->min_percent / 100) * (double) flame->total;

  if (n <= FRAMES_TO_KEEP)
    return (uint64_t) ceil (least);
  weights = g_new (uint64_t, n);
  for (uint32_t i = 0; i < n; i++)
    weights[i] = sysprof_flame_weight (flame, i + 1);
  (void) sysprof_sort_if_wanted (weights, n, sizeof *weights, compare_falling, NULL);
  return MAX ((uint64_t) ceil (least), weights[FRAMES_TO_KEEP] + 1);
}

static void
measure (Picture *self)
{
  const ViewRequest *request = self->flame->request;

  hash_into_class (self);
  self->width = request->width ? request->width : DEFAULT_WIDTH;
  self->full = self->width - 2 * SIDE;
  self->row_height = request->row_height ? request->row_height : DEFAULT_ROW_HEIGHT;
  self->font = CLAMP (self->row_height - 4, 6, 24);
  self->char_width = 0.605 * self->font; /* of common fixed fonts */
  self->top = TITLE_HEIGHT + (self->flame->subtitle[0] ? SUBTITLE_HEIGHT : 0);
  self->has_legend =
      (!request->colors || strcmp (request->colors, "kind") == 0) && self->flame->tree.n > 1;
  self->least = least_weight_to_draw (self);
}

static double
pixels_of (const Picture *self, uint64_t weight)
{
  return self->flame->total > 0 ? (double) weight / (double) self->flame->total * self->full
                                : 0;
}

static bool
is_drawn (const Picture *self, uint32_t node)
{
  uint64_t weight = sysprof_flame_weight (self->flame, node);

  return weight > 0 && weight >= self->least;
}

static void
count_levels (Picture *self)
{
  for (uint32_t i = 1; i < self->flame->tree.n && sysprof_is_wanted_at (i); i++)
    if (is_drawn (self, i))
      self->n_levels = MAX (self->n_levels, self->flame->tree.depth[i]);
}

/* Rules of a picture; @ stands for its class, so that they do not apply to others. In the
 * dark, the colors of frames are translucent on a dark paper. */
static const char *const style[] = {
  "@ text { fill: #111; }",
  "@ .paper { fill: #fdf9f3; }",
  "@ .heading { font: 600 17px system-ui, sans-serif; text-anchor: middle; }",
  "@ .subtitle { font: 13px system-ui, sans-serif; text-anchor: middle; fill: #555; }",
  "@ .button { font: 13px system-ui, sans-serif; cursor: pointer; fill: #333; }",
  "@ .button:hover, @ .button:focus { text-decoration: underline; }",
  "@ .search { text-anchor: end; }",
  "@ .case { opacity: 0.6; }",
  "@ .case.on { opacity: 1; font-weight: 700; }",
  "@ .matched { text-anchor: end; fill: #a0009a; font-weight: 600; }",
  "@ .legend text { font: 12px system-ui, sans-serif; fill: #555; }",
  "@ .hide { display: none; }",
  "@ .parent { opacity: 0.5; }",
  "@ .frame { cursor: pointer; }",
  "@ .frame text { pointer-events: none; }",
  "@ .frame:hover rect { stroke: #000; stroke-width: 0.8; }",
  "@ .frame.hit rect { fill: #e600e6; }",
  "@ .frame.marked rect { stroke: #000; stroke-width: 2; }",
  "@media (prefers-color-scheme: dark) {",
  "@ text, @ .button { fill: #f2efea; }",
  "@ .paper { fill: #1b1a19; }",
  "@ .subtitle, @ .legend text { fill: #b3ada4; }",
  "@ .matched { fill: #f06ad8; }",
  "@ .frame rect, @ .legend rect { fill-opacity: 0.4; }",
  "@ .frame:hover rect, @ .frame.marked rect { stroke: #fff; }",
  "}",
};

static void
write_style (const Picture *self)
{
  TextWriter *writer = self->writer;
  g_autofree char *selector = g_strconcat (".", self->class, " ", NULL);
  char font[G_ASCII_DTOSTR_BUF_SIZE];

  sysprof_text_writer_puts (writer, "<style>\n");
  sysprof_text_writer_printf (
      writer,
      ".%s text { font: %spx ui-monospace, \"DejaVu Sans Mono\", Menlo, Consolas, "
      "monospace; }\n",
      self->class, px (self->font, font));
  for (size_t i = 0; i < G_N_ELEMENTS (style); i++)
    {
      g_auto (GStrv) parts = g_strsplit (style[i], "@ ", -1);
      g_autofree char *rule = g_strjoinv (selector, parts);

      sysprof_text_writer_printf (writer, "%s\n", rule);
    }
  sysprof_text_writer_puts (writer, "</style>\n");
}

static void
write_head (const Picture *self, double height)
{
  TextWriter *writer = self->writer;
  char width[G_ASCII_DTOSTR_BUF_SIZE], tall[G_ASCII_DTOSTR_BUF_SIZE],
      full[G_ASCII_DTOSTR_BUF_SIZE];
  char row[G_ASCII_DTOSTR_BUF_SIZE], letter[G_ASCII_DTOSTR_BUF_SIZE];

  px (self->width, width);
  px (height, tall);
  sysprof_text_writer_printf (
      writer,
      "<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" class=\"%s\" width=\"%s\" "
      "height=\"%s\" viewBox=\"0 0 %s %s\" data-x=\"%d\" data-frames-width=\"%s\" "
      "data-row-height=\"%s\" data-char-width=\"%s\" style=\"max-width:100%%;height:auto\">\n<title>",
      self->class, width, tall, width, tall, SIDE, px (self->full, full),
      px (self->row_height, row), px (self->char_width, letter));
  sysprof_text_writer_xml (writer, self->flame->title);
  sysprof_text_writer_puts (writer, "</title>\n");
  write_style (self);
  sysprof_text_writer_printf (writer, "<rect class=\"paper\" width=\"%s\" height=\"%s\"/>\n",
                              width, tall);
}

/* Written after the frames, so that it covers them when the script keeps it visible in a
 * high picture. */
static void
write_heading (const Picture *self)
{
  TextWriter *writer = self->writer;
  double room = self->full - 2 * BUTTONS_WIDTH;
  g_autofree char *heading =
      sysprof_dup_abbreviated (self->flame->title, (size_t) (MAX (room, 0) / HEADING_LETTER));
  g_autofree char *subtitle = sysprof_dup_abbreviated (
      self->flame->subtitle, (size_t) (MAX (self->full, 0) / SUBTITLE_LETTER));
  char width[G_ASCII_DTOSTR_BUF_SIZE], tall[G_ASCII_DTOSTR_BUF_SIZE],
      middle[G_ASCII_DTOSTR_BUF_SIZE];

  px (self->width, width);
  px (self->top, tall);
  px (self->width / 2, middle);
  sysprof_text_writer_printf (writer, "<rect class=\"paper\" width=\"%s\" height=\"%s\"/>\n",
                              width, tall);
  sysprof_text_writer_printf (writer, "<text class=\"heading\" x=\"%s\" y=\"24\">", middle);
  sysprof_text_writer_xml (writer, heading);
  sysprof_text_writer_puts (writer, "</text>\n");
  if (subtitle[0])
    {
      sysprof_text_writer_printf (writer, "<text class=\"subtitle\" x=\"%s\" y=\"44\">",
                                  middle);
      sysprof_text_writer_xml (writer, subtitle);
      sysprof_text_writer_puts (writer, "</text>\n");
    }
}

/* Hidden until the script runs, so that a picture without scripts has no dead buttons. */
static void
write_buttons (const Picture *self)
{
  char search[G_ASCII_DTOSTR_BUF_SIZE], match_case[G_ASCII_DTOSTR_BUF_SIZE];

  px (self->width - SIDE - 32, search);
  px (self->width - SIDE - 18, match_case);
  sysprof_text_writer_printf (
      self->writer,
      "<g class=\"buttons\" display=\"none\">\n"
      "<text class=\"button unzoom hide\" role=\"button\" tabindex=\"0\" x=\"%d\" y=\"24\">"
      "Reset Zoom</text>\n"
      "<text class=\"button search\" role=\"button\" tabindex=\"0\" x=\"%s\" y=\"24\">"
      "Search</text>\n"
      "<text class=\"button case\" role=\"button\" aria-label=\"Match case\" "
      "aria-pressed=\"false\" "
      "tabindex=\"0\" x=\"%s\" y=\"24\"><title>Match case</title>Aa</text>\n</g>\n",
      SIDE, search, match_case);
}

/* Explains the colors of the scheme "kind". */
static void
write_legend (const Picture *self, double y)
{
  static const struct
  {
    const char *kind;
    const char *word;
  } entries[] = {
    { "user", "user" },     { "kernel", "kernel" },    { "inline", "inlined" },
    { "jit", "JIT" },       { "wait", "off the CPU" }, { "process", "process" },
    { "thread", "thread" }, { "marker", "unknown" },
  };
  bool is_present[G_N_ELEMENTS (entries)] = { 0 };
  double x = SIDE;
  char at[2][G_ASCII_DTOSTR_BUF_SIZE];

  for (uint32_t i = 1; i < self->flame->tree.n && sysprof_is_wanted_at (i); i++)
    for (size_t k = 0; k < G_N_ELEMENTS (entries); k++)
      is_present[k] |= strcmp (sysprof_flame_look (self->flame, i), entries[k].kind) == 0;
  sysprof_text_writer_puts (self->writer, "<g class=\"legend\">");
  for (size_t k = 0; k < G_N_ELEMENTS (entries); k++)
    if (is_present[k])
      {
        Color color = sysprof_flame_color (NULL, entries[k].kind, "");

        sysprof_text_writer_printf (
            self->writer,
            "<rect x=\"%s\" y=\"%s\" width=\"11\" height=\"11\" fill=\"rgb(%u,%u,%u)\"/>",
            px (x, at[0]), px (y - 10, at[1]), color.red, color.green, color.blue);
        sysprof_text_writer_printf (self->writer, "<text x=\"%s\" y=\"%s\">%s</text>",
                                    px (x + 16, at[0]), px (y, at[1]), entries[k].word);
        x += 36 + 7 * (double) strlen (entries[k].word);
      }
  sysprof_text_writer_puts (self->writer, "</g>\n");
}

static void
write_foot (const Picture *self, double height)
{
  double top = self->top + MAX (self->n_levels, 1) * self->row_height;
  char width[G_ASCII_DTOSTR_BUF_SIZE], edge[G_ASCII_DTOSTR_BUF_SIZE],
      begin[G_ASCII_DTOSTR_BUF_SIZE], tall[G_ASCII_DTOSTR_BUF_SIZE],
      line[G_ASCII_DTOSTR_BUF_SIZE];

  px (self->width, width);
  px (self->width - SIDE, edge);
  px (top, begin);
  px (height - top, tall);
  px (top + FOOT - 12, line);
  sysprof_text_writer_printf (self->writer,
                              "<rect class=\"paper\" y=\"%s\" width=\"%s\" height=\"%s\"/>\n"
                              "<text class=\"details\" x=\"%d\" y=\"%s\"></text>\n"
                              "<text class=\"matched\" x=\"%s\" y=\"%s\"></text>\n",
                              begin, width, tall, SIDE, line, edge, line);
  if (self->has_legend)
    write_legend (self, top + FOOT + LEGEND - 12);
}

/* Writes the source location and inlining, on a line below name and weight. */
static void
write_location (const Picture *self, uint32_t node)
{
  const Flame *flame = self->flame;
  g_autofree char *location = sysprof_flame_dup_whole_location (flame, node);
  bool is_inlined = sysprof_source_locations_is_inlined (&flame->locations, node - 1);

  if (location == NULL && !is_inlined)
    return;
  sysprof_text_writer_puts (self->writer, "\n");
  if (location != NULL)
    {
      g_autofree char *line = sysprof_dup_one_line (location);

      sysprof_text_writer_xml (self->writer, line);
    }
  if (is_inlined)
    sysprof_text_writer_puts (self->writer, location != NULL ? ", inlined" : "inlined");
}

/* Label that fits into the frame before the script runs. */
static void
write_label (const Picture *self, const char *name, double x, double y, double width)
{
  char at[2][G_ASCII_DTOSTR_BUF_SIZE];
  size_t room = width > 6 ? (size_t) ((width - 6) / self->char_width) : 0;
  g_autofree char *head = NULL, *line = NULL, *cut = NULL;

  if (room < 3)
    return;
  /* Does not read very long names; the script has the same limit. */
  if (strnlen (name, LONGEST_TO_SHORTEN + 1) <= LONGEST_TO_SHORTEN)
    {
      line = sysprof_dup_one_line (name);
      head = sysprof_dup_short_name (line, room);
    }
  else
    {
      line = g_strndup (name, 6 * room);
      head = sysprof_dup_one_line (line);
    }
  cut = sysprof_dup_abbreviated (head, room);
  sysprof_text_writer_printf (self->writer, "<text x=\"%s\" y=\"%s\">", px (x + 3, at[0]),
                              px (y + self->row_height - 5, at[1]));
  sysprof_text_writer_xml (self->writer, cut);
  sysprof_text_writer_puts (self->writer, "</text>");
}

static void
write_frame (const Picture *self, uint32_t node)
{
  const Flame *flame = self->flame;
  TextWriter *writer = self->writer;
  const char *name = sysprof_flame_text (flame, node, flame->symbol);
  Color color =
      sysprof_flame_color (flame->request->colors, sysprof_flame_look (flame, node), name);
  uint64_t weight = sysprof_flame_weight (flame, node);
  double x = SIDE + pixels_of (self, flame->x[node]);
  double width = pixels_of (self, weight);
  uint32_t level = flame->tree.depth[node] - 1;
  double y = self->top +
             (flame->request->icicle ? level : self->n_levels - 1 - level) * self->row_height;
  g_autofree char *amount = sysprof_dup_weight (flame->rows, weight);
  char percent[G_ASCII_DTOSTR_BUF_SIZE];
  char at[4][G_ASCII_DTOSTR_BUF_SIZE];

  g_ascii_formatd (percent, sizeof percent, "%.2f", sysprof_percent (weight, flame->total));
  sysprof_text_writer_printf (
      writer, "<g class=\"frame\" data-w=\"%" G_GUINT64_FORMAT "\"><title>", weight);
  sysprof_text_writer_xml (writer, name[0] ? name : "[unknown]");
  sysprof_text_writer_printf (writer, " (%s, %s%%)", amount, percent);
  write_location (self, node);
  sysprof_text_writer_printf (writer,
                              "</title><rect x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\" "
                              "fill=\"rgb(%u,%u,%u)\" rx=\"1.5\"/>",
                              px (x, at[0]), px (y, at[1]), px (width, at[2]),
                              px (self->row_height - 1, at[3]), color.red, color.green,
                              color.blue);
  write_label (self, name, x, y, width);
  sysprof_text_writer_puts (writer, "</g>\n");
}

bool
sysprof_flame_draw_svg (const Flame *flame, GOutputStream *stream, GError **error)
{
  const RowTree *tree = &flame->tree;
  Picture self = { .flame = flame };
  double height;
  TextWriter writer;

  sysprof_text_writer_init (&writer, stream);
  self.writer = &writer;
  measure (&self);
  count_levels (&self);
  height = self.top + MAX (self.n_levels, 1) * self.row_height + FOOT +
           (self.has_legend ? LEGEND : 0);
  write_head (&self, height);
  sysprof_text_writer_puts (&writer, "<g class=\"frames\">\n");
  for (uint32_t at = sysprof_row_tree_next (tree, 0);
       at && sysprof_text_writer_is_open (&writer); at = sysprof_row_tree_next (tree, at))
    if (is_drawn (&self, at))
      write_frame (&self, at);
  sysprof_text_writer_puts (&writer, "</g>\n");
  if (self.n_levels == 0)
    sysprof_text_writer_printf (&writer,
                                "<text x=\"%d\" y=\"%d\">No %s in this selection.</text>\n",
                                SIDE, (int) self.top + 12, flame->rows->weight_name);
  sysprof_text_writer_puts (&writer, "<g class=\"head\">\n");
  write_heading (&self);
  write_buttons (&self);
  sysprof_text_writer_puts (&writer, "</g>\n<g class=\"foot\">\n");
  write_foot (&self, height);
  sysprof_text_writer_puts (&writer, "</g>\n");
  sysprof_text_writer_printf (&writer, "<script>%s(\"%s\");</script>\n</svg>\n",
                              sysprof_web_svg_script, self.class);
  return sysprof_text_writer_finish (&writer, error);
}
