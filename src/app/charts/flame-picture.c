// SPDX-License-Identifier: GPL-3.0-or-later

/* Places and draws the frames of a flame graph. Frames that are narrower than two pixels share
 * a grey run, so that there are never more rectangles than pixels. */

#include "app/charts/flame-picture.h"

#include "app/charts/palette.h"
#include "app/widgets/cut-text.h"
#include "render/render.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#define TEXT_LEAST   34 /* px of a frame with a name */
#define TEXT_PAD     4
#define FADED_ALPHA  0.35f
#define MOST_LETTERS 120

void
app_flame_picture_init (FlamePicture *self, RowResult *result)
{
  *self = (FlamePicture){ .result = app_row_result_ref (result),
                          .is_icicle = result->focus->icicle };
  sysprof_flame_init (&self->flame, &result->request, &result->rows);
}

void
app_flame_picture_clear (FlamePicture *self)
{
  if (self->result == NULL)
    return;
  sysprof_flame_clear (&self->flame);
  g_free (self->matches);
  app_row_result_unref (self->result);
  *self = (FlamePicture){ 0 };
}

static bool
is_ancestor_of_zoomed (const FlamePicture *self, uint32_t node)
{
  for (uint32_t at = self->zoomed; at != 0; at = self->flame.tree.parent[at])
    if (at == node)
      return true;
  return false;
}

static double
get_scale (const FlamePicture *self)
{
  uint64_t whole =
      self->zoomed != 0 ? sysprof_flame_weight (&self->flame, self->zoomed) : self->flame.total;

  return whole > 0 ? self->width / (double) whole : 0;
}

bool
app_flame_picture_place (const FlamePicture *self, uint32_t node, double *x, double *width)
{
  double left = self->zoomed != 0 ? (double) self->flame.x[self->zoomed] : 0;

  if (is_ancestor_of_zoomed (self, node))
    {
      *x = 0;
      *width = self->width;
      return true;
    }
  *x = ((double) self->flame.x[node] - left) * get_scale (self);
  *width = (double) sysprof_flame_weight (&self->flame, node) * get_scale (self);
  return *x<self->width && * x + *width> 0 &&
         (self->zoomed == 0 ||
          self->flame.tree.depth[node] > self->flame.tree.depth[self->zoomed]);
}

/* The pixels [x, right) of a node. Nodes of fewer than FLAME_LEAST pixels are parts of grey
 * runs, and their descendants are not drawn. */
static bool
place_pixels (const FlamePicture *self, uint32_t node, int *x, int *right)
{
  double left, width;

  if (!app_flame_picture_place (self, node, &left, &width))
    return false;
  *x = (int) floor (MAX (left, 0));
  *right = (int) floor (MIN (left + width, self->width));
  return true;
}

/* The next node in the order of drawing; 0 = none. */
static uint32_t
step (const RowTree *tree, uint32_t at, bool descends)
{
  if (descends && tree->first_child[at] != 0)
    return tree->first_child[at];
  while (at != 0 && tree->next_sibling[at] == 0)
    at = tree->parent[at];
  return at != 0 ? tree->next_sibling[at] : 0;
}

int
app_flame_picture_get_height (const FlamePicture *self)
{
  return (int) self->flame.tree.max_depth * FLAME_ROW_HEIGHT;
}

int
app_flame_picture_get_y (const FlamePicture *self, uint32_t node, int height)
{
  int row = (int) self->flame.tree.depth[node] - 1;

  return self->is_icicle ? row * FLAME_ROW_HEIGHT : height - (row + 1) * FLAME_ROW_HEIGHT;
}

uint32_t
app_flame_picture_find (const FlamePicture *self, double x, double y, int height)
{
  const RowTree *tree = &self->flame.tree;
  int row = (int) ((self->is_icicle ? y : height - y) / FLAME_ROW_HEIGHT);
  uint32_t node = tree->n > 1 ? tree->first_child[0] : 0;
  int left, right;

  while (node != 0)
    {
      bool is_there =
          place_pixels (self, node, &left, &right) && x >= left && x < MAX (right, left + 1);

      if (is_there && (int) tree->depth[node] - 1 == row)
        return node;
      is_there = is_there && right - left >= FLAME_LEAST;
      node = is_there ? tree->first_child[node] : tree->next_sibling[node];
    }
  return 0;
}

/* Counts the nodes of the grey run that contains the node; 0 if the node is wide enough for a
 * rectangle of its own. */
