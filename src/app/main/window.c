// SPDX-License-Identifier: GPL-3.0-or-later

/* The capture window. */

#include "app/main/window.h"

#include "app/charts/chart-export.h"
#include "app/charts/timeline.h"
#include "app/main/document-load.h"
#include "app/main/go-to.h"
#include "app/main/options.h"
#include "app/main/save.h"
#include "app/main/shortcuts.h"
#include "app/main/state.h"
#include "app/main/window-parts.h"
#include "app/recording/greeter.h"
#include "app/recording/unsaved.h"
#include "app/sections/page.h"
#include "app/widgets/chips.h"
#include "app/widgets/info-bar.h"
#include "text/text.h"

#include <glib/gi18n.h>
#include <string.h>
#include <unistd.h>

#define WIDTH  1200 /* px */
#define HEIGHT 750
#define NARROW 550 /* px, with the shadow: less has the style class "narrow" */

struct _AppWindow
{
  AdwApplicationWindow parent_instance;
  AppSession *session; /* NULL while a capture loads */
  GFile *file;
  int lock;             /* of an unsaved recording; -1 = none */
  JsonObject *settings; /* with which it was recorded; NULL = unknown */
  GCancellable *cancellable;
  const Section *section;
  GtkWidget *title;
  GtkWidget *options_button;
  GtkWidget *info_bar;
  GtkWidget *toasts;
  GtkWidget *stack; /* loading, failed, content */
  GtkWidget *progress;
  GtkWidget *loading_label;
  GtkWidget *failed;
  GtkWidget *left;  /* AdwFlap of the sections */
  GtkWidget *right; /* AdwFlap of the details */
  GtkWidget *sidebar;
  GtkWidget *timeline;
  GtkWidget *chips;
  GtkWidget *weight;
  GtkWidget *pages; /* GtkStack of sections */
  GtkWidget *details;
  bool hides_details; /* the user closed them */
};

G_DEFINE_FINAL_TYPE (AppWindow, app_window, ADW_TYPE_APPLICATION_WINDOW)

/* --- sections --- */

static GtkWidget *
get_page (AppWindow *self)
{
  return self->pages != NULL ? gtk_stack_get_visible_child (GTK_STACK (self->pages)) : NULL;
}

static bool
has_data (AppWindow *self)
{
  return self->section->count (app_session_get_store (self->session)) > 0;
}

static bool
has_details (AppWindow *self)
{
  return self->section->make_details != NULL && has_data (self);
}

/* Opens or closes the details. They do not open over the view. */
static void
place_details (AppWindow *self)
{
  AdwFlap *flap = ADW_FLAP (self->right);

  adw_flap_set_reveal_flap (flap, has_details (self) && !self->hides_details &&
                                      !adw_flap_get_folded (flap));
}

static void
show_details (AppWindow *self)
{
  GAction *action = g_action_map_lookup_action (G_ACTION_MAP (self), "toggle-right");
  GtkWidget *old;

  while ((old = gtk_widget_get_first_child (self->details)) != NULL)
    gtk_box_remove (GTK_BOX (self->details), old);
  if (has_details (self))
    gtk_box_append (GTK_BOX (self->details), self->section->make_details (self->session));
  g_simple_action_set_enabled (G_SIMPLE_ACTION (action), has_details (self));
  place_details (self);
}

static void
show_section (AppWindow *self, const Section *section)
{
  if (self->section == section)
    return;
  self->section = section;
  if (gtk_stack_get_child_by_name (GTK_STACK (self->pages), section->id) == NULL)
    gtk_stack_add_named (GTK_STACK (self->pages), app_section_page_new (self->session, section),
                         section->id);
  gtk_stack_set_visible_child_name (GTK_STACK (self->pages), section->id);
  app_timeline_set_tracks (APP_TIMELINE (self->timeline),
                           has_data (self) ? section->tracks : NULL);
  app_sidebar_select (self->sidebar, section);
  app_weight_button_choose (self->weight, self->session,
                            has_data (self) ? section->weight : NULL);
  app_chips_show_amount (self->chips, !section->views[0].query.ignores_time);
  show_details (self);
  if (adw_flap_get_folded (ADW_FLAP (self->left)))
    adw_flap_set_reveal_flap (ADW_FLAP (self->left), FALSE);
}

