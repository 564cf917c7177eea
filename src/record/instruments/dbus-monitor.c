// SPDX-License-Identifier: GPL-3.0-or-later

/* All messages of a message bus. */

#include "record/instruments/absent.h"

#include <sysprof.h>

struct _SysprofDBusMonitor
{
  SysprofInstrument parent_instance;
  GBusType bus_type;
  char *bus_address;
};

SYSPROF_DEFINE_INSTRUMENT (SysprofDBusMonitor, sysprof_dbus_monitor)

enum
{
  PROP_0,
  PROP_BUS_ADDRESS,
  PROP_BUS_TYPE,
  N_PROPS
};

static GParamSpec *properties[N_PROPS];

static void
sysprof_dbus_monitor_finalize (GObject *object)
{
  g_free (SYSPROF_DBUS_MONITOR (object)->bus_address);
  G_OBJECT_CLASS (sysprof_dbus_monitor_parent_class)->finalize (object);
}

static void
sysprof_dbus_monitor_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  SysprofDBusMonitor *self = SYSPROF_DBUS_MONITOR (object);

  switch (id)
    {
    case PROP_BUS_ADDRESS:
      g_value_set_string (value, self->bus_address);
      break;
    case PROP_BUS_TYPE:
      g_value_set_enum (value, self->bus_type);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
sysprof_dbus_monitor_set_property (GObject *object,
                                   guint id,
                                   const GValue *value,
                                   GParamSpec *pspec)
{
  SysprofDBusMonitor *self = SYSPROF_DBUS_MONITOR (object);

  switch (id)
    {
    case PROP_BUS_ADDRESS:
      self->bus_address = g_value_dup_string (value);
      break;
    case PROP_BUS_TYPE:
      self->bus_type = g_value_get_enum (value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static gboolean
sysprof_dbus_monitor_prepare (SysprofInstrument *instrument, Pump *pump, GError **error)
{
  SysprofDBusMonitor *self = SYSPROF_DBUS_MONITOR (instrument);

  if (self->bus_address != NULL)
    return sysprof_absent_instrument_refuse (self->bus_address, error);
  return sysprof_absent_instrument_refuse (
      self->bus_type == G_BUS_TYPE_SYSTEM ? "system bus" : "session bus", error);
}

static void
sysprof_dbus_monitor_class_init (SysprofDBusMonitorClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  const GParamFlags flags = G_PARAM_READWRITE | G_PARAM_CONSTRUCT_ONLY | G_PARAM_STATIC_STRINGS;

  object_class->finalize = sysprof_dbus_monitor_finalize;
  object_class->get_property = sysprof_dbus_monitor_get_property;
  object_class->set_property = sysprof_dbus_monitor_set_property;
  klass->parent_class.name = "D-Bus Monitor";
  klass->parent_class.prepare = sysprof_dbus_monitor_prepare;

  properties[PROP_BUS_ADDRESS] = g_param_spec_string ("bus-address", NULL, NULL, NULL, flags);
  properties[PROP_BUS_TYPE] =
      g_param_spec_enum ("bus-type", NULL, NULL, G_TYPE_BUS_TYPE, G_BUS_TYPE_NONE, flags);
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
sysprof_dbus_monitor_init (SysprofDBusMonitor *self)
{
}

SysprofInstrument *
sysprof_dbus_monitor_new (GBusType bus_type)
{
  return g_object_new (SYSPROF_TYPE_DBUS_MONITOR, "bus-type", bus_type, NULL);
}

SysprofInstrument *
sysprof_dbus_monitor_new_for_bus_address (const char *bus_address)
{
  return g_object_new (SYSPROF_TYPE_DBUS_MONITOR, "bus-address", bus_address, NULL);
}

GBusType
sysprof_dbus_monitor_get_bus_type (SysprofDBusMonitor *self)
{
  g_return_val_if_fail (SYSPROF_IS_DBUS_MONITOR (self), G_BUS_TYPE_NONE);

  return self->bus_type;
}

const char *
sysprof_dbus_monitor_get_bus_address (SysprofDBusMonitor *self)
{
  g_return_val_if_fail (SYSPROF_IS_DBUS_MONITOR (self), NULL);

  return self->bus_address;
}
