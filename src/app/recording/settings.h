// SPDX-License-Identifier: GPL-3.0-or-later

/* The settings of the greeter. One table describes each setting: its row in the greeter,
 * its default, and the member of recording-template.json that remembers it. To add a setting,
 * add a row to the table in settings.c and use it in profiler.c. */

#pragma once

#include <json-glib/json-glib.h>
#include <stdbool.h>

typedef enum
{
  SETTING_SWITCH,
  SETTING_TEXT,
  SETTING_CHOICE, /* one of `choices`, as a text … */
  SETTING_NUMBER, /* … or as a number */
  SETTING_LIST,   /* of texts */
} SettingKind;

/* Called once, with values and their titles in turn; NULL = unknown. */
typedef void SettingChoicesFunc (const char *const *choices, gpointer data);

typedef struct
{
  const char *key;
  const char *page;  /* translatable, as the others; NULL = the page of the row before */
  const char *group; /* NULL = the group of the row before */
  const char *title;
  const char *caption; /* NULL = none */
  SettingKind kind;
  bool is_on;                 /* default of a switch */
  const char *const *choices; /* values, then their titles in turn; NULL-terminated */
  guint chosen;               /* default choice */
  /* asks for the choices of this machine; NULL = they are always the same */
  void (*find_choices) (SettingChoicesFunc *found, gpointer data);
  bool is_unfolded;                /* shown only if the switch of the row before is on */
  const char *absent;              /* why it cannot be chosen yet; NULL = it can */
  gboolean (*is_supported) (void); /* by this machine; NULL = by all */
  /* Why a text, or a new one of a list, cannot be used; NULL if it can. *(full)* */
  char *(*dup_fault) (const char *text);
} Setting;

extern const Setting app_settings[]; /* ended by a row without a key */

/* The settings of the last recording; defaults for members that are missing or broken. *(full)*
 * */
JsonObject *app_settings_load (void);
JsonObject *app_settings_copy (JsonObject *settings); /* *(full)* */
void app_settings_save (JsonObject *settings);
/* Processes to record; empty = the whole system. They are not remembered. *(full)* */
GArray *app_settings_dup_pids (JsonObject *settings);
void app_settings_set_pids (JsonObject *settings, GArray *pids);
bool app_settings_get_switch (JsonObject *settings, const char *key);
/* `key` must be in the table. */
bool app_settings_is_default (JsonObject *settings, const char *key);
/* Never NULL. *(none)* */
const char *app_settings_get_text (JsonObject *settings, const char *key);
int app_settings_get_number (JsonObject *settings, const char *key); /* 0 = none */
/* NULL-terminated. *(full)* */
char **app_settings_dup_list (JsonObject *settings, const char *key);
void app_settings_set_list (JsonObject *settings, const char *key, char **values);
