// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofDocumentCounter: a counter with its names and, as a list model, its values. */

#include "document/objects.h"

struct _SysprofDocumentCounter
{
  GObject parent_instance;
  Store *store;
  const Counter *counter; /* in the store */
  const int64_t *time;    /* [counter->n_values], NULL without any */
  const CounterValue *value;
  char *category; /* valid UTF-8, which captures need not hold */
  char *name;
  char *description;
  bool has_range; /* NULL until used */
  double min_value;
  double max_value;
};

enum
{
  PROP_0,
  PROP_CATEGORY,
  PROP_DESCRIPTION,
  PROP_ID,
  PROP_KEY,
  PROP_MAX_VALUE,
  PROP_MIN_VALUE,
  PROP_N_VALUES,
  PROP_NAME,
  PROP_VALUE_TYPE,
  N_PROPS,
};

static GParamSpec *properties[N_PROPS];

static GType
sysprof_document_counter_get_item_type (GListModel *model)
{
  return SYSPROF_TYPE_DOCUMENT_COUNTER_VALUE;
}

static guint
sysprof_document_counter_get_n_items (GListModel *model)
{
  return SYSPROF_DOCUMENT_COUNTER (model)->counter->n_values;
}

static gpointer
sysprof_document_counter_get_item (GListModel *model, guint position)
{
  SysprofDocumentCounter *self = SYSPROF_DOCUMENT_COUNTER (model);

  if (position >= self->counter->n_values)
    return NULL;

  return sysprof_document_counter_value_new (self, position);
}

static void
list_model_init (GListModelInterface *interface)
{
  interface->get_item_type = sysprof_document_counter_get_item_type;
  interface->get_n_items = sysprof_document_counter_get_n_items;
  interface->get_item = sysprof_document_counter_get_item;
}

G_DEFINE_FINAL_TYPE_WITH_CODE (SysprofDocumentCounter,
                               sysprof_document_counter,
                               G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (G_TYPE_LIST_MODEL, list_model_init))

static char *
dup_valid (const Store *store, StringId text)
{
  return g_utf8_make_valid (sysprof_store_string (store, text), -1);
}

SysprofDocumentCounter *
sysprof_document_counter_new (Store *store, uint32_t index)
{
  SysprofDocumentCounter *self = g_object_new (SYSPROF_TYPE_DOCUMENT_COUNTER, NULL);

  self->store = sysprof_store_ref (store);
  self->counter = &store->counters.row[index];
  if (self->counter->n_values > 0)
    {
      self->time = store->counters.time + self->counter->first_value;
      self->value = store->counters.value + self->counter->first_value;
    }
  self->category = dup_valid (store, self->counter->category);
  self->name = dup_valid (store, self->counter->name);
  self->description = dup_valid (store, self->counter->description);
  return self;
}

int64_t
sysprof_document_counter_get_begin (SysprofDocumentCounter *self)
{
  return self->store->begin;
}

const char *
sysprof_document_counter_get_category (SysprofDocumentCounter *self)
{
  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_COUNTER (self), NULL);

  return self->category;
}

const char *
sysprof_document_counter_get_name (SysprofDocumentCounter *self)
{
  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_COUNTER (self), NULL);

  return self->name;
}

const char *
sysprof_document_counter_get_description (SysprofDocumentCounter *self)
{
  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_COUNTER (self), NULL);

  return self->description;
}

char *
sysprof_document_counter_dup_key (SysprofDocumentCounter *self)
{
  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_COUNTER (self), NULL);

  return g_strdup_printf ("%s/%s", sysprof_document_counter_get_category (self),
                          sysprof_document_counter_get_name (self));
}

guint
sysprof_document_counter_get_id (SysprofDocumentCounter *self)
{
  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_COUNTER (self), 0);

  return self->counter->id;
}

GType
sysprof_document_counter_get_value_type (SysprofDocumentCounter *self)
{
  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_COUNTER (self), G_TYPE_INVALID);

  return self->counter->is_double ? G_TYPE_DOUBLE : G_TYPE_INT64;
}

guint
sysprof_document_counter_get_n_values (SysprofDocumentCounter *self)
{
  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_COUNTER (self), 0);

  return self->counter->n_values;
}

static CounterValue
value_at (SysprofDocumentCounter *self, guint nth, gint64 *time)
{
  bool is_there = nth < self->counter->n_values;

  if (time != NULL)
    *time = is_there ? self->time[nth] : 0;
  return is_there ? self->value[nth] : (CounterValue){ 0 };
}

double
sysprof_document_counter_get_value_double (SysprofDocumentCounter *self,
                                           guint nth,
                                           gint64 *time)
{
  CounterValue value;

  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_COUNTER (self), 0);

  value = value_at (self, nth, time);
  return self->counter->is_double ? value.dbl : (double) value.i64;
}

/* What no 64-bit number can be, a number that is none among it, becomes the nearest that can, or 0. */
static gint64
to_int64 (double value)
{
  if (value >= (double) G_MAXINT64)
    return G_MAXINT64;
  if (value <= (double) G_MININT64)
    return G_MININT64;
  return value == value ? (gint64) value : 0;
}

gint64
sysprof_document_counter_get_value_int64 (SysprofDocumentCounter *self, guint nth, gint64 *time)
{
  CounterValue value;

  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_COUNTER (self), 0);

  value = value_at (self, nth, time);
  return self->counter->is_double ? to_int64 (value.dbl) : value.i64;
}

