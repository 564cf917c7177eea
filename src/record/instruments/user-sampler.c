// SPDX-License-Identifier: GPL-3.0-or-later

/* Samples whose user stacks are unwound from stack copies: the sampler with `--unwind copy`, as
 * a type of the public API. */

#include "record/record.h"

struct _SysprofUserSampler
{
  SysprofInstrument parent_instance;
  guint stack_size;           /* bytes */
  SysprofInstrument *sampler; /* does all the work */
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
sysprof_user_sampler_constructed (GObject *object)
{
  SysprofUserSampler *self = SYSPROF_USER_SAMPLER (object);

  G_OBJECT_CLASS (sysprof_user_sampler_parent_class)->constructed (object);
  /* The kernel copies a multiple of 8 bytes. */
  self->sampler = sysprof_sampler_new_with_options (&(SamplerOptions){
      .unwind = UNWIND_COPY,
      .stack_size = MIN (self->stack_size, G_MAXUINT16) & ~(guint) (sizeof (guint64) - 1),
  });
}

static void
sysprof_user_sampler_finalize (GObject *object)
{
  g_clear_object (&SYSPROF_USER_SAMPLER (object)->sampler);
  G_OBJECT_CLASS (sysprof_user_sampler_parent_class)->finalize (object);
}

static gboolean
sysprof_user_sampler_prepare (SysprofInstrument *instrument,
                              RecordingContext *context,
                              GError **error)
{
  SysprofInstrument *sampler = SYSPROF_USER_SAMPLER (instrument)->sampler;

  return SYSPROF_INSTRUMENT_GET_CLASS (sampler)->prepare (sampler, context, error);
}

static void
sysprof_user_sampler_record (SysprofInstrument *instrument, RecordingContext *context)
{
  SysprofInstrument *sampler = SYSPROF_USER_SAMPLER (instrument)->sampler;

  SYSPROF_INSTRUMENT_GET_CLASS (sampler)->record (sampler, context);
}

static void
sysprof_user_sampler_stop (SysprofInstrument *instrument, RecordingContext *context)
{
  SysprofInstrument *sampler = SYSPROF_USER_SAMPLER (instrument)->sampler;

  SYSPROF_INSTRUMENT_GET_CLASS (sampler)->stop (sampler, context);
}

static void
sysprof_user_sampler_class_init (SysprofUserSamplerClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->get_property = sysprof_user_sampler_get_property;
  object_class->set_property = sysprof_user_sampler_set_property;
  object_class->constructed = sysprof_user_sampler_constructed;
  object_class->finalize = sysprof_user_sampler_finalize;
  klass->parent_class.name = "User Sampler";
  klass->parent_class.opens_events = true;
  klass->parent_class.prepare = sysprof_user_sampler_prepare;
  klass->parent_class.record = sysprof_user_sampler_record;
  klass->parent_class.stop = sysprof_user_sampler_stop;

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
