// SPDX-License-Identifier: GPL-3.0-or-later

/* Copies and changes of a focus. */

#include "app/session/focus.h"

#include <string.h>

#define NSEC_PER_SEC  G_GINT64_CONSTANT (1000000000)
#define LEAST_VISIBLE 1000 /* ns: charts cannot show narrower spans */

static void *
member (const Selection *selection, const SelectionOption *option)
{
  return (char *) selection + option->offset;
}

static const SelectionOption *
find_option (const char *name)
{
  for (const SelectionOption *option = sysprof_selection_options; option->name; option++)
    if (strcmp (option->name, name) == 0)
      return option;
  return NULL;
}

Focus *
app_focus_new (int64_t duration)
{
  Focus *self = g_new0 (Focus, 1);

  g_atomic_ref_count_init (&self->n_references);
  self->duration = self->visible_end = self->selected_end = MAX (duration, 1);
  self->categorizes = true;
  self->heap_weight = WEIGHT_BYTES;
  return self;
}

Focus *
app_focus_copy (const Focus *self)
{
  Focus *copy = g_memdup2 (self, sizeof *self);

  g_atomic_ref_count_init (&copy->n_references);
  copy->event = g_strdup (self->event);
  copy->off = g_strdupv (self->off);
  for (const SelectionOption *option = sysprof_selection_options; option->name; option++)
    if (option->kind == SELECTION_LIST)
      *(char ***) member (&copy->selection, option) =
          g_strdupv (*(char ***) member (&self->selection, option));
    else if (option->kind == SELECTION_TEXT)
      *(char **) member (&copy->selection, option) =
          g_strdup (*(char **) member (&self->selection, option));
  return copy;
}

Focus *
app_focus_ref (const Focus *self)
{
  Focus *shared = (Focus *) self;

  g_atomic_ref_count_inc (&shared->n_references);
  return shared;
}

void
app_focus_unref (const Focus *self)
{
  Focus *shared = (Focus *) self;

  if (!g_atomic_ref_count_dec (&shared->n_references))
    return;
  sysprof_selection_clear (&shared->selection);
  g_free (shared->event);
  g_strfreev (shared->off);
  g_free (shared);
}

void
app_focus_set_visible (Focus *self, int64_t begin, int64_t end)
{
  int64_t width = CLAMP (end - begin, MIN (LEAST_VISIBLE, self->duration), self->duration);

  self->visible_begin = CLAMP (begin, 0, self->duration - width);
  self->visible_end = self->visible_begin + width;
}

void
app_focus_select (Focus *self, int64_t begin, int64_t end)
{
  self->selected_begin = CLAMP (MIN (begin, end), 0, self->duration);
  self->selected_end = CLAMP (MAX (begin, end), 0, self->duration);
  if (self->selected_end == self->selected_begin)
    {
      self->selected_begin = self->visible_begin;
      self->selected_end = self->visible_end;
    }
}

bool
app_focus_selects_all (const Focus *self)
{
  return self->selected_begin <= 0 && self->selected_end >= self->duration;
}

static bool
equal_lists (char **a, char **b)
{
  if (a == NULL || b == NULL)
    return (a == NULL || *a == NULL) && (b == NULL || *b == NULL);
  return g_strv_equal ((const char *const *) a, (const char *const *) b);
}

static bool
equal_members (const void *left, const void *right, const SelectionOption *option)
{
  switch (option->kind)
    {
    case SELECTION_LIST:
      return equal_lists (*(char **const *) left, *(char **const *) right);
    case SELECTION_TEXT:
      return g_strcmp0 (*(char *const *) left, *(char *const *) right) == 0;
    case SELECTION_SWITCH:
      return *(const gboolean *) left == *(const gboolean *) right;
    }
  g_assert_not_reached ();
}

bool
app_focus_only_moved (const Focus *self, const Focus *other)
{
  for (const SelectionOption *option = sysprof_selection_options; option->name; option++)
    if (!equal_members (member (&self->selection, option), member (&other->selection, option),
                        option))
      return false;
  return equal_lists (self->off, other->off) && self->selected_begin == other->selected_begin &&
         self->selected_end == other->selected_end && self->weight == other->weight &&
         self->heap_weight == other->heap_weight &&
         g_strcmp0 (self->event, other->event) == 0 && self->icicle == other->icicle &&
         self->categorizes == other->categorizes;
}

static void
add_value (char ***list, const char *value)
{
  guint n = *list != NULL ? g_strv_length (*list) : 0;

  if (n > 0 && g_strv_contains ((const char *const *) *list, value))
    return;
  *list = g_renew (char *, *list, n + 2);
  (*list)[n] = g_strdup (value);
  (*list)[n + 1] = NULL;
}

