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

static void
on_text_changed (GtkEditable *editable, gpointer data)
{
  json_object_set_string_member (settings_of (editable), setting_of (editable)->key,
                                 gtk_editable_get_text (editable));
}

/* Marks a command line that a shell could not split. */
static void
check_command (GtkEditable *editable, gpointer data)
{
  const char *text = gtk_editable_get_text (editable);
  g_autoptr (GError) error = NULL;

  if (text[0] != '\0' && !g_shell_parse_argv (text, NULL, NULL, &error))
    {
      gtk_widget_add_css_class (GTK_WIDGET (editable), "error");
      gtk_widget_set_tooltip_text (GTK_WIDGET (editable), error->message);
    }
  else
    {
      gtk_widget_remove_css_class (GTK_WIDGET (editable), "error");
      gtk_widget_set_tooltip_text (GTK_WIDGET (editable), NULL);
    }
}

static GtkWidget *
make_text_row (const Setting *setting, JsonObject *settings)
{
  GtkWidget *row = adw_entry_row_new ();

  bind_setting (row, setting, settings);
  gtk_editable_set_text (GTK_EDITABLE (row), app_settings_get_text (settings, setting->key));
  g_signal_connect (row, "changed", G_CALLBACK (on_text_changed), NULL);
  if (strcmp (setting->key, "command-line") == 0)
    g_signal_connect (row, "changed", G_CALLBACK (check_command), NULL);
  return row;
}

static void
on_chosen (AdwComboRow *row, GParamSpec *spec, gpointer data)
{
  const Setting *setting = setting_of (row);
  const char *value = setting->choices[2 * adw_combo_row_get_selected (row)];

  if (setting->kind == SETTING_NUMBER)
    json_object_set_int_member (settings_of (row), setting->key, atoi (value));
  else
    json_object_set_string_member (settings_of (row), setting->key, value);
}

static GtkWidget *
make_choice_row (const Setting *setting, JsonObject *settings)
{
  GtkWidget *row = adw_combo_row_new ();
  g_autoptr (GtkStringList) titles = gtk_string_list_new (NULL);
  g_autofree char *present =
      setting->kind == SETTING_NUMBER
          ? g_strdup_printf ("%d", app_settings_get_number (settings, setting->key))
          : g_strdup (app_settings_get_text (settings, setting->key));
  guint selected = setting->chosen;

  for (guint i = 0; setting->choices[2 * i] != NULL; i++)
    {
      gtk_string_list_append (titles, _ (setting->choices[2 * i + 1]));
      if (strcmp (setting->choices[2 * i], present) == 0)
        selected = i;
    }
  bind_setting (row, setting, settings);
  adw_combo_row_set_model (ADW_COMBO_ROW (row), G_LIST_MODEL (titles));
  adw_combo_row_set_selected (ADW_COMBO_ROW (row), selected);
  g_signal_connect (row, "notify::selected", G_CALLBACK (on_chosen), NULL);
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

static const char *
find_fault (GtkWidget *expander, const char *text)
{
  if (strcmp (setting_of (expander)->key, "environ") == 0)
    return app_settings_check_variable (text);
  return g_file_test (text, G_FILE_TEST_IS_DIR) ? NULL : _ ("There is no such directory");
}

static void
check_value (GtkEditable *entry, GtkWidget *expander)
{
  const char *text = gtk_editable_get_text (entry);
  const char *fault = text[0] != '\0' ? find_fault (expander, text) : NULL;

  gtk_widget_set_tooltip_text (GTK_WIDGET (entry), fault);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (entry),
                                 fault != NULL ? fault : _ (setting_of (expander)->title));
  if (fault != NULL)
    gtk_widget_add_css_class (GTK_WIDGET (entry), "error");
  else
    gtk_widget_remove_css_class (GTK_WIDGET (entry), "error");
}

static void
add_value (GtkEditable *entry, GtkWidget *expander)
{
  const char *text = gtk_editable_get_text (entry);
  g_auto (GStrv) values =
      app_settings_dup_list (settings_of (expander), setting_of (expander)->key);
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  g_auto (GStrv) all = NULL;

  if (text[0] == '\0' || find_fault (expander, text) != NULL)
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
  return row;
}
