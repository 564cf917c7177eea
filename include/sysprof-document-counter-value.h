// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofDocumentCounterValue: the value of a counter at one time. */

#pragma once

#include <gio/gio.h>

#include "sysprof-document-counter.h"
#include "sysprof-version-macros.h"

G_BEGIN_DECLS

#define SYSPROF_TYPE_DOCUMENT_COUNTER_VALUE (sysprof_document_counter_value_get_type ())

SYSPROF_AVAILABLE_IN_ALL
G_DECLARE_FINAL_TYPE (SysprofDocumentCounterValue,
                      sysprof_document_counter_value,
                      SYSPROF,
                      DOCUMENT_COUNTER_VALUE,
                      GObject)

/* *(none)* Property "counter". */
SYSPROF_AVAILABLE_IN_ALL
SysprofDocumentCounter *
sysprof_document_counter_value_get_counter (SysprofDocumentCounterValue *self);

/* ns, CLOCK_MONOTONIC. Property "time". */
SYSPROF_AVAILABLE_IN_ALL
gint64 sysprof_document_counter_value_get_time (SysprofDocumentCounterValue *self);

/* ns since the start of the recording. Property "time-offset". */
SYSPROF_AVAILABLE_IN_ALL
gint64 sysprof_document_counter_value_get_time_offset (SysprofDocumentCounterValue *self);

/**
 * sysprof_document_counter_value_get_value:
 * @self: a value of a counter
 * @value: (out caller-allocates): like sysprof_document_counter_get_value()
 */
SYSPROF_AVAILABLE_IN_ALL
void sysprof_document_counter_value_get_value (SysprofDocumentCounterValue *self,
                                               GValue *value);

/* The value as an integer; decimals are cut off. */
SYSPROF_AVAILABLE_IN_ALL
gint64 sysprof_document_counter_value_get_value_int64 (SysprofDocumentCounterValue *self);

/* The value as a floating-point number. */
SYSPROF_AVAILABLE_IN_ALL
double sysprof_document_counter_value_get_value_double (SysprofDocumentCounterValue *self);

/* The value as a text. *(full)* Property "value-string". */
SYSPROF_AVAILABLE_IN_ALL
char *sysprof_document_counter_value_format (SysprofDocumentCounterValue *self);

G_END_DECLS
