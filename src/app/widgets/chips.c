// SPDX-License-Identifier: GPL-3.0-or-later

/* Chips of filters. */

#include "app/widgets/chips.h"

#include "app/session/query.h"
#include "app/widgets/naming.h"
#include "text/text.h"

#include <glib/gi18n.h>
#include <string.h>

#define MOST_LETTERS 40

typedef struct
{
  AppSession *session;
  char *option; /* "" = all */
  char *value;
} Chip;

static void
chip_free (gpointer data, GClosure *closure)
{
  Chip *self = data;

  g_free (self->option);
  g_free (self->value);
  g_free (self);
}

static void
remove_chip (GtkButton *button, Chip *chip)
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
  else if (strcmp (chip->option, "time") == 0)
    app_focus_select (focus, 0, focus->duration);
  else if (strcmp (chip->option, "focus") == 0)
    app_focus_set_root (focus, NULL);
  else if (is_set != NULL)
    *is_set = FALSE;
  else
    app_focus_remove_filter (focus, chip->option, chip->value);
  app_session_push (chip->session, focus);
}

static GtkWidget *
make_chip (AppSession *session, const char *option, const char *value, const char *text)
{
  GtkWidget *button = gtk_button_new ();
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 4);
  g_autofree char *line = sysprof_dup_one_line (text);
  g_autofree char *name = g_strdup_printf (_ ("Remove filter: %s"), line);
  GtkWidget *label = gtk_label_new (line);
  Chip *chip = g_new0 (Chip, 1);

  *chip = (Chip){ session, g_strdup (option), g_strdup (value) };
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_MIDDLE);
  gtk_label_set_max_width_chars (GTK_LABEL (label), MOST_LETTERS);
  gtk_box_append (GTK_BOX (box), label);
  gtk_box_append (GTK_BOX (box), gtk_image_new_from_icon_name ("window-close-symbolic"));
  gtk_button_set_child (GTK_BUTTON (button), box);
  gtk_widget_add_css_class (button, "chip");
  gtk_widget_set_tooltip_text (button, name);
  app_set_name (GTK_WIDGET (button), name);
  g_signal_connect_data (button, "clicked", G_CALLBACK (remove_chip), chip, chip_free, 0);
  return button;
}

static void
add_chip (GtkWidget *row,
          AppSession *session,
          const char *option,
          const char *value,
          const char *text)
{
  gtk_box_append (GTK_BOX (row), make_chip (session, option, value, text));
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
        bool is_not = (*value)[0] == '!';
        g_autofree char *text = g_strdup_printf ("%s%s: %s", is_not ? _ ("not ") : "",
                                                 option->name, *value + is_not);

        add_chip (row, session, option->name, *value, text);
      }
  else if (option->kind == SELECTION_SWITCH && option->selects && *(const gboolean *) member)
    add_chip (row, session, option->name, NULL, option->name);
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
  g_autofree char *time = app_focus_dup_time (focus);
  char *times[] = { time, NULL };
  const char *noun =
      app_session_get_store (session)->samples.n > 0 ? _ ("samples") : _ ("allocations");
  char grouped[SYSPROF_GROUPED_SIZE];
  uint32_t n, n_all;

  selection.times = time != NULL ? times : NULL;
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
  g_autofree char *begin = sysprof_dup_duration (focus->selected_begin);
  g_autofree char *end = sysprof_dup_duration (focus->selected_end);
  g_autofree char *time = g_strdup_printf ("%s – %s", begin, end);
  GtkWidget *child;
  GtkWidget *left = g_object_get_data (G_OBJECT (row), "left");
  int n = 0;

  while ((child = gtk_widget_get_first_child (row)) != NULL)
    gtk_box_remove (GTK_BOX (row), child);
  if (!app_focus_selects_all (focus))
    add_chip (row, session, "time", NULL, time);
  for (const SelectionOption *option = sysprof_selection_options; option->name; option++)
    add_option (row, session, focus, option);
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
  if (n > 0)
    app_query_run (g_object_get_data (G_OBJECT (left), "count"), &count_kind, session, NULL);
  gtk_box_append (GTK_BOX (row), left);
  gtk_widget_set_visible (row, n > 0);
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
  gtk_label_set_xalign (GTK_LABEL (left), 1);
  gtk_widget_add_css_class (left, "dim-label");
  gtk_widget_add_css_class (left, "numeric");
  g_object_set_data_full (G_OBJECT (row), "left", g_object_ref_sink (left), g_object_unref);
  g_object_set_data_full (G_OBJECT (left), "count", count, (GDestroyNotify) app_query_free);
  app_set_name (GTK_WIDGET (row), _ ("Filters"));
  g_object_set_data_full (G_OBJECT (row), "session", g_object_ref (session), g_object_unref);
  g_signal_connect_object (session, "focus-changed", G_CALLBACK (on_focus_changed), row, 0);
  update (row);
  return row;
}
