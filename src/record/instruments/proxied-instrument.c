// SPDX-License-Identifier: GPL-3.0-or-later

/* A peer on a message bus that writes a capture of its own. */

#include "record/instruments/absent.h"

#include <sysprof.h>

struct _SysprofProxiedInstrument
{
  SysprofInstrument parent_instance;
  GBusType bus_type;
  char *bus_name;
  char *object_path;
  GVariant *options; /* a{sv} or NULL */
};

SYSPROF_DEFINE_INSTRUMENT (SysprofProxiedInstrument, sysprof_proxied_instrument)

static void
sysprof_proxied_instrument_finalize (GObject *object)
{
  SysprofProxiedInstrument *self = SYSPROF_PROXIED_INSTRUMENT (object);

  g_free (self->bus_name);
  g_free (self->object_path);
  g_clear_pointer (&self->options, g_variant_unref);
  G_OBJECT_CLASS (sysprof_proxied_instrument_parent_class)->finalize (object);
}

static gboolean
sysprof_proxied_instrument_prepare (SysprofInstrument *instrument, Pump *pump, GError **error)
{
  return sysprof_absent_instrument_refuse (SYSPROF_PROXIED_INSTRUMENT (instrument)->bus_name,
                                           error);
}

static void
sysprof_proxied_instrument_class_init (SysprofProxiedInstrumentClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = sysprof_proxied_instrument_finalize;
  klass->parent_class.name = "Proxied Instrument";
  klass->parent_class.prepare = sysprof_proxied_instrument_prepare;
}

static void
sysprof_proxied_instrument_init (SysprofProxiedInstrument *self)
{
}

SysprofInstrument *
sysprof_proxied_instrument_new (GBusType bus_type,
                                const char *bus_name,
                                const char *object_path)
{
  return sysprof_proxied_instrument_new_with_options (bus_type, bus_name, object_path, NULL);
}

SysprofInstrument *
sysprof_proxied_instrument_new_with_options (GBusType bus_type,
                                             const char *bus_name,
                                             const char *object_path,
                                             GVariant *options)
{
  SysprofProxiedInstrument *self = g_object_new (SYSPROF_TYPE_PROXIED_INSTRUMENT, NULL);

  self->bus_type = bus_type;
  self->bus_name = g_strdup (bus_name);
  self->object_path = g_strdup (object_path);
  self->options = options != NULL ? g_variant_ref_sink (options) : NULL;
  return SYSPROF_INSTRUMENT (self);
}
