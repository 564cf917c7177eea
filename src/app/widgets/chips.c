// SPDX-License-Identifier: GPL-3.0-or-later

/* Chips of filters. */

#include "app/widgets/chips.h"

#include "app/session/query.h"
#include "app/widgets/naming.h"
#include "text/text.h"

#include <glib/gi18n.h>
#include <string.h>

#define MOST_LETTERS 40

/* Filters that can select the opposite. */
static const char *const inverting[] = { "process", "symbol", "binary", "thread",
                                         "cpu",     "mark",   "time",   NULL };

typedef struct
{
  AppSession *session;
  char *option; /* "" = all; "off" = one that is switched off */
  char *value;
} Chip;

static void
chip_free (gpointer data)
{
  Chip *self = data;

  g_free (self->option);
  g_free (self->value);
  g_free (self);
}

static void
remove_chip (Chip *chip)
{
  Focus *focus = app_session_copy_focus (chip->session);
  gboolean *is_set = app_focus_get_switch (focus, chip->option);

  if (chip->option[0] == '\0')
    {
      g_autoptr (Focus) before = focus;

      focus = app_focus_new (before->duration);
      focus->visible_begin = before->visible_begin;
      focus->visible_end = before->visible_end;
      app_focus_select (focus, 0, focus->duration);
    }
  else if (strcmp (chip->option, "time") == 0 && chip->value == NULL)
    app_focus_select (focus, 0, focus->duration);
  else if (strcmp (chip->option, "focus") == 0)
    app_focus_set_root (focus, NULL);
  else if (strcmp (chip->option, "off") == 0)
    app_focus_drop (focus, chip->value);
  else if (is_set != NULL)
    *is_set = FALSE;
  else
    app_focus_remove_filter (focus, chip->option, chip->value);
  app_session_push (chip->session, focus);
}

static void
switch_chip (Chip *chip)
{
  Focus *focus = app_session_copy_focus (chip->session);

  if (strcmp (chip->option, "off") == 0)
    app_focus_switch_on (focus, chip->value);
  else
    app_focus_switch_off (focus, chip->option, chip->value);
  app_session_push (chip->session, focus);
}

static void
invert_chip (Chip *chip)
{
  Focus *focus = app_session_copy_focus (chip->session);

  if (strcmp (chip->option, "time") == 0)
    app_focus_invert_time (focus, chip->value);
  else
    app_focus_invert_filter (focus, chip->option, chip->value);
  app_session_push (chip->session, focus);
}

/* A part of a chip: `child` is its label or icon. */
static void
add_button (GtkWidget *box, GtkWidget *child, const char *name, void (*run) (Chip *chip))
{
  GtkWidget *button = gtk_button_new ();

  gtk_button_set_child (GTK_BUTTON (button), child);
  gtk_widget_add_css_class (button, "flat");
  gtk_widget_set_tooltip_text (button, name);
  app_set_name (button, name);
  g_signal_connect_swapped (button, "clicked", G_CALLBACK (run),
                            g_object_get_data (G_OBJECT (box), "chip"));
  gtk_box_append (GTK_BOX (box), button);
}

static void
add_chip (GtkWidget *row,
          AppSession *session,
          const char *option,
          const char *value,
          const char *text)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 0);
  bool is_off = strcmp (option, "off") == 0;
  g_autofree char *line = sysprof_dup_one_line (text);
  g_autofree char *remove = g_strdup_printf (_ ("Remove filter: %s"), line);
  g_autofree char *invert = g_strdup_printf (_ ("Invert filter: %s"), line);
  g_autofree char *turn =
      g_strdup_printf (is_off ? _ ("Switch on filter: %s") : _ ("Switch off filter: %s"), line);
  GtkWidget *label = gtk_label_new (line);
  Chip *chip = g_new0 (Chip, 1);

  *chip = (Chip){ session, g_strdup (option), g_strdup (value) };
  g_object_set_data_full (G_OBJECT (box), "chip", chip, chip_free);
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_MIDDLE);
  gtk_label_set_max_width_chars (GTK_LABEL (label), MOST_LETTERS);
  gtk_widget_add_css_class (box, "chip");
  if (is_off)
    gtk_widget_add_css_class (box, "off");
  if (value != NULL)
    add_button (box, label, turn, switch_chip);
  else
    gtk_box_append (GTK_BOX (box), label);
  if (g_strv_contains (inverting, option))
    add_button (box, gtk_label_new ("≠"), invert, invert_chip);
  add_button (box, gtk_image_new_from_icon_name ("window-close-symbolic"), remove, remove_chip);
  gtk_box_append (GTK_BOX (row), box);
}

static char *
dup_time (int64_t begin, int64_t end)
{
  g_autofree char *from = sysprof_dup_duration (begin), *to = sysprof_dup_duration (end);

  return g_strdup_printf ("%s – %s", from, to);
}

/* "not symbol: parse" */
static char *
dup_text (const Focus *focus, const char *option, const char *value)
{
  bool is_not = value[0] == '!';
  int64_t begin, end;
  bool is_time = strcmp (option, "time") == 0 &&
                 app_focus_parse_time (focus, value + is_not, &begin, &end);
  g_autofree char *time = is_time ? dup_time (begin, end) : NULL;

  return g_strdup_printf ("%s%s: %s", is_not ? _ ("not ") : "", option,
                          is_time ? time : value + is_not);
}