static void
on_open (AppSession *session, const char *id, const char *view, AppWindow *self)
{
  const Section *section = app_section_find (id);

  if (section == NULL)
    return;
  show_section (self, section);
  app_section_page_show (get_page (self), view);
}

/* --- content --- */

static GtkWidget *
make_content (AppWindow *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  GtkWidget *bar = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 0);

  self->chips = app_chips_new (self->session);
  self->timeline = app_timeline_new (self->session);
  self->pages = gtk_stack_new ();
  gtk_widget_set_vexpand (self->pages, TRUE);
  gtk_box_append (GTK_BOX (box), self->timeline);
  self->weight = app_weight_button_new (self->session);
  gtk_widget_set_hexpand (self->chips, TRUE);
  gtk_widget_add_css_class (bar, "filter-bar");
  gtk_box_append (GTK_BOX (bar), self->chips);
  gtk_box_append (GTK_BOX (bar), self->weight);
  gtk_box_append (GTK_BOX (box), bar);
  gtk_box_append (GTK_BOX (box), gtk_separator_new (GTK_ORIENTATION_HORIZONTAL));
  gtk_box_append (GTK_BOX (box), self->pages);
  self->details = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  gtk_widget_set_size_request (self->details, 300, -1);
  gtk_widget_add_css_class (self->details, "details");
  self->right = adw_flap_new ();
  adw_flap_set_flap_position (ADW_FLAP (self->right), GTK_PACK_END);
  adw_flap_set_content (ADW_FLAP (self->right), box);
  adw_flap_set_separator (ADW_FLAP (self->right), gtk_separator_new (GTK_ORIENTATION_VERTICAL));
  adw_flap_set_flap (ADW_FLAP (self->right), self->details);
  adw_flap_set_reveal_flap (ADW_FLAP (self->right), FALSE);
  self->sidebar = app_sidebar_new (self->session, show_section, self);
  self->left = adw_flap_new ();
  adw_flap_set_content (ADW_FLAP (self->left), self->right);
  adw_flap_set_separator (ADW_FLAP (self->left), gtk_separator_new (GTK_ORIENTATION_VERTICAL));
  adw_flap_set_flap (ADW_FLAP (self->left), self->sidebar);
  return self->left;
}

static void
add_toggle (AppWindow *self, const char *name, GtkWidget *flap)
{
  g_autoptr (GPropertyAction) action = g_property_action_new (name, flap, "reveal-flap");

  g_action_map_add_action (G_ACTION_MAP (self), G_ACTION (action));
}

/* Replaces the property action by one that can be insensitive. */
static void
toggle_right (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  AppWindow *self = data;
  AdwFlap *flap = ADW_FLAP (self->right);
  bool is_shown = adw_flap_get_reveal_flap (flap);

  if (!adw_flap_get_folded (flap))
    self->hides_details = is_shown;
  adw_flap_set_reveal_flap (flap, !is_shown);
}

static void
on_reveal_right (AppWindow *self)
{
  GAction *action = g_action_map_lookup_action (G_ACTION_MAP (self), "toggle-right");

  g_simple_action_set_state (
      G_SIMPLE_ACTION (action),
      g_variant_new_boolean (adw_flap_get_reveal_flap (ADW_FLAP (self->right))));
}

