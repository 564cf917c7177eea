// SPDX-License-Identifier: GPL-3.0-or-later

/* The public symbolizers: tokens that choose what the engine asks. */

#include "document/objects.h"

struct _SysprofNoSymbolizer
{
  SysprofSymbolizer parent_instance;
};

struct _SysprofNoSymbolizerClass
{
  SysprofSymbolizerClass parent_class;
};

G_DEFINE_ABSTRACT_TYPE (SysprofSymbolizer, sysprof_symbolizer, G_TYPE_OBJECT)
G_DEFINE_TYPE (SysprofNoSymbolizer, sysprof_no_symbolizer, SYSPROF_TYPE_SYMBOLIZER)

static void
sysprof_symbolizer_class_init (SysprofSymbolizerClass *class)
{
}

static void
sysprof_symbolizer_init (SysprofSymbolizer *self)
{
}

void
sysprof_symbolizer_configure (SysprofSymbolizer *self, SymbolizeOptions *options)
{
  SysprofSymbolizerClass *class =
      G_TYPE_INSTANCE_GET_CLASS (self, SYSPROF_TYPE_SYMBOLIZER, SysprofSymbolizerClass);

  class->configure (self, options);
}

static void
sysprof_no_symbolizer_configure (SysprofSymbolizer *self, SymbolizeOptions *options)
{
  options->no_symbols = true;
}

static void
sysprof_no_symbolizer_class_init (SysprofNoSymbolizerClass *class)
{
  class->parent_class.configure = sysprof_no_symbolizer_configure;
}

static void
sysprof_no_symbolizer_init (SysprofNoSymbolizer *self)
{
}

SysprofSymbolizer *
sysprof_no_symbolizer_get (void)
{
  static gsize instance;

  if (g_once_init_enter (&instance))
    g_once_init_leave (&instance, (gsize) g_object_new (SYSPROF_TYPE_NO_SYMBOLIZER, NULL));

  return (SysprofSymbolizer *) instance;
}