static uint32_t
sum_run (const FlamePicture *self, uint32_t node, uint64_t *weight)
{
  const RowTree *tree = &self->flame.tree;
  uint32_t n = 0, at = tree->first_child[0];
  bool has_node = false, is_wide;
  int x = 0, right = 0, end = 0;

  if (!place_pixels (self, node, &x, &right) || right - x >= FLAME_LEAST)
    return 0;
  for (; at != 0; at = step (tree, at, is_wide))
    {
      bool is_visible = place_pixels (self, at, &x, &right);

      is_wide = is_visible && right - x >= FLAME_LEAST;
      if (!is_visible || tree->depth[at] != tree->depth[node])
        continue;
      if (has_node && (is_wide || x > end))
        break;
      if (is_wide || x > end)
        *weight = n = 0;
      if (is_wide)
        continue;
      n++;
      *weight += sysprof_flame_weight (&self->flame, at);
      end = MAX (right, x + 1);
      has_node = has_node || at == node;
    }
  return n;
}

char *
app_flame_picture_dup_run (const FlamePicture *self, uint32_t node)
{
  const Flame *flame = &self->flame;
  uint64_t weight = 0;
  uint32_t n = sum_run (self, node, &weight);
  g_autofree char *amount = sysprof_dup_weight (flame->rows, weight);

  return n < 2 ? NULL
               : g_strdup_printf (_ ("%u functions in narrow frames, %s, %.1f %%"), n, amount,
                                  sysprof_percent (weight, flame->total));
}

double
app_flame_picture_search (FlamePicture *self, const char *text)
{
  const Flame *flame = &self->flame;
  g_autofree char *folded = NULL;
  uint32_t covered = 0; /* the matching ancestor, whose weight counts already */
  uint64_t sum = 0;

  g_clear_pointer (&self->matches, g_free);
  if (text == NULL || text[0] == '\0')
    return 0;
  folded = g_utf8_casefold (text, -1);
  self->matches = g_new0 (bool, flame->tree.n);
  for (uint32_t at = sysprof_row_tree_next (&flame->tree, 0); at != 0;
       at = sysprof_row_tree_next (&flame->tree, at))
    {
      g_autofree char *name =
          sysprof_dup_one_line (sysprof_flame_text (flame, at, flame->symbol));
      g_autofree char *low = g_utf8_casefold (name, -1);

      if (covered != 0 && flame->tree.depth[at] <= flame->tree.depth[covered])
        covered = 0;
      self->matches[at] = strstr (low, folded) != NULL;
      if (self->matches[at] && covered == 0)
        {
          sum += sysprof_flame_weight (flame, at);
          covered = at;
        }
    }
  return sysprof_percent (sum, flame->total);
}

char *
app_flame_picture_dup_text (const FlamePicture *self, uint32_t node)
{
  const Flame *flame = &self->flame;
  uint64_t weight = sysprof_flame_weight (flame, node);
  g_autofree char *name =
      sysprof_dup_one_line (sysprof_flame_text (flame, node, flame->symbol));
  g_autofree char *amount = sysprof_dup_weight (flame->rows, weight);

  return g_strdup_printf (_ ("%s, %s, %.1f %%, level %u"), name, amount,
                          sysprof_percent (weight, flame->total), flame->tree.depth[node]);
}

char *
app_flame_picture_dup_tooltip (const FlamePicture *self, uint32_t node)
{
  const Flame *flame = &self->flame;
  uint64_t weight = sysprof_flame_weight (flame, node);
  int category = sysprof_rows_column (flame->rows, "category");
  g_autofree char *amount = sysprof_dup_weight (flame->rows, weight);
  g_autofree char *where = sysprof_flame_dup_location (flame, node);
  const char *binary = sysprof_flame_text (flame, node, flame->binary);
  g_autoptr (GString) text = g_string_new (sysprof_flame_text (flame, node, flame->symbol));
  char *run = app_flame_picture_dup_run (self, node);
  g_autofree char *valid = NULL;

  if (run != NULL)
    return run;
  if (binary[0] != '\0')
    g_string_append_printf (text, " [%s]", binary);
  g_string_append_printf (text, _ ("\nCategory: %s"),
                          sysprof_flame_text (flame, node, category));
  if (where != NULL)
    g_string_append_printf (text, _ ("\nFile: %s"), where);
  g_string_append_printf (text, "\n%s, %.1f %%", amount,
                          sysprof_percent (weight, flame->total));
  valid = g_utf8_make_valid (text->str, (gssize) text->len);
  return app_dup_cut_text (valid);
}

/* --- drawing --- */

typedef struct
{
  const FlamePicture *picture;
  GtkWidget *widget;
  GtkSnapshot *snapshot;
  int height;
  int category; /* column */
  bool is_dark;
  /* [rows] px at which the grey run of a row ends; runs are drawn when they end */
  int *run_begin, *run_end;
} FlameDrawing;

