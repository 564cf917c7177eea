// SPDX-License-Identifier: GPL-3.0-or-later

/* Instruments that are not implemented yet. Remove the line of an instrument here when you
 * implement it. */

#include "record/instruments/absent.h"

#include "util/util.h"

#include <sysprof.h>

gboolean
sysprof_absent_instrument_refuse (const char *what, GError **error)
{
  g_set_error (error, SYSPROF_ERROR, SYSPROF_ERROR_UNSUPPORTED,
               "%s%snot recorded: this version does not implement it yet. The recording "
               "continues without it.",
               what, *what != '\0' ? ": " : "");
  return FALSE;
}

gboolean
sysprof_absent_instrument_prepare (SysprofInstrument *self,
                                   RecordingContext *context,
                                   GError **error)
{
  return sysprof_absent_instrument_refuse ("", error);
}

#define DEFINE_ABSENT_INSTRUMENT(TypeName, type_name, class_name)    \
  typedef struct _##TypeName TypeName;                               \
  GType type_name##_get_type (void);                                 \
  SysprofInstrument *type_name##_new (void);                         \
                                                                     \
  struct _##TypeName                                                 \
  {                                                                  \
    SysprofInstrument parent_instance;                               \
  };                                                                 \
  SYSPROF_DEFINE_INSTRUMENT (TypeName, type_name)                    \
  static void type_name##_class_init (TypeName##Class *klass)        \
  {                                                                  \
    klass->parent_class.name = class_name;                           \
    klass->parent_class.prepare = sysprof_absent_instrument_prepare; \
  }                                                                  \
  static void type_name##_init (TypeName *self)                      \
  {                                                                  \
  }                                                                  \
  SysprofInstrument *type_name##_new (void)                          \
  {                                                                  \
    return g_object_new (type_name##_get_type (), NULL);             \
  }

/* clang-format off */
DEFINE_ABSENT_INSTRUMENT (SysprofMallocTracing, sysprof_malloc_tracing, "Malloc Tracing")
DEFINE_ABSENT_INSTRUMENT (SysprofSpeedtrack, sysprof_speedtrack, "speedtrack")
DEFINE_ABSENT_INSTRUMENT (SysprofTracer, sysprof_tracer, "Tracer")
/* clang-format on */

static void
create_absent (const InstrumentSelection *selection, GPtrArray *instruments)
{
  if (sysprof_instrument_selection_has (selection, "memprof"))
    g_ptr_array_add (instruments, sysprof_malloc_tracing_new ());
  if (sysprof_instrument_selection_has (selection, "speedtrack"))
    g_ptr_array_add (instruments, sysprof_speedtrack_new ());
}

const InstrumentRow sysprof_absent_row = {
  .needs_command = true,
  .options = { { "memprof" }, { "speedtrack" } },
  .create = create_absent,
};
