// SPDX-License-Identifier: GPL-3.0-or-later

/* Rows as a list model. Node i is row i - 1, node 0 is above all roots, as in RowTree. */

#include "app/widgets/rows-model.h"

#include <string.h>

#define HEAVY_SHARE 2 /* a child with more than 1/2 of its parent's weight is its heavy one */

struct _AppRow
{
  GObject parent_instance;
  AppRowsModel *model; /* strong: a row may outlive the list */
  uint32_t row;
};

struct _AppRowsModel
{
  GObject parent_instance;
  RowResult *result;
  bool is_tree;
  RowTree tree;         /* empty unless is_tree */
  uint32_t *order;      /* [rows] unless is_tree; NULL = the order of the view */
  bool is_reversed;     /* `order` is */
  GArray *shown;        /* of nodes */
  uint8_t *is_expanded; /* [rows + 1] if is_tree */
  uint8_t *is_kept;     /* [rows + 1] by the filter; NULL = all */
};

G_DEFINE_FINAL_TYPE (AppRow, app_row, G_TYPE_OBJECT)

static GType
get_item_type (GListModel *list)
{
  return APP_TYPE_ROW;
}

static guint
get_n_items (GListModel *list)
{
  return APP_ROWS_MODEL (list)->shown->len;
}

static gpointer
get_item (GListModel *list, guint position)
{
  AppRowsModel *self = APP_ROWS_MODEL (list);
  AppRow *row;

  if (position >= self->shown->len)
    return NULL;
  row = g_object_new (APP_TYPE_ROW, NULL);
  row->model = g_object_ref (self);
  row->row = g_array_index (self->shown, uint32_t, position) - 1;
  return row;
}

static void
list_model_init (GListModelInterface *interface)
{
  interface->get_item_type = get_item_type;
  interface->get_n_items = get_n_items;
  interface->get_item = get_item;
}

G_DEFINE_FINAL_TYPE_WITH_CODE (AppRowsModel,
                               app_rows_model,
                               G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (G_TYPE_LIST_MODEL, list_model_init))

static void
app_row_finalize (GObject *object)
{
  g_clear_object (&APP_ROW (object)->model);
  G_OBJECT_CLASS (app_row_parent_class)->finalize (object);
}

static void
app_row_class_init (AppRowClass *class)
{
  G_OBJECT_CLASS (class)->finalize = app_row_finalize;
}

static void
app_row_init (AppRow *self)
{
}

RowResult *
app_row_get_result (AppRow *self)
{
  return self->model->result;
}

uint32_t
app_row_get_row (AppRow *self)
{
  return self->row;
}

uint32_t
app_row_get_depth (AppRow *self)
{
  return self->model->is_tree ? self->model->tree.depth[self->row + 1] - 1 : 0;
}

static bool
is_kept (const AppRowsModel *self, uint32_t node)
{
  return self->is_kept == NULL || self->is_kept[node];
}

bool
app_row_is_expandable (AppRow *self)
{
  const AppRowsModel *model = self->model;

  if (!model->is_tree)
    return false;
  for (uint32_t child = model->tree.first_child[self->row + 1]; child != 0;
       child = model->tree.next_sibling[child])
    if (is_kept (model, child))
      return true;
  return false;
}

bool
app_row_is_expanded (AppRow *self)
{
  return self->model->is_tree && self->model->is_expanded[self->row + 1];
}

static void
app_rows_model_finalize (GObject *object)
{
  AppRowsModel *self = APP_ROWS_MODEL (object);

  app_row_result_unref (self->result);
  sysprof_row_tree_clear (&self->tree);
  g_array_unref (self->shown);
  g_free (self->is_expanded);
  g_free (self->is_kept);
  g_free (self->order);
  G_OBJECT_CLASS (app_rows_model_parent_class)->finalize (object);
}

static void
app_rows_model_class_init (AppRowsModelClass *class)
{
  G_OBJECT_CLASS (class)->finalize = app_rows_model_finalize;
}

static void
app_rows_model_init (AppRowsModel *self)
{
  self->shown = g_array_new (FALSE, FALSE, sizeof (uint32_t));
}

/* Appends the rows of a flat table in their order. */
static void
collect_rows (const AppRowsModel *self, GArray *nodes)
{
  uint32_t n = self->result->rows.n_rows, used = 0;
  uint32_t *nodes_of;

  g_array_set_size (nodes, n);
  nodes_of = (uint32_t *) nodes->data;
  for (uint32_t i = 0; i < n; i++)
    {
      uint32_t at = self->is_reversed ? n - 1 - i : i;
      uint32_t node = (self->order != NULL ? self->order[at] : at) + 1;

      if (is_kept (self, node))
        nodes_of[used++] = node;
    }
  g_array_set_size (nodes, used);
}

