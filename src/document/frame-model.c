// SPDX-License-Identifier: GPL-3.0-or-later

/* A list of frames whose objects are made on demand. It is made from numbers or from a set;
 * the other one is made on demand, once. */

#include "document/frame.h"

#include "util/index-set.h"

#define SYSPROF_TYPE_FRAME_MODEL (sysprof_frame_model_get_type ())
G_DECLARE_FINAL_TYPE (SysprofFrameModel, sysprof_frame_model, SYSPROF, FRAME_MODEL, GObject)

struct _SysprofFrameModel
{
  GObject parent_instance;
  Store *store;
  const FrameNo *borrowed; /* [n] the store's; NULL: they are its own */
  /* *Guarded*: each changes from NULL to its value once, by an atomic exchange, because any
   * thread may read lists. One of them is set from the start. */
  FrameNo *owned; /* [n] */
  void *set;      /* IndexSet, or NO_SET */
  uint32_t n;
  GType item_type;
};

/* Of numbers that are not in order. */
static char no_set;
#define NO_SET ((void *) &no_set)

static void
free_set (void *set)
{
  if (set != NO_SET)
    sysprof_index_set_free (set);
}

static const FrameNo *
numbers_of (SysprofFrameModel *self)
{
  FrameNo *numbers;

  if (self->borrowed != NULL)
    return self->borrowed;

  numbers = g_atomic_pointer_get (&self->owned);
  if (numbers == NULL)
    {
      const IndexSet *set = g_atomic_pointer_get (&self->set);

      numbers = g_new (FrameNo, sysprof_index_set_size (set));
      sysprof_index_set_list (set, numbers);
      if (!g_atomic_pointer_compare_and_exchange (&self->owned, NULL, numbers))
        {
          g_free (numbers);
          numbers = g_atomic_pointer_get (&self->owned);
        }
    }
  return numbers;
}

const IndexSet *
sysprof_frame_model_peek_set (GListModel *model, const Store *store)
{
  SysprofFrameModel *self;
  void *set;

  if (!SYSPROF_IS_FRAME_MODEL (model) || SYSPROF_FRAME_MODEL (model)->store != store)
    return NULL;

  self = SYSPROF_FRAME_MODEL (model);
  set = g_atomic_pointer_get (&self->set);
  if (set == NULL)
    {
      set = sysprof_index_set_new (numbers_of (self), self->n);
      if (set == NULL)
        set = NO_SET;
      if (!g_atomic_pointer_compare_and_exchange (&self->set, NULL, set))
        {
          free_set (set);
          set = g_atomic_pointer_get (&self->set);
        }
    }
  return set == NO_SET ? NULL : set;
}

static GType
sysprof_frame_model_get_item_type (GListModel *model)
{
  return SYSPROF_FRAME_MODEL (model)->item_type;
}

static guint
sysprof_frame_model_get_n_items (GListModel *model)
{
  return SYSPROF_FRAME_MODEL (model)->n;
}

static gpointer
sysprof_frame_model_get_item (GListModel *model, guint position)
{
  SysprofFrameModel *self = SYSPROF_FRAME_MODEL (model);

  if (position >= self->n)
    return NULL;

  return sysprof_document_frame_new (self->store, numbers_of (self)[position]);
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

static SysprofFrameModel *
new_of (Store *store, uint32_t n, GType item_type)
{
  SysprofFrameModel *self = g_object_new (SYSPROF_TYPE_FRAME_MODEL, NULL);

  self->store = sysprof_store_ref (store);
  self->n = n;
  self->item_type = item_type;
  return self;
}

GListModel *
sysprof_frame_model_new (Store *store, const FrameList *frames, GType item_type)
{
  static const FrameNo none[1];
  SysprofFrameModel *self = new_of (store, frames->n, item_type);

  self->borrowed = frames->n > 0 ? frames->frame : none;
  return G_LIST_MODEL (self);
}

GListModel *
sysprof_frame_model_new_take (Store *store, FrameNo *frames, uint32_t n, GType item_type)
{
  SysprofFrameModel *self = new_of (store, n, item_type);

  self->owned = frames;
  return G_LIST_MODEL (self);
}

GListModel *
sysprof_frame_model_new_take_set (Store *store, IndexSet *frames, GType item_type)
{
  SysprofFrameModel *self = new_of (store, sysprof_index_set_size (frames), item_type);

  self->set = frames;
  return G_LIST_MODEL (self);
}

FrameList
sysprof_frame_model_peek (GListModel *model, const Store *store, FrameNo **taken)
{
  g_autoptr (GArray) frames = NULL;
  uint32_t n;

  *taken = NULL;
  if (SYSPROF_IS_FRAME_MODEL (model) && SYSPROF_FRAME_MODEL (model)->store == store)
    {
      SysprofFrameModel *self = SYSPROF_FRAME_MODEL (model);

      return (FrameList){ (FrameNo *) numbers_of (self), self->n };
    }

  if (SYSPROF_IS_DOCUMENT (model) && SYSPROF_DOCUMENT (model)->store == store)
    {
      n = store->frames.n;
      *taken = g_new (FrameNo, MAX (n, 1));
      for (uint32_t i = 0; i < n; i++)
        (*taken)[i] = i;
      return (FrameList){ *taken, n };
    }

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
  free_set (self->set);

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
