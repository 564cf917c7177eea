// SPDX-License-Identifier: GPL-3.0-or-later

/* The long work of call graphs: on a worker what the engine does, in the caller's thread what its own function does. */

#include "document/callgraph/callgraph.h"
#include "document/frame.h"

/* How long the caller's main loop waits for its own function, and how often the clock is
 * read. */
#define SLICE_USEC       8000
#define FRAMES_PER_CLOCK 64

#define FRAMES_BETWEEN 0x1000 /* between two checks for cancellation */

typedef struct
{
  SysprofCallgraph *callgraph;
  GraphTree *tree;
  bool summarize;
  GTask *task;
  gpointer result;
  uint32_t next;
} Weighing;

static void
weighing_free (gpointer data)
{
  Weighing *self = data;

  g_clear_object (&self->result);
  g_object_unref (self->callgraph);
  sysprof_graph_tree_unref (self->tree);
  g_object_unref (self->task);
  g_free (self);
}

static gboolean
weigh_some (gpointer data)
{
  Weighing *self = data;
  SysprofCallgraph *callgraph = self->callgraph;
  const Graph *graph = self->tree->graph;
  gint64 end = g_get_monotonic_time () + SLICE_USEC;

  if (g_task_return_error_if_cancelled (self->task))
    return G_SOURCE_REMOVE;

  for (; self->next < graph->n_frames; self->next++)
    {
      uint32_t node = graph->node_of_frame[self->next];
      g_autoptr (SysprofDocumentFrame) frame = NULL;

      if (self->next % FRAMES_PER_CLOCK == 0 && g_get_monotonic_time () > end)
        return G_SOURCE_CONTINUE;
      if (node == GRAPH_NOWHERE)
        continue;

      frame = sysprof_document_frame_new ((Store *) callgraph->store,
                                          callgraph->frames.frame[self->next]);
      callgraph->augment (callgraph, sysprof_graph_tree_get_node (self->tree, node), frame,
                          self->summarize, callgraph->augment_data);
    }

  g_task_return_pointer (self->task, g_steal_pointer (&self->result), g_object_unref);
  return G_SOURCE_REMOVE;
}

void
sysprof_callgraph_add_weights (SysprofCallgraph *self,
                               GraphTree *tree,
                               bool summarize,
                               GTask *task,
                               gpointer result)
{
  g_autoptr (GSource) source = NULL;
  Weighing *weighing;

  if (self->augment == NULL)
    {
      g_task_return_pointer (task, result, g_object_unref);
      return;
    }

  weighing = g_new (Weighing, 1);
  *weighing = (Weighing){ .callgraph = g_object_ref (self),
                          .tree = sysprof_graph_tree_ref (tree),
                          .summarize = summarize,
                          .task = g_object_ref (task),
                          .result = result };
  source = g_idle_source_new ();
  g_source_set_callback (source, weigh_some, weighing, weighing_free);
  g_source_attach (source, g_task_get_context (task));
}

/* --- the whole graph --- */

/* On the worker: where each given frame's stack lies. FALSE if cancelled. */
static bool
find_stacks (SysprofCallgraph *self, StackId *stack, int32_t *tid, GCancellable *cancellable)
{
  uint32_t n = 0;

  for (uint32_t i = 0; i < self->frames.n; i++)
    {
      if (i % FRAMES_BETWEEN == 0 && g_cancellable_is_cancelled (cancellable))
        return false;
      if (!sysprof_document_find_stack (self->store, self->frames.frame[i], &stack[n], &tid[n]))
        continue;
      if (self->taken != NULL)
        self->taken[n] = self->taken[i];
      n++;
    }
  self->frames.n = n;
  return true;
}

static Shape
shape_of (SysprofCallgraphFlags flags)
{
  return (Shape){
    .threads = (flags & SYSPROF_CALLGRAPH_FLAGS_INCLUDE_THREADS) != 0,
    .hide_system = (flags & SYSPROF_CALLGRAPH_FLAGS_HIDE_SYSTEM_LIBRARIES) != 0,
    .bottom_up = (flags & SYSPROF_CALLGRAPH_FLAGS_BOTTOM_UP) != 0,
    .no_process_0 = (flags & SYSPROF_CALLGRAPH_FLAGS_IGNORE_PROCESS_0) != 0,
    .left_heavy = (flags & SYSPROF_CALLGRAPH_FLAGS_LEFT_HEAVY) != 0,
    .merge_processes = (flags & SYSPROF_CALLGRAPH_FLAGS_MERGE_SIMILAR_PROCESSES) != 0,
    .no_kernel_processes = (flags & SYSPROF_CALLGRAPH_FLAGS_IGNORE_KERNEL_PROCESSES) != 0,
  };
}

