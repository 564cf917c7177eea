// SPDX-License-Identifier: GPL-3.0-or-later

/* How the module makes its objects. All of them are *owned* by the caller, but only read frozen data. */

#pragma once

#include "document/document.h"

/* Takes both references. `filename` may be NULL. *(full)* */
SysprofDocument *
sysprof_document_new (Store *store, SymbolTable *symbols, const char *filename);

struct _SysprofSymbolizer
{
  GObject parent_instance;
};

struct _SysprofSymbolizerClass
{
  GObjectClass parent_class;

  /* Narrows the engine's chain of symbolizers to what this one stands for. */
  void (*configure) (SysprofSymbolizer *self, SymbolizeOptions *options);
};

void sysprof_symbolizer_configure (SysprofSymbolizer *self, SymbolizeOptions *options);
