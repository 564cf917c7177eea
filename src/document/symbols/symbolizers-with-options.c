// SPDX-License-Identifier: GPL-3.0-or-later

/* The public symbolizers that have options. */

#include "document/objects.h"

/* --- kernel --- */

/* Bytes of a list of symbols: the largest kernels have a tenth of it. */
#define KERNEL_SYMBOLS_MOST ((size_t) 256 << 20)

struct _SysprofKallsymsSymbolizer
{
  SysprofSymbolizer parent_instance;
  GInputStream *stream; /* NULL: the capture's list, or the running kernel's */
  GBytes *symbols;      /* what `stream` gave, once it was read */
};

struct _SysprofKallsymsSymbolizerClass
{
  SysprofSymbolizerClass parent_class;
};

G_DEFINE_TYPE (SysprofKallsymsSymbolizer, sysprof_kallsyms_symbolizer, SYSPROF_TYPE_SYMBOLIZER)

static GBytes *
read_all (GInputStream *stream)
{
  GByteArray *bytes = g_byte_array_new ();
  guint8 buffer[16384];
  gssize n;

  /* What can be read of it is as good as a short list. */
  while (bytes->len < KERNEL_SYMBOLS_MOST &&
         (n = g_input_stream_read (stream, buffer, sizeof buffer, NULL, NULL)) > 0)
    g_byte_array_append (bytes, buffer, (guint) n);
  return g_byte_array_free_to_bytes (bytes);
}

static void
sysprof_kallsyms_symbolizer_configure (SysprofSymbolizer *symbolizer, SymbolizeOptions *options)
{
  SysprofKallsymsSymbolizer *self = SYSPROF_KALLSYMS_SYMBOLIZER (symbolizer);

  sysprof_symbolize_options_add (options, SYMBOLIZER_KERNEL);
  if (self->stream != NULL && self->symbols == NULL)
    self->symbols = read_all (self->stream);
  if (self->symbols != NULL)
    options->kernel_symbols = self->symbols;
}

static void
sysprof_kallsyms_symbolizer_finalize (GObject *object)
{
  SysprofKallsymsSymbolizer *self = SYSPROF_KALLSYMS_SYMBOLIZER (object);

  g_clear_object (&self->stream);
  g_clear_pointer (&self->symbols, g_bytes_unref);

  G_OBJECT_CLASS (sysprof_kallsyms_symbolizer_parent_class)->finalize (object);
}

static void
sysprof_kallsyms_symbolizer_class_init (SysprofKallsymsSymbolizerClass *class)
{
  G_OBJECT_CLASS (class)->finalize = sysprof_kallsyms_symbolizer_finalize;
  class->parent_class.configure = sysprof_kallsyms_symbolizer_configure;
}

static void
sysprof_kallsyms_symbolizer_init (SysprofKallsymsSymbolizer *self)
{
}

SysprofSymbolizer *
sysprof_kallsyms_symbolizer_new (void)
{
  return g_object_new (SYSPROF_TYPE_KALLSYMS_SYMBOLIZER, NULL);
}

SysprofSymbolizer *
sysprof_kallsyms_symbolizer_new_for_symbols (GInputStream *symbols)
{
  SysprofKallsymsSymbolizer *self;

  g_return_val_if_fail (G_IS_INPUT_STREAM (symbols), NULL);

  self = g_object_new (SYSPROF_TYPE_KALLSYMS_SYMBOLIZER, NULL);
  self->stream = g_object_ref (symbols);
  return SYSPROF_SYMBOLIZER (self);
}

/* --- ELF files --- */

struct _SysprofElfSymbolizer
{
  SysprofSymbolizer parent_instance;
  char **debug_dirs;
  char **external_debug_dirs;
};

struct _SysprofElfSymbolizerClass
{
  SysprofSymbolizerClass parent_class;
};

G_DEFINE_TYPE (SysprofElfSymbolizer, sysprof_elf_symbolizer, SYSPROF_TYPE_SYMBOLIZER)

enum
{
  PROP_0,
  PROP_DEBUG_DIRS,
  PROP_EXTERNAL_DEBUG_DIRS,
  N_PROPS,
};

static GParamSpec *properties[N_PROPS];

static void
sysprof_elf_symbolizer_configure (SysprofSymbolizer *symbolizer, SymbolizeOptions *options)
{
  SysprofElfSymbolizer *self = SYSPROF_ELF_SYMBOLIZER (symbolizer);

  sysprof_symbolize_options_add (options, SYMBOLIZER_ELF);
  if (self->external_debug_dirs != NULL)
    options->debug_dirs = (const char *const *) self->external_debug_dirs;
  options->inner_debug_dirs = (const char *const *) self->debug_dirs;
}

const char *const *
sysprof_elf_symbolizer_get_debug_dirs (SysprofElfSymbolizer *self)
{
  g_return_val_if_fail (SYSPROF_IS_ELF_SYMBOLIZER (self), NULL);

  return (const char *const *) self->debug_dirs;
}

static void
set_dirs (SysprofElfSymbolizer *self, char ***place, const char *const *dirs, int property)
{
  char **old = *place;

  *place = g_strdupv ((char **) dirs); /* which may be the old ones */
  g_strfreev (old);
  g_object_notify_by_pspec (G_OBJECT (self), properties[property]);
}

void
sysprof_elf_symbolizer_set_debug_dirs (SysprofElfSymbolizer *self,
                                       const char *const *debug_dirs)
{
  g_return_if_fail (SYSPROF_IS_ELF_SYMBOLIZER (self));

  set_dirs (self, &self->debug_dirs, debug_dirs, PROP_DEBUG_DIRS);
}

