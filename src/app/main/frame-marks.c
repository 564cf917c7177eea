// SPDX-License-Identifier: GPL-3.0-or-later

/* Each frame is a mark "frame", or "tick" if nothing had to be painted. Its message has the CPU
 * time in ns of the main thread and of the process since the frame before, so that it includes
 * the input and the results that led to the frame. bench/app.py reads these marks. */

#include "app/main/frame-marks.h"

#include <sysprof-capture.h>

#include <time.h>

typedef struct
{
  int64_t began;
  bool is_painted;
  int64_t thread, process; /* ns of CPU time at the end of the frame before */
} Frame;

static int64_t
read_clock (clockid_t clock)
{
  struct timespec time;

  clock_gettime (clock, &time);
  return (int64_t) time.tv_sec * G_GINT64_CONSTANT (1000000000) + time.tv_nsec;
}

static void
on_before_paint (GdkFrameClock *clock, Frame *self)
{
  self->began = SYSPROF_CAPTURE_CURRENT_TIME;
  self->is_painted = false;
}

static void
on_paint (GdkFrameClock *clock, Frame *self)
{
  self->is_painted = true;
}

static void
on_after_paint (GdkFrameClock *clock, Frame *self)
{
  int64_t thread = read_clock (CLOCK_THREAD_CPUTIME_ID);
  int64_t process = read_clock (CLOCK_PROCESS_CPUTIME_ID);

  sysprof_collector_mark_printf (self->began, SYSPROF_CAPTURE_CURRENT_TIME - self->began,
                                 "sysprof", self->is_painted ? "frame" : "tick",
                                 "main %" G_GINT64_FORMAT ", process %" G_GINT64_FORMAT,
                                 thread - self->thread, process - self->process);
  self->thread = thread;
  self->process = process;
}

static void
on_realize (GtkWidget *window)
{
  GdkFrameClock *clock = gtk_widget_get_frame_clock (window);
  Frame *frame = g_new0 (Frame, 1);

  g_object_set_data_full (G_OBJECT (clock), "frame-marks", frame, g_free);
  g_signal_connect (clock, "before-paint", G_CALLBACK (on_before_paint), frame);
  g_signal_connect (clock, "paint", G_CALLBACK (on_paint), frame);
  g_signal_connect (clock, "after-paint", G_CALLBACK (on_after_paint), frame);
}

void
app_frame_marks_follow (GtkWindow *window)
{
  if (sysprof_collector_is_active ())
    g_signal_connect (window, "realize", G_CALLBACK (on_realize), NULL);
}
