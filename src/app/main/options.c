// SPDX-License-Identifier: GPL-3.0-or-later

/* The options of call trees and flame graphs, and the weight. */

#include "app/main/options.h"

#include "app/widgets/naming.h"
#include "text/text.h"

#include <assert.h>
#include <glib/gi18n.h>
#include <string.h>

#define PERIOD_PREFIX "period:"
#define HEAP_WEIGHT   "heap-weight"

typedef struct
{
  const char *action;
  const char *title;
  const char *option; /* of sysprof_selection_options; NULL = a member of the focus */
  size_t member;
  bool is_inverted;
  bool is_of_flames;
} ViewOption;

static const ViewOption options[] = {
  { "categorize-frames", N_ ("_Categorize Frames"), NULL, offsetof (Focus, categorizes) },
  { "hide-system-libraries", N_ ("Hide _System Libraries"), "hide-system" },
  { "include-threads", N_ ("Include _Threads"), "threads" },
  { "bottom-up", N_ ("_Bottom Up"), "bottom-up" },
  { "ignore-kernel", N_ ("Hide _Kernel Functions"), "no-kernel" },
  { "ignore-process-0", N_ ("Ignore Process _0"), "idle", .is_inverted = true },
  { "merge-similar-processes", N_ ("_Merge Similar Processes"), "merge-processes" },
  { "fold-recursion", N_ ("Fold _Recursion"), "fold-recursion" },
  { "left-heavy", N_ ("_Left Heavy"), "left-heavy", .is_of_flames = true },
  { "icicle", N_ ("Root on _Top"), NULL, offsetof (Focus, icicle), .is_of_flames = true },
};

static const struct
{
  const char *name; /* target of win.weight */
  const char *title;
} weights[] = {
  [WEIGHT_DEFAULT] = { "default", N_ ("_Samples") },
  [WEIGHT_SAMPLES] = { "samples", NULL },
  [WEIGHT_PERIOD] = { "period", NULL }, /* and ":EVENT" for each event */
  [WEIGHT_TIME] = { "time", N_ ("Time _Off the CPU") },
  [WEIGHT_WALL] = { "wall", N_ ("_Wall Time") },
  [WEIGHT_BYTES] = { "bytes", N_ ("Allocated _Bytes") },
  [WEIGHT_COUNT] = { "count", N_ ("Number of _Allocations") },
};
static_assert (G_N_ELEMENTS (weights) == N_WEIGHTS, "one row per weight");

/* Actions that choose a weight: of samples and of allocations. */
static const char *const weight_actions[] = { "weight", HEAP_WEIGHT, NULL };

static bool
is_of_heap (const char *action)
{
  return strcmp (action, HEAP_WEIGHT) == 0;
}

/* "samples", "period:cycles" *(full)* */
static char *
dup_weight (const Focus *focus, const char *action)
{
  if (is_of_heap (action))
    return g_strdup (weights[focus->heap_weight].name);
  return focus->weight == WEIGHT_PERIOD
             ? g_strdup_printf (PERIOD_PREFIX "%s", focus->event != NULL ? focus->event : "")
             : g_strdup (weights[focus->weight].name);
}

static bool
get_state (const ViewOption *option, const Focus *focus)
{
  bool is_set = option->option != NULL
                    ? *app_focus_get_switch ((Focus *) focus, option->option)
                    : *(const bool *) ((const char *) focus + option->member);

  return is_set != option->is_inverted;
}

static void
on_change (GSimpleAction *action, GVariant *value, gpointer data)
{
  AppSession *session = data;
  const char *name = g_action_get_name (G_ACTION (action));
  Focus *focus = app_session_copy_focus (session);

  for (size_t i = 0; i < G_N_ELEMENTS (options); i++)
    if (strcmp (options[i].action, name) == 0)
      {
        bool is_set = g_variant_get_boolean (value) != options[i].is_inverted;

        if (options[i].option != NULL)
          *app_focus_get_switch (focus, options[i].option) = is_set;
        else
          *(bool *) ((char *) focus + options[i].member) = is_set;
      }
  app_session_push (session, focus);
}

