// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofCallgraphSymbol: a function of a call graph with its self and total weight. */

#include "document/callgraph/callgraph.h"
#include "document/properties.h"

struct _SysprofCallgraphSymbol
{
  GObject parent_instance;
  SysprofCallgraph *callgraph;
  GraphSymbolId symbol;
  SymbolWeight weight;
};

G_DEFINE_FINAL_TYPE (SysprofCallgraphSymbol, sysprof_callgraph_symbol, G_TYPE_OBJECT)

SysprofCallgraphSymbol *
sysprof_callgraph_symbol_new (SysprofCallgraph *callgraph,
                              GraphSymbolId symbol,
                              SymbolWeight weight)
{
  SysprofCallgraphSymbol *self = g_object_new (SYSPROF_TYPE_CALLGRAPH_SYMBOL, NULL);

  self->callgraph = g_object_ref (callgraph);
  self->symbol = symbol;
  self->weight = weight;
  return self;
}

SysprofSymbol *
sysprof_callgraph_symbol_get_symbol (SysprofCallgraphSymbol *self)
{
  g_return_val_if_fail (SYSPROF_IS_CALLGRAPH_SYMBOL (self), NULL);

  return sysprof_document_get_symbol (self->callgraph->document, self->symbol);
}

SysprofCallgraph *
sysprof_callgraph_symbol_get_callgraph (SysprofCallgraphSymbol *self)
{
  g_return_val_if_fail (SYSPROF_IS_CALLGRAPH_SYMBOL (self), NULL);

  return self->callgraph;
}

gpointer
sysprof_callgraph_symbol_get_summary_augment (SysprofCallgraphSymbol *self)
{
  g_return_val_if_fail (SYSPROF_IS_CALLGRAPH_SYMBOL (self), NULL);

  return sysprof_callgraph_get_symbol_augment (self->callgraph, self->symbol);
}

guint64
sysprof_callgraph_symbol_get_self (SysprofCallgraphSymbol *self)
{
  g_return_val_if_fail (SYSPROF_IS_CALLGRAPH_SYMBOL (self), 0);

  return self->weight.self;
}

guint64
sysprof_callgraph_symbol_get_total (SysprofCallgraphSymbol *self)
{
  g_return_val_if_fail (SYSPROF_IS_CALLGRAPH_SYMBOL (self), 0);

  return self->weight.total;
}

static void
sysprof_callgraph_symbol_finalize (GObject *object)
{
  SysprofCallgraphSymbol *self = SYSPROF_CALLGRAPH_SYMBOL (object);

  g_clear_object (&self->callgraph);

  G_OBJECT_CLASS (sysprof_callgraph_symbol_parent_class)->finalize (object);
}

static void
sysprof_callgraph_symbol_class_init (SysprofCallgraphSymbolClass *class)
{
  static const PropertyRow rows[] = {
    { "callgraph", PROPERTY_OBJECT, G_CALLBACK (sysprof_callgraph_symbol_get_callgraph),
      sysprof_callgraph_get_type },
    { "self", PROPERTY_UINT64, G_CALLBACK (sysprof_callgraph_symbol_get_self) },
    { "symbol", PROPERTY_OBJECT, G_CALLBACK (sysprof_callgraph_symbol_get_symbol),
      sysprof_symbol_get_type },
    { "total", PROPERTY_UINT64, G_CALLBACK (sysprof_callgraph_symbol_get_total) },
  };

  G_OBJECT_CLASS (class)->finalize = sysprof_callgraph_symbol_finalize;
  sysprof_properties_install (G_OBJECT_CLASS (class), rows, G_N_ELEMENTS (rows));
}

static void
sysprof_callgraph_symbol_init (SysprofCallgraphSymbol *self)
{
}
