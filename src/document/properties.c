// SPDX-License-Identifier: GPL-3.0-or-later

/* Read-only GObject properties from a table of getters. See properties.h. */

#include "document/properties.h"

#define FLAGS (G_PARAM_READABLE | G_PARAM_STATIC_STRINGS)

/* Calls a getter that returns `Type`. */
#define GET(Type) (((Type (*) (gpointer)) row->get) (object))

static GQuark
row_quark (void)
{
  return g_quark_from_static_string ("sysprof-property-row");
}

static void
get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  const PropertyRow *row = g_param_spec_get_qdata (pspec, row_quark ());

  switch (row->kind)
    {
    case PROPERTY_BOOLEAN:
      g_value_set_boolean (value, GET (gboolean));
      break;
    case PROPERTY_INT:
      g_value_set_int (value, GET (int));
      break;
    case PROPERTY_UINT:
      g_value_set_uint (value, GET (guint));
      break;
    case PROPERTY_INT64:
      g_value_set_int64 (value, GET (gint64));
      break;
    case PROPERTY_UINT64:
      g_value_set_uint64 (value, GET (guint64));
      break;
    case PROPERTY_DOUBLE:
      g_value_set_double (value, GET (double));
      break;
    case PROPERTY_STRING:
      g_value_set_string (value, GET (const char *));
      break;
    case PROPERTY_DUP_STRING:
      g_value_take_string (value, GET (char *));
      break;
    case PROPERTY_BOXED:
      g_value_set_boxed (value, GET (gconstpointer));
      break;
    case PROPERTY_OBJECT:
      g_value_set_object (value, GET (gpointer));
      break;
    case PROPERTY_DUP_OBJECT:
      g_value_take_object (value, GET (gpointer));
      break;
    case PROPERTY_ENUM:
      g_value_set_enum (value, GET (int));
      break;
    case PROPERTY_FLAGS:
      g_value_set_flags (value, GET (guint));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

GParamSpec *
sysprof_property_new (const PropertyRow *row)
{
  switch (row->kind)
    {
    case PROPERTY_BOOLEAN:
      return g_param_spec_boolean (row->name, NULL, NULL, FALSE, FLAGS);
    case PROPERTY_INT:
      return g_param_spec_int (row->name, NULL, NULL, G_MININT, G_MAXINT, 0, FLAGS);
    case PROPERTY_UINT:
      return g_param_spec_uint (row->name, NULL, NULL, 0, G_MAXUINT, 0, FLAGS);
    case PROPERTY_INT64:
      return g_param_spec_int64 (row->name, NULL, NULL, G_MININT64, G_MAXINT64, 0, FLAGS);
    case PROPERTY_UINT64:
      return g_param_spec_uint64 (row->name, NULL, NULL, 0, G_MAXUINT64, 0, FLAGS);
    case PROPERTY_DOUBLE:
      return g_param_spec_double (row->name, NULL, NULL, -G_MAXDOUBLE, G_MAXDOUBLE, 0, FLAGS);
    case PROPERTY_STRING:
    case PROPERTY_DUP_STRING:
      return g_param_spec_string (row->name, NULL, NULL, NULL, FLAGS);
    case PROPERTY_ENUM:
      {
        g_autoptr (GTypeClass) class = g_type_class_ref (row->get_type ());

        return g_param_spec_enum (row->name, NULL, NULL, row->get_type (),
                                  ((GEnumClass *) class)->values[0].value, FLAGS);
      }
    case PROPERTY_FLAGS:
      return g_param_spec_flags (row->name, NULL, NULL, row->get_type (), 0, FLAGS);
    case PROPERTY_BOXED:
      return g_param_spec_boxed (row->name, NULL, NULL, row->get_type (), FLAGS);
    case PROPERTY_OBJECT:
    case PROPERTY_DUP_OBJECT:
    default:
      return g_param_spec_object (row->name, NULL, NULL, row->get_type (), FLAGS);
    }
}

void
sysprof_property_attach (GParamSpec *spec, const PropertyRow *row)
{
  g_param_spec_set_qdata (spec, row_quark (), (gpointer) row);
}

void
sysprof_properties_install (GObjectClass *class, const PropertyRow *rows, size_t n)
{
  class->get_property = get_property;
  for (size_t i = 0; i < n; i++)
    {
      GParamSpec *spec = sysprof_property_new (&rows[i]);

      g_object_class_install_property (class, (guint) i + 1, spec);
      sysprof_property_attach (spec, &rows[i]);
    }
}
