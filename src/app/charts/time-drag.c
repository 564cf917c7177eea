// SPDX-License-Identifier: GPL-3.0-or-later

/* Pointer over charts of time. */

#include "app/charts/time-drag.h"

#include <math.h>

#define DRAG_LEAST 4 /* px; less is a click */
#define EDGE_NEAR  4 /* px around an edge of the selection in which it is dragged */
#define ZOOM_STEP  1.25
#define PAN_STEP   0.1

typedef struct
{
  GtkWidget *widget;
  AppSelectionLayer *layer;
  const TimeDragClass *class;
  gpointer data;
  double pointer_x; /* px in the plot */
  int64_t fixed;    /* the end of the new selection that does not move */
  bool is_dragging;
} TimeDrag;

/* The end of the selection that stays if the one at `x` is dragged. FALSE without an edge. */
static bool
find_edge (TimeDrag *self, double x, int64_t *other)
{
  Axis axis = self->class->get_axis (self->data);
  int64_t begin, end;

  self->class->get_selection (self->data, &begin, &end);
  *other = fabs (app_axis_get_x (&axis, begin) - x) <= EDGE_NEAR ? end : begin;
  if (*other == end)
    return begin > axis.begin;
  return end < axis.end && fabs (app_axis_get_x (&axis, end) - x) <= EDGE_NEAR;
}

static void
on_drag_begin (GtkGestureDrag *gesture, double x, double y, TimeDrag *self)
{
  Axis axis = self->class->get_axis (self->data);

  if (x < TIMELINE_GUTTER)
    {
      gtk_gesture_set_state (GTK_GESTURE (gesture), GTK_EVENT_SEQUENCE_DENIED);
      return;
    }
  if (!find_edge (self, x - TIMELINE_GUTTER, &self->fixed))
    self->fixed = app_axis_get_time (&axis, x - TIMELINE_GUTTER);
  self->is_dragging = false;
}

/* The time under the pointer. */
static int64_t
get_moved (TimeDrag *self, GtkGestureDrag *gesture, double x)
{
  Axis axis = self->class->get_axis (self->data);
  double start_x, start_y;

  gtk_gesture_drag_get_start_point (gesture, &start_x, &start_y);
  self->pointer_x = start_x + x - TIMELINE_GUTTER;
  return app_axis_get_time (&axis, CLAMP (self->pointer_x, 0, axis.width));
}

static void
on_drag_update (GtkGestureDrag *gesture, double x, double y, TimeDrag *self)
{
  int64_t moved = get_moved (self, gesture, x);

  if (!self->is_dragging && fabs (x) < DRAG_LEAST)
    return;
  self->is_dragging = true;
  gtk_gesture_set_state (GTK_GESTURE (gesture), GTK_EVENT_SEQUENCE_CLAIMED);
  app_selection_layer_set_selection (self->layer, MIN (self->fixed, moved),
                                     MAX (self->fixed, moved));
  app_selection_layer_set_pointer (self->layer, self->pointer_x, NULL);
}

static void
on_drag_end (GtkGestureDrag *gesture, double x, double y, TimeDrag *self)
{
  int64_t moved = get_moved (self, gesture, x);
  double start_x, start_y;

  gtk_gesture_drag_get_start_point (gesture, &start_x, &start_y);
  if (self->is_dragging)
    self->class->select (self->data, MIN (self->fixed, moved), MAX (self->fixed, moved));
  else if (self->class->click != NULL && start_x >= TIMELINE_GUTTER)
    self->class->click (self->data, start_x, start_y);
  self->is_dragging = false;
}

static void
on_motion (GtkEventControllerMotion *controller, double x, double y, TimeDrag *self)
{
  g_autofree char *text =
      self->class->dup_text != NULL ? self->class->dup_text (self->data, x, y) : NULL;
  int64_t other;

  self->pointer_x = x - TIMELINE_GUTTER;
  gtk_widget_set_cursor_from_name (
      self->widget, find_edge (self, self->pointer_x, &other) ? "col-resize" : NULL);
  app_selection_layer_set_pointer (self->layer, self->pointer_x, text);
}

static void
on_leave (GtkEventControllerMotion *controller, TimeDrag *self)
{
  app_selection_layer_set_pointer (self->layer, -1, NULL);
}

static gboolean
on_scroll (GtkEventControllerScroll *controller, double dx, double dy, TimeDrag *self)
{
  GdkModifierType state =
      gtk_event_controller_get_current_event_state (GTK_EVENT_CONTROLLER (controller));
  Axis axis = self->class->get_axis (self->data);

  if ((state & GDK_CONTROL_MASK) != 0)
    self->class->zoom (self->data, pow (ZOOM_STEP, -dy),
                       app_axis_get_time (&axis, CLAMP (self->pointer_x, 0, axis.width)));
  else if (dx != 0 || (state & GDK_SHIFT_MASK) != 0)
    self->class->pan (self->data, (dx != 0 ? dx : dy) * PAN_STEP);
  else
    return FALSE;
  return TRUE;
}

void
app_time_drag_add (GtkWidget *widget,
                   AppSelectionLayer *layer,
                   const TimeDragClass *class,
                   gpointer data)
{
  TimeDrag *self = g_new0 (TimeDrag, 1);
  GtkGesture *drag = gtk_gesture_drag_new ();
  GtkEventController *motion = gtk_event_controller_motion_new ();
  GtkEventController *scroll =
      gtk_event_controller_scroll_new (GTK_EVENT_CONTROLLER_SCROLL_BOTH_AXES);

  *self = (TimeDrag){ widget, layer, class, data };
  g_object_set_data_full (G_OBJECT (drag), "time-drag", self, g_free);
  g_signal_connect (drag, "drag-begin", G_CALLBACK (on_drag_begin), self);
  g_signal_connect (drag, "drag-update", G_CALLBACK (on_drag_update), self);
  g_signal_connect (drag, "drag-end", G_CALLBACK (on_drag_end), self);
  g_signal_connect (motion, "motion", G_CALLBACK (on_motion), self);
  g_signal_connect (motion, "leave", G_CALLBACK (on_leave), self);
  g_signal_connect (scroll, "scroll", G_CALLBACK (on_scroll), self);
  gtk_event_controller_set_propagation_phase (scroll, GTK_PHASE_CAPTURE);
  gtk_widget_add_controller (widget, GTK_EVENT_CONTROLLER (drag));
  gtk_widget_add_controller (widget, motion);
  gtk_widget_add_controller (widget, scroll);
}
