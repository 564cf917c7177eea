// SPDX-License-Identifier: GPL-3.0-or-later

/* Stacks of programs without frame pointers, from copied stack bytes. */

#include "record/instruments/absent.h"

#include <sysprof.h>

struct _SysprofUserSampler
{
  SysprofInstrument parent_instance;
  guint stack_size; /* bytes */
};

SYSPROF_DEFINE_INSTRUMENT (SysprofUserSampler, sysprof_user_sampler)

enum
{
  PROP_0,
  PROP_STACK_SIZE,
  N_PROPS
};

static GParamSpec *properties[N_PROPS];

static void
sysprof_user_sampler_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  if (id == PROP_STACK_SIZE)
    g_value_set_uint (value, SYSPROF_USER_SAMPLER (object)->stack_size);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
sysprof_user_sampler_set_property (GObject *object,
                                   guint id,
                                   const GValue *value,
                                   GParamSpec *pspec)
{
  if (id == PROP_STACK_SIZE)
    SYSPROF_USER_SAMPLER (object)->stack_size = g_value_get_uint (value);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
sysprof_user_sampler_class_init (SysprofUserSamplerClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->get_property = sysprof_user_sampler_get_property;
  object_class->set_property = sysprof_user_sampler_set_property;
  klass->parent_class.name = "User Sampler";
  klass->parent_class.prepare = sysprof_absent_instrument_prepare;

  properties[PROP_STACK_SIZE] =
      g_param_spec_uint ("stack-size", NULL, NULL, 0, G_MAXUINT, 0,
                         G_PARAM_READWRITE | G_PARAM_CONSTRUCT_ONLY | G_PARAM_STATIC_STRINGS);
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
sysprof_user_sampler_init (SysprofUserSampler *self)
{
}

SysprofInstrument *
sysprof_user_sampler_new (guint stack_size)
{
  return g_object_new (SYSPROF_TYPE_USER_SAMPLER, "stack-size", stack_size, NULL);
}