/* A list without values is NULL. */
static void
remove_value (char ***list, const char *value)
{
  guint n = 0;

  for (char **at = *list; at != NULL && *at != NULL; at++)
    if (strcmp (*at, value) == 0)
      g_free (*at);
    else
      (*list)[n++] = *at;
  if (*list != NULL)
    (*list)[n] = NULL;
  if (n == 0)
    g_clear_pointer (list, g_strfreev);
}

void
app_focus_add_filter (Focus *self, const char *name, const char *value)
{
  add_value (member (&self->selection, find_option (name)), value);
}

void
app_focus_remove_filter (Focus *self, const char *name, const char *value)
{
  remove_value (member (&self->selection, find_option (name)), value);
}

void
app_focus_switch_off (Focus *self, const char *name, const char *value)
{
  g_autofree char *filter = g_strdup_printf ("%s=%s", name, value);

  add_value (&self->off, filter);
  app_focus_remove_filter (self, name, value);
}

void
app_focus_switch_on (Focus *self, const char *filter)
{
  g_auto (GStrv) parts = g_strsplit (filter, "=", 2);

  app_focus_add_filter (self, parts[0], parts[1]);
  remove_value (&self->off, filter);
}

void
app_focus_drop (Focus *self, const char *filter)
{
  remove_value (&self->off, filter);
}

void
app_focus_invert_filter (Focus *self, const char *name, const char *value)
{
  g_autofree char *inverse =
      value[0] == '!' ? g_strdup (value + 1) : g_strconcat ("!", value, NULL);

  app_focus_remove_filter (self, name, value);
  app_focus_add_filter (self, name, inverse);
}

/* "1.5s", "250ms", "0". */
static int64_t
parse_offset (const char *text, int64_t otherwise)
{
  static const struct
  {
    const char *unit;
    double nsec;
  } units[] = { { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 } };
  char *end;
  double value = g_ascii_strtod (text, &end);

  if (end == text)
    return otherwise;
  for (size_t i = 0; i < G_N_ELEMENTS (units); i++)
    if (strcmp (end, units[i].unit) == 0)
      return (int64_t) (value * units[i].nsec + 0.5);
  return (int64_t) value;
}

/* "1.500000000s..2.000000000s" */
static char *
dup_time (const Focus *self)
{
  return g_strdup_printf (
      "%" G_GINT64_FORMAT ".%09ds..%" G_GINT64_FORMAT ".%09ds",
      self->selected_begin / NSEC_PER_SEC, (int) (self->selected_begin % NSEC_PER_SEC),
      self->selected_end / NSEC_PER_SEC, (int) (self->selected_end % NSEC_PER_SEC));
}

bool
app_focus_parse_time (const Focus *self, const char *value, int64_t *begin, int64_t *end)
{
  const char *dots = strstr (value, "..");
  g_autofree char *first = dots != NULL ? g_strndup (value, (size_t) (dots - value)) : NULL;

  if (dots == NULL)
    return false;
  *begin = parse_offset (first, 0);
  *end = parse_offset (dots + 2, self->duration);
  return true;
}

void
app_focus_invert_time (Focus *self, const char *value)
{
  int64_t begin = self->selected_begin, end = self->selected_end;
  g_autofree char *time = dup_time (self), *inverse = g_strconcat ("!", time, NULL);

  if (value == NULL)
    {
      app_focus_add_filter (self, "time", inverse);
      app_focus_select (self, 0, self->duration);
      return;
    }
  (void) app_focus_parse_time (self, value + 1, &begin, &end);
  app_focus_remove_filter (self, "time", value);
  app_focus_select (self, begin, end);
}

void
app_focus_set_root (Focus *self, const char *function)
{
  char *copy = g_strdup (function);

  g_free (self->selection.focus);
  self->selection.focus = copy;
}

gboolean *
app_focus_get_switch (Focus *self, const char *name)
{
  const SelectionOption *option = find_option (name);

  return option != NULL && option->kind == SELECTION_SWITCH ? member (&self->selection, option)
                                                            : NULL;
}

void
app_focus_set_option (Focus *self, const char *name, const char *value)
{
  const SelectionOption *option = find_option (name);
  int64_t begin, end;

  if (option == NULL)
    return;
  if (strcmp (name, "time") == 0)
    {
      if (app_focus_parse_time (self, value, &begin, &end))
        app_focus_select (self, begin, end);
    }
  else if (option->kind == SELECTION_SWITCH)
    *app_focus_get_switch (self, name) = TRUE;
  else if (option->kind == SELECTION_TEXT)
    app_focus_set_root (self, value);
  else
    app_focus_add_filter (self, name, value);
}

char **
app_focus_dup_times (const Focus *self)
{
  char **times = g_strdupv (self->selection.times);
  g_autofree char *selected = dup_time (self);

  if (!app_focus_selects_all (self))
    add_value (&times, selected);
  return times;
}
