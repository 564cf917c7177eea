// SPDX-License-Identifier: GPL-3.0-or-later

/* The table of settings, and the file that remembers them. */

#include "app/recording/settings.h"

#include "app/recording/power-profiles.h"
#include "record/record.h"

#include <gio/gio.h>
#include <glib/gi18n.h>
#include <limits.h>
#include <string.h>

#define FILE_NAME "recording-template.json"
#define PIDS      "pids"

static const char *const stack_sizes[] = { "8192",  N_ ("8 KB"),  "16384", N_ ("16 KB"),
                                           "24576", N_ ("24 KB"), "32768", N_ ("32 KB"),
                                           "65536", N_ ("64 KB"), NULL };
/* Without the service that knows them. */
static const char *const power_profiles[] = {
  "",         N_ ("No Change"), "power-saver", N_ ("Power Saver"),
  "balanced", N_ ("Balanced"),  "performance", N_ ("Performance"),
  NULL
};

/* --- what can be used --- */

static char *
dup_command_fault (const char *text)
{
  g_autoptr (GError) error = NULL;

  return g_shell_parse_argv (text, NULL, NULL, &error) ? NULL : g_strdup (error->message);
}

static char *
dup_directory_fault (const char *text)
{
  return g_file_test (text, G_FILE_TEST_IS_DIR) ? NULL
                                                : g_strdup (_ ("There is no such directory"));
}

static char *
dup_variable_fault (const char *text)
{
  const char *equals = strchr (text, '=');

  if (equals == NULL || equals == text)
    return g_strdup (_ ("Use KEY=VALUE to set an environment variable"));
  if (g_ascii_isdigit (text[0]))
    return g_strdup (_ ("Keys may not start with a number"));
  for (const char *at = text; at < equals; at++)
    if (!g_ascii_isalnum (*at) && *at != '_')
      return g_strdup (_ ("Keys may only contain alpha-numerics or underline."));
  return NULL;
}

/* clang-format off */
const Setting app_settings[] = {
  { "native-stacks", N_ ("Profiler"), N_ ("Sampling"), N_ ("Sample Native Stacks"),
    .is_on = true },
  { "user-stacks", NULL, NULL, N_ ("Unwind Stacks in User Space"),
    N_ ("Considerable overhead, but helps with programs without frame pointers"),
    .is_supported = sysprof_sampler_has_copies },
  { "stack-size", NULL, NULL, N_ ("Stack Size"), .kind = SETTING_NUMBER,
    .choices = stack_sizes, .chosen = 1, .is_unfolded = true },
  { "off-cpu", NULL, NULL, N_ ("Record Waits"),
    N_ ("Where threads wait, for how long, and who wakes them") },
  { "javascript-stacks", NULL, NULL, N_ ("Sample JavaScript Stacks"),
    N_ ("Program must be launched by Sysprof") },
  { "scheduler-details", NULL, NULL, N_ ("Record Scheduler Details"),
    N_ ("Which process is on which CPU") },
  { "memory-allocations", NULL, N_ ("Tracing"), N_ ("Trace Memory Allocations"),
    N_ ("Program must be launched by Sysprof"), .absent = N_ ("Not available yet") },

  { "command-line", N_ ("Application"), N_ ("Application"), N_ ("Command Line"),
    N_ ("Run as a subprocess"), .kind = SETTING_TEXT, .dup_fault = dup_command_fault },
  { "cwd", NULL, NULL, N_ ("Working Directory"), .kind = SETTING_TEXT,
    .dup_fault = dup_directory_fault },
  { "clear-environ", NULL, N_ ("Environment"), N_ ("Clear Environment") },
  { "environ", NULL, NULL, N_ ("Add Variable"), .kind = SETTING_LIST,
    .dup_fault = dup_variable_fault },

  { "cpu-usage", N_ ("Counters"), N_ ("Counters"), N_ ("CPU Usage"), .is_on = true },
  { "memory-usage", NULL, NULL, N_ ("Memory Usage"), .is_on = true },
  { "disk-usage", NULL, NULL, N_ ("Disk Usage"), .is_on = true },
  { "network-usage", NULL, NULL, N_ ("Network Usage"), .is_on = true },
  { "energy-usage", NULL, NULL, N_ ("Energy Usage"), N_ ("In watts") },
  { "battery-charge", NULL, NULL, N_ ("Battery Charge") },

  { "system-bus", N_ ("D-Bus"), N_ ("D-Bus"), N_ ("Record System Bus") },
  { "session-bus", NULL, NULL, N_ ("Record Session Bus"),
    N_ ("The session bus may carry secrets such as keys and passwords") },

  { "frame-timings", N_ ("Graphics"), N_ ("Timings"), N_ ("Compositor Frame Timings"),
    N_ ("Of GNOME Shell. Launched GTK programs deliver their frame timings by themselves") },
  { "detect-hangs", NULL, NULL, N_ ("Detect Application Hangs"), N_ ("In the main loop"),
    .absent = N_ ("Not available yet") },
  { "graphics-info", NULL, N_ ("Devices"), N_ ("Include GPU Information"),
    N_ ("Output of eglinfo and glxinfo"), .is_on = true },

  { "power-profile", N_ ("System"), N_ ("Power Profile"), N_ ("Record with Power Profile"),
    .kind = SETTING_CHOICE, .choices = power_profiles,
    .find_choices = app_power_profiles_find },
  { "system-log", NULL, N_ ("Details"), N_ ("Record System Log"), .is_on = true },
  { "hardware-info", NULL, NULL, N_ ("Include Hardware Information"),
    N_ ("Output of lsusb and lspci"), .is_on = true },
  { "bundle-symbols", NULL, N_ ("Symbols"), N_ ("Bundle Symbols"),
    N_ ("Makes the recording readable on other machines"), .is_on = true },
  { "debuginfod", NULL, NULL, N_ ("Debuginfod"), N_ ("Download symbols from servers"),
    .is_on = true },
  { "debugdirs", NULL, NULL, N_ ("Add Directory"), .kind = SETTING_LIST,
    .caption = N_ ("Where debug files are"), .dup_fault = dup_directory_fault },
  { NULL },
};
/* clang-format on */

