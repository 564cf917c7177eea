// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofDocumentCounter: a number over time. A list model of SysprofDocumentCounterValue. */

#pragma once

#include <gio/gio.h>

#include "sysprof-version-macros.h"

G_BEGIN_DECLS

#define SYSPROF_TYPE_DOCUMENT_COUNTER (sysprof_document_counter_get_type ())

SYSPROF_AVAILABLE_IN_ALL
G_DECLARE_FINAL_TYPE (SysprofDocumentCounter,
                      sysprof_document_counter,
                      SYSPROF,
                      DOCUMENT_COUNTER,
                      GObject)

/* "category/name". *(full)* Property "key". */
SYSPROF_AVAILABLE_IN_ALL
char *sysprof_document_counter_dup_key (SysprofDocumentCounter *self);

/* *(none)* Properties "category", "name", "description". */
SYSPROF_AVAILABLE_IN_ALL
const char *sysprof_document_counter_get_category (SysprofDocumentCounter *self);
SYSPROF_AVAILABLE_IN_ALL
const char *sysprof_document_counter_get_name (SysprofDocumentCounter *self);
SYSPROF_AVAILABLE_IN_ALL
const char *sysprof_document_counter_get_description (SysprofDocumentCounter *self);

/* The ID in the capture. Property "id". */
SYSPROF_AVAILABLE_IN_ALL
guint sysprof_document_counter_get_id (SysprofDocumentCounter *self);

/* G_TYPE_INT64 or G_TYPE_DOUBLE. Property "value-type". */
SYSPROF_AVAILABLE_IN_ALL
GType sysprof_document_counter_get_value_type (SysprofDocumentCounter *self);

/* The number of values. */
SYSPROF_AVAILABLE_IN_ALL
guint sysprof_document_counter_get_n_values (SysprofDocumentCounter *self);

/**
 * sysprof_document_counter_get_value:
 * @self: a counter
 * @nth: the index of the value
 * @time: (out) (optional): the time of the value
 * @value: (out caller-allocates): the value, converted to the type of @value; a zeroed
 *   @value gets the type of the counter
 *
 * Past the end, the value is 0 at time 0.
 */
SYSPROF_AVAILABLE_IN_ALL
void sysprof_document_counter_get_value (SysprofDocumentCounter *self,
                                         guint nth,
                                         gint64 *time,
                                         GValue *value);
/**
 * sysprof_document_counter_get_value_int64:
 * @self: a counter
 * @nth: the index of the value
 * @time: (out) (optional): the time of the value
 *
 * Returns: the value; past the end 0 at time 0
 */
SYSPROF_AVAILABLE_IN_ALL
gint64 sysprof_document_counter_get_value_int64 (SysprofDocumentCounter *self,
                                                 guint nth,
                                                 gint64 *time);
/**
 * sysprof_document_counter_get_value_double:
 * @self: a counter
 * @nth: the index of the value
 * @time: (out) (optional): the time of the value
 *
 * Returns: the value; past the end 0 at time 0
 */
SYSPROF_AVAILABLE_IN_ALL
double sysprof_document_counter_get_value_double (SysprofDocumentCounter *self,
                                                  guint nth,
                                                  gint64 *time);

/* The times of all values, one gint64 each; and the values, one gint64 or double each,
 * depending on the type. For language bindings, where a call per item is slow. *(full)* */
SYSPROF_AVAILABLE_IN_51
GBytes *sysprof_document_counter_dup_times (SysprofDocumentCounter *self);
SYSPROF_AVAILABLE_IN_51
GBytes *sysprof_document_counter_dup_values (SysprofDocumentCounter *self);

/* The minimum and maximum of all values; 0 if there are none. Properties "min-value",
 * "max-value". */
SYSPROF_AVAILABLE_IN_ALL
double sysprof_document_counter_get_min_value (SysprofDocumentCounter *self);
SYSPROF_AVAILABLE_IN_ALL
double sysprof_document_counter_get_max_value (SysprofDocumentCounter *self);

G_END_DECLS
