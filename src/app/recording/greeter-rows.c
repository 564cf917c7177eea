// SPDX-License-Identifier: GPL-3.0-or-later

/* Rows of settings. */

#include "app/recording/greeter-rows.h"

#include <glib/gi18n.h>
#include <stdlib.h>
#include <string.h>

static const Setting *
setting_of (gpointer widget)
{
  return g_object_get_data (widget, "setting");
}

static JsonObject *
settings_of (gpointer widget)
{
  return g_object_get_data (widget, "settings");
}

static void
bind_setting (GtkWidget *widget, const Setting *setting, JsonObject *settings)
{
  g_object_set_data (G_OBJECT (widget), "setting", (gpointer) setting);
  g_object_set_data_full (G_OBJECT (widget), "settings", json_object_ref (settings),
                          (GDestroyNotify) json_object_unref);
}

static void
on_switched (GtkSwitch *widget, GParamSpec *spec, gpointer data)
{
  json_object_set_boolean_member (settings_of (widget), setting_of (widget)->key,
                                  gtk_switch_get_active (widget));
}

static GtkWidget *
make_switch_row (const Setting *setting, JsonObject *settings)
{
  GtkWidget *row = adw_action_row_new ();
  GtkWidget *widget = gtk_switch_new ();

  bind_setting (widget, setting, settings);
  gtk_switch_set_active (GTK_SWITCH (widget), app_settings_get_switch (settings, setting->key));
  gtk_widget_set_valign (widget, GTK_ALIGN_CENTER);
  g_signal_connect (widget, "notify::active", G_CALLBACK (on_switched), NULL);
  adw_action_row_add_suffix (ADW_ACTION_ROW (row), widget);
  adw_action_row_set_activatable_widget (ADW_ACTION_ROW (row), widget);
  return row;
}

/* Shows in the row what is wrong with its text, as it is typed. *(none)* */
static bool
check_text (GtkWidget *row, const Setting *setting)
{
  const char *text = gtk_editable_get_text (GTK_EDITABLE (row));
  g_autofree char *fault =
      text[0] != '\0' && setting->dup_fault != NULL ? setting->dup_fault (text) : NULL;

  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row),
                                 fault != NULL ? fault : _ (setting->title));
  if (fault != NULL)
    gtk_widget_add_css_class (row, "error");
  else
    gtk_widget_remove_css_class (row, "error");
  return fault == NULL;
}

static void
on_text_changed (GtkWidget *row, gpointer data)
{
  json_object_set_string_member (settings_of (row), setting_of (row)->key,
                                 gtk_editable_get_text (GTK_EDITABLE (row)));
  check_text (row, setting_of (row));
}

static GtkWidget *
make_text_row (const Setting *setting, JsonObject *settings)
{
  GtkWidget *row = adw_entry_row_new ();

  bind_setting (row, setting, settings);
  gtk_editable_set_text (GTK_EDITABLE (row), app_settings_get_text (settings, setting->key));
  adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (row), FALSE);
  g_signal_connect (row, "changed", G_CALLBACK (on_text_changed), NULL);
  return row;
}

/* Values and titles in turn. */
static char **
choices_of (gpointer row)
{
  return g_object_get_data (row, "choices");
}

static void
on_chosen (AdwComboRow *row, GParamSpec *spec, gpointer data)
{
  const Setting *setting = setting_of (row);
  guint selected = adw_combo_row_get_selected (row);

  if (selected == GTK_INVALID_LIST_POSITION)
    return;
  if (setting->kind == SETTING_NUMBER)
    json_object_set_int_member (settings_of (row), setting->key,
                                atoi (choices_of (row)[2 * selected]));
  else
    json_object_set_string_member (settings_of (row), setting->key,
                                   choices_of (row)[2 * selected]);
}

static void
set_choices (GtkWidget *row, const char *const *choices)
{
  const Setting *setting = setting_of (row);
  JsonObject *settings = settings_of (row);
  g_autoptr (GtkStringList) titles = gtk_string_list_new (NULL);
  g_autofree char *present =
      setting->kind == SETTING_NUMBER
          ? g_strdup_printf ("%d", app_settings_get_number (settings, setting->key))
          : g_strdup (app_settings_get_text (settings, setting->key));
  guint selected = setting->chosen;

  for (guint i = 0; choices[2 * i] != NULL; i++)
    {
      gtk_string_list_append (titles, _ (choices[2 * i + 1]));
      if (strcmp (choices[2 * i], present) == 0)
        selected = i;
    }
  g_signal_handlers_disconnect_by_func (row, on_chosen, NULL);
  g_object_set_data_full (G_OBJECT (row), "choices", g_strdupv ((char **) choices),
                          (GDestroyNotify) g_strfreev);
  adw_combo_row_set_model (ADW_COMBO_ROW (row), G_LIST_MODEL (titles));
  adw_combo_row_set_selected (ADW_COMBO_ROW (row), selected);
  g_signal_connect (row, "notify::selected", G_CALLBACK (on_chosen), NULL);
}

static void
on_found (const char *const *choices, gpointer data)
{
  g_autoptr (GtkWidget) row = data;

  if (choices != NULL)
    set_choices (row, choices);
}

static GtkWidget *
make_choice_row (const Setting *setting, JsonObject *settings)
{
  GtkWidget *row = adw_combo_row_new ();

  bind_setting (row, setting, settings);
  set_choices (row, setting->choices);
  if (setting->find_choices != NULL)
    setting->find_choices (on_found, g_object_ref_sink (row));
  return row;
}

