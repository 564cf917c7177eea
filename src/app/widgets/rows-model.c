// SPDX-License-Identifier: GPL-3.0-or-later

/* Rows as a list model. Node i is row i - 1, node 0 is above all roots, as in RowTree. A model
 * is made on any thread; then it belongs to the main thread. */

#include "app/widgets/rows-model.h"

#include <string.h>

#define MOST_EXPANDED 3 /* levels at first */
#define KEPT_OPEN     2 /* a row below is kept */
#define HEAVY_SHARE   2 /* a child with more than 1/2 of its parent's weight is its heavy one */

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
  GArray *shown;  /* of nodes */
  guint selected; /* the position of the row that was selected in an earlier model */
  uint32_t n_found;
  uint8_t *is_kept; /* [rows + 1] by the filter, or KEPT_OPEN; NULL = all */
  /* [rows + 1] each, NULL unless the rows are a tree */
  uint32_t *first_child;
  uint32_t *next_sibling;
  uint8_t *is_expanded;
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

static uint32_t
get_parent (const AppRowsModel *self, uint32_t node)
{
  return self->first_child != NULL ? self->result->rows.parent[node - 1] : 0;
}

uint32_t
app_row_get_depth (AppRow *self)
{
  uint32_t depth = 0;

  for (uint32_t at = get_parent (self->model, self->row + 1); at != 0;
       at = get_parent (self->model, at))
    depth++;
  return depth;
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

  if (model->first_child == NULL)
    return false;
  for (uint32_t child = model->first_child[self->row + 1]; child != 0;
       child = model->next_sibling[child])
    if (is_kept (model, child))
      return true;
  return false;
}

bool
app_row_is_expanded (AppRow *self)
{
  return self->model->is_expanded != NULL && self->model->is_expanded[self->row + 1];
}

void
app_row_move (AppRow *self, guint position)
{
  const GArray *shown = self->model->shown;

  if (position < shown->len)
    self->row = g_array_index (shown, uint32_t, position) - 1;
}

static void
clear (AppRowsModel *self)
{
  g_clear_pointer (&self->result, app_row_result_unref);
  g_clear_pointer (&self->shown, g_array_unref);
  g_clear_pointer (&self->is_kept, g_free);
  g_clear_pointer (&self->first_child, g_free);
  g_clear_pointer (&self->next_sibling, g_free);
  g_clear_pointer (&self->is_expanded, g_free);
}

