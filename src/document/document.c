// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofDocument: a frozen store and its symbols, seen as objects. */

#include "document/objects.h"

struct _SysprofDocument
{
  GObject parent_instance;
  Store *store;
  SymbolTable *symbols;
  char *filename; /* nullable */
  SysprofTimeSpan span;
};

G_DEFINE_FINAL_TYPE (SysprofDocument, sysprof_document, G_TYPE_OBJECT)

enum
{
  PROP_0,
  PROP_SUBTITLE,
  PROP_TIME_SPAN,
  PROP_TITLE,
  N_PROPS,
};

static GParamSpec *properties[N_PROPS];

SysprofDocument *
sysprof_document_new (Store *store, SymbolTable *symbols, const char *filename)
{
  SysprofDocument *self = g_object_new (SYSPROF_TYPE_DOCUMENT, NULL);

  self->store = store;
  self->symbols = symbols;
  self->filename = g_strdup (filename);
  self->span = (SysprofTimeSpan){ store->begin, store->end };
  return self;
}

Store *
sysprof_document_get_store (SysprofDocument *self)
{
  return self->store;
}

SymbolTable *
sysprof_document_get_symbols (SysprofDocument *self)
{
  return self->symbols;
}

static char *
dup_recording_time (SysprofDocument *self)
{
  g_autoptr (GDateTime) time = g_date_time_new_from_iso8601 (self->store->capture_time, NULL);
  g_autoptr (GDateTime) local = time != NULL ? g_date_time_to_local (time) : NULL;
  g_autofree char *text = local != NULL ? g_date_time_format (local, "%x %X") : NULL;

  return g_strdup_printf ("Recording at %s", text != NULL ? text : self->store->capture_time);
}

char *
sysprof_document_dup_title (SysprofDocument *self)
{
  g_return_val_if_fail (SYSPROF_IS_DOCUMENT (self), NULL);

  return self->filename != NULL ? g_path_get_basename (self->filename)
                                : dup_recording_time (self);
}

char *
sysprof_document_dup_subtitle (SysprofDocument *self)
{
  g_return_val_if_fail (SYSPROF_IS_DOCUMENT (self), NULL);

  return self->filename != NULL ? dup_recording_time (self) : NULL;
}

const SysprofTimeSpan *
sysprof_document_get_time_span (SysprofDocument *self)
{
  g_return_val_if_fail (SYSPROF_IS_DOCUMENT (self), NULL);

  return &self->span;
}

static void
sysprof_document_finalize (GObject *object)
{
  SysprofDocument *self = SYSPROF_DOCUMENT (object);

  g_clear_pointer (&self->symbols, sysprof_symbol_table_unref);
  g_clear_pointer (&self->store, sysprof_store_unref);
  g_free (self->filename);

  G_OBJECT_CLASS (sysprof_document_parent_class)->finalize (object);
}

static void
sysprof_document_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  SysprofDocument *self = SYSPROF_DOCUMENT (object);

  switch (id)
    {
    case PROP_SUBTITLE:
      g_value_take_string (value, sysprof_document_dup_subtitle (self));
      break;
    case PROP_TIME_SPAN:
      g_value_set_boxed (value, &self->span);
      break;
    case PROP_TITLE:
      g_value_take_string (value, sysprof_document_dup_title (self));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
sysprof_document_class_init (SysprofDocumentClass *class)
{
  GObjectClass *object_class = G_OBJECT_CLASS (class);

  object_class->finalize = sysprof_document_finalize;
  object_class->get_property = sysprof_document_get_property;

  properties[PROP_SUBTITLE] = g_param_spec_string ("subtitle", NULL, NULL, NULL,
                                                   G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
  properties[PROP_TIME_SPAN] =
      g_param_spec_boxed ("time-span", NULL, NULL, SYSPROF_TYPE_TIME_SPAN,
                          G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
  properties[PROP_TITLE] = g_param_spec_string ("title", NULL, NULL, NULL,
                                                G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
sysprof_document_init (SysprofDocument *self)
{
}