void
sysprof_document_counter_get_value (SysprofDocumentCounter *self,
                                    guint nth,
                                    gint64 *time,
                                    GValue *value)
{
  g_auto (GValue) own = G_VALUE_INIT;

  g_return_if_fail (SYSPROF_IS_DOCUMENT_COUNTER (self));
  g_return_if_fail (value != NULL);

  if (self->counter->is_double)
    {
      g_value_init (&own, G_TYPE_DOUBLE);
      g_value_set_double (&own, sysprof_document_counter_get_value_double (self, nth, time));
    }
  else
    {
      g_value_init (&own, G_TYPE_INT64);
      g_value_set_int64 (&own, sysprof_document_counter_get_value_int64 (self, nth, time));
    }

  if (!G_IS_VALUE (value))
    g_value_init (value, G_VALUE_TYPE (&own));
  g_value_transform (&own, value);
}

/* The store's own memory, which the bytes keep. */
static GBytes *
wrap_column (SysprofDocumentCounter *self, gconstpointer column)
{
  return g_bytes_new_with_free_func (column, (gsize) self->counter->n_values * 8,
                                     (GDestroyNotify) sysprof_store_unref,
                                     sysprof_store_ref (self->store));
}

GBytes *
sysprof_document_counter_dup_times (SysprofDocumentCounter *self)
{
  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_COUNTER (self), NULL);

  return wrap_column (self, self->time);
}

GBytes *
sysprof_document_counter_dup_values (SysprofDocumentCounter *self)
{
  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_COUNTER (self), NULL);

  return wrap_column (self, self->value);
}

static void
find_range (SysprofDocumentCounter *self)
{
  if (self->has_range)
    return;

  for (guint i = 0; i < self->counter->n_values; i++)
    {
      double value = sysprof_document_counter_get_value_double (self, i, NULL);

      self->min_value = i == 0 ? value : MIN (self->min_value, value);
      self->max_value = i == 0 ? value : MAX (self->max_value, value);
    }
  self->has_range = true;
}

double
sysprof_document_counter_get_min_value (SysprofDocumentCounter *self)
{
  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_COUNTER (self), 0);

  find_range (self);
  return self->min_value;
}

double
sysprof_document_counter_get_max_value (SysprofDocumentCounter *self)
{
  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_COUNTER (self), 0);

  find_range (self);
  return self->max_value;
}

static void
sysprof_document_counter_finalize (GObject *object)
{
  SysprofDocumentCounter *self = SYSPROF_DOCUMENT_COUNTER (object);

  g_free (self->category);
  g_free (self->name);
  g_free (self->description);
  g_clear_pointer (&self->store, sysprof_store_unref);

  G_OBJECT_CLASS (sysprof_document_counter_parent_class)->finalize (object);
}

static void
sysprof_document_counter_get_property (GObject *object,
                                       guint id,
                                       GValue *value,
                                       GParamSpec *pspec)
{
  SysprofDocumentCounter *self = SYSPROF_DOCUMENT_COUNTER (object);

  switch (id)
    {
    case PROP_CATEGORY:
      g_value_set_string (value, sysprof_document_counter_get_category (self));
      break;
    case PROP_DESCRIPTION:
      g_value_set_string (value, sysprof_document_counter_get_description (self));
      break;
    case PROP_ID:
      g_value_set_uint (value, sysprof_document_counter_get_id (self));
      break;
    case PROP_KEY:
      g_value_take_string (value, sysprof_document_counter_dup_key (self));
      break;
    case PROP_MAX_VALUE:
      g_value_set_double (value, sysprof_document_counter_get_max_value (self));
      break;
    case PROP_MIN_VALUE:
      g_value_set_double (value, sysprof_document_counter_get_min_value (self));
      break;
    case PROP_N_VALUES:
      g_value_set_uint (value, sysprof_document_counter_get_n_values (self));
      break;
    case PROP_NAME:
      g_value_set_string (value, sysprof_document_counter_get_name (self));
      break;
    case PROP_VALUE_TYPE:
      g_value_set_gtype (value, sysprof_document_counter_get_value_type (self));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
sysprof_document_counter_class_init (SysprofDocumentCounterClass *class)
{
  const GParamFlags flags = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;
  GObjectClass *object_class = G_OBJECT_CLASS (class);

  object_class->finalize = sysprof_document_counter_finalize;
  object_class->get_property = sysprof_document_counter_get_property;

  properties[PROP_CATEGORY] = g_param_spec_string ("category", NULL, NULL, NULL, flags);
  properties[PROP_DESCRIPTION] = g_param_spec_string ("description", NULL, NULL, NULL, flags);
  properties[PROP_ID] = g_param_spec_uint ("id", NULL, NULL, 0, G_MAXUINT, 0, flags);
  properties[PROP_KEY] = g_param_spec_string ("key", NULL, NULL, NULL, flags);
  properties[PROP_MAX_VALUE] =
      g_param_spec_double ("max-value", NULL, NULL, -G_MAXDOUBLE, G_MAXDOUBLE, 0, flags);
  properties[PROP_MIN_VALUE] =
      g_param_spec_double ("min-value", NULL, NULL, -G_MAXDOUBLE, G_MAXDOUBLE, 0, flags);
  properties[PROP_N_VALUES] =
      g_param_spec_uint ("n-values", NULL, NULL, 0, G_MAXUINT, 0, flags);
  properties[PROP_NAME] = g_param_spec_string ("name", NULL, NULL, NULL, flags);
  properties[PROP_VALUE_TYPE] =
      g_param_spec_gtype ("value-type", NULL, NULL, G_TYPE_NONE, flags);
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
sysprof_document_counter_init (SysprofDocumentCounter *self)
{
}
