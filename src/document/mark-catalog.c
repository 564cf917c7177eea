// SPDX-License-Identifier: GPL-3.0-or-later

/* The marks of one group and name, and the groups of a document as lists of them. */

#include "analyze/analyze.h"
#include "document/objects.h"
#include "document/properties.h"

#include <string.h>

struct _SysprofMarkCatalog
{
  GObject parent_instance;
  GListModel *marks; /* of SysprofDocumentMark */
  char *group;
  char *name;
  gint64 min_duration;
  gint64 max_duration;
  gint64 average_duration;
  gint64 median_duration;
};

static GType
sysprof_mark_catalog_get_item_type (GListModel *model)
{
  return SYSPROF_TYPE_DOCUMENT_MARK;
}

static guint
sysprof_mark_catalog_get_n_items (GListModel *model)
{
  return g_list_model_get_n_items (SYSPROF_MARK_CATALOG (model)->marks);
}

static gpointer
sysprof_mark_catalog_get_item (GListModel *model, guint position)
{
  return g_list_model_get_item (SYSPROF_MARK_CATALOG (model)->marks, position);
}

static void
list_model_init (GListModelInterface *interface)
{
  interface->get_item_type = sysprof_mark_catalog_get_item_type;
  interface->get_n_items = sysprof_mark_catalog_get_n_items;
  interface->get_item = sysprof_mark_catalog_get_item;
}

G_DEFINE_FINAL_TYPE_WITH_CODE (SysprofMarkCatalog,
                               sysprof_mark_catalog,
                               G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (G_TYPE_LIST_MODEL, list_model_init))

/* Sorts `durations` [n]. */
static void
sum_up (SysprofMarkCatalog *self, int64_t *durations, uint32_t n)
{
  Spread spread = sysprof_spread_of (durations, n);

  if (n == 0)
    return;

  self->min_duration = spread.min;
  self->max_duration = spread.max;
  self->average_duration = spread.mean;
  self->median_duration = spread.median;
}

/* A mark's frame, and where it is sorted to. */
typedef struct
{
  const char *group;
  const char *name;
  uint32_t mark; /* index into Store.marks and the list of their frames */
} Row;

static int
compare_rows (const void *a, const void *b, void *data)
{
  const Row *left = a, *right = b;
  int order = left->group != right->group ? strcmp (left->group, right->group) : 0;

  if (order == 0 && left->name != right->name)
    order = strcmp (left->name, right->name);
  return order != 0 ? order : (left->mark > right->mark) - (left->mark < right->mark);
}

static SysprofMarkCatalog *
catalog_new (Store *store, const Row *rows, uint32_t n)
{
  const FrameList *marks = &store->frames_of_type[SYSPROF_CAPTURE_FRAME_MARK];
  SysprofMarkCatalog *self = g_object_new (SYSPROF_TYPE_MARK_CATALOG, NULL);
  FrameNo *frames = g_new (FrameNo, MAX (n, 1));
  g_autofree int64_t *duration = g_new (int64_t, MAX (n, 1));
  uint32_t n_durations = 0;

  for (uint32_t i = 0; i < n; i++)
    {
      const Mark *mark = &store->marks[rows[i].mark];

      frames[i] = marks->frame[rows[i].mark];
      if (mark->duration > 0)
        duration[n_durations++] = mark->duration;
    }
  self->group = g_utf8_make_valid (rows[0].group, -1);
  self->name = g_utf8_make_valid (rows[0].name, -1);
  self->marks = sysprof_frame_model_new_take (store, frames, n, SYSPROF_TYPE_DOCUMENT_MARK);
  sum_up (self, duration, n_durations);
  return self;
}

