// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofDocumentCounterValue: one value of a counter with its timestamp. */

#include "document/objects.h"

struct _SysprofDocumentCounterValue
{
  GObject parent_instance;
  SysprofDocumentCounter *counter;
  guint nth;
};

G_DEFINE_FINAL_TYPE (SysprofDocumentCounterValue, sysprof_document_counter_value, G_TYPE_OBJECT)

enum
{
  PROP_0,
  PROP_COUNTER,
  PROP_TIME,
  PROP_TIME_OFFSET,
  PROP_VALUE_STRING,
  N_PROPS,
};

static GParamSpec *properties[N_PROPS];

SysprofDocumentCounterValue *
sysprof_document_counter_value_new (SysprofDocumentCounter *counter, guint nth)
{
  SysprofDocumentCounterValue *self = g_object_new (SYSPROF_TYPE_DOCUMENT_COUNTER_VALUE, NULL);

  self->counter = g_object_ref (counter);
  self->nth = nth;
  return self;
}

SysprofDocumentCounter *
sysprof_document_counter_value_get_counter (SysprofDocumentCounterValue *self)
{
  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_COUNTER_VALUE (self), NULL);

  return self->counter;
}

gint64
sysprof_document_counter_value_get_time (SysprofDocumentCounterValue *self)
{
  gint64 time;

  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_COUNTER_VALUE (self), 0);

  (void) sysprof_document_counter_get_value_int64 (self->counter, self->nth,
                                                   &time); /* only when */
  return time;
}

gint64
sysprof_document_counter_value_get_time_offset (SysprofDocumentCounterValue *self)
{
  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_COUNTER_VALUE (self), 0);

  return sysprof_time_between (sysprof_document_counter_get_begin (self->counter),
                               sysprof_document_counter_value_get_time (self));
}

void
sysprof_document_counter_value_get_value (SysprofDocumentCounterValue *self, GValue *value)
{
  g_return_if_fail (SYSPROF_IS_DOCUMENT_COUNTER_VALUE (self));

  sysprof_document_counter_get_value (self->counter, self->nth, NULL, value);
}

gint64
sysprof_document_counter_value_get_value_int64 (SysprofDocumentCounterValue *self)
{
  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_COUNTER_VALUE (self), 0);

  return sysprof_document_counter_get_value_int64 (self->counter, self->nth, NULL);
}

double
sysprof_document_counter_value_get_value_double (SysprofDocumentCounterValue *self)
{
  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_COUNTER_VALUE (self), 0);

  return sysprof_document_counter_get_value_double (self->counter, self->nth, NULL);
}

char *
sysprof_document_counter_value_format (SysprofDocumentCounterValue *self)
{
  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_COUNTER_VALUE (self), NULL);

  if (sysprof_document_counter_get_value_type (self->counter) == G_TYPE_DOUBLE)
    return g_strdup_printf ("%.3f", sysprof_document_counter_value_get_value_double (self));
  return g_strdup_printf ("%" G_GINT64_FORMAT,
                          sysprof_document_counter_value_get_value_int64 (self));
}

static void
sysprof_document_counter_value_finalize (GObject *object)
{
  SysprofDocumentCounterValue *self = SYSPROF_DOCUMENT_COUNTER_VALUE (object);

  g_clear_object (&self->counter);

  G_OBJECT_CLASS (sysprof_document_counter_value_parent_class)->finalize (object);
}

static void
sysprof_document_counter_value_get_property (GObject *object,
                                             guint id,
                                             GValue *value,
                                             GParamSpec *pspec)
{
  SysprofDocumentCounterValue *self = SYSPROF_DOCUMENT_COUNTER_VALUE (object);

  switch (id)
    {
    case PROP_COUNTER:
      g_value_set_object (value, self->counter);
      break;
    case PROP_TIME:
      g_value_set_int64 (value, sysprof_document_counter_value_get_time (self));
      break;
    case PROP_TIME_OFFSET:
      g_value_set_int64 (value, sysprof_document_counter_value_get_time_offset (self));
      break;
    case PROP_VALUE_STRING:
      g_value_take_string (value, sysprof_document_counter_value_format (self));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
sysprof_document_counter_value_class_init (SysprofDocumentCounterValueClass *class)
{
  const GParamFlags flags = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;
  GObjectClass *object_class = G_OBJECT_CLASS (class);

  object_class->finalize = sysprof_document_counter_value_finalize;
  object_class->get_property = sysprof_document_counter_value_get_property;

  properties[PROP_COUNTER] =
      g_param_spec_object ("counter", NULL, NULL, SYSPROF_TYPE_DOCUMENT_COUNTER, flags);
  properties[PROP_TIME] =
      g_param_spec_int64 ("time", NULL, NULL, G_MININT64, G_MAXINT64, 0, flags);
  properties[PROP_TIME_OFFSET] =
      g_param_spec_int64 ("time-offset", NULL, NULL, 0, G_MAXINT64, 0, flags);
  properties[PROP_VALUE_STRING] = g_param_spec_string ("value-string", NULL, NULL, NULL, flags);
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
sysprof_document_counter_value_init (SysprofDocumentCounterValue *self)
{
}