static const Setting *
find_setting (const char *key)
{
  for (const Setting *setting = app_settings; setting->key != NULL; setting++)
    if (strcmp (setting->key, key) == 0)
      return setting;
  return NULL;
}

static char *
dup_path (void)
{
  return g_build_filename (g_get_user_data_dir (), "org.gnome.Sysprof", FILE_NAME, NULL);
}

JsonObject *
app_settings_load (void)
{
  g_autoptr (JsonParser) parser = json_parser_new ();
  g_autofree char *path = dup_path ();
  JsonNode *root;

  if (!json_parser_load_from_file (parser, path, NULL))
    return json_object_new ();
  root = json_parser_get_root (parser);
  if (root == NULL || !JSON_NODE_HOLDS_OBJECT (root))
    return json_object_new ();
  json_object_remove_member (json_node_get_object (root), PIDS);
  return json_node_dup_object (root);
}

JsonObject *
app_settings_copy (JsonObject *settings)
{
  g_autoptr (JsonNode) node = json_node_init_object (json_node_alloc (), settings);
  g_autofree char *text = json_to_string (node, FALSE);
  g_autoptr (JsonNode) copy = json_from_string (text, NULL);

  return json_node_dup_object (copy);
}

void
app_settings_save (JsonObject *settings)
{
  g_autoptr (JsonObject) kept = app_settings_copy (settings);
  g_autoptr (JsonGenerator) generator = json_generator_new ();
  g_autoptr (JsonNode) root = json_node_init_object (json_node_alloc (), kept);
  g_autofree char *path = dup_path ();
  g_autofree char *folder = g_path_get_dirname (path);
  g_autoptr (GError) error = NULL;

  if (json_object_has_member (kept, PIDS))
    json_object_remove_member (kept, PIDS);
  json_generator_set_root (generator, root);
  json_generator_set_pretty (generator, TRUE);
  /* Forgotten settings are no reason to stop a recording. */
  if (g_mkdir_with_parents (folder, 0700) < 0 ||
      !json_generator_to_file (generator, path, &error))
    g_message ("Cannot remember the settings in '%s': %s", path,
               error != NULL ? error->message : g_strerror (errno));
}

static JsonNode *
find_node (JsonObject *settings, const char *key, GType type)
{
  JsonNode *node = json_object_get_member (settings, key);

  return node != NULL && json_node_get_value_type (node) == type ? node : NULL;
}

bool
app_settings_get_switch (JsonObject *settings, const char *key)
{
  JsonNode *node = find_node (settings, key, G_TYPE_BOOLEAN);
  const Setting *setting = find_setting (key);

  if (setting != NULL &&
      (setting->absent != NULL || (setting->is_supported != NULL && !setting->is_supported ())))
    return false;
  return node != NULL ? json_node_get_boolean (node) : setting != NULL && setting->is_on;
}

bool
app_settings_is_default (JsonObject *settings, const char *key)
{
  return app_settings_get_switch (settings, key) == find_setting (key)->is_on;
}

const char *
app_settings_get_text (JsonObject *settings, const char *key)
{
  JsonNode *node = find_node (settings, key, G_TYPE_STRING);

  return node != NULL ? json_node_get_string (node) : "";
}

int
app_settings_get_number (JsonObject *settings, const char *key)
{
  JsonNode *node = find_node (settings, key, G_TYPE_INT64);
  int64_t number = node != NULL ? json_node_get_int (node) : 0;

  return number > 0 && number <= INT_MAX ? (int) number : 0;
}

char **
app_settings_dup_list (JsonObject *settings, const char *key)
{
  JsonNode *node = json_object_get_member (settings, key);
  JsonArray *array =
      node != NULL && JSON_NODE_HOLDS_ARRAY (node) ? json_node_get_array (node) : NULL;
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();

  for (guint i = 0; array != NULL && i < json_array_get_length (array); i++)
    if (JSON_NODE_HOLDS_VALUE (json_array_get_element (array, i)) &&
        json_node_get_value_type (json_array_get_element (array, i)) == G_TYPE_STRING)
      g_strv_builder_add (builder, json_array_get_string_element (array, i));
  return g_strv_builder_end (builder);
}

GArray *
app_settings_dup_pids (JsonObject *settings)
{
  GArray *pids = g_array_new (FALSE, FALSE, sizeof (int));
  JsonArray *array = json_object_has_member (settings, PIDS)
                         ? json_object_get_array_member (settings, PIDS)
                         : NULL;

  for (guint i = 0; array != NULL && i < json_array_get_length (array); i++)
    {
      int pid = (int) json_array_get_int_element (array, i);

      g_array_append_val (pids, pid);
    }
  return pids;
}

void
app_settings_set_pids (JsonObject *settings, GArray *pids)
{
  JsonArray *array = json_array_new ();

  for (guint i = 0; i < pids->len; i++)
    json_array_add_int_element (array, g_array_index (pids, int, i));
  json_object_set_array_member (settings, PIDS, array);
}

void
app_settings_set_list (JsonObject *settings, const char *key, char **values)
{
  JsonArray *array = json_array_new ();

  for (size_t i = 0; values[i] != NULL; i++)
    json_array_add_string_element (array, values[i]);
  json_object_set_array_member (settings, key, array);
}
