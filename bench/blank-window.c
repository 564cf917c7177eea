// SPDX-License-Identifier: GPL-3.0-or-later

/* A window that is one color and paints all of it anew in each frame: the least that a frame
 * can cost.
 *
 *     blank-window WIDTH HEIGHT FRAMES */

#include "app/main/frame-marks.h"

#include <stdlib.h>

typedef GtkWidget Blank;
typedef GtkWidgetClass BlankClass;

static int n_left;

GType blank_get_type (void);
G_DEFINE_TYPE (Blank, blank, GTK_TYPE_WIDGET)

static void
blank_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  gtk_snapshot_append_color (snapshot, &(GdkRGBA){ 0.5f, 0.5f, (float) (n_left % 2), 1 },
                             &GRAPHENE_RECT_INIT (0, 0, (float) gtk_widget_get_width (widget),
                                                  (float) gtk_widget_get_height (widget)));
}

static void
blank_class_init (BlankClass *class)
{
  class->snapshot = blank_snapshot;
}

static void
blank_init (Blank *self)
{
}

static gboolean
on_tick (GtkWidget *window, GdkFrameClock *clock, gpointer data)
{
  gtk_widget_queue_draw (gtk_window_get_child (GTK_WINDOW (window)));
  if (n_left-- == 0)
    gtk_window_destroy (GTK_WINDOW (window));
  return G_SOURCE_CONTINUE;
}

int
main (int argc, char **argv)
{
  GtkWidget *window;

  if (argc != 4)
    return 2;
  n_left = atoi (argv[3]);
  gtk_init ();
  window = gtk_window_new ();
  gtk_window_set_child (GTK_WINDOW (window), g_object_new (blank_get_type (), NULL));
  gtk_window_set_decorated (GTK_WINDOW (window), FALSE);
  gtk_window_set_default_size (GTK_WINDOW (window), atoi (argv[1]), atoi (argv[2]));
  app_frame_marks_follow (GTK_WINDOW (window));
  gtk_widget_add_tick_callback (window, on_tick, NULL, NULL);
  gtk_window_present (GTK_WINDOW (window));
  while (g_list_model_get_n_items (gtk_window_get_toplevels ()) > 0)
    g_main_context_iteration (NULL, TRUE);
  return 0;
}