static void
show_document (AppWindow *self, SysprofDocument *document)
{
  g_autofree char *path = g_file_get_path (self->file);
  g_autofree char *duration = NULL;
  g_autoptr (GMenuModel) menu = NULL;
  const Store *store;
  GtkWidget *content;

  self->session = app_session_new (document, path);
  store = app_session_get_store (self->session);
  duration = sysprof_dup_duration (sysprof_time_between (store->begin, store->end));
  adw_window_title_set_subtitle (ADW_WINDOW_TITLE (self->title), duration);
  content = make_content (self);
  gtk_stack_add_named (GTK_STACK (self->stack), content, "content");
  app_window_add_session_actions (self, self->session);
  app_options_add_actions (G_ACTION_MAP (self), self->session);
  add_toggle (self, "toggle-left", self->left);
  g_signal_connect_swapped (self->right, "notify::reveal-flap", G_CALLBACK (on_reveal_right),
                            self);
  g_signal_connect_swapped (self->right, "notify::folded", G_CALLBACK (place_details), self);
  menu = app_options_make_menu (self->session);
  gtk_menu_button_set_menu_model (GTK_MENU_BUTTON (self->options_button), menu);
  g_signal_connect_object (self->session, "open", G_CALLBACK (on_open), self, 0);
  show_section (self, app_sections[0]);
  gtk_stack_set_visible_child_name (GTK_STACK (self->stack), "content");
}

/* --- loading --- */

static void
on_progress (double fraction, const char *message, gpointer data)
{
  AppWindow *self = data;

  gtk_progress_bar_set_fraction (GTK_PROGRESS_BAR (self->progress), CLAMP (fraction, 0, 1));
  gtk_label_set_text (GTK_LABEL (self->loading_label), message != NULL ? message : "");
}

static void
on_loaded (GObject *object, GAsyncResult *result, gpointer data)
{
  g_autoptr (AppWindow) self = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (SysprofDocument) document = app_document_load_finish (result, &error);
  g_autofree char *escaped = NULL;

  if (g_cancellable_is_cancelled (self->cancellable))
    return;
  if (document != NULL)
    {
      show_document (self, document);
      return;
    }
  escaped = g_markup_escape_text (error->message, -1);
  adw_status_page_set_description (ADW_STATUS_PAGE (self->failed), escaped);
  gtk_stack_set_visible_child_name (GTK_STACK (self->stack), "failed");
}

static void
set_file (AppWindow *self, GFile *file)
{
  bool is_unsaved = app_unsaved_contains (file);
  g_autofree char *name =
      is_unsaved ? g_strdup (_ ("Unsaved Recording")) : g_file_get_basename (file);
  g_autofree char *title = g_utf8_make_valid (name, -1);

  if (self->lock >= 0)
    close (self->lock);
  self->lock = app_unsaved_lock (file);
  g_set_object (&self->file, file);
  adw_window_title_set_title (ADW_WINDOW_TITLE (self->title), title);
  gtk_window_set_title (GTK_WINDOW (self), title);
}

void
app_window_open (AppWindow *self, GFile *file)
{
  set_file (self, file);
  app_document_load_async (file, self->cancellable, on_progress, self, on_loaded,
                           g_object_ref (self));
}

void
app_window_set_settings (AppWindow *self, JsonObject *settings)
{
  self->settings = json_object_ref (settings);
}

void
app_window_set_saved (AppWindow *self, GFile *file)
{
  g_autoptr (GFile) old = g_object_ref (self->file);
  g_autofree char *uri = g_file_get_uri (file);

  if (app_unsaved_contains (old))
    {
      app_unsaved_delete (old);
      set_file (self, file);
    }
  gtk_recent_manager_add_item (gtk_recent_manager_get_default (), uri);
  app_window_show_toast (self, _ ("Recording saved"));
}

AppSession *
app_window_get_session (AppWindow *self)
{
  return self->session;
}

GFile *
app_window_get_file (AppWindow *self)
{
  return self->file;
}

void
app_window_show_note (AppWindow *self, const char *text)
{
  app_info_bar_show (self->info_bar, GTK_MESSAGE_WARNING, text);
}

void
app_window_show_toast (AppWindow *self, const char *text)
{
  adw_toast_overlay_add_toast (ADW_TOAST_OVERLAY (self->toasts), adw_toast_new (text));
}

/* --- actions --- */

/* An action of the current view. A view of several panes has it in the first one. */
static void
act_on_view (AppWindow *self, const char *action, const char *text)
{
  GtkWidget *page = get_page (self);
  GtkWidget *view = page != NULL ? app_section_page_get_view (page) : NULL;

  while (view != NULL &&
         !gtk_widget_activate_action (view, action, text != NULL ? "s" : NULL, text))
    view = GTK_IS_PANED (view) ? gtk_paned_get_start_child (GTK_PANED (view))
                               : gtk_widget_get_first_child (view);
}

