// SPDX-License-Identifier: GPL-3.0-or-later

/* Holds a power profile at the power-profiles service while recording. */

#include "record/instruments/absent.h"

#include <sysprof.h>

struct _SysprofPowerProfile
{
  SysprofInstrument parent_instance;
  char *id;
};

SYSPROF_DEFINE_INSTRUMENT (SysprofPowerProfile, sysprof_power_profile)

enum
{
  PROP_0,
  PROP_ID,
  N_PROPS
};

static GParamSpec *properties[N_PROPS];

static void
sysprof_power_profile_finalize (GObject *object)
{
  g_free (SYSPROF_POWER_PROFILE (object)->id);
  G_OBJECT_CLASS (sysprof_power_profile_parent_class)->finalize (object);
}

static void
sysprof_power_profile_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  if (id == PROP_ID)
    g_value_set_string (value, SYSPROF_POWER_PROFILE (object)->id);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
sysprof_power_profile_set_property (GObject *object,
                                    guint id,
                                    const GValue *value,
                                    GParamSpec *pspec)
{
  if (id == PROP_ID)
    SYSPROF_POWER_PROFILE (object)->id = g_value_dup_string (value);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static gboolean
sysprof_power_profile_prepare (SysprofInstrument *instrument, Pump *pump, GError **error)
{
  const char *id = SYSPROF_POWER_PROFILE (instrument)->id;

  return sysprof_absent_instrument_refuse (id != NULL ? id : "", error);
}

static void
sysprof_power_profile_class_init (SysprofPowerProfileClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->finalize = sysprof_power_profile_finalize;
  object_class->get_property = sysprof_power_profile_get_property;
  object_class->set_property = sysprof_power_profile_set_property;
  klass->parent_class.name = "Power Profile";
  klass->parent_class.prepare = sysprof_power_profile_prepare;

  properties[PROP_ID] =
      g_param_spec_string ("id", NULL, NULL, NULL,
                           G_PARAM_READWRITE | G_PARAM_CONSTRUCT_ONLY | G_PARAM_STATIC_STRINGS);
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
sysprof_power_profile_init (SysprofPowerProfile *self)
{
}

SysprofInstrument *
sysprof_power_profile_new (const char *id)
{
  return g_object_new (SYSPROF_TYPE_POWER_PROFILE, "id", id, NULL);
}

const char *
sysprof_power_profile_get_id (SysprofPowerProfile *self)
{
  g_return_val_if_fail (SYSPROF_IS_POWER_PROFILE (self), NULL);

  return self->id;
}