static void
on_change_weight (GSimpleAction *action, GVariant *value, gpointer data)
{
  AppSession *session = data;
  const char *name = g_variant_get_string (value, NULL);
  Focus *focus = app_session_copy_focus (session);
  bool is_heap = is_of_heap (g_action_get_name (G_ACTION (action)));

  if (!is_heap)
    g_clear_pointer (&focus->event, g_free);
  for (int i = 0; i < N_WEIGHTS; i++)
    if (strcmp (weights[i].name, name) == 0)
      *(is_heap ? &focus->heap_weight : &focus->weight) = i;
  if (!is_heap && g_str_has_prefix (name, PERIOD_PREFIX))
    {
      focus->weight = WEIGHT_PERIOD;
      focus->event = g_strdup (name + strlen (PERIOD_PREFIX));
    }
  app_session_push (session, focus);
}

static void
follow_focus (AppSession *session, GActionMap *map)
{
  const Focus *focus = app_session_get_focus (session);

  for (size_t i = 0; i < G_N_ELEMENTS (options); i++)
    g_simple_action_set_state (
        G_SIMPLE_ACTION (g_action_map_lookup_action (map, options[i].action)),
        g_variant_new_boolean (get_state (&options[i], focus)));
  for (size_t i = 0; weight_actions[i] != NULL; i++)
    {
      g_autofree char *name = dup_weight (focus, weight_actions[i]);

      g_simple_action_set_state (
          G_SIMPLE_ACTION (g_action_map_lookup_action (map, weight_actions[i])),
          g_variant_new_string (name));
    }
}

void
app_options_add_actions (GActionMap *map, AppSession *session)
{
  const Focus *focus = app_session_get_focus (session);

  for (size_t i = 0; i < G_N_ELEMENTS (options); i++)
    {
      g_autoptr (GSimpleAction) action = g_simple_action_new_stateful (
          options[i].action, NULL, g_variant_new_boolean (get_state (&options[i], focus)));

      g_signal_connect_object (action, "change-state", G_CALLBACK (on_change), session, 0);
      g_action_map_add_action (map, G_ACTION (action));
    }
  for (size_t i = 0; weight_actions[i] != NULL; i++)
    {
      g_autofree char *name = dup_weight (focus, weight_actions[i]);
      g_autoptr (GSimpleAction) weight = g_simple_action_new_stateful (
          weight_actions[i], G_VARIANT_TYPE_STRING, g_variant_new_string (name));

      g_signal_connect_object (weight, "change-state", G_CALLBACK (on_change_weight), session,
                               0);
      g_action_map_add_action (map, G_ACTION (weight));
    }
  g_signal_connect_object (session, "selection-changed", G_CALLBACK (follow_focus), map, 0);
}

/* Whether the action chooses this weight, and the capture has data of it. */
static bool
has_weight (const Store *store, const char *action, Weight weight)
{
  if (is_of_heap (action))
    return weight == WEIGHT_BYTES || weight == WEIGHT_COUNT;
  return weight == WEIGHT_DEFAULT ||
         ((weight == WEIGHT_TIME || weight == WEIGHT_WALL) && store->waits.is_recorded);
}

/* "CPU Time (cpu-clock)", "Events (cycles)" *(full)* */
static char *
dup_event_title (const Store *store, const char *event)
{
  bool is_time = false;
  g_autofree char *line = sysprof_dup_one_line (event);

  for (uint32_t i = 0; i < store->n_sampled_events; i++)
    if (strcmp (sysprof_store_string (store, store->sampled_events[i].name), event) == 0)
      is_time = store->sampled_events[i].is_time;
  return g_strdup_printf (is_time ? _ ("CPU Time (%s)") : _ ("Events (%s)"), line);
}

