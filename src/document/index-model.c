// SPDX-License-Identifier: GPL-3.0-or-later

/* A list of what an object can make by number. */

#include "document/objects.h"

#define SYSPROF_TYPE_INDEX_MODEL (sysprof_index_model_get_type ())
G_DECLARE_FINAL_TYPE (SysprofIndexModel, sysprof_index_model, SYSPROF, INDEX_MODEL, GObject)

struct _SysprofIndexModel
{
  GObject parent_instance;
  GObject *owner;
  GType item_type;
  IndexModelMake make;
  uint32_t *numbers; /* [n] NULL: 0 … n - 1 */
  guint n;
};

static GType
sysprof_index_model_get_item_type (GListModel *model)
{
  return SYSPROF_INDEX_MODEL (model)->item_type;
}

static guint
sysprof_index_model_get_n_items (GListModel *model)
{
  return SYSPROF_INDEX_MODEL (model)->n;
}

static gpointer
sysprof_index_model_get_item (GListModel *model, guint position)
{
  SysprofIndexModel *self = SYSPROF_INDEX_MODEL (model);

  if (position >= self->n)
    return NULL;

  return self->make (self->owner, self->numbers != NULL ? self->numbers[position] : position);
}

static void
list_model_init (GListModelInterface *interface)
{
  interface->get_item_type = sysprof_index_model_get_item_type;
  interface->get_n_items = sysprof_index_model_get_n_items;
  interface->get_item = sysprof_index_model_get_item;
}

G_DEFINE_FINAL_TYPE_WITH_CODE (SysprofIndexModel,
                               sysprof_index_model,
                               G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (G_TYPE_LIST_MODEL, list_model_init))

GListModel *
sysprof_index_model_new (gpointer owner,
                         GType item_type,
                         IndexModelMake make,
                         uint32_t *numbers,
                         guint n)
{
  SysprofIndexModel *self = g_object_new (SYSPROF_TYPE_INDEX_MODEL, NULL);

  self->owner = g_object_ref (owner);
  self->item_type = item_type;
  self->make = make;
  self->numbers = numbers;
  self->n = n;
  return G_LIST_MODEL (self);
}

static void
sysprof_index_model_finalize (GObject *object)
{
  SysprofIndexModel *self = SYSPROF_INDEX_MODEL (object);

  g_clear_object (&self->owner);
  g_free (self->numbers);

  G_OBJECT_CLASS (sysprof_index_model_parent_class)->finalize (object);
}

static void
sysprof_index_model_class_init (SysprofIndexModelClass *class)
{
  G_OBJECT_CLASS (class)->finalize = sysprof_index_model_finalize;
}

static void
sysprof_index_model_init (SysprofIndexModel *self)
{
}
