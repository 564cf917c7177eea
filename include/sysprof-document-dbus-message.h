// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofDocumentDBusMessage: a message on a D-Bus bus.
 *
 * If its bytes were not recorded or are not valid, it has no texts, and all numbers except the
 * length are 0. */

#pragma once

#include <gio/gio.h>

#include "sysprof-document-frame.h"

G_BEGIN_DECLS

#define SYSPROF_TYPE_DOCUMENT_DBUS_MESSAGE (sysprof_document_dbus_message_get_type ())

SYSPROF_DECLARE_TYPE (SysprofDocumentDBusMessage,
                      sysprof_document_dbus_message,
                      DOCUMENT_DBUS_MESSAGE,
                      SYSPROF_AVAILABLE_IN_ALL)

/* The size in bytes; 0 if the message was not recorded. Property "message-length". */
SYSPROF_AVAILABLE_IN_ALL
guint sysprof_document_dbus_message_get_message_length (SysprofDocumentDBusMessage *self);

/* *(full, nullable)* Property "message". */
SYSPROF_AVAILABLE_IN_ALL
GDBusMessage *sysprof_document_dbus_message_dup_message (SysprofDocumentDBusMessage *self);

/* Property "serial". */
SYSPROF_AVAILABLE_IN_ALL
guint sysprof_document_dbus_message_get_serial (SysprofDocumentDBusMessage *self);

/* The serial of the call to which this message is the reply; 0 = none. Property "reply-serial".
 */
SYSPROF_AVAILABLE_IN_ALL
guint sysprof_document_dbus_message_get_reply_serial (SysprofDocumentDBusMessage *self);

/* *(none, nullable)* Property "destination". */
SYSPROF_AVAILABLE_IN_ALL
const char *sysprof_document_dbus_message_get_destination (SysprofDocumentDBusMessage *self);

/* *(none, nullable)* Property "sender". */
SYSPROF_AVAILABLE_IN_ALL
const char *sysprof_document_dbus_message_get_sender (SysprofDocumentDBusMessage *self);

/* Property "message-type". */
SYSPROF_AVAILABLE_IN_ALL
GDBusMessageType
sysprof_document_dbus_message_get_message_type (SysprofDocumentDBusMessage *self);

/* *(none, nullable)* Property "interface". */
SYSPROF_AVAILABLE_IN_ALL
const char *sysprof_document_dbus_message_get_interface (SysprofDocumentDBusMessage *self);

/* *(none, nullable)* Property "path". */
SYSPROF_AVAILABLE_IN_ALL
const char *sysprof_document_dbus_message_get_path (SysprofDocumentDBusMessage *self);

/* *(none, nullable)* Property "member". */
SYSPROF_AVAILABLE_IN_ALL
const char *sysprof_document_dbus_message_get_member (SysprofDocumentDBusMessage *self);

/* The signature of the body. *(none, nullable)* Property "signature". */
SYSPROF_AVAILABLE_IN_ALL
const char *sysprof_document_dbus_message_get_signature (SysprofDocumentDBusMessage *self);

/* Property "flags". */
SYSPROF_AVAILABLE_IN_ALL
GDBusMessageFlags sysprof_document_dbus_message_get_flags (SysprofDocumentDBusMessage *self);

/* The bus on which it was recorded. Property "bus-type". */
SYSPROF_AVAILABLE_IN_ALL
GBusType sysprof_document_dbus_message_get_bus_type (SysprofDocumentDBusMessage *self);

/* The complete message as text. *(full, nullable)* Property "string". */
SYSPROF_AVAILABLE_IN_ALL
char *sysprof_document_dbus_message_dup_string (SysprofDocumentDBusMessage *self);

/**
 * sysprof_document_dbus_message_get_message_data:
 * @self: a message
 * @length: (out) (optional): the number of bytes
 *
 * Returns: (array length=length) (element-type guint8) (transfer none) (nullable): the message
 *   as on the bus; valid as long as the frame
 */
SYSPROF_AVAILABLE_IN_ALL
const guint8 *sysprof_document_dbus_message_get_message_data (SysprofDocumentDBusMessage *self,
                                                              guint *length);

G_END_DECLS
