// SPDX-License-Identifier: GPL-3.0-or-later

/* Declares what G_DECLARE_FINAL_TYPE declares, except the class structure, for types whose
 * parent class is private. Such types cannot be derived outside of the library. */

#pragma once

#include <glib-object.h>

#include "sysprof-version-macros.h"

#define SYSPROF_DECLARE_TYPE(TypeName, type_name, NAME, AVAILABLE)                 \
  AVAILABLE                                                                        \
  GType type_name##_get_type (void) G_GNUC_CONST;                                  \
  typedef struct _##TypeName TypeName;                                             \
  typedef struct _##TypeName##Class TypeName##Class;                               \
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
