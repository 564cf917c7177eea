// SPDX-License-Identifier: GPL-3.0-or-later

/* Properties that can only be read: a table of getters instead of a switch per type. */

#pragma once

#include <glib-object.h>

typedef enum
{
  PROPERTY_BOOLEAN,
  PROPERTY_INT,
  PROPERTY_UINT,
  PROPERTY_INT64,
  PROPERTY_UINT64,
  PROPERTY_DOUBLE,
  PROPERTY_STRING,     /* const char * */
  PROPERTY_DUP_STRING, /* char *, taken */
  PROPERTY_BOXED,      /* borrowed */
  PROPERTY_OBJECT,     /* borrowed */
  PROPERTY_DUP_OBJECT, /* taken */
  PROPERTY_ENUM,
  PROPERTY_FLAGS,
} PropertyKind;

typedef struct
{
  const char *name;
  PropertyKind kind;
  GCallback get;            /* of the object alone */
  GType (*get_type) (void); /* of objects, enumerations and flags */
} PropertyRow;

/* `rows` [n] must live as long as the program; the class gets its get_property here. */
void sysprof_properties_install (GObjectClass *class, const PropertyRow *rows, size_t n);

/* For properties of interfaces: their classes find the row, if they got their get_property here. */
void sysprof_property_attach (GParamSpec *spec, const PropertyRow *row);
GParamSpec *sysprof_property_new (const PropertyRow *row);
