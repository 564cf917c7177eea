// SPDX-License-Identifier: GPL-3.0-or-later

/* The focus of a window and its history. */

#include "app/session/session.h"

#define JOIN_USEC  1000000 /* movements that follow each other faster are one step */
#define MOST_STEPS 500

struct _AppSession
{
  GObject parent_instance;
  SysprofDocument *document;
  char *path;
  SymbolizeOptions symbolize;
  GPtrArray *history; /* of Focus */
  guint at;           /* index of the present one */
  gint64 moved_at;    /* monotonic µs of the last movement; 0 = the last step was none */
};

enum
{
  FOCUS_CHANGED,
  SELECTION_CHANGED,
  OPEN,
  CHOSEN,
  PICKED,
  N_SIGNALS,
};
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (AppSession, app_session, G_TYPE_OBJECT)

static void
app_session_finalize (GObject *object)
{
  AppSession *self = APP_SESSION (object);

  g_debug ("freed session %s", self->path);
  g_clear_object (&self->document);
  g_clear_pointer (&self->history, g_ptr_array_unref);
  g_free (self->path);
  G_OBJECT_CLASS (app_session_parent_class)->finalize (object);
}

static void
app_session_class_init (AppSessionClass *class)
{
  G_OBJECT_CLASS (class)->finalize = app_session_finalize;
  signals[FOCUS_CHANGED] = g_signal_new ("focus-changed", APP_TYPE_SESSION, G_SIGNAL_RUN_LAST,
                                         0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  signals[SELECTION_CHANGED] =
      g_signal_new ("selection-changed", APP_TYPE_SESSION, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                    NULL, G_TYPE_NONE, 0);
  signals[OPEN] = g_signal_new ("open", APP_TYPE_SESSION, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                NULL, G_TYPE_NONE, 2, G_TYPE_STRING, G_TYPE_STRING);
  signals[CHOSEN] = g_signal_new ("chosen", APP_TYPE_SESSION, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                  NULL, G_TYPE_NONE, 2, G_TYPE_POINTER, G_TYPE_UINT);
  signals[PICKED] = g_signal_new ("picked", APP_TYPE_SESSION, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                  NULL, G_TYPE_NONE, 1, G_TYPE_INT64);
}

static void
app_session_init (AppSession *self)
{
  self->history = g_ptr_array_new_with_free_func ((GDestroyNotify) app_focus_unref);
}

AppSession *
app_session_new (SysprofDocument *document, const char *path)
{
  AppSession *self = g_object_new (APP_TYPE_SESSION, NULL);
  const Store *store;

  self->document = g_object_ref (document);
  self->path = g_strdup (path);
  self->symbolize = (SymbolizeOptions){ .with_lines = true };
  store = app_session_get_store (self);
  g_ptr_array_add (self->history,
                   app_focus_new (sysprof_time_between (store->begin, store->end)));
  return self;
}

SysprofDocument *
app_session_get_document (AppSession *self)
{
  return self->document;
}

const Store *
app_session_get_store (AppSession *self)
{
  return sysprof_document_get_store (self->document);
}

const SymbolTable *
app_session_get_symbols (AppSession *self)
{
  return sysprof_document_get_symbols (self->document);
}

const char *
app_session_get_path (AppSession *self)
{
  return self->path;
}

const SymbolizeOptions *
app_session_get_symbolize (AppSession *self)
{
  return &self->symbolize;
}

const Focus *
app_session_get_focus (AppSession *self)
{
  return g_ptr_array_index (self->history, self->at);
}

Focus *
app_session_copy_focus (AppSession *self)
{
  return app_focus_copy (app_session_get_focus (self));
}

static void
emit_changed (AppSession *self, bool only_moved)
{
  g_signal_emit (self, signals[FOCUS_CHANGED], 0);
  if (!only_moved)
    g_signal_emit (self, signals[SELECTION_CHANGED], 0);
}

void
app_session_push (AppSession *self, Focus *focus)
{
  gint64 now = g_get_monotonic_time ();
  bool is_movement = app_focus_only_moved (app_session_get_focus (self), focus);
  bool joins = is_movement && self->moved_at != 0 && now - self->moved_at < JOIN_USEC;

  g_ptr_array_set_size (self->history, (gint) self->at + 1);
  if (joins && self->at > 0)
    g_ptr_array_remove_index (self->history, self->at--);
  g_ptr_array_add (self->history, focus);
  if (self->history->len > MOST_STEPS)
    g_ptr_array_remove_index (self->history, 0);
  self->at = self->history->len - 1;
  self->moved_at = is_movement ? now : 0;
  emit_changed (self, is_movement);
}

bool
app_session_can_go (AppSession *self, int steps)
{
  int to = (int) self->at + steps;

  return to >= 0 && to < (int) self->history->len;
}

static void
go (AppSession *self, int steps)
{
  const Focus *before = app_session_get_focus (self);

  if (!app_session_can_go (self, steps))
    return;
  self->at = (guint) ((int) self->at + steps);
  self->moved_at = 0;
  emit_changed (self, app_focus_only_moved (before, app_session_get_focus (self)));
}

void
app_session_back (AppSession *self)
{
  go (self, -1);
}

void
app_session_forward (AppSession *self)
{
  go (self, 1);
}

static void
zoom (Focus *focus, double factor, int64_t at)
{
  double width = (double) (focus->visible_end - focus->visible_begin);
  double share;

  if (at < 0)
    at = focus->visible_begin + (int64_t) (width / 2);
  share = (double) (at - focus->visible_begin) / MAX (width, 1);
  app_focus_set_visible (focus, at - (int64_t) (share * width / factor),
                         at + (int64_t) ((1 - share) * width / factor));
}

static void
pan (Focus *focus, double widths)
{
  int64_t by = (int64_t) (widths * (double) (focus->visible_end - focus->visible_begin));

  app_focus_set_visible (focus, focus->visible_begin + by, focus->visible_end + by);
}

static void
push_selecting_visible (AppSession *self, Focus *focus)
{
  app_focus_select (focus, focus->visible_begin, focus->visible_end);
  app_session_push (self, focus);
}

void
app_session_zoom (AppSession *self, double factor, int64_t at)
{
  Focus *focus = app_session_copy_focus (self);

  zoom (focus, factor, at);
  app_session_push (self, focus);
}

void
app_session_zoom_and_select (AppSession *self, double factor)
{
  Focus *focus = app_session_copy_focus (self);

  zoom (focus, factor, -1);
  push_selecting_visible (self, focus);
}

void
app_session_pan (AppSession *self, double widths)
{
  Focus *focus = app_session_copy_focus (self);

  pan (focus, widths);
  app_session_push (self, focus);
}

void
app_session_pan_and_select (AppSession *self, double widths)
{
  Focus *focus = app_session_copy_focus (self);

  pan (focus, widths);
  push_selecting_visible (self, focus);
}

void
app_session_zoom_to (AppSession *self, int64_t begin, int64_t end)
{
  Focus *focus = app_session_copy_focus (self);

  app_focus_set_visible (focus, begin, end);
  app_focus_select (focus, focus->visible_begin, focus->visible_end);
  app_session_push (self, focus);
}

void
app_session_select (AppSession *self, int64_t begin, int64_t end)
{
  Focus *focus = app_session_copy_focus (self);

  app_focus_select (focus, begin, end);
  app_session_push (self, focus);
}

void
app_session_add_filter (AppSession *self, const char *option, const char *value)
{
  Focus *focus = app_session_copy_focus (self);

  app_focus_add_filter (focus, option, value);
  app_session_push (self, focus);
}

void
app_session_set_root (AppSession *self, const char *function)
{
  Focus *focus = app_session_copy_focus (self);

  app_focus_set_root (focus, function);
  app_session_push (self, focus);
}

void
app_session_open (AppSession *self, const char *section, const char *view)
{
  g_signal_emit (self, signals[OPEN], 0, section, view);
}

void
app_session_choose (AppSession *self, gpointer result, uint32_t row)
{
  g_signal_emit (self, signals[CHOSEN], 0, result, row);
}

void
app_session_pick (AppSession *self, int64_t time)
{
  const Focus *focus = app_session_get_focus (self);

  if (time < focus->selected_begin || time >= focus->selected_end)
    app_session_select (self, focus->visible_begin, focus->visible_end);
  g_signal_emit (self, signals[PICKED], 0, time);
}