/* Appends the visible nodes of a tree below `top` in their order. */
static void
collect (const AppRowsModel *self, uint32_t top, GArray *nodes)
{
  const RowTree *tree = &self->tree;
  uint32_t at = tree->first_child[top];

  while (at != 0)
    {
      if (is_kept (self, at))
        g_array_append_val (nodes, at);
      if (is_kept (self, at) && self->is_expanded[at] && tree->first_child[at] != 0)
        {
          at = tree->first_child[at];
          continue;
        }
      while (at != top && tree->next_sibling[at] == 0)
        at = tree->parent[at];
      at = at == top ? 0 : tree->next_sibling[at];
    }
}

static void
show_all (AppRowsModel *self)
{
  guint before = self->shown->len;

  g_array_set_size (self->shown, 0);
  if (self->is_tree)
    collect (self, 0, self->shown);
  else
    collect_rows (self, self->shown);
  g_list_model_items_changed (G_LIST_MODEL (self), 0, before, self->shown->len);
}

/* Links the children of each node in the order of `order`[n_rows]. */
static void
link_children (AppRowsModel *self, const uint32_t *order, bool is_reversed)
{
  RowTree *tree = &self->tree;
  uint32_t n = self->result->rows.n_rows;
  g_autofree uint32_t *last = g_new0 (uint32_t, n + 1);

  memset (tree->first_child, 0, tree->n * sizeof *tree->first_child);
  memset (tree->next_sibling, 0, tree->n * sizeof *tree->next_sibling);
  for (uint32_t i = 0; i < n; i++)
    {
      uint32_t node = (order != NULL ? order[is_reversed ? n - 1 - i : i] : i) + 1;
      uint32_t parent = tree->parent[node];

      if (last[parent] != 0)
        tree->next_sibling[last[parent]] = node;
      else
        tree->first_child[parent] = node;
      last[parent] = node;
    }
}

AppRowsModel *
app_rows_model_new (RowResult *result)
{
  AppRowsModel *self = g_object_new (APP_TYPE_ROWS_MODEL, NULL);

  self->result = app_row_result_ref (result);
  self->is_tree = result->rows.parent != NULL;
  if (self->is_tree)
    {
      sysprof_row_tree_init (&self->tree, &result->rows);
      self->is_expanded = g_new0 (uint8_t, self->tree.n);
    }
  show_all (self);
  return self;
}

RowResult *
app_rows_model_get_result (AppRowsModel *self)
{
  return self->result;
}

void
app_rows_model_set_order (AppRowsModel *self, uint32_t *order, bool is_reversed)
{
  g_free (self->order);
  self->order = order;
  self->is_reversed = is_reversed;
  if (self->is_tree)
    link_children (self, order, is_reversed);
  show_all (self);
}

static bool
row_contains (const Rows *rows, uint32_t row, const char *folded)
{
  const Cell *cells = sysprof_rows_cells (rows, row);

  for (uint32_t i = 0; i < rows->n_columns; i++)
    {
      g_autofree char *text = NULL;

      if (rows->columns[i].kind != COLUMN_TEXT || rows->columns[i].json_only)
        continue;
      text = g_utf8_validate (cells[i].text, -1, NULL) ? g_utf8_casefold (cells[i].text, -1)
                                                       : g_ascii_strdown (cells[i].text, -1);
      if (strstr (text, folded) != NULL)
        return true;
    }
  return false;
}

uint32_t
app_rows_model_filter (AppRowsModel *self, const char *text)
{
  const Rows *rows = &self->result->rows;
  g_autofree char *folded = NULL;
  uint32_t n = 0;

  g_clear_pointer (&self->is_kept, g_free);
  if (text != NULL && text[0] != '\0')
    {
      folded = g_utf8_casefold (text, -1);
      self->is_kept = g_new0 (uint8_t, (size_t) rows->n_rows + 1);
      for (uint32_t row = 0; row < rows->n_rows; row++)
        if (row_contains (rows, row, folded))
          {
            n++;
            self->is_kept[row + 1] = 1;
            for (uint32_t at = self->is_tree ? self->tree.parent[row + 1] : 0;
                 at != 0 && !self->is_kept[at]; at = self->tree.parent[at])
              self->is_kept[at] = self->is_expanded[at] = 1;
          }
    }
  show_all (self);
  return self->is_kept != NULL ? n : rows->n_rows;
}

