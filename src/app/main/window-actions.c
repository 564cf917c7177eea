// SPDX-License-Identifier: GPL-3.0-or-later

/* Actions of a capture window that change the focus, and the header bar with its menus. */

#include "app/main/window-parts.h"

#include "app/widgets/naming.h"
#include <glib/gi18n.h>

static AppSession *
session_of (gpointer data)
{
  return data;
}

static void
back (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  app_session_back (session_of (data));
}

static void
forward (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  app_session_forward (session_of (data));
}

static void
zoom_in (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  app_session_zoom_and_select (session_of (data), 2);
}

static void
zoom_out (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  app_session_zoom_and_select (session_of (data), 0.5);
}

static void
zoom_reset (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  app_session_zoom_to (session_of (data), 0,
                       app_session_get_focus (session_of (data))->duration);
}

static void
zoom_selection (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  const Focus *focus = app_session_get_focus (session_of (data));

  app_session_zoom_to (session_of (data), focus->selected_begin, focus->selected_end);
}

static void
seek_backward (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  app_session_pan_and_select (session_of (data), -1);
}

static void
seek_forward (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  app_session_pan_and_select (session_of (data), 1);
}

static void
enable (GActionMap *map, const char *name, bool is_enabled)
{
  g_simple_action_set_enabled (G_SIMPLE_ACTION (g_action_map_lookup_action (map, name)),
                               is_enabled);
}

static void
follow_focus (AppSession *session, GActionMap *map)
{
  const Focus *focus = app_session_get_focus (session);
  bool is_all = focus->visible_begin <= 0 && focus->visible_end >= focus->duration;

  enable (map, "back", app_session_can_go (session, -1));
  enable (map, "forward", app_session_can_go (session, 1));
  enable (map, "seek-backward", focus->visible_begin > 0);
  enable (map, "seek-forward", focus->visible_end < focus->duration);
  enable (map, "zoom-out", !is_all);
  enable (map, "zoom-reset", !is_all || !app_focus_selects_all (focus));
}

void
app_window_add_session_actions (AppWindow *self, AppSession *session)
{
  static const GActionEntry entries[] = {
    { "back", back },
    { "forward", forward },
    { "zoom-in", zoom_in },
    { "zoom-out", zoom_out },
    { "zoom-reset", zoom_reset },
    { "zoom-selection", zoom_selection },
    { "seek-backward", seek_backward },
    { "seek-forward", seek_forward },
  };

  g_action_map_add_action_entries (G_ACTION_MAP (self), entries, G_N_ELEMENTS (entries),
                                   session);
  g_signal_connect_object (session, "focus-changed", G_CALLBACK (follow_focus), self, 0);
  follow_focus (session, G_ACTION_MAP (self));
}

static GMenuModel *
make_main_menu (void)
{
  static const struct
  {
    const char *title;
    const char *action;
  } items[] = {
    { N_ ("_Record Again…"), "win.record-again" },
    { N_ ("_New Recording…"), "app.new-recording" },
    { N_ ("_Open Recording…"), "app.open" },
    { N_ ("_Save As…"), "win.save-as" },
    { N_ ("_Export View…"), "win.export-view" },
    { N_ ("Export _Timeline…"), "win.export-chart" },
    { NULL },
    { N_ ("_Back"), "win.back" },
    { N_ ("_Forward"), "win.forward" },
    { N_ ("Go _To…"), "win.go-to" },
    { N_ ("_Search"), "win.find" },
    { N_ ("Add Fi_lter…"), "win.add-filter" },
    { N_ ("_Details"), "win.toggle-right" },
    { NULL },
    { N_ ("_Keyboard Shortcuts"), "win.show-help-overlay" },
    { N_ ("_Help"), "app.help" },
    { N_ ("_About Sysprof"), "app.about" },
    { NULL },
    { N_ ("_Quit"), "app.quit" },
  };
  GMenu *menu = g_menu_new ();
  GMenu *section = g_menu_new ();

  for (size_t i = 0; i < G_N_ELEMENTS (items); i++)
    if (items[i].title != NULL)
      g_menu_append (section, _ (items[i].title), items[i].action);
    else
      {
        g_menu_append_section (menu, NULL, G_MENU_MODEL (section));
        g_object_unref (section);
        section = g_menu_new ();
      }
  g_menu_append_section (menu, NULL, G_MENU_MODEL (section));
  g_object_unref (section);
  return G_MENU_MODEL (menu);
}

static GtkWidget *
make_button (const char *icon, const char *title, const char *action)
{
  GtkWidget *button = action != NULL && g_str_has_prefix (action, "win.toggle")
                          ? gtk_toggle_button_new ()
                          : gtk_button_new ();

  gtk_button_set_icon_name (GTK_BUTTON (button), icon);
  gtk_actionable_set_action_name (GTK_ACTIONABLE (button), action);
  gtk_widget_set_tooltip_text (button, title);
  app_set_name (GTK_WIDGET (button), title);
  return button;
}

static GtkWidget *
make_menu_button (const char *icon, const char *title)
{
  GtkWidget *button = gtk_menu_button_new ();

  gtk_menu_button_set_icon_name (GTK_MENU_BUTTON (button), icon);
  gtk_widget_set_tooltip_text (button, title);
  app_set_name (GTK_WIDGET (button), title);
  return button;
}

/* Two buttons that narrow windows do without: the main menu has their actions, too. */
static GtkWidget *
make_wide_only (GtkWidget *first, GtkWidget *second)
{
  GtkWidget *squeezer = adw_squeezer_new ();
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);

  gtk_box_append (GTK_BOX (box), first);
  gtk_box_append (GTK_BOX (box), second);
  adw_squeezer_add (ADW_SQUEEZER (squeezer), box);
  adw_squeezer_add (ADW_SQUEEZER (squeezer), gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 0));
  adw_squeezer_set_homogeneous (ADW_SQUEEZER (squeezer), FALSE);
  return squeezer;
}

GtkWidget *
app_header_new (GtkWidget **title, GtkWidget **options_button)
{
  GtkWidget *bar = adw_header_bar_new ();
  GtkWidget *menu = make_menu_button ("open-menu-symbolic", _ ("Main Menu"));
  g_autoptr (GMenuModel) model = make_main_menu ();

  *title = adw_window_title_new ("", "");
  *options_button = make_menu_button ("view-more-symbolic", _ ("View Options"));
  gtk_menu_button_set_menu_model (GTK_MENU_BUTTON (menu), model);
  gtk_menu_button_set_primary (GTK_MENU_BUTTON (menu), TRUE);
  adw_header_bar_set_title_widget (ADW_HEADER_BAR (bar), *title);
  adw_header_bar_pack_start (
      ADW_HEADER_BAR (bar),
      make_button ("sidebar-show-symbolic", _ ("Toggle Left Panel"), "win.toggle-left"));
  adw_header_bar_pack_start (
      ADW_HEADER_BAR (bar),
      make_wide_only (make_button ("go-previous-symbolic", _ ("Back"), "win.back"),
                      make_button ("go-next-symbolic", _ ("Forward"), "win.forward")));
  adw_header_bar_pack_end (ADW_HEADER_BAR (bar), menu);
  adw_header_bar_pack_end (ADW_HEADER_BAR (bar), *options_button);
  adw_header_bar_pack_end (
      ADW_HEADER_BAR (bar),
      make_wide_only (make_button ("edit-find-symbolic", _ ("Search"), "win.find"),
                      make_button ("sidebar-show-right-symbolic", _ ("Toggle Right Panel"),
                                   "win.toggle-right")));
  return bar;
}