static void
find (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  act_on_view (data, "view.find", NULL);
}

static void
search (GSimpleAction *action, GVariant *text, gpointer data)
{
  act_on_view (data, "view.search", g_variant_get_string (text, NULL));
}

static void
find_next (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  act_on_view (data, g_variant_get_int32 (parameter) > 0 ? "view.next" : "view.previous", NULL);
}

static void
export_view (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  act_on_view (data, "view.export", NULL);
}

static void
export_chart (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  AppWindow *self = data;

  if (self->session != NULL)
    app_chart_export (self->timeline, "timeline");
}

static void
go_to (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  AppWindow *self = data;

  if (self->session != NULL)
    app_go_to_show (GTK_WINDOW (self), self->session, false);
}

static void
add_filter (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  AppWindow *self = data;

  if (self->session != NULL)
    app_go_to_show (GTK_WINDOW (self), self->session, true);
}

/* Moves the keyboard from one part of the window to the next: sections, time, view, details. */
static void
next_region (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  AppWindow *self = data;
  GtkWidget *const regions[] = { self->sidebar, self->timeline, self->pages, self->details };
  GtkWidget *focus = gtk_root_get_focus (GTK_ROOT (self));
  size_t n = G_N_ELEMENTS (regions), at = n - 1;

  if (self->session == NULL)
    return;
  for (size_t i = 0; i < n; i++)
    if (focus != NULL && gtk_widget_is_ancestor (focus, regions[i]))
      at = i;
  for (size_t i = 1; i <= n; i++)
    {
      GtkWidget *region = regions[(at + i) % n];

      if (gtk_widget_get_child_visible (region) && gtk_widget_get_mapped (region) &&
          gtk_widget_child_focus (region, GTK_DIR_TAB_FORWARD))
        return;
    }
}

static void
next_view (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  if (get_page (data) != NULL)
    app_section_page_step (get_page (data), g_variant_get_int32 (parameter));
}

/* "marks" or "marks/summary" */
static void
choose_section (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  AppWindow *self = data;
  g_auto (GStrv) parts = g_strsplit (g_variant_get_string (parameter, NULL), "/", 2);

  if (self->session != NULL && parts[0] != NULL)
    on_open (self->session, parts[0], parts[1] != NULL ? parts[1] : "", self);
}

static void
save_as (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  app_save_as (data);
}

static void
record_again (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  AppWindow *self = data;
  GtkWidget *greeter =
      app_greeter_new (gtk_window_get_application (GTK_WINDOW (self)), self->settings);

  gtk_window_present (GTK_WINDOW (greeter));
}

/* --- life --- */

static void
on_layout (AppWindow *self, int width)
{
  if (width < NARROW)
    gtk_widget_add_css_class (GTK_WIDGET (self), "narrow");
  else
    gtk_widget_remove_css_class (GTK_WIDGET (self), "narrow");
}

static void
app_window_realize (GtkWidget *widget)
{
  GTK_WIDGET_CLASS (app_window_parent_class)->realize (widget);
  g_signal_connect_object (gtk_native_get_surface (GTK_NATIVE (widget)), "layout",
                           G_CALLBACK (on_layout), widget, G_CONNECT_SWAPPED);
}

static gboolean
app_window_close_request (GtkWindow *window)
{
  int width, height;

  gtk_window_get_default_size (window, &width, &height);
  app_state_set ("window", "width", width);
  app_state_set ("window", "height", height);
  app_state_set ("window", "maximized", gtk_window_is_maximized (window));
  app_state_save ();
  return app_save_ask (APP_WINDOW (window)) ||
         GTK_WINDOW_CLASS (app_window_parent_class)->close_request (window);
}

static void
app_window_dispose (GObject *object)
{
  AppWindow *self = APP_WINDOW (object);

  g_cancellable_cancel (self->cancellable);
  if (self->right != NULL)
    g_signal_handlers_disconnect_by_data (self->right, self);
  self->right = self->pages = NULL;
  g_clear_object (&self->session);
  g_clear_object (&self->file);
  G_OBJECT_CLASS (app_window_parent_class)->dispose (object);
}

