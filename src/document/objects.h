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

/* The frames of `frames`, which belongs to the store, made on demand. *(full)* */
GListModel *sysprof_frame_model_new (Store *store, const FrameList *frames, GType item_type);

/* *(full)* */
SysprofDocumentCounter *sysprof_document_counter_new (Store *store, uint32_t index);
SysprofDocumentCounterValue *
sysprof_document_counter_value_new (SysprofDocumentCounter *counter, guint nth);
/* When the recording began, ns. */
int64_t sysprof_document_counter_get_begin (SysprofDocumentCounter *self);
