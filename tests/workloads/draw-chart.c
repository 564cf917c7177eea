// SPDX-License-Identifier: GPL-3.0-or-later

/* A GTK 4 window with a chart. Each tenth frame takes much longer than a screen's interval,
 * because draw_grid computes for 40 ms of CPU time. Needs an X server; status 77 without. */

#include <gtk/gtk.h>
#include <math.h>
#include <time.h>

#define N_FRAMES  60
#define EACH_SLOW 10
#define SLOW_NSEC 40000000 /* of CPU time */

static int n_drawn;
static double result;

static gint64
cpu_time (void)
{
  struct timespec time;

  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * G_GINT64_CONSTANT (1000000000) + time.tv_nsec;
}

__attribute__ ((noinline)) static void
draw_grid (cairo_t *cairo, int width)
{
  gint64 end = cpu_time () + SLOW_NSEC;

  while (cpu_time () < end)
    for (int i = 0; i < 10000; i++)
      result += sin (i * width);
  cairo_move_to (cairo, 0, result > 0 ? 1 : 2);
  cairo_line_to (cairo, width, 1);
  cairo_stroke (cairo);
}

static void
draw_chart (GtkDrawingArea *area, cairo_t *cairo, int width, int height, gpointer data)
{
  if (++n_drawn % EACH_SLOW == 0)
    draw_grid (cairo, width);
  cairo_rectangle (cairo, n_drawn, 0, 10, height);
  cairo_fill (cairo);
}

static gboolean
tick (GtkWidget *area, GdkFrameClock *clock, gpointer loop)
{
  if (n_drawn == N_FRAMES)
    g_main_loop_quit (loop);
  gtk_widget_queue_draw (area);
  return G_SOURCE_CONTINUE;
}

int
main (void)
{
  GMainLoop *loop = g_main_loop_new (NULL, FALSE);
  GtkWidget *window, *area;

  if (!gtk_init_check ())
    return 77;
  window = gtk_window_new ();
  area = gtk_drawing_area_new ();
  gtk_drawing_area_set_draw_func (GTK_DRAWING_AREA (area), draw_chart, NULL, NULL);
  gtk_widget_add_tick_callback (area, tick, loop, NULL);
  gtk_window_set_child (GTK_WINDOW (window), area);
  gtk_window_present (GTK_WINDOW (window));
  g_main_loop_run (loop);
  g_main_loop_unref (loop);
  return 0;
}
