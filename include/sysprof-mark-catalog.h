// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofMarkCatalog: the marks of one group and name. A list model of SysprofDocumentMark, in
 * the order of time.
 *
 * Durations are in ns. They are those of marks with a duration, and 0 if there are none. */

#pragma once

#include <gio/gio.h>

#include "sysprof-version-macros.h"

G_BEGIN_DECLS

#define SYSPROF_TYPE_MARK_CATALOG (sysprof_mark_catalog_get_type ())

SYSPROF_AVAILABLE_IN_ALL
G_DECLARE_FINAL_TYPE (SysprofMarkCatalog, sysprof_mark_catalog, SYSPROF, MARK_CATALOG, GObject)

/* *(none)* Property "group". */
SYSPROF_AVAILABLE_IN_ALL
const char *sysprof_mark_catalog_get_group (SysprofMarkCatalog *self);

/* *(none)* Property "name". */
SYSPROF_AVAILABLE_IN_ALL
const char *sysprof_mark_catalog_get_name (SysprofMarkCatalog *self);

/* Property "min-duration". */
SYSPROF_AVAILABLE_IN_ALL
gint64 sysprof_mark_catalog_get_min_duration (SysprofMarkCatalog *self);

/* Property "max-duration". */
SYSPROF_AVAILABLE_IN_ALL
gint64 sysprof_mark_catalog_get_max_duration (SysprofMarkCatalog *self);

/* Property "average-duration". */
SYSPROF_AVAILABLE_IN_ALL
gint64 sysprof_mark_catalog_get_average_duration (SysprofMarkCatalog *self);

/* Property "median-duration". */
SYSPROF_AVAILABLE_IN_ALL
gint64 sysprof_mark_catalog_get_median_duration (SysprofMarkCatalog *self);

G_END_DECLS
