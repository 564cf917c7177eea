// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofSymbol: the meaning of a node in a call graph: a function, a process, a thread and so
 * on. */

#pragma once

#include <glib-object.h>

#include "sysprof-version-macros.h"

G_BEGIN_DECLS

#define SYSPROF_TYPE_SYMBOL (sysprof_symbol_get_type ())

typedef enum
{
  SYSPROF_SYMBOL_KIND_ROOT = 1,
  SYSPROF_SYMBOL_KIND_PROCESS,
  SYSPROF_SYMBOL_KIND_THREAD,
  SYSPROF_SYMBOL_KIND_CONTEXT_SWITCH,
  SYSPROF_SYMBOL_KIND_USER,
  SYSPROF_SYMBOL_KIND_KERNEL,
  SYSPROF_SYMBOL_KIND_UNWINDABLE,
} SysprofSymbolKind;

SYSPROF_AVAILABLE_IN_ALL
G_DECLARE_FINAL_TYPE (SysprofSymbol, sysprof_symbol, SYSPROF, SYMBOL, GObject)

/* The name of the function, or the text that is shown instead. *(none)* Property "name". */
SYSPROF_AVAILABLE_IN_ALL
const char *sysprof_symbol_get_name (SysprofSymbol *self);

/* The base name of its file. *(none, nullable)* Property "binary-nick". */
SYSPROF_AVAILABLE_IN_ALL
const char *sysprof_symbol_get_binary_nick (SysprofSymbol *self);

/* The file as the process sees it. *(none, nullable)* Property "binary-path". */
SYSPROF_AVAILABLE_IN_ALL
const char *sysprof_symbol_get_binary_path (SysprofSymbol *self);

/* Property "kind". */
SYSPROF_AVAILABLE_IN_ALL
SysprofSymbolKind sysprof_symbol_get_kind (SysprofSymbol *self);

/* Equal for equal symbols. */
SYSPROF_AVAILABLE_IN_ALL
guint sysprof_symbol_hash (const SysprofSymbol *self);

/* Whether kind, name and binary are equal, also of different documents. A symbol without a
 * binary path, as in embedded tables, equals symbols with the same nick. */
SYSPROF_AVAILABLE_IN_ALL
gboolean sysprof_symbol_equal (const SysprofSymbol *a, const SysprofSymbol *b);

/* A text for a tooltip. *(full)* Property "tooltip-text". */
SYSPROF_AVAILABLE_IN_ALL
char *sysprof_symbol_dup_tooltip_text (SysprofSymbol *self);

G_END_DECLS