void
app_rows_model_set_expanded (AppRowsModel *self, guint position, bool is_expanded)
{
  g_autoptr (GArray) nodes = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  uint32_t node;

  if (position >= self->shown->len || !self->is_tree)
    return;
  node = g_array_index (self->shown, uint32_t, position);
  if (self->is_expanded[node] == is_expanded)
    return;
  self->is_expanded[node] = 1;
  collect (self, node, nodes);
  self->is_expanded[node] = is_expanded;
  if (is_expanded)
    g_array_insert_vals (self->shown, position + 1, nodes->data, nodes->len);
  else if (nodes->len > 0)
    g_array_remove_range (self->shown, position + 1, nodes->len);
  g_list_model_items_changed (G_LIST_MODEL (self), position, 1 + (is_expanded ? 0 : nodes->len),
                              1 + (is_expanded ? nodes->len : 0));
}

void
app_rows_model_expand_heaviest (AppRowsModel *self, guint position)
{
  const Rows *rows = &self->result->rows;
  int total = sysprof_rows_column (rows, "total");
  uint32_t at;

  if (position >= self->shown->len || total < 0 || rows->parent == NULL)
    return;
  at = g_array_index (self->shown, uint32_t, position);
  for (;;)
    {
      uint64_t whole = sysprof_rows_cells (rows, at - 1)[total].count;
      uint32_t heavy = 0;

      self->is_expanded[at] = 1;
      for (uint32_t child = self->tree.first_child[at]; child != 0;
           child = self->tree.next_sibling[child])
        if (sysprof_rows_cells (rows, child - 1)[total].count > whole / HEAVY_SHARE)
          heavy = child;
      if (heavy == 0)
        break;
      at = heavy;
    }
  show_all (self);
}

guint
app_rows_model_get_parent_position (AppRowsModel *self, guint position)
{
  uint32_t parent = self->tree.parent[g_array_index (self->shown, uint32_t, position)];

  while (position-- > 0)
    if (g_array_index (self->shown, uint32_t, position) == parent)
      return position;
  return GTK_INVALID_LIST_POSITION;
}

/* Whether two rows have the same texts, times and numbers that are no quantities: what names a
 * row. */
static bool
is_same_row (const Rows *a, uint32_t row_a, const Rows *b, uint32_t row_b)
{
  const Cell *cells_a = sysprof_rows_cells (a, row_a), *cells_b = sysprof_rows_cells (b, row_b);

  for (uint32_t i = 0; i < a->n_columns; i++)
    {
      ColumnKind kind = a->columns[i].kind;

      if (kind == COLUMN_TEXT && strcmp (cells_a[i].text, cells_b[i].text) != 0)
        return false;
      if ((kind == COLUMN_NUMBER || kind == COLUMN_TIME) &&
          cells_a[i].number != cells_b[i].number)
        return false;
    }
  return true;
}

static uint32_t
find_child (AppRowsModel *self, uint32_t parent, const Rows *rows, uint32_t row)
{
  uint32_t child = self->tree.first_child[parent];

  while (child != 0 && !is_same_row (&self->result->rows, child - 1, rows, row))
    child = self->tree.next_sibling[child];
  return child;
}

static guint
find_row (AppRowsModel *self, AppRowsModel *earlier, guint position)
{
  const Rows *rows = &self->result->rows;
  uint32_t row;

  if (position >= earlier->shown->len)
    return GTK_INVALID_LIST_POSITION;
  row = g_array_index (earlier->shown, uint32_t, position) - 1;
  for (guint i = 0; i < self->shown->len; i++)
    if (is_same_row (rows, g_array_index (self->shown, uint32_t, i) - 1, &earlier->result->rows,
                     row))
      return i;
  return GTK_INVALID_LIST_POSITION;
}

guint
app_rows_model_restore (AppRowsModel *self, AppRowsModel *earlier, guint position)
{
  const Rows *rows = &earlier->result->rows;
  g_autofree uint32_t *found = NULL; /* [earlier tree] the same node here; 0 = none */
  uint32_t wanted = 0;

  if (rows->n_columns != self->result->rows.n_columns)
    return GTK_INVALID_LIST_POSITION;
  if (!self->is_tree || !earlier->is_tree)
    return find_row (self, earlier, position);
  found = g_new0 (uint32_t, earlier->tree.n);
  if (position < earlier->shown->len)
    wanted = g_array_index (earlier->shown, uint32_t, position);
  for (uint32_t at = sysprof_row_tree_next (&earlier->tree, 0); at != 0;
       at = sysprof_row_tree_next (&earlier->tree, at))
    {
      uint32_t parent = earlier->tree.parent[at];

      if ((!earlier->is_expanded[at] && at != wanted) || (parent != 0 && found[parent] == 0))
        continue;
      found[at] = find_child (self, found[parent], rows, at - 1);
      self->is_expanded[found[at]] = earlier->is_expanded[at];
    }
  show_all (self);
  for (guint i = 0; wanted != 0 && found[wanted] != 0 && i < self->shown->len; i++)
    if (g_array_index (self->shown, uint32_t, i) == found[wanted])
      return i;
  return GTK_INVALID_LIST_POSITION;
}