static GMenuModel *
make_weight_menu (AppSession *session, const char *action)
{
  GMenu *menu = g_menu_new ();
  const Store *store = app_session_get_store (session);
  bool has_events = !is_of_heap (action);

  for (int i = 0; i < N_WEIGHTS; i++)
    if (has_weight (store, action, i))
      {
        g_autofree char *detailed = g_strdup_printf ("win.%s::%s", action, weights[i].name);

        g_menu_append (menu, _ (weights[i].title), detailed);
      }
  for (uint32_t i = 0; has_events && i < store->n_sampled_events; i++)
    {
      const char *event = sysprof_store_string (store, store->sampled_events[i].name);
      g_autofree char *target = g_strconcat (PERIOD_PREFIX, event, NULL);
      g_autofree char *title = dup_event_title (store, event);
      g_autoptr (GString) label = g_string_new (title);
      g_autoptr (GMenuItem) item = g_menu_item_new (NULL, NULL);

      g_string_replace (label, "_", "__", 0); /* no mnemonics */
      g_menu_item_set_label (item, label->str);
      g_menu_item_set_action_and_target (item, "win.weight", "s", target);
      g_menu_append_item (menu, item);
    }
  return G_MENU_MODEL (menu);
}

static void
name_weight (AppSession *session, GtkMenuButton *button)
{
  const Focus *focus = app_session_get_focus (session);
  const char *action = g_object_get_data (G_OBJECT (button), "action");
  bool is_heap = is_of_heap (action);
  const char *title = weights[is_heap ? focus->heap_weight : focus->weight].title;
  g_autoptr (GString) name = g_string_new (title != NULL ? _ (title) : "");
  g_autofree char *event = NULL;

  g_string_replace (name, "_", "", 0);
  if (!is_heap && focus->weight == WEIGHT_PERIOD && focus->event != NULL)
    event = dup_event_title (app_session_get_store (session), focus->event);
  gtk_menu_button_set_label (button, event != NULL ? event : name->str);
}

GtkWidget *
app_weight_button_new (AppSession *session)
{
  GtkWidget *button = gtk_menu_button_new ();

  gtk_menu_button_set_has_frame (GTK_MENU_BUTTON (button), FALSE);
  gtk_widget_set_tooltip_text (button, _ ("Weight of the call graphs"));
  app_set_name (button, _ ("Weight of the call graphs"));
  app_weight_button_choose (button, session, weight_actions[0]);
  g_signal_connect_object (session, "selection-changed", G_CALLBACK (name_weight), button, 0);
  return button;
}

void
app_weight_button_choose (GtkWidget *button, AppSession *session, const char *action)
{
  g_autoptr (GMenuModel) menu = NULL;

  gtk_widget_set_visible (button, action != NULL);
  if (action == NULL)
    return;
  menu = make_weight_menu (session, action);
  g_object_set_data (G_OBJECT (button), "action", (gpointer) action);
  gtk_menu_button_set_menu_model (GTK_MENU_BUTTON (button), menu);
  gtk_widget_set_sensitive (button, g_menu_model_get_n_items (menu) > 1);
  name_weight (session, GTK_MENU_BUTTON (button));
}

GMenuModel *
app_options_make_menu (AppSession *session)
{
  static const char *const titles[] = { N_ ("Callgraph"), N_ ("Flamegraph") };
  GMenu *menu = g_menu_new ();
  g_autoptr (GMenuModel) weight_menu = make_weight_menu (session, weight_actions[0]);

  for (int part = 0; part < 2; part++)
    {
      g_autoptr (GMenu) section = g_menu_new ();

      for (size_t i = 0; i < G_N_ELEMENTS (options); i++)
        if (options[i].is_of_flames == part)
          {
            g_autofree char *action = g_strdup_printf ("win.%s", options[i].action);

            g_menu_append (section, _ (options[i].title), action);
          }
      g_menu_append_section (menu, _ (titles[part]), G_MENU_MODEL (section));
    }
  g_menu_append_section (menu, _ ("Weight"), weight_menu);
  return G_MENU_MODEL (menu);
}