/* --- lists of texts: an expander with a row for each, and an entry that adds one --- */

static void rebuild_list (GtkWidget *expander);

static void
remove_value (GtkButton *button, GtkWidget *expander)
{
  g_auto (GStrv) values =
      app_settings_dup_list (settings_of (expander), setting_of (expander)->key);
  guint removed = GPOINTER_TO_UINT (g_object_get_data (G_OBJECT (button), "index"));
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  g_auto (GStrv) rest = NULL;

  for (guint i = 0; values[i] != NULL; i++)
    if (i != removed)
      g_strv_builder_add (builder, values[i]);
  rest = g_strv_builder_end (builder);
  app_settings_set_list (settings_of (expander), setting_of (expander)->key, rest);
  rebuild_list (expander);
}

/* A value that cannot be used has no button that adds it. */
static void
check_value (GtkWidget *entry, GtkWidget *expander)
{
  adw_entry_row_set_show_apply_button (ADW_ENTRY_ROW (entry),
                                       check_text (entry, setting_of (expander)));
}

static void
add_value (GtkEditable *entry, GtkWidget *expander)
{
  const char *text = gtk_editable_get_text (entry);
  g_auto (GStrv) values =
      app_settings_dup_list (settings_of (expander), setting_of (expander)->key);
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  g_auto (GStrv) all = NULL;

  if (text[0] == '\0' || !check_text (GTK_WIDGET (entry), setting_of (expander)))
    return;
  g_strv_builder_addv (builder, (const char **) values);
  g_strv_builder_add (builder, text);
  all = g_strv_builder_end (builder);
  app_settings_set_list (settings_of (expander), setting_of (expander)->key, all);
  rebuild_list (expander);
}

static void
add_list_row (GtkWidget *expander, GtkWidget *row)
{
  GPtrArray *rows = g_object_get_data (G_OBJECT (expander), "rows");

  adw_expander_row_add_row (ADW_EXPANDER_ROW (expander), row);
  g_ptr_array_add (rows, row);
}

static void
rebuild_list (GtkWidget *expander)
{
  GPtrArray *rows = g_object_get_data (G_OBJECT (expander), "rows");
  g_auto (GStrv) values =
      app_settings_dup_list (settings_of (expander), setting_of (expander)->key);
  GtkWidget *entry = adw_entry_row_new ();

  for (guint i = 0; i < rows->len; i++)
    adw_expander_row_remove (ADW_EXPANDER_ROW (expander), rows->pdata[i]);
  g_ptr_array_set_size (rows, 0);
  for (guint i = 0; values[i] != NULL; i++)
    {
      GtkWidget *row = adw_action_row_new ();
      GtkWidget *button = gtk_button_new_from_icon_name ("list-remove-symbolic");
      g_autofree char *title = g_markup_escape_text (values[i], -1);

      adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), title);
      gtk_widget_set_valign (button, GTK_ALIGN_CENTER);
      gtk_button_set_has_frame (GTK_BUTTON (button), FALSE);
      gtk_widget_set_tooltip_text (button, _ ("Remove"));
      gtk_accessible_update_property (GTK_ACCESSIBLE (button), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                      _ ("Remove"), -1);
      g_object_set_data (G_OBJECT (button), "index", GUINT_TO_POINTER (i));
      g_signal_connect (button, "clicked", G_CALLBACK (remove_value), expander);
      adw_action_row_add_suffix (ADW_ACTION_ROW (row), button);
      add_list_row (expander, row);
    }
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (entry), _ (setting_of (expander)->title));
  adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (entry), FALSE);
  adw_entry_row_set_show_apply_button (ADW_ENTRY_ROW (entry), TRUE);
  g_signal_connect (entry, "changed", G_CALLBACK (check_value), expander);
  g_signal_connect (entry, "apply", G_CALLBACK (add_value), expander);
  add_list_row (expander, entry);
}

static GtkWidget *
make_list_row (const Setting *setting, JsonObject *settings)
{
  GtkWidget *expander = adw_expander_row_new ();

  bind_setting (expander, setting, settings);
  g_object_set_data_full (G_OBJECT (expander), "rows", g_ptr_array_new (),
                          (GDestroyNotify) g_ptr_array_unref);
  rebuild_list (expander);
  gtk_accessible_update_property (GTK_ACCESSIBLE (expander), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ (setting->title), -1);
  return expander;
}

GtkWidget *
app_setting_row_new (const Setting *setting, JsonObject *settings)
{
  static GtkWidget *(*const make[]) (const Setting *, JsonObject *) = {
    [SETTING_SWITCH] = make_switch_row, [SETTING_TEXT] = make_text_row,
    [SETTING_CHOICE] = make_choice_row, [SETTING_NUMBER] = make_choice_row,
    [SETTING_LIST] = make_list_row,
  };
  GtkWidget *row = make[setting->kind](setting, settings);
  const char *caption = setting->absent != NULL ? setting->absent : setting->caption;

  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), _ (setting->title));
  if (caption != NULL && ADW_IS_ACTION_ROW (row))
    adw_action_row_set_subtitle (ADW_ACTION_ROW (row), _ (caption));
  gtk_widget_set_sensitive (row, setting->absent == NULL);
  gtk_widget_set_visible (row, setting->is_supported == NULL || setting->is_supported ());
  return row;
}
