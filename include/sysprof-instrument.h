// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofInstrument: a source of recorded data. Each kind has its own header. Instruments
 * cannot be derived outside of the library. */

#pragma once

#include <gio/gio.h>

#include "sysprof-version-macros.h"

G_BEGIN_DECLS

#define SYSPROF_TYPE_INSTRUMENT (sysprof_instrument_get_type ())

typedef struct _SysprofInstrument SysprofInstrument;
typedef struct _SysprofInstrumentClass SysprofInstrumentClass;

SYSPROF_AVAILABLE_IN_ALL
GType sysprof_instrument_get_type (void) G_GNUC_CONST;

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SysprofInstrument, g_object_unref)

G_GNUC_UNUSED static inline SysprofInstrument *
SYSPROF_INSTRUMENT (gpointer object)
{
  return G_TYPE_CHECK_INSTANCE_CAST (object, sysprof_instrument_get_type (), SysprofInstrument);
}

G_GNUC_UNUSED static inline gboolean
SYSPROF_IS_INSTRUMENT (gpointer object)
{
  return G_TYPE_CHECK_INSTANCE_TYPE (object, sysprof_instrument_get_type ());
}

/* Declares what G_DECLARE_FINAL_TYPE declares, except the class structure, because the parent
 * class is private. */
#define SYSPROF_DECLARE_INSTRUMENT(TypeName, type_name, NAME, AVAILABLE)           \
  AVAILABLE                                                                        \
  GType type_name##_get_type (void) G_GNUC_CONST;                                  \
  typedef struct _##TypeName TypeName;                                             \
  G_DEFINE_AUTOPTR_CLEANUP_FUNC (TypeName, g_object_unref)                         \
                                                                                   \
  G_GNUC_UNUSED static inline TypeName *SYSPROF_##NAME (gpointer object)           \
  {                                                                                \
    return G_TYPE_CHECK_INSTANCE_CAST (object, type_name##_get_type (), TypeName); \
  }                                                                                \
                                                                                   \
  G_GNUC_UNUSED static inline gboolean SYSPROF_IS_##NAME (gpointer object)         \
  {                                                                                \
    return G_TYPE_CHECK_INSTANCE_TYPE (object, type_name##_get_type ());           \
  }

G_END_DECLS
