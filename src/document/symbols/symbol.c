// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofSymbol: a row of the symbol table, or one of the symbols that graphs have beside functions, as an object. */

#include "document/objects.h"
#include "document/properties.h"

struct _SysprofSymbol
{
  GObject parent_instance;
  SymbolTable *symbols;
  GraphSymbolId id;
  SysprofSymbolKind kind;
  char *own_name;   /* for entries that are no functions */
  const char *name; /* valid UTF-8, like all texts of the symbol table */
  const char *nick; /* or NULL */
  const char *path; /* or NULL */
};

G_DEFINE_FINAL_TYPE (SysprofSymbol, sysprof_symbol, G_TYPE_OBJECT)

static const SysprofSymbolKind kind_of_sort[] = {
  [GRAPH_SYMBOL_FUNCTION] = SYSPROF_SYMBOL_KIND_USER,
  [GRAPH_SYMBOL_ROOT] = SYSPROF_SYMBOL_KIND_ROOT,
  [GRAPH_SYMBOL_CONTEXT] = SYSPROF_SYMBOL_KIND_CONTEXT_SWITCH,
  [GRAPH_SYMBOL_UNWINDABLE] = SYSPROF_SYMBOL_KIND_UNWINDABLE,
  [GRAPH_SYMBOL_PROCESS] = SYSPROF_SYMBOL_KIND_PROCESS,
  [GRAPH_SYMBOL_THREAD] = SYSPROF_SYMBOL_KIND_THREAD,
  [GRAPH_SYMBOL_OTHER_THREAD] = SYSPROF_SYMBOL_KIND_THREAD,
};

static const char *
text_or_null (const SymbolTable *symbols, StringId text)
{
  return text != 0 ? sysprof_intern_get (&symbols->strings, text) : NULL;
}

SysprofSymbol *
sysprof_symbol_new (const Store *store, SymbolTable *symbols, GraphSymbolId id)
{
  SysprofSymbol *self = g_object_new (SYSPROF_TYPE_SYMBOL, NULL);
  GraphSymbol symbol = sysprof_graph_symbol (store, symbols, id);

  self->symbols = sysprof_symbol_table_ref (symbols);
  self->id = id;
  self->kind = kind_of_sort[symbol.sort];
  if (symbol.sort == GRAPH_SYMBOL_FUNCTION)
    {
      const Symbol *row = &symbols->row[symbol.index];

      if (row->kind == SYMBOL_KERNEL)
        self->kind = SYSPROF_SYMBOL_KIND_KERNEL;
      else if (row->kind == SYMBOL_MARKER) /* the end of a truncated stack */
        self->kind = SYSPROF_SYMBOL_KIND_UNWINDABLE;
      self->name = sysprof_symbol_name (symbols, symbol.index);
      self->nick = text_or_null (symbols, row->binary);
      self->path = text_or_null (symbols, row->path);
    }
  else
    self->name = self->own_name = sysprof_graph_symbol_dup_name (store, symbols, id);
  return self;
}

GraphSymbolId
sysprof_symbol_get_id (SysprofSymbol *self, const SymbolTable *symbols)
{
  return self->symbols == symbols ? self->id : 0;
}

const char *
sysprof_symbol_get_name (SysprofSymbol *self)
{
  g_return_val_if_fail (SYSPROF_IS_SYMBOL (self), NULL);

  return self->name;
}

const char *
sysprof_symbol_get_binary_nick (SysprofSymbol *self)
{
  g_return_val_if_fail (SYSPROF_IS_SYMBOL (self), NULL);

  return self->nick;
}

const char *
sysprof_symbol_get_binary_path (SysprofSymbol *self)
{
  g_return_val_if_fail (SYSPROF_IS_SYMBOL (self), NULL);

  return self->path;
}

SysprofSymbolKind
sysprof_symbol_get_kind (SysprofSymbol *self)
{
  g_return_val_if_fail (SYSPROF_IS_SYMBOL (self), SYSPROF_SYMBOL_KIND_ROOT);

  return self->kind;
}

/* Of what has to agree in any case. */
guint
sysprof_symbol_hash (const SysprofSymbol *self)
{
  return g_str_hash (self->name) ^ (guint) self->kind;
}

gboolean
sysprof_symbol_equal (const SysprofSymbol *a, const SysprofSymbol *b)
{
  if (a == b)
    return TRUE;
  if (a->kind != b->kind || !g_str_equal (a->name, b->name))
    return FALSE;
  if (a->path != NULL && b->path != NULL)
    return g_str_equal (a->path, b->path);
  return g_strcmp0 (a->nick, b->nick) == 0;
}

char *
sysprof_symbol_dup_tooltip_text (SysprofSymbol *self)
{
  const char *binary;

  g_return_val_if_fail (SYSPROF_IS_SYMBOL (self), NULL);

  binary = self->path != NULL ? self->path : self->nick;
  return binary != NULL ? g_strdup_printf ("%s [%s]", self->name, binary)
                        : g_strdup (self->name);
}

static void
sysprof_symbol_finalize (GObject *object)
{
  SysprofSymbol *self = SYSPROF_SYMBOL (object);

  g_clear_pointer (&self->symbols, sysprof_symbol_table_unref);
  g_free (self->own_name);

  G_OBJECT_CLASS (sysprof_symbol_parent_class)->finalize (object);
}

static void
sysprof_symbol_class_init (SysprofSymbolClass *class)
{
  static const PropertyRow rows[] = {
    { "binary-nick", PROPERTY_STRING, G_CALLBACK (sysprof_symbol_get_binary_nick) },
    { "binary-path", PROPERTY_STRING, G_CALLBACK (sysprof_symbol_get_binary_path) },
    { "kind", PROPERTY_ENUM, G_CALLBACK (sysprof_symbol_get_kind),
      sysprof_symbol_kind_get_type },
    { "name", PROPERTY_STRING, G_CALLBACK (sysprof_symbol_get_name) },
    { "tooltip-text", PROPERTY_DUP_STRING, G_CALLBACK (sysprof_symbol_dup_tooltip_text) },
  };

  G_OBJECT_CLASS (class)->finalize = sysprof_symbol_finalize;
  sysprof_properties_install (G_OBJECT_CLASS (class), rows, G_N_ELEMENTS (rows));
}

static void
sysprof_symbol_init (SysprofSymbol *self)
{
}