static void
flush_run (FlameDrawing *self, uint32_t row, int y)
{
  GdkRGBA grey =
      self->is_dark ? (GdkRGBA){ 0.36f, 0.36f, 0.38f, 1 } : (GdkRGBA){ 0.80f, 0.80f, 0.80f, 1 };
  int width = self->run_end[row] - self->run_begin[row];

  if (width > 0)
    gtk_snapshot_append_color (self->snapshot, &grey,
                               &GRAPHENE_RECT_INIT ((float) self->run_begin[row], (float) y,
                                                    (float) width, FLAME_ROW_HEIGHT - 1));
  self->run_begin[row] = self->run_end[row] = 0;
}

static void
draw_name (FlameDrawing *self, const char *name, int x, int y, int width, float alpha)
{
  g_autofree char *line = sysprof_dup_one_line (name);
  g_autofree char *cut =
      g_utf8_strlen (line, -1) > MOST_LETTERS ? g_utf8_substring (line, 0, MOST_LETTERS) : NULL;
  g_autoptr (PangoLayout) layout =
      gtk_widget_create_pango_layout (self->widget, cut != NULL ? cut : line);
  GdkRGBA color = self->is_dark ? (GdkRGBA){ 1, 1, 1, alpha } : (GdkRGBA){ 0, 0, 0, alpha };

  pango_layout_set_width (layout, (width - 2 * TEXT_PAD) * PANGO_SCALE);
  pango_layout_set_ellipsize (layout, PANGO_ELLIPSIZE_END);
  pango_layout_set_single_paragraph_mode (layout, TRUE);
  gtk_snapshot_save (self->snapshot);
  gtk_snapshot_translate (self->snapshot,
                          &GRAPHENE_POINT_INIT ((float) x + TEXT_PAD, (float) y + 1));
  gtk_snapshot_append_layout (self->snapshot, layout, &color);
  gtk_snapshot_restore (self->snapshot);
}

static void
draw_frame (FlameDrawing *self, uint32_t node, int x, int right, int y)
{
  const Flame *flame = &self->picture->flame;
  const char *name = sysprof_flame_text (flame, node, flame->symbol);
  const char *category = sysprof_flame_text (flame, node, self->category);
  bool is_faded = self->picture->matches != NULL && !self->picture->matches[node];
  GdkRGBA color;

  app_palette_get_frame (self->picture->result->focus->categorizes ? category : "", name,
                         self->is_dark, &color);
  if (is_faded)
    color.alpha = FADED_ALPHA;
  gtk_snapshot_append_color (self->snapshot, &color,
                             &GRAPHENE_RECT_INIT ((float) x, (float) y,
                                                  (float) MAX (right - x - 1, 1),
                                                  FLAME_ROW_HEIGHT - 1));
  if (right - x >= TEXT_LEAST)
    draw_name (self, name, x, y, right - x - 1, is_faded ? 0.5f : 1);
}

/* Draws a node; false if its descendants are not visible. */
static bool
draw_node (FlameDrawing *self, uint32_t node)
{
  const FlamePicture *picture = self->picture;
  uint32_t row = picture->flame.tree.depth[node];
  int y = app_flame_picture_get_y (picture, node, self->height);
  int x, right;

  if (!place_pixels (picture, node, &x, &right))
    return false;
  if (right - x >= FLAME_LEAST)
    {
      flush_run (self, row, y);
      draw_frame (self, node, x, right, y);
      return true;
    }
  if (self->run_end[row] < x)
    flush_run (self, row, y);
  if (self->run_end[row] == 0)
    self->run_begin[row] = x;
  self->run_end[row] = MAX (right, x + 1);
  return false;
}

void
app_flame_picture_draw (const FlamePicture *self,
                        GtkWidget *widget,
                        GtkSnapshot *snapshot,
                        int height)
{
  const RowTree *tree = &self->flame.tree;
  g_autofree int *runs = g_new0 (int, 2 * (tree->max_depth + 1));
  FlameDrawing drawing = { self,
                           widget,
                           snapshot,
                           height,
                           sysprof_rows_column (self->flame.rows, "category"),
                           app_palette_is_dark (),
                           runs,
                           runs + tree->max_depth + 1 };
  uint32_t at = tree->n > 1 ? tree->first_child[0] : 0;

  while (at != 0)
    at = step (tree, at, draw_node (&drawing, at));
  for (uint32_t row = 1; row <= tree->max_depth; row++)
    flush_run (&drawing, row,
               self->is_icicle ? ((int) row - 1) * FLAME_ROW_HEIGHT
                               : height - (int) row * FLAME_ROW_HEIGHT);
}