static void
categorize (SysprofCallgraph *self, GraphTree *tree)
{
  bool is_reversed = (self->flags & SYSPROF_CALLGRAPH_FLAGS_BOTTOM_UP) != 0;

  if ((self->flags & SYSPROF_CALLGRAPH_FLAGS_CATEGORIZE_FRAMES) == 0)
    return;

  tree->category =
      sysprof_graph_categorize (tree->graph, self->store, self->symbols, is_reversed);
  if (is_reversed)
    tree->category_of_end =
        sysprof_graph_categorize_ends (tree->graph, self->store, self->symbols);
}

static void
build (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  SysprofCallgraph *self = data;
  g_autofree StackId *stack = g_new (StackId, MAX (self->frames.n, 1));
  g_autofree int32_t *tid = g_new (int32_t, MAX (self->frames.n, 1));
  Shape shape = shape_of (self->flags);
  GraphFrames frames = { stack, tid, 0 };

  Graph *graph = NULL;

  if (find_stacks (self, stack, tid, cancellable))
    {
      frames.n = self->frames.n;
      graph = sysprof_graph_new (self->store, self->symbols, &frames, &shape, cancellable);
    }
  if (graph == NULL)
    {
      (void) g_task_return_error_if_cancelled (task); /* which it is */
      return;
    }
  self->tree = sysprof_graph_tree_new (graph, self->augment_size);
  categorize (self, self->tree);
  g_task_return_boolean (task, TRUE);
}

static void
finish_build (GObject *object, GAsyncResult *result, gpointer data)
{
  g_autoptr (GTask) task = data;
  g_autoptr (GError) error = NULL;
  SysprofCallgraph *self = g_task_get_task_data (G_TASK (result));

  if (!g_task_propagate_boolean (G_TASK (result), &error))
    g_task_return_error (task, g_steal_pointer (&error));
  else
    sysprof_callgraph_add_weights (self, self->tree, true, task, g_object_ref (self));
}

static void
end_work (GTask *task, GParamSpec *pspec, SysprofDocument *document)
{
  sysprof_document_end_work (document);
}

/* Until the task is completed, the document is busy. */
static void
count_work (SysprofDocument *document, GTask *task)
{
  sysprof_document_begin_work (document);
  g_signal_connect_object (task, "notify::completed", G_CALLBACK (end_work), document, 0);
}

void
sysprof_document_callgraph_async (SysprofDocument *self,
                                  SysprofCallgraphFlags flags,
                                  GListModel *traceables,
                                  gsize augment_size,
                                  SysprofAugmentationFunc augment_func,
                                  gpointer augment_func_data,
                                  GDestroyNotify augment_func_data_destroy,
                                  GCancellable *cancellable,
                                  GAsyncReadyCallback callback,
                                  gpointer user_data)
{
  SysprofCallgraph *callgraph;
  GTask *task;
  g_autoptr (GTask) work = NULL;

  g_return_if_fail (SYSPROF_IS_DOCUMENT (self));
  g_return_if_fail (G_IS_LIST_MODEL (traceables));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  callgraph = g_object_new (SYSPROF_TYPE_CALLGRAPH, NULL);
  callgraph->document = g_object_ref (self);
  callgraph->store = sysprof_document_get_store (self);
  callgraph->symbols = sysprof_document_get_symbols (self);
  callgraph->flags = flags;
  callgraph->frames =
      sysprof_frame_model_peek (traceables, callgraph->store, &callgraph->taken);
  callgraph->augment_size = augment_size;
  callgraph->augment = augment_func;
  callgraph->augment_data = augment_func_data;
  callgraph->augment_data_destroy = augment_func_data_destroy;

  /* What has no stack is taken out of the list, so that one is needed. */
  if (callgraph->taken == NULL)
    callgraph->frames.frame = callgraph->taken =
        g_memdup2 (callgraph->frames.frame, callgraph->frames.n * sizeof (FrameNo));

  task = g_task_new (self, cancellable, callback, user_data);
  g_task_set_source_tag (task, sysprof_document_callgraph_async);
  count_work (self, task);

  work = g_task_new (self, cancellable, finish_build, task);
  g_task_set_task_data (work, callgraph, g_object_unref);
  g_task_set_return_on_cancel (work, TRUE);
  sysprof_run_in_thread (work, build);
}

SysprofCallgraph *
sysprof_document_callgraph_finish (SysprofDocument *self, GAsyncResult *result, GError **error)
{
  g_return_val_if_fail (g_task_is_valid (result, self), NULL);

  return g_task_propagate_pointer (G_TASK (result), error);
}

/* --- what is below a symbol --- */