static void
app_rows_model_finalize (GObject *object)
{
  clear (APP_ROWS_MODEL (object));
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

/* Collects the rows of a flat table. `order` is [n_rows] numbers of rows; NULL = that of the
 * view. */
static void
collect_rows (AppRowsModel *self, const uint32_t *order, bool is_reversed)
{
  uint32_t n = self->result->rows.n_rows, used = 0;
  uint32_t *nodes;

  g_array_set_size (self->shown, n);
  nodes = (uint32_t *) self->shown->data;
  for (uint32_t i = 0; i < n; i++)
    {
      uint32_t node = (order != NULL ? order[is_reversed ? n - 1 - i : i] : i) + 1;

      if (is_kept (self, node))
        nodes[used++] = node;
    }
  g_array_set_size (self->shown, used);
}

/* Appends the visible nodes of a tree below `top` in their order. */
static void
collect (const AppRowsModel *self, uint32_t top, GArray *nodes)
{
  uint32_t at = self->first_child[top];

  while (at != 0)
    {
      if (is_kept (self, at))
        g_array_append_val (nodes, at);
      if (is_kept (self, at) && self->is_expanded[at] && self->first_child[at] != 0)
        {
          at = self->first_child[at];
          continue;
        }
      while (at != top && self->next_sibling[at] == 0)
        at = get_parent (self, at);
      at = at == top ? 0 : self->next_sibling[at];
    }
}

/* Links the children of each node in the order of collect_rows(). */
static void
link_children (AppRowsModel *self, const uint32_t *order, bool is_reversed)
{
  uint32_t n = self->result->rows.n_rows;
  g_autofree uint32_t *last = g_new0 (uint32_t, (size_t) n + 1);

  self->first_child = g_new0 (uint32_t, (size_t) n + 1);
  self->next_sibling = g_new0 (uint32_t, (size_t) n + 1);
  self->is_expanded = g_new0 (uint8_t, (size_t) n + 1);
  for (uint32_t i = 0; i < n; i++)
    {
      uint32_t node = (order != NULL ? order[is_reversed ? n - 1 - i : i] : i) + 1;
      uint32_t parent = self->result->rows.parent[node - 1];

      if (last[parent] != 0)
        self->next_sibling[last[parent]] = node;
      else
        self->first_child[parent] = node;
      last[parent] = node;
    }
}

RowResult *
app_rows_model_get_result (AppRowsModel *self)
{
  return self->result;
}

uint32_t
app_rows_model_get_n_found (AppRowsModel *self)
{
  return self->n_found;
}

guint
app_rows_model_get_selected (AppRowsModel *self)
{
  return self->selected;
}

guint
app_rows_model_find (AppRowsModel *self, uint32_t row)
{
  const uint32_t *nodes = (const uint32_t *) self->shown->data;

  for (guint i = 0; i < self->shown->len; i++)
    if (nodes[i] == row + 1)
      return i;
  return GTK_INVALID_LIST_POSITION;
}

/* --- filter --- */

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

/* Keeps the rows that contain `text`, and their ancestors, which are expanded. */
static void
filter (AppRowsModel *self, const char *text)
{
  const Rows *rows = &self->result->rows;
  g_autofree char *folded = g_utf8_casefold (text, -1);

  self->is_kept = g_new0 (uint8_t, (size_t) rows->n_rows + 1);
  for (uint32_t row = 0; row < rows->n_rows && sysprof_is_wanted_at (row); row++)
    if (row_contains (rows, row, folded))
      {
        self->n_found++;
        self->is_kept[row + 1] = 1;
        for (uint32_t at = get_parent (self, row + 1);
             at != 0 && self->is_kept[at] != KEPT_OPEN; at = get_parent (self, at))
          {
            self->is_kept[at] = KEPT_OPEN;
            self->is_expanded[at] = 1;
          }
      }
}

/* --- what the user did --- */

struct RowsState
{
  RowResult *result;
  GArray *expanded;  /* of nodes, parents first */
  uint32_t selected; /* node; 0 = none */
};

RowsState *
app_rows_model_save (AppRowsModel *self, guint selected)
{
  RowsState *state = g_new0 (RowsState, 1);
  const uint8_t *begin = self->is_expanded, *at = begin;
  const uint8_t *end = begin != NULL ? begin + self->result->rows.n_rows + 1 : NULL;

  state->result = app_row_result_ref (self->result);
  state->expanded = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  if (selected < self->shown->len)
    state->selected = g_array_index (self->shown, uint32_t, selected);
  while (at != end && (at = memchr (at, 1, (size_t) (end - at))) != NULL)
    {
      uint32_t node = (uint32_t) (at++ - begin);

      g_array_append_val (state->expanded, node);
    }
  return state;
}

void
app_rows_state_free (RowsState *self)
{
  app_row_result_unref (self->result);
  g_array_unref (self->expanded);
  g_free (self);
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

/* The node that has the name of a row of earlier rows, below `parent` in a tree; 0 = none. */
static uint32_t
find_node (const AppRowsModel *self, uint32_t parent, const Rows *earlier, uint32_t row)
{
  const Rows *rows = &self->result->rows;
  uint32_t node = self->first_child != NULL ? self->first_child[parent] : 1;

  while (node != 0 && node <= rows->n_rows && sysprof_is_wanted_at (node) &&
         !is_same_row (rows, node - 1, earlier, row))
    node = self->first_child != NULL ? self->next_sibling[node] : node + 1;
  return node <= rows->n_rows ? node : 0;
}

/* Expands the rows that were expanded, and returns the node that was selected. */
static uint32_t
restore (AppRowsModel *self, const RowsState *state)
{
  const Rows *earlier = &state->result->rows;
  bool is_same = state->result == self->result, is_tree = self->first_child != NULL;
  g_autoptr (GHashTable) found = g_hash_table_new (NULL, NULL);
  uint32_t selected = state->selected, parent;

  if (earlier->n_columns != self->result->rows.n_columns ||
      (earlier->parent != NULL) != is_tree)
    return 0;
  for (guint i = 0; is_tree && i < state->expanded->len; i++)
    {
      uint32_t node = g_array_index (state->expanded, uint32_t, i), here = node;

      parent = earlier->parent[node - 1];
      if (!is_same && parent != 0)
        parent = GPOINTER_TO_UINT (g_hash_table_lookup (found, GUINT_TO_POINTER (parent)));
      if (!is_same && parent == 0 && earlier->parent[node - 1] != 0)
        continue;
      if (!is_same)
        here = find_node (self, parent, earlier, node - 1);
      g_hash_table_insert (found, GUINT_TO_POINTER (node), GUINT_TO_POINTER (here));
      self->is_expanded[here] = here != 0;
    }
  if (is_same || selected == 0)
    return selected;
  parent = is_tree ? earlier->parent[selected - 1] : 0;
  if (parent == 0)
    return find_node (self, 0, earlier, selected - 1);
  parent = GPOINTER_TO_UINT (g_hash_table_lookup (found, GUINT_TO_POINTER (parent)));
  return parent != 0 ? find_node (self, parent, earlier, selected - 1) : 0;
}

/* --- life --- */

/* Expands the only root, and what is below while there is one child. */
static void
expand_first (AppRowsModel *self)
{
  uint32_t node = 0;

  for (unsigned i = 0; i < MOST_EXPANDED; i++)
    {
      node = self->first_child[node];
      if (node == 0 || self->next_sibling[node] != 0)
        return;
      self->is_expanded[node] = 1;
    }
}

AppRowsModel *
app_rows_model_new (RowResult *result, const RowsOrder *order, const RowsState *state)
{
  AppRowsModel *self = g_object_new (APP_TYPE_ROWS_MODEL, NULL);
  const Rows *rows = &result->rows;
  g_autofree uint32_t *numbers = NULL;
  uint32_t selected = 0;

  self->result = app_row_result_ref (result);
  if (order->column >= 0)
    numbers = sysprof_rows_order (rows, (uint32_t) order->column);
  if (rows->parent != NULL)
    link_children (self, numbers, order->is_reversed);
  if (state != NULL)
    selected = restore (self, state);
  if (order->text[0] != '\0')
    filter (self, order->text);
  else if (rows->parent != NULL && memchr (self->is_expanded, 1, rows->n_rows + 1) == NULL)
    expand_first (self);
  if (rows->parent != NULL)
    collect (self, 0, self->shown);
  else
    collect_rows (self, numbers, order->is_reversed);
  self->selected =
      selected != 0 ? app_rows_model_find (self, selected - 1) : GTK_INVALID_LIST_POSITION;
  return self;
}

/* --- changes --- */

void
app_rows_model_take (AppRowsModel *self, AppRowsModel *other)
{
  guint before = self->shown->len, after = other->shown->len, same = MIN (before, after);

  clear (self);
  self->result = g_steal_pointer (&other->result);
  self->shown = g_steal_pointer (&other->shown);
  self->selected = other->selected;
  self->n_found = other->n_found;
  self->is_kept = g_steal_pointer (&other->is_kept);
  self->first_child = g_steal_pointer (&other->first_child);
  self->next_sibling = g_steal_pointer (&other->next_sibling);
  self->is_expanded = g_steal_pointer (&other->is_expanded);
  if (before != after)
    g_list_model_items_changed (G_LIST_MODEL (self), same, before - same, after - same);
}

void
app_rows_model_set_expanded (AppRowsModel *self, guint position, bool is_expanded)
{
  g_autoptr (GArray) nodes = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  uint32_t node;

  if (position >= self->shown->len || self->first_child == NULL)
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
  guint before = self->shown->len;
  uint32_t at;

  if (position >= self->shown->len || total < 0 || rows->parent == NULL)
    return;
  at = g_array_index (self->shown, uint32_t, position);
  for (;;)
    {
      uint64_t whole = sysprof_rows_cells (rows, at - 1)[total].count;
      uint32_t heavy = 0;

      self->is_expanded[at] = 1;
      for (uint32_t child = self->first_child[at]; child != 0;
           child = self->next_sibling[child])
        if (sysprof_rows_cells (rows, child - 1)[total].count > whole / HEAVY_SHARE)
          heavy = child;
      if (heavy == 0)
        break;
      at = heavy;
    }
  g_array_set_size (self->shown, 0);
  collect (self, 0, self->shown);
  g_list_model_items_changed (G_LIST_MODEL (self), 0, before, self->shown->len);
}

guint
app_rows_model_get_parent_position (AppRowsModel *self, guint position)
{
  uint32_t parent = get_parent (self, g_array_index (self->shown, uint32_t, position));

  while (position-- > 0)
    if (g_array_index (self->shown, uint32_t, position) == parent)
      return position;
  return GTK_INVALID_LIST_POSITION;
}
