// SPDX-License-Identifier: GPL-3.0-or-later

/* Stacks and symbols of a document, as objects. */

#include "document/frame.h"

SysprofSymbol *
sysprof_document_get_symbol (SysprofDocument *self, GraphSymbolId id)
{
  SysprofSymbol **place = &self->symbol_objects[id];
  SysprofSymbol *symbol = g_atomic_pointer_get (place);

  if (symbol != NULL)
    return symbol;

  symbol = sysprof_symbol_new (self->store, self->symbols, id);
  if (!g_atomic_pointer_compare_and_exchange (place, NULL, symbol))
    g_object_unref (symbol); /* another thread was first */
  return g_atomic_pointer_get (place);
}

SysprofSymbol *
sysprof_document_get_nth_symbol (SysprofDocument *self, guint number)
{
  g_return_val_if_fail (SYSPROF_IS_DOCUMENT (self), NULL);

  if (number == 0 || number >= sysprof_graph_n_symbols (self->store, self->symbols))
    return NULL;

  return sysprof_document_get_symbol (self, number);
}

GraphSymbolId
sysprof_document_find_symbol (SysprofDocument *self, SysprofSymbol *symbol)
{
  GraphSymbolId id = sysprof_symbol_get_id (symbol, self->symbols);

  for (GraphSymbolId i = 1; id == 0 && i < sysprof_graph_n_symbols (self->store, self->symbols);
       i++)
    if (sysprof_symbol_equal (sysprof_document_get_symbol (self, i), symbol))
      id = i;
  return id;
}

/* Where `frame` is in the list; its length if it is not. */
static uint32_t
find_in_list (const FrameList *list, FrameNo frame)
{
  uint32_t low = 0, high = list->n;

  while (low < high)
    {
      uint32_t middle = low + (high - low) / 2;

      if (list->frame[middle] < frame)
        low = middle + 1;
      else
        high = middle;
    }
  return low < list->n && list->frame[low] == frame ? low : list->n;
}

bool
sysprof_document_find_stack (const Store *store, FrameNo frame, StackId *stack, int32_t *tid)
{
  uint8_t type = store->frames.type[frame];
  uint32_t row = find_in_list (&store->frames_of_type[type], frame);

  switch (type)
    {
    case SYSPROF_CAPTURE_FRAME_SAMPLE:
      *stack = store->samples.stack[row];
      *tid = store->samples.tid[row];
      return true;
    case SYSPROF_CAPTURE_FRAME_ALLOCATION:
      *stack = store->heap.stack[row];
      *tid = store->heap.tid[row];
      return true;
    case SYSPROF_CAPTURE_FRAME_TRACE:
      *stack = store->traces.stack[row];
      *tid = store->traces.tid[row];
      return true;
    default:
      return false;
    }
}

/* Frames of other documents have no stack here. */
static bool
find_stack_of (SysprofDocument *self, SysprofDocumentTraceable *traceable, StackId *stack)
{
  SysprofDocumentFrame *frame = SYSPROF_DOCUMENT_FRAME (traceable);
  int32_t tid;

  return frame->store == self->store &&
         sysprof_document_find_stack (self->store, frame->number, stack, &tid);
}

static gpointer
make_symbol (gpointer owner, uint32_t symbol)
{
  return g_object_ref (sysprof_document_get_symbol (owner, symbol));
}

GListModel *
sysprof_document_list_symbols_in_traceable (SysprofDocument *self,
                                            SysprofDocumentTraceable *traceable)
{
  GraphSymbolId *ids = NULL;
  uint32_t n = 0;
  StackId stack;

  g_return_val_if_fail (SYSPROF_IS_DOCUMENT (self), NULL);
  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_TRACEABLE (traceable), NULL);

  if (find_stack_of (self, traceable, &stack))
    {
      n = sysprof_graph_stack_symbols (self->store, self->symbols, stack, NULL, 0, NULL);
      ids = g_new (GraphSymbolId, MAX (n, 1));
      sysprof_graph_stack_symbols (self->store, self->symbols, stack, ids, n, NULL);
    }
  return sysprof_index_model_new (self, SYSPROF_TYPE_SYMBOL, make_symbol, ids, n);
}

static const SysprofAddressContext context_of_kind[] = {
  [ADDRESS_NONE] = SYSPROF_ADDRESS_CONTEXT_NONE,
  [ADDRESS_USER] = SYSPROF_ADDRESS_CONTEXT_USER,
  [ADDRESS_KERNEL] = SYSPROF_ADDRESS_CONTEXT_KERNEL,
  [ADDRESS_JIT] = SYSPROF_ADDRESS_CONTEXT_USER,
  [ADDRESS_HYPERVISOR] = SYSPROF_ADDRESS_CONTEXT_HYPERVISOR,
  [ADDRESS_GUEST] = SYSPROF_ADDRESS_CONTEXT_GUEST,
  [ADDRESS_GUEST_KERNEL] = SYSPROF_ADDRESS_CONTEXT_GUEST_KERNEL,
  [ADDRESS_GUEST_USER] = SYSPROF_ADDRESS_CONTEXT_GUEST_USER,
  [ADDRESS_UNMAPPED] = SYSPROF_ADDRESS_CONTEXT_USER,
};

guint
sysprof_document_symbolize_traceable (SysprofDocument *self,
                                      SysprofDocumentTraceable *traceable,
                                      SysprofSymbol **symbols,
                                      guint n_symbols,
                                      SysprofAddressContext *final_context)
{
  g_autofree GraphSymbolId *ids = NULL;
  AddressKind kind = ADDRESS_NONE;
  StackId stack;
  uint32_t n = 0;

  g_return_val_if_fail (SYSPROF_IS_DOCUMENT (self), 0);
  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_TRACEABLE (traceable), 0);
  g_return_val_if_fail (symbols != NULL || n_symbols == 0, 0);

  if (find_stack_of (self, traceable, &stack))
    {
      ids = g_new (GraphSymbolId, MAX (n_symbols, 1));
      n = sysprof_graph_stack_symbols (self->store, self->symbols, stack, ids, n_symbols,
                                       &kind);
      n = MIN (n, n_symbols);
    }

  for (uint32_t i = 0; i < n; i++)
    symbols[i] = sysprof_document_get_symbol (self, ids[i]);
  if (final_context != NULL)
    *final_context = context_of_kind[kind];
  return n;
}

static GListModel *
list_samples_by_context (SysprofDocument *self, bool has_context)
{
  const FrameList *samples = &self->store->frames_of_type[SYSPROF_CAPTURE_FRAME_SAMPLE];
  FrameNo *frames = g_new (FrameNo, MAX (samples->n, 1));
  uint32_t n = 0;

  for (uint32_t i = 0; i < samples->n; i++)
    if (sysprof_document_frame_has_context (self->store, samples->frame[i]) == has_context)
      frames[n++] = samples->frame[i];

  return sysprof_frame_model_new_take (self->store, g_renew (FrameNo, frames, MAX (n, 1)), n,
                                       SYSPROF_TYPE_DOCUMENT_SAMPLE);
}

GListModel *
sysprof_document_list_samples_with_context_switch (SysprofDocument *self)
{
  g_return_val_if_fail (SYSPROF_IS_DOCUMENT (self), NULL);

  return list_samples_by_context (self, true);
}

GListModel *
sysprof_document_list_samples_without_context_switch (SysprofDocument *self)
{
  g_return_val_if_fail (SYSPROF_IS_DOCUMENT (self), NULL);

  return list_samples_by_context (self, false);
}
