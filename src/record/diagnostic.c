// SPDX-License-Identifier: GPL-3.0-or-later

/* A message for the user about the recording. *Frozen* once made. */

#include "record/diagnostic.h"

struct _SysprofDiagnostic
{
  GObject parent_instance;
  char *domain;
  char *message;
  bool fatal;
};

enum
{
  PROP_0,
  PROP_DOMAIN,
  PROP_MESSAGE,
  PROP_FATAL,
  N_PROPS
};

G_DEFINE_FINAL_TYPE (SysprofDiagnostic, sysprof_diagnostic, G_TYPE_OBJECT)

static GParamSpec *properties[N_PROPS];

static void
sysprof_diagnostic_get_property (GObject *object,
                                 guint prop_id,
                                 GValue *value,
                                 GParamSpec *pspec)
{
  SysprofDiagnostic *self = SYSPROF_DIAGNOSTIC (object);

  switch (prop_id)
    {
    case PROP_DOMAIN:
      g_value_set_string (value, self->domain);
      break;
    case PROP_MESSAGE:
      g_value_set_string (value, self->message);
      break;
    case PROP_FATAL:
      g_value_set_boolean (value, self->fatal);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
    }
}

static void
sysprof_diagnostic_finalize (GObject *object)
{
  SysprofDiagnostic *self = SYSPROF_DIAGNOSTIC (object);

  g_free (self->domain);
  g_free (self->message);
  G_OBJECT_CLASS (sysprof_diagnostic_parent_class)->finalize (object);
}

static void
sysprof_diagnostic_class_init (SysprofDiagnosticClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  const GParamFlags flags = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;

  object_class->finalize = sysprof_diagnostic_finalize;
  object_class->get_property = sysprof_diagnostic_get_property;

  properties[PROP_DOMAIN] = g_param_spec_string ("domain", NULL, NULL, NULL, flags);
  properties[PROP_MESSAGE] = g_param_spec_string ("message", NULL, NULL, NULL, flags);
  properties[PROP_FATAL] = g_param_spec_boolean ("fatal", NULL, NULL, FALSE, flags);
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
sysprof_diagnostic_init (SysprofDiagnostic *self)
{
}

SysprofDiagnostic *
sysprof_diagnostic_new (const char *domain, const char *message, bool fatal)
{
  SysprofDiagnostic *self = g_object_new (SYSPROF_TYPE_DIAGNOSTIC, NULL);

  self->domain = g_strdup (domain);
  self->message = g_strdup (message);
  self->fatal = fatal;
  return self;
}

const char *
sysprof_diagnostic_get_domain (SysprofDiagnostic *self)
{
  g_return_val_if_fail (SYSPROF_IS_DIAGNOSTIC (self), NULL);

  return self->domain;
}

const char *
sysprof_diagnostic_get_message (SysprofDiagnostic *self)
{
  g_return_val_if_fail (SYSPROF_IS_DIAGNOSTIC (self), NULL);

  return self->message;
}

gboolean
sysprof_diagnostic_get_fatal (SysprofDiagnostic *self)
{
  g_return_val_if_fail (SYSPROF_IS_DIAGNOSTIC (self), FALSE);

  return self->fatal;
}
