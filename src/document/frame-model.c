// SPDX-License-Identifier: GPL-3.0-or-later

/* A list of frames that are made into objects when they are asked for. */

#include "document/frames/frame.h"

#define SYSPROF_TYPE_FRAME_MODEL (sysprof_frame_model_get_type ())
G_DECLARE_FINAL_TYPE (SysprofFrameModel, sysprof_frame_model, SYSPROF, FRAME_MODEL, GObject)

struct _SysprofFrameModel
{
  GObject parent_instance;
  Store *store;
  FrameList frames;
  FrameNo *owned; /* NULL: the frame numbers are the store's */
  GType item_type;
};

static GType
sysprof_frame_model_get_item_type (GListModel *model)
{
  return SYSPROF_FRAME_MODEL (model)->item_type;
}

static guint
sysprof_frame_model_get_n_items (GListModel *model)
{
  return SYSPROF_FRAME_MODEL (model)->frames.n;
}

static gpointer
sysprof_frame_model_get_item (GListModel *model, guint position)
{
  SysprofFrameModel *self = SYSPROF_FRAME_MODEL (model);

  if (position >= self->frames.n)
    return NULL;

  return sysprof_document_frame_new (self->store, self->frames.frame[position]);
}

static void
list_model_init (GListModelInterface *interface)
{
  interface->get_item_type = sysprof_frame_model_get_item_type;
  interface->get_n_items = sysprof_frame_model_get_n_items;
  interface->get_item = sysprof_frame_model_get_item;
}

G_DEFINE_FINAL_TYPE_WITH_CODE (SysprofFrameModel,
                               sysprof_frame_model,
                               G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (G_TYPE_LIST_MODEL, list_model_init))

GListModel *
sysprof_frame_model_new (Store *store, const FrameList *frames, GType item_type)
{
  SysprofFrameModel *self = g_object_new (SYSPROF_TYPE_FRAME_MODEL, NULL);

  self->store = sysprof_store_ref (store);
  self->frames = *frames;
  self->item_type = item_type;
  return G_LIST_MODEL (self);
}

GListModel *
sysprof_frame_model_new_take (Store *store, FrameNo *frames, uint32_t n, GType item_type)
{
  FrameList list = { frames, n };
  GListModel *model = sysprof_frame_model_new (store, &list, item_type);

  SYSPROF_FRAME_MODEL (model)->owned = frames;
  return model;
}

FrameList
sysprof_frame_model_peek (GListModel *model, const Store *store, FrameNo **taken)
{
  g_autoptr (GArray) frames = NULL;
  uint32_t n;

  *taken = NULL;
  if (SYSPROF_IS_FRAME_MODEL (model) && SYSPROF_FRAME_MODEL (model)->store == store)
    return SYSPROF_FRAME_MODEL (model)->frames;

  frames = g_array_new (FALSE, FALSE, sizeof (FrameNo));
  for (guint i = 0; i < g_list_model_get_n_items (model); i++)
    {
      g_autoptr (GObject) item = g_list_model_get_item (model, i);

      if (SYSPROF_IS_DOCUMENT_FRAME (item) && SYSPROF_DOCUMENT_FRAME (item)->store == store)
        g_array_append_val (frames, SYSPROF_DOCUMENT_FRAME (item)->number);
    }

  n = frames->len;
  *taken = (FrameNo *) g_array_free (g_steal_pointer (&frames), FALSE);
  return (FrameList){ *taken, n };
}

static void
sysprof_frame_model_finalize (GObject *object)
{
  SysprofFrameModel *self = SYSPROF_FRAME_MODEL (object);

  g_clear_pointer (&self->store, sysprof_store_unref);
  g_free (self->owned);

  G_OBJECT_CLASS (sysprof_frame_model_parent_class)->finalize (object);
}

static void
sysprof_frame_model_class_init (SysprofFrameModelClass *class)
{
  G_OBJECT_CLASS (class)->finalize = sysprof_frame_model_finalize;
}

static void
sysprof_frame_model_init (SysprofFrameModel *self)
{
}