GListModel *
sysprof_mark_catalogs_new (Store *store)
{
  GListStore *groups = g_list_store_new (G_TYPE_LIST_MODEL);
  g_autofree Row *rows = g_new (Row, MAX (store->n_marks, 1));

  for (uint32_t i = 0; i < store->n_marks; i++)
    rows[i] = (Row){ sysprof_store_string (store, store->marks[i].group),
                     sysprof_store_string (store, store->marks[i].name), i };
  if (!sysprof_sort_if_wanted (rows, store->n_marks, sizeof *rows, compare_rows, NULL))
    return G_LIST_MODEL (groups);

  for (uint32_t i = 0; i < store->n_marks && sysprof_is_wanted ();)
    {
      g_autoptr (GListStore) catalogs = g_list_store_new (SYSPROF_TYPE_MARK_CATALOG);
      const char *group = rows[i].group;

      while (i < store->n_marks && rows[i].group == group && sysprof_is_wanted ())
        {
          g_autoptr (SysprofMarkCatalog) catalog = NULL;
          uint32_t end = i + 1;

          while (end < store->n_marks && rows[end].group == group &&
                 rows[end].name == rows[i].name)
            end++;
          catalog = catalog_new (store, rows + i, end - i);
          g_list_store_append (catalogs, catalog);
          i = end;
        }
      g_list_store_append (groups, catalogs);
    }
  return G_LIST_MODEL (groups);
}

const char *
sysprof_mark_catalog_get_group (SysprofMarkCatalog *self)
{
  g_return_val_if_fail (SYSPROF_IS_MARK_CATALOG (self), NULL);

  return self->group;
}

const char *
sysprof_mark_catalog_get_name (SysprofMarkCatalog *self)
{
  g_return_val_if_fail (SYSPROF_IS_MARK_CATALOG (self), NULL);

  return self->name;
}

gint64
sysprof_mark_catalog_get_min_duration (SysprofMarkCatalog *self)
{
  g_return_val_if_fail (SYSPROF_IS_MARK_CATALOG (self), 0);

  return self->min_duration;
}

gint64
sysprof_mark_catalog_get_max_duration (SysprofMarkCatalog *self)
{
  g_return_val_if_fail (SYSPROF_IS_MARK_CATALOG (self), 0);

  return self->max_duration;
}

gint64
sysprof_mark_catalog_get_average_duration (SysprofMarkCatalog *self)
{
  g_return_val_if_fail (SYSPROF_IS_MARK_CATALOG (self), 0);

  return self->average_duration;
}

gint64
sysprof_mark_catalog_get_median_duration (SysprofMarkCatalog *self)
{
  g_return_val_if_fail (SYSPROF_IS_MARK_CATALOG (self), 0);

  return self->median_duration;
}

static void
sysprof_mark_catalog_finalize (GObject *object)
{
  SysprofMarkCatalog *self = SYSPROF_MARK_CATALOG (object);

  g_clear_object (&self->marks);
  g_free (self->group);
  g_free (self->name);

  G_OBJECT_CLASS (sysprof_mark_catalog_parent_class)->finalize (object);
}

static void
sysprof_mark_catalog_class_init (SysprofMarkCatalogClass *class)
{
  static const PropertyRow rows[] = {
    { "average-duration", PROPERTY_INT64,
      G_CALLBACK (sysprof_mark_catalog_get_average_duration) },
    { "group", PROPERTY_STRING, G_CALLBACK (sysprof_mark_catalog_get_group) },
    { "max-duration", PROPERTY_INT64, G_CALLBACK (sysprof_mark_catalog_get_max_duration) },
    { "median-duration", PROPERTY_INT64,
      G_CALLBACK (sysprof_mark_catalog_get_median_duration) },
    { "min-duration", PROPERTY_INT64, G_CALLBACK (sysprof_mark_catalog_get_min_duration) },
    { "name", PROPERTY_STRING, G_CALLBACK (sysprof_mark_catalog_get_name) },
  };

  G_OBJECT_CLASS (class)->finalize = sysprof_mark_catalog_finalize;
  sysprof_properties_install (G_OBJECT_CLASS (class), rows, G_N_ELEMENTS (rows));
}

static void
sysprof_mark_catalog_init (SysprofMarkCatalog *self)
{
}