const char *const *
sysprof_elf_symbolizer_get_external_debug_dirs (SysprofElfSymbolizer *self)
{
  g_return_val_if_fail (SYSPROF_IS_ELF_SYMBOLIZER (self), NULL);

  return (const char *const *) self->external_debug_dirs;
}

void
sysprof_elf_symbolizer_set_external_debug_dirs (SysprofElfSymbolizer *self,
                                                const char *const *debug_dirs)
{
  g_return_if_fail (SYSPROF_IS_ELF_SYMBOLIZER (self));

  set_dirs (self, &self->external_debug_dirs, debug_dirs, PROP_EXTERNAL_DEBUG_DIRS);
}

static void
sysprof_elf_symbolizer_finalize (GObject *object)
{
  SysprofElfSymbolizer *self = SYSPROF_ELF_SYMBOLIZER (object);

  g_strfreev (self->debug_dirs);
  g_strfreev (self->external_debug_dirs);

  G_OBJECT_CLASS (sysprof_elf_symbolizer_parent_class)->finalize (object);
}

static void
sysprof_elf_symbolizer_get_property (GObject *object,
                                     guint id,
                                     GValue *value,
                                     GParamSpec *pspec)
{
  SysprofElfSymbolizer *self = SYSPROF_ELF_SYMBOLIZER (object);

  switch (id)
    {
    case PROP_DEBUG_DIRS:
      g_value_set_boxed (value, self->debug_dirs);
      break;
    case PROP_EXTERNAL_DEBUG_DIRS:
      g_value_set_boxed (value, self->external_debug_dirs);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
sysprof_elf_symbolizer_set_property (GObject *object,
                                     guint id,
                                     const GValue *value,
                                     GParamSpec *pspec)
{
  SysprofElfSymbolizer *self = SYSPROF_ELF_SYMBOLIZER (object);

  switch (id)
    {
    case PROP_DEBUG_DIRS:
      sysprof_elf_symbolizer_set_debug_dirs (self, g_value_get_boxed (value));
      break;
    case PROP_EXTERNAL_DEBUG_DIRS:
      sysprof_elf_symbolizer_set_external_debug_dirs (self, g_value_get_boxed (value));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
sysprof_elf_symbolizer_class_init (SysprofElfSymbolizerClass *class)
{
  const GParamFlags flags =
      G_PARAM_READWRITE | G_PARAM_EXPLICIT_NOTIFY | G_PARAM_STATIC_STRINGS;
  GObjectClass *object_class = G_OBJECT_CLASS (class);

  object_class->finalize = sysprof_elf_symbolizer_finalize;
  object_class->get_property = sysprof_elf_symbolizer_get_property;
  object_class->set_property = sysprof_elf_symbolizer_set_property;
  class->parent_class.configure = sysprof_elf_symbolizer_configure;

  properties[PROP_DEBUG_DIRS] =
      g_param_spec_boxed ("debug-dirs", NULL, NULL, G_TYPE_STRV, flags);
  properties[PROP_EXTERNAL_DEBUG_DIRS] =
      g_param_spec_boxed ("external-debug-dirs", NULL, NULL, G_TYPE_STRV, flags);
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
sysprof_elf_symbolizer_init (SysprofElfSymbolizer *self)
{
}

SysprofSymbolizer *
sysprof_elf_symbolizer_new (void)
{
  return g_object_new (SYSPROF_TYPE_ELF_SYMBOLIZER, NULL);
}

/* --- several --- */

struct _SysprofMultiSymbolizer
{
  SysprofSymbolizer parent_instance;
  GPtrArray *symbolizers;
};

struct _SysprofMultiSymbolizerClass
{
  SysprofSymbolizerClass parent_class;
};

G_DEFINE_TYPE (SysprofMultiSymbolizer, sysprof_multi_symbolizer, SYSPROF_TYPE_SYMBOLIZER)

/* One among them that names nothing does not keep the others from it. */
static void
sysprof_multi_symbolizer_configure (SysprofSymbolizer *symbolizer, SymbolizeOptions *options)
{
  SysprofMultiSymbolizer *self = SYSPROF_MULTI_SYMBOLIZER (symbolizer);

  for (guint i = 0; i < self->symbolizers->len; i++)
    sysprof_symbolizer_configure (g_ptr_array_index (self->symbolizers, i), options);
  options->no_symbols = options->n_chain == 0;
}

void
sysprof_multi_symbolizer_take (SysprofMultiSymbolizer *self, SysprofSymbolizer *symbolizer)
{
  g_return_if_fail (SYSPROF_IS_MULTI_SYMBOLIZER (self));
  g_return_if_fail (SYSPROF_IS_SYMBOLIZER (symbolizer));

  g_ptr_array_add (self->symbolizers, symbolizer);
}

static void
sysprof_multi_symbolizer_finalize (GObject *object)
{
  SysprofMultiSymbolizer *self = SYSPROF_MULTI_SYMBOLIZER (object);

  g_clear_pointer (&self->symbolizers, g_ptr_array_unref);

  G_OBJECT_CLASS (sysprof_multi_symbolizer_parent_class)->finalize (object);
}

static void
sysprof_multi_symbolizer_class_init (SysprofMultiSymbolizerClass *class)
{
  G_OBJECT_CLASS (class)->finalize = sysprof_multi_symbolizer_finalize;
  class->parent_class.configure = sysprof_multi_symbolizer_configure;
}

static void
sysprof_multi_symbolizer_init (SysprofMultiSymbolizer *self)
{
  self->symbolizers = g_ptr_array_new_with_free_func (g_object_unref);
}

SysprofMultiSymbolizer *
sysprof_multi_symbolizer_new (void)
{
  return g_object_new (SYSPROF_TYPE_MULTI_SYMBOLIZER, NULL);
}