static void
add_option (GtkWidget *row,
            AppSession *session,
            const Focus *focus,
            const SelectionOption *option)
{
  const void *member = (const char *) &focus->selection + option->offset;

  if (option->kind == SELECTION_LIST)
    for (char **value = *(char **const *) member; value != NULL && *value != NULL; value++)
      {
        g_autofree char *text = dup_text (focus, option->name, *value);

        add_chip (row, session, option->name, *value, text);
      }
  else if (option->kind == SELECTION_SWITCH && option->selects && *(const gboolean *) member)
    add_chip (row, session, option->name, NULL, option->name);
}

static void
add_off (GtkWidget *row, AppSession *session, const Focus *focus)
{
  for (char **filter = focus->off; filter != NULL && *filter != NULL; filter++)
    {
      g_auto (GStrv) parts = g_strsplit (*filter, "=", 2);
      g_autofree char *filter_text = dup_text (focus, parts[0], parts[1]);
      g_autofree char *text = g_strdup_printf (_ ("%s (off)"), filter_text);

      add_chip (row, session, "off", *filter, text);
    }
}

/* Number of events of the selection. */
static uint32_t
count_events (AppSession *session, const Selection *selection, GError **error)
{
  const Store *store = app_session_get_store (session);
  ResolvedSelection resolved;
  uint32_t n = 0;

  if (!sysprof_selection_resolve (selection, store, &resolved, error))
    return 0;
  if (store->samples.n == 0)
    resolved.filter.events = &store->allocations;
  g_free (
      sysprof_samples_find (store, app_session_get_symbols (session), &resolved.filter, &n));
  sysprof_resolved_selection_clear (&resolved);
  return n;
}

/* "18,012 samples, 19.9 %": what the filters leave. */
static gpointer
run_count (AppSession *session,
           const Focus *focus,
           gconstpointer input,
           GCancellable *cancellable,
           GError **error)
{
  Selection selection = focus->selection;
  g_auto (GStrv) times = app_focus_dup_times (focus);
  const char *noun =
      app_session_get_store (session)->samples.n > 0 ? _ ("samples") : _ ("allocations");
  char grouped[SYSPROF_GROUPED_SIZE];
  uint32_t n, n_all;

  selection.times = times;
  g_cancellable_push_current (cancellable);
  n = count_events (session, &selection, error);
  n_all = count_events (session, &(Selection){ .idle = selection.idle }, NULL);
  g_cancellable_pop_current (cancellable);
  if (g_cancellable_set_error_if_cancelled (cancellable, *error == NULL ? error : NULL) ||
      *error != NULL)
    return NULL;
  return g_strdup_printf (_ ("%s %s, %.1f %%"), sysprof_format_grouped (n, grouped), noun,
                          sysprof_percent (n, n_all));
}

static const QueryKind count_kind = { .run = run_count, .free_result = g_free };

static void
on_count (GtkWidget *label, gpointer text, const GError *error)
{
  gtk_label_set_text (GTK_LABEL (label), error == NULL ? text : "");
  g_free (text);
}

static void
update (GtkWidget *row)
{
  AppSession *session = g_object_get_data (G_OBJECT (row), "session");
  const Focus *focus = app_session_get_focus (session);
  g_autofree char *time = dup_time (focus->selected_begin, focus->selected_end);
  GtkWidget *child;
  GtkWidget *left = g_object_get_data (G_OBJECT (row), "left");
  int n = 0;

  while ((child = gtk_widget_get_first_child (row)) != NULL)
    gtk_box_remove (GTK_BOX (row), child);
  if (!app_focus_selects_all (focus))
    add_chip (row, session, "time", NULL, time);
  for (const SelectionOption *option = sysprof_selection_options; option->name; option++)
    add_option (row, session, focus, option);
  add_off (row, session, focus);
  if (focus->selection.focus != NULL)
    {
      g_autofree char *text = g_strdup_printf (_ ("root: %s"), focus->selection.focus);

      add_chip (row, session, "focus", NULL, text);
    }
  for (child = gtk_widget_get_first_child (row); child;
       child = gtk_widget_get_next_sibling (child))
    n++;
  if (n > 1)
    add_chip (row, session, "", NULL, _ ("Clear All Filters"));
  app_query_cancel (g_object_get_data (G_OBJECT (left), "count"));
  if (n > 0)
    app_query_run (g_object_get_data (G_OBJECT (left), "count"), &count_kind, session, NULL);
  else
    gtk_label_set_text (GTK_LABEL (left), _ ("Whole recording"));
  gtk_label_set_xalign (GTK_LABEL (left), n > 0 ? 1 : 0);
  gtk_box_append (GTK_BOX (row), left);
}

static void
on_focus_changed (AppSession *session, GtkWidget *row)
{
  update (row);
}

GtkWidget *
app_chips_new (AppSession *session)
{
  GtkWidget *row = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);
  GtkWidget *left = gtk_label_new (NULL);
  AppQuery *count = app_query_new (left, on_count);

  gtk_widget_add_css_class (row, "chips");
  gtk_widget_set_hexpand (left, TRUE);
  gtk_widget_add_css_class (left, "dim-label");
  gtk_widget_add_css_class (left, "caption");
  gtk_widget_add_css_class (left, "numeric");
  g_object_set_data_full (G_OBJECT (row), "left", g_object_ref_sink (left), g_object_unref);
  g_object_set_data_full (G_OBJECT (left), "count", count, (GDestroyNotify) app_query_free);
  app_set_name (GTK_WIDGET (row), _ ("Filters"));
  g_object_set_data_full (G_OBJECT (row), "session", g_object_ref (session), g_object_unref);
  g_signal_connect_object (session, "selection-changed", G_CALLBACK (on_focus_changed), row, 0);
  update (row);
  return row;
}

void
app_chips_show_amount (GtkWidget *row, bool is_shown)
{
  gtk_widget_set_visible (g_object_get_data (G_OBJECT (row), "left"), is_shown);
}
