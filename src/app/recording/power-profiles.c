// SPDX-License-Identifier: GPL-3.0-or-later

/* Reads the property Profiles of power-profiles-daemon, under its present and its old name. */

#include "app/recording/power-profiles.h"

#include <gio/gio.h>
#include <glib/gi18n.h>
#include <string.h>

static const struct
{
  const char *name; /* also of the interface */
  const char *path;
} services[] = {
  { "org.freedesktop.UPower.PowerProfiles", "/org/freedesktop/UPower/PowerProfiles" },
  { "net.hadess.PowerProfiles", "/net/hadess/PowerProfiles" },
};

static const char *const titles[] = { "power-saver", N_ ("Power Saver"),
                                      "balanced",    N_ ("Balanced"),
                                      "performance", N_ ("Performance"),
                                      NULL };

typedef struct
{
  SettingChoicesFunc *found;
  gpointer data;
  GDBusConnection *bus;
  guint service;
} Search;

static void ask (Search *self);

static void
finish (Search *self, const char *const *choices)
{
  self->found (choices, self->data);
  g_clear_object (&self->bus);
  g_free (self);
}

static const char *
find_title (const char *profile)
{
  for (guint i = 0; titles[i] != NULL; i += 2)
    if (strcmp (titles[i], profile) == 0)
      return titles[i + 1];
  return profile;
}

static void
take_profiles (Search *self, GVariant *profiles)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  g_auto (GStrv) choices = NULL;
  GVariant *profile;
  GVariantIter iter;

  g_strv_builder_add_many (builder, "", N_ ("No Change"), NULL);
  g_variant_iter_init (&iter, profiles);
  while ((profile = g_variant_iter_next_value (&iter)) != NULL)
    {
      const char *name;

      if (g_variant_lookup (profile, "Profile", "&s", &name) && name[0] != '\0')
        g_strv_builder_add_many (builder, name, find_title (name), NULL);
      g_variant_unref (profile);
    }
  choices = g_strv_builder_end (builder);
  finish (self, (const char *const *) choices);
}

static void
on_profiles (GObject *bus, GAsyncResult *result, gpointer data)
{
  Search *self = data;
  g_autoptr (GVariant) reply =
      g_dbus_connection_call_finish (G_DBUS_CONNECTION (bus), result, NULL);
  g_autoptr (GVariant) profiles = NULL;

  if (reply == NULL)
    {
      self->service++;
      ask (self);
      return;
    }
  g_variant_get (reply, "(v)", &profiles);
  if (g_variant_is_of_type (profiles, G_VARIANT_TYPE ("aa{sv}")))
    take_profiles (self, profiles);
  else
    finish (self, NULL);
}

static void
ask (Search *self)
{
  if (self->service >= G_N_ELEMENTS (services))
    finish (self, NULL);
  else
    g_dbus_connection_call (
        self->bus, services[self->service].name, services[self->service].path,
        "org.freedesktop.DBus.Properties", "Get",
        g_variant_new ("(ss)", services[self->service].name, "Profiles"),
        G_VARIANT_TYPE ("(v)"), G_DBUS_CALL_FLAGS_NONE, -1, NULL, on_profiles, self);
}

static void
on_bus (GObject *object, GAsyncResult *result, gpointer data)
{
  Search *self = data;

  self->bus = g_bus_get_finish (result, NULL);
  if (self->bus != NULL)
    ask (self);
  else
    finish (self, NULL);
}

void
app_power_profiles_find (SettingChoicesFunc *found, gpointer data)
{
  Search *self = g_new0 (Search, 1);

  *self = (Search){ .found = found, .data = data };
  g_bus_get (G_BUS_TYPE_SYSTEM, NULL, on_bus, self);
}