static gpointer
make_root (gpointer owner, uint32_t number)
{
  return g_object_ref (owner);
}

typedef struct
{
  GraphSymbolId symbol;
  GraphTree *tree;
} Descent;

static void
descent_free (gpointer data)
{
  Descent *self = data;

  sysprof_graph_tree_unref (self->tree);
  g_free (self);
}

static void
descend (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  SysprofCallgraph *self = source;
  Descent *descent = data;

  Graph *graph =
      sysprof_graph_descend (self->tree->graph, self->store, self->symbols, descent->symbol,
                             sysprof_callgraph_is_left_heavy (self), cancellable);

  if (graph == NULL)
    {
      (void) g_task_return_error_if_cancelled (task); /* which it is */
      return;
    }
  descent->tree = sysprof_graph_tree_new (graph, self->augment_size);
  categorize (self, descent->tree);
  g_task_return_boolean (task, TRUE);
}

static void
finish_descend (GObject *object, GAsyncResult *result, gpointer data)
{
  SysprofCallgraph *self = SYSPROF_CALLGRAPH (object);
  g_autoptr (GTask) task = data;
  g_autoptr (GError) error = NULL;
  Descent *descent = g_task_get_task_data (G_TASK (result));
  g_autoptr (SysprofCallgraphFrame) root = NULL;

  if (!g_task_propagate_boolean (G_TASK (result), &error))
    {
      g_task_return_error (task, g_steal_pointer (&error));
      return;
    }

  root = sysprof_callgraph_frame_new (self, descent->tree, 0);
  sysprof_callgraph_add_weights (
      self, descent->tree, false, task,
      sysprof_index_model_new (root, SYSPROF_TYPE_CALLGRAPH_FRAME, make_root, NULL, 1));
}

void
sysprof_callgraph_descendants_async (SysprofCallgraph *self,
                                     SysprofSymbol *symbol,
                                     GCancellable *cancellable,
                                     GAsyncReadyCallback callback,
                                     gpointer user_data)
{
  g_autoptr (GTask) work = NULL;
  Descent *descent;
  GTask *task;

  g_return_if_fail (SYSPROF_IS_CALLGRAPH (self));
  g_return_if_fail (SYSPROF_IS_SYMBOL (symbol));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  task = g_task_new (self, cancellable, callback, user_data);
  g_task_set_source_tag (task, sysprof_callgraph_descendants_async);
  descent = g_new0 (Descent, 1);
  descent->symbol = sysprof_document_find_symbol (self->document, symbol);
  if (descent->symbol == 0)
    {
      g_task_return_new_error (task, G_IO_ERROR, G_IO_ERROR_NOT_FOUND,
                               "Cannot show what is below '%s': the call graph has no such "
                               "symbol. Take one of its own list of symbols.",
                               sysprof_symbol_get_name (symbol));
      descent_free (descent);
      g_object_unref (task);
      return;
    }

  count_work (self->document, task);
  work = g_task_new (self, cancellable, finish_descend, task);
  g_task_set_task_data (work, descent, descent_free);
  sysprof_run_in_thread (work, descend);
}

GListModel *
sysprof_callgraph_descendants_finish (SysprofCallgraph *self,
                                      GAsyncResult *result,
                                      GError **error)
{
  g_return_val_if_fail (g_task_is_valid (result, self), NULL);

  return g_task_propagate_pointer (G_TASK (result), error);
}

/* --- what passes a node --- */

void
sysprof_callgraph_list_traceables_for_node_async (SysprofCallgraph *self,
                                                  SysprofCallgraphNode *node,
                                                  GCancellable *cancellable,
                                                  GAsyncReadyCallback callback,
                                                  gpointer user_data)
{
  g_autoptr (GTask) task = NULL;
  const Graph *graph;

  g_return_if_fail (SYSPROF_IS_CALLGRAPH (self));
  g_return_if_fail (node != NULL);

  task = g_task_new (self, cancellable, callback, user_data);
  g_task_set_source_tag (task, sysprof_callgraph_list_traceables_for_node_async);
  /* One pass over a column: it takes less than handing it to a thread. */
  graph = sysprof_graph_tree_of_node (node)->graph;
  g_task_return_pointer (
      task,
      sysprof_callgraph_list_frames (self, graph, NULL, node->index, graph->end[node->index]),
      g_object_unref);
}

GListModel *
sysprof_callgraph_list_traceables_for_node_finish (SysprofCallgraph *self,
                                                   GAsyncResult *result,
                                                   GError **error)
{
  g_return_val_if_fail (g_task_is_valid (result, self), NULL);

  return g_task_propagate_pointer (G_TASK (result), error);
}
