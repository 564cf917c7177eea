// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofDocument: a frozen store and its symbols, seen as objects. */

#include "document/frames/frame.h"

struct _SysprofDocument
{
  GObject parent_instance;
  Store *store;
  SymbolTable *symbols;
  char *filename; /* nullable */
  SysprofTimeSpan span;
};

static GType
sysprof_document_get_item_type (GListModel *model)
{
  return SYSPROF_TYPE_DOCUMENT_FRAME;
}

static guint
sysprof_document_get_n_items (GListModel *model)
{
  return SYSPROF_DOCUMENT (model)->store->frames.n;
}

static gpointer
sysprof_document_get_item (GListModel *model, guint position)
{
  SysprofDocument *self = SYSPROF_DOCUMENT (model);

  if (position >= self->store->frames.n)
    return NULL;

  return sysprof_document_frame_new (self->store, position);
}

static void
list_model_init (GListModelInterface *interface)
{
  interface->get_item_type = sysprof_document_get_item_type;
  interface->get_n_items = sysprof_document_get_n_items;
  interface->get_item = sysprof_document_get_item;
}

G_DEFINE_FINAL_TYPE_WITH_CODE (SysprofDocument,
                               sysprof_document,
                               G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (G_TYPE_LIST_MODEL, list_model_init))

enum
{
  PROP_0,
  PROP_COUNTERS,
  PROP_MARKS,
  PROP_SAMPLES,
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
  self->span =
      (SysprofTimeSpan){ store->begin,
                         store->begin + sysprof_time_between (store->begin, store->end) };
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
  g_autofree char *text = local != NULL ? g_date_time_format (local, "%x %X")
                                        : g_utf8_make_valid (self->store->capture_time, -1);

  return g_strdup_printf ("Recording at %s", text != NULL ? text : self->store->capture_time);
}

char *
sysprof_document_dup_title (SysprofDocument *self)
{
  g_return_val_if_fail (SYSPROF_IS_DOCUMENT (self), NULL);

  return self->filename != NULL ? g_filename_display_basename (self->filename)
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

GListModel *
sysprof_document_list_counters (SysprofDocument *self)
{
  GListStore *counters;

  g_return_val_if_fail (SYSPROF_IS_DOCUMENT (self), NULL);

  counters = g_list_store_new (SYSPROF_TYPE_DOCUMENT_COUNTER);
  for (uint32_t i = 0; i < self->store->counters.n; i++)
    {
      g_autoptr (SysprofDocumentCounter) counter =
          sysprof_document_counter_new (self->store, i);

      g_list_store_append (counters, counter);
    }
  return G_LIST_MODEL (counters);
}

SysprofDocumentCounter *
sysprof_document_find_counter (SysprofDocument *self, const char *category, const char *name)
{
  g_return_val_if_fail (SYSPROF_IS_DOCUMENT (self), NULL);
  g_return_val_if_fail (category != NULL && name != NULL, NULL);

  for (uint32_t i = 0; i < self->store->counters.n; i++)
    {
      const Counter *counter = &self->store->counters.row[i];

      if (g_str_equal (sysprof_store_string (self->store, counter->category), category) &&
          g_str_equal (sysprof_store_string (self->store, counter->name), name))
        return sysprof_document_counter_new (self->store, i);
    }

  return NULL;
}

GListModel *
sysprof_document_list_samples (SysprofDocument *self)
{
  g_return_val_if_fail (SYSPROF_IS_DOCUMENT (self), NULL);

  return sysprof_frame_model_new (self->store,
                                  &self->store->frames_of_type[SYSPROF_CAPTURE_FRAME_SAMPLE],
                                  SYSPROF_TYPE_DOCUMENT_SAMPLE);
}

GListModel *
sysprof_document_list_marks (SysprofDocument *self)
{
  g_return_val_if_fail (SYSPROF_IS_DOCUMENT (self), NULL);

  return sysprof_frame_model_new (self->store,
                                  &self->store->frames_of_type[SYSPROF_CAPTURE_FRAME_MARK],
                                  SYSPROF_TYPE_DOCUMENT_MARK);
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
    case PROP_COUNTERS:
      g_value_take_object (value, sysprof_document_list_counters (self));
      break;
    case PROP_MARKS:
      g_value_take_object (value, sysprof_document_list_marks (self));
      break;
    case PROP_SAMPLES:
      g_value_take_object (value, sysprof_document_list_samples (self));
      break;
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
  const GParamFlags flags = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;
  GObjectClass *object_class = G_OBJECT_CLASS (class);

  object_class->finalize = sysprof_document_finalize;
  object_class->get_property = sysprof_document_get_property;

  properties[PROP_COUNTERS] =
      g_param_spec_object ("counters", NULL, NULL, G_TYPE_LIST_MODEL, flags);
  properties[PROP_MARKS] = g_param_spec_object ("marks", NULL, NULL, G_TYPE_LIST_MODEL, flags);
  properties[PROP_SAMPLES] =
      g_param_spec_object ("samples", NULL, NULL, G_TYPE_LIST_MODEL, flags);
  properties[PROP_SUBTITLE] = g_param_spec_string ("subtitle", NULL, NULL, NULL, flags);
  properties[PROP_TIME_SPAN] =
      g_param_spec_boxed ("time-span", NULL, NULL, SYSPROF_TYPE_TIME_SPAN, flags);
  properties[PROP_TITLE] = g_param_spec_string ("title", NULL, NULL, NULL, flags);
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
sysprof_document_init (SysprofDocument *self)
{
}