static void
app_window_finalize (GObject *object)
{
  AppWindow *self = APP_WINDOW (object);

  g_debug ("freed window");
  g_object_unref (self->cancellable);
  g_clear_pointer (&self->settings, json_object_unref);
  if (self->lock >= 0)
    close (self->lock);
  G_OBJECT_CLASS (app_window_parent_class)->finalize (object);
}

static void
app_window_class_init (AppWindowClass *class)
{
  G_OBJECT_CLASS (class)->dispose = app_window_dispose;
  G_OBJECT_CLASS (class)->finalize = app_window_finalize;
  GTK_WINDOW_CLASS (class)->close_request = app_window_close_request;
  GTK_WIDGET_CLASS (class)->realize = app_window_realize;
}

static GtkWidget *
make_loading (AppWindow *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 12);

  self->progress = gtk_progress_bar_new ();
  gtk_widget_add_css_class (self->progress, "osd");
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->progress),
                                  GTK_ACCESSIBLE_PROPERTY_LABEL, _ ("Opening the recording…"),
                                  -1);
  self->loading_label = gtk_label_new (_ ("Opening the recording…"));
  gtk_widget_add_css_class (self->loading_label, "dim-label");
  gtk_widget_set_vexpand (self->loading_label, TRUE);
  gtk_box_append (GTK_BOX (box), self->progress);
  gtk_box_append (GTK_BOX (box), self->loading_label);
  return box;
}

static void
app_window_init (AppWindow *self)
{
  static const GActionEntry entries[] = {
    { "find", find },
    { "search", search, "s" },
    { "find-next", find_next, "i" },
    { "export-view", export_view },
    { "export-chart", export_chart },
    { "go-to", go_to },
    { "add-filter", add_filter },
    { "next-region", next_region },
    { "next-view", next_view, "i" },
    { "section", choose_section, "s" },
    { "save-as", save_as },
    { "record-again", record_again },
    { "toggle-right", toggle_right, NULL, "false" },
  };
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  g_autoptr (GtkShortcutsWindow) shortcuts = app_shortcuts_window_new ();

  self->cancellable = g_cancellable_new ();
  self->lock = -1;
  g_action_map_add_action_entries (G_ACTION_MAP (self), entries, G_N_ELEMENTS (entries), self);
  gtk_window_set_default_size (GTK_WINDOW (self), app_state_get ("window", "width", WIDTH),
                               app_state_get ("window", "height", HEIGHT));
  if (app_state_get ("window", "maximized", FALSE))
    gtk_window_maximize (GTK_WINDOW (self));
  gtk_application_window_set_help_overlay (GTK_APPLICATION_WINDOW (self), shortcuts);
  gtk_box_append (GTK_BOX (box), app_header_new (&self->title, &self->options_button));
  self->info_bar = app_info_bar_new ();
  gtk_box_append (GTK_BOX (box), self->info_bar);
  self->failed = adw_status_page_new ();
  adw_status_page_set_icon_name (ADW_STATUS_PAGE (self->failed), "dialog-error-symbolic");
  adw_status_page_set_title (ADW_STATUS_PAGE (self->failed), _ ("Invalid Document"));
  self->stack = gtk_stack_new ();
  gtk_stack_add_named (GTK_STACK (self->stack), make_loading (self), "loading");
  gtk_stack_add_named (GTK_STACK (self->stack), self->failed, "failed");
  self->toasts = adw_toast_overlay_new ();
  adw_toast_overlay_set_child (ADW_TOAST_OVERLAY (self->toasts), self->stack);
  gtk_widget_set_vexpand (self->toasts, TRUE);
  gtk_box_append (GTK_BOX (box), self->toasts);
  adw_application_window_set_content (ADW_APPLICATION_WINDOW (self), box);
}

AppWindow *
app_window_new (GtkApplication *application)
{
  return g_object_new (APP_TYPE_WINDOW, "application", application, NULL);
}
