// SPDX-License-Identifier: GPL-3.0-or-later

/* Positions of the frames of a flame graph on the screen, and the drawing of them. */

#pragma once

#include "app/session/row-query.h"
#include "flame/flame.h"

#define FLAME_ROW_HEIGHT 20 /* px */
#define FLAME_LEAST      2  /* px: narrower frames are drawn as one grey run */

typedef struct
{
  RowResult *result;
  Flame flame;
  uint32_t zoomed; /* node at full width; 0 = all */
  bool is_icicle;
  int width;     /* px */
  bool *matches; /* [tree.n] of the search; NULL = no search */
} FlamePicture;

void app_flame_picture_init (FlamePicture *self, RowResult *result);
void app_flame_picture_clear (FlamePicture *self);
/* px of a node; an ancestor of the zoomed one has the full width. FALSE if it is not visible.
 * */
bool
app_flame_picture_place (const FlamePicture *self, uint32_t node, double *x, double *width);
int app_flame_picture_get_height (const FlamePicture *self);
int app_flame_picture_get_y (const FlamePicture *self, uint32_t node, int height);
/* The node at a position; 0 = none. */
uint32_t app_flame_picture_find (const FlamePicture *self, double x, double y, int height);
/* Marks nodes whose function contains `text`, and returns their share of the weight, in
 * percent. */
double app_flame_picture_search (FlamePicture *self, const char *text);
/* "draw_blur [libblur.so]", category, source, amount; or the text of its grey run. *(full)* */
char *app_flame_picture_dup_tooltip (const FlamePicture *self, uint32_t node);
/* "draw_blur, 4,012 samples, 22.1 %, level 7" *(full)* */
char *app_flame_picture_dup_text (const FlamePicture *self, uint32_t node);
/* "23 functions in narrow frames, 120 samples, 3.1 %": what the grey run of the node stands
 * for; NULL if the node has a frame of its own. *(full)* */
char *app_flame_picture_dup_run (const FlamePicture *self, uint32_t node);
void app_flame_picture_draw (const FlamePicture *self,
                             GtkWidget *widget,
                             GtkSnapshot *snapshot,
                             int height);
