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

void
sysprof_symbolize_options_copy (const SymbolizeOptions *self, SymbolizeOptions *copy)
{
  *copy = *self;
  copy->kernel_symbols =
      self->kernel_symbols != NULL ? g_bytes_ref (self->kernel_symbols) : NULL;
  copy->debug_dirs = (const char *const *) g_strdupv ((char **) self->debug_dirs);
  copy->inner_debug_dirs = (const char *const *) g_strdupv ((char **) self->inner_debug_dirs);
  copy->sysroot = g_strdup (self->sysroot);
}

void
sysprof_symbolize_options_clear (SymbolizeOptions *self)
{
  g_clear_pointer (&self->kernel_symbols, g_bytes_unref);
  g_strfreev ((char **) self->debug_dirs);
  g_strfreev ((char **) self->inner_debug_dirs);
  g_free ((char *) self->sysroot);
  *self = (SymbolizeOptions){ 0 };
}

void
sysprof_symbolize_options_add (SymbolizeOptions *options, SymbolizerKind kind)
{
  for (uint8_t i = 0; i < options->n_chain; i++)
    if (options->chain[i] == kind)
      return;

  options->chain[options->n_chain++] = (uint8_t) kind;
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

/* --- those that stand for one member of the chain and know no more --- */

#define DEFINE_TOKEN(TypeName, type_name, kind)                                          \
  struct _##TypeName                                                                     \
  {                                                                                      \
    SysprofSymbolizer parent_instance;                                                   \
  };                                                                                     \
  struct _##TypeName##Class                                                              \
  {                                                                                      \
    SysprofSymbolizerClass parent_class;                                                 \
  };                                                                                     \
  G_DEFINE_TYPE (TypeName, type_name, SYSPROF_TYPE_SYMBOLIZER)                           \
                                                                                         \
  static void type_name##_configure (SysprofSymbolizer *self, SymbolizeOptions *options) \
  {                                                                                      \
    sysprof_symbolize_options_add (options, kind);                                       \
  }                                                                                      \
                                                                                         \
  static void type_name##_class_init (TypeName##Class *class)                            \
  {                                                                                      \
    class->parent_class.configure = type_name##_configure;                               \
  }                                                                                      \
                                                                                         \
  static void type_name##_init (TypeName *self)                                          \
  {                                                                                      \
  }

DEFINE_TOKEN (SysprofBundledSymbolizer, sysprof_bundled_symbolizer, SYMBOLIZER_BUNDLED)
DEFINE_TOKEN (SysprofJitmapSymbolizer, sysprof_jitmap_symbolizer, SYMBOLIZER_JIT)

SysprofSymbolizer *
sysprof_bundled_symbolizer_new (void)
{
  return g_object_new (SYSPROF_TYPE_BUNDLED_SYMBOLIZER, NULL);
}

SysprofSymbolizer *
sysprof_jitmap_symbolizer_new (void)
{
  return g_object_new (SYSPROF_TYPE_JITMAP_SYMBOLIZER, NULL);
}

/* --- debuginfod --- */

struct _SysprofDebuginfodSymbolizer
{
  SysprofSymbolizer parent_instance;
};

struct _SysprofDebuginfodSymbolizerClass
{
  SysprofSymbolizerClass parent_class;
};

G_DEFINE_TYPE (SysprofDebuginfodSymbolizer,
               sysprof_debuginfod_symbolizer,
               SYSPROF_TYPE_SYMBOLIZER)

/* Servers are queried only for files that this machine does not have, so local files are
 * read first. */
static void
sysprof_debuginfod_symbolizer_configure (SysprofSymbolizer *self, SymbolizeOptions *options)
{
  sysprof_symbolize_options_add (options, SYMBOLIZER_ELF);
  sysprof_symbolize_options_add (options, SYMBOLIZER_DEBUGINFOD);
  options->ask_debuginfod = true;
}

static void
sysprof_debuginfod_symbolizer_class_init (SysprofDebuginfodSymbolizerClass *class)
{
  class->parent_class.configure = sysprof_debuginfod_symbolizer_configure;
}

static void
sysprof_debuginfod_symbolizer_init (SysprofDebuginfodSymbolizer *self)
{
}

SysprofSymbolizer *
sysprof_debuginfod_symbolizer_new (GError **error)
{
  g_autofree char *problem = sysprof_debuginfod_check ();

  if (problem == NULL)
    return g_object_new (SYSPROF_TYPE_DEBUGINFOD_SYMBOLIZER, NULL);

  g_set_error (error, SYSPROF_ERROR, SYSPROF_ERROR_UNSUPPORTED,
               "Cannot ask debuginfod servers for symbols. %s", problem);
  return NULL;
}
