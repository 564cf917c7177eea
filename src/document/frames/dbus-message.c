// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofDocumentDBusMessage: a D-Bus message. Its header is parsed by GLib; the bytes are
 * untrusted. */

#include "document/frame.h"
#include "document/properties.h"

struct _SysprofDocumentDBusMessage
{
  SysprofDocumentFrame parent_instance;
  bool is_read;
  GDBusMessage *message; /* NULL where the bytes are none */
};

struct _SysprofDocumentDBusMessageClass
{
  SysprofDocumentFrameClass parent_class;
};

G_DEFINE_TYPE (SysprofDocumentDBusMessage,
               sysprof_document_dbus_message,
               SYSPROF_TYPE_DOCUMENT_FRAME)

/* Borrowed; NULL where the bytes are no message. */
static GDBusMessage *
read_message (SysprofDocumentDBusMessage *self)
{
  const SysprofCaptureDBusMessage *frame;

  if (self->is_read)
    return self->message;

  self->is_read = true;
  frame = sysprof_document_frame_read (SYSPROF_DOCUMENT_FRAME (self));
  if (frame == NULL || frame->message_len == 0)
    return NULL;

  /* Descriptors that went with it are not there; why it cannot be read does not matter. */
  self->message = g_dbus_message_new_from_blob ((guchar *) frame->message, frame->message_len,
                                                G_DBUS_CAPABILITY_FLAGS_UNIX_FD_PASSING, NULL);
  return self->message;
}

guint
sysprof_document_dbus_message_get_message_length (SysprofDocumentDBusMessage *self)
{
  const SysprofCaptureDBusMessage *frame;

  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_DBUS_MESSAGE (self), 0);

  frame = sysprof_document_frame_read (SYSPROF_DOCUMENT_FRAME (self));
  return frame != NULL ? frame->message_len : 0;
}

GDBusMessage *
sysprof_document_dbus_message_dup_message (SysprofDocumentDBusMessage *self)
{
  GDBusMessage *message;

  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_DBUS_MESSAGE (self), NULL);

  message = read_message (self);
  return message != NULL ? g_object_ref (message) : NULL;
}

guint
sysprof_document_dbus_message_get_serial (SysprofDocumentDBusMessage *self)
{
  GDBusMessage *message;

  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_DBUS_MESSAGE (self), 0);

  message = read_message (self);
  return message != NULL ? g_dbus_message_get_serial (message) : 0;
}

guint
sysprof_document_dbus_message_get_reply_serial (SysprofDocumentDBusMessage *self)
{
  GDBusMessage *message;

  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_DBUS_MESSAGE (self), 0);

  message = read_message (self);
  return message != NULL ? g_dbus_message_get_reply_serial (message) : 0;
}

const char *
sysprof_document_dbus_message_get_destination (SysprofDocumentDBusMessage *self)
{
  GDBusMessage *message;

  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_DBUS_MESSAGE (self), NULL);

  message = read_message (self);
  return message != NULL ? g_dbus_message_get_destination (message) : NULL;
}

const char *
sysprof_document_dbus_message_get_sender (SysprofDocumentDBusMessage *self)
{
  GDBusMessage *message;

  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_DBUS_MESSAGE (self), NULL);

  message = read_message (self);
  return message != NULL ? g_dbus_message_get_sender (message) : NULL;
}

GDBusMessageType
sysprof_document_dbus_message_get_message_type (SysprofDocumentDBusMessage *self)
{
  GDBusMessage *message;

  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_DBUS_MESSAGE (self), G_DBUS_MESSAGE_TYPE_INVALID);

  message = read_message (self);
  return message != NULL ? g_dbus_message_get_message_type (message)
                         : G_DBUS_MESSAGE_TYPE_INVALID;
}

const char *
sysprof_document_dbus_message_get_interface (SysprofDocumentDBusMessage *self)
{
  GDBusMessage *message;

  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_DBUS_MESSAGE (self), NULL);

  message = read_message (self);
  return message != NULL ? g_dbus_message_get_interface (message) : NULL;
}

const char *
sysprof_document_dbus_message_get_path (SysprofDocumentDBusMessage *self)
{
  GDBusMessage *message;

  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_DBUS_MESSAGE (self), NULL);

  message = read_message (self);
  return message != NULL ? g_dbus_message_get_path (message) : NULL;
}

const char *
sysprof_document_dbus_message_get_member (SysprofDocumentDBusMessage *self)
{
  GDBusMessage *message;

  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_DBUS_MESSAGE (self), NULL);

  message = read_message (self);
  return message != NULL ? g_dbus_message_get_member (message) : NULL;
}

const char *
sysprof_document_dbus_message_get_signature (SysprofDocumentDBusMessage *self)
{
  GDBusMessage *message;

  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_DBUS_MESSAGE (self), NULL);

  message = read_message (self);
  return message != NULL ? g_dbus_message_get_signature (message) : NULL;
}

GDBusMessageFlags
sysprof_document_dbus_message_get_flags (SysprofDocumentDBusMessage *self)
{
  GDBusMessage *message;

  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_DBUS_MESSAGE (self), G_DBUS_MESSAGE_FLAGS_NONE);

  message = read_message (self);
  return message != NULL ? g_dbus_message_get_flags (message) : G_DBUS_MESSAGE_FLAGS_NONE;
}

GBusType
sysprof_document_dbus_message_get_bus_type (SysprofDocumentDBusMessage *self)
{
  const SysprofCaptureDBusMessage *frame;

  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_DBUS_MESSAGE (self), G_BUS_TYPE_NONE);

  frame = sysprof_document_frame_read (SYSPROF_DOCUMENT_FRAME (self));
  if (frame == NULL ||
      (frame->bus_type != G_BUS_TYPE_SYSTEM && frame->bus_type != G_BUS_TYPE_SESSION))
    return G_BUS_TYPE_NONE;
  return (GBusType) frame->bus_type;
}

char *
sysprof_document_dbus_message_dup_string (SysprofDocumentDBusMessage *self)
{
  GDBusMessage *message;

  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_DBUS_MESSAGE (self), NULL);

  message = read_message (self);
  return message != NULL ? g_dbus_message_print (message, 0) : NULL;
}

const guint8 *
sysprof_document_dbus_message_get_message_data (SysprofDocumentDBusMessage *self, guint *length)
{
  const SysprofCaptureDBusMessage *frame;

  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_DBUS_MESSAGE (self), NULL);

  frame = sysprof_document_frame_read (SYSPROF_DOCUMENT_FRAME (self));
  if (length != NULL)
    *length = frame != NULL ? frame->message_len : 0;
  return frame != NULL ? frame->message : NULL;
}

static char *
sysprof_document_dbus_message_dup_details (SysprofDocumentFrame *frame)
{
  SysprofDocumentDBusMessage *self = SYSPROF_DOCUMENT_DBUS_MESSAGE (frame);
  const char *member = sysprof_document_dbus_message_get_member (self);
  const char *interface = sysprof_document_dbus_message_get_interface (self);

  if (member == NULL)
    return g_strdup ("D-Bus Message");

  return g_strdup_printf ("%s.%s", interface != NULL ? interface : "", member);
}

static void
sysprof_document_dbus_message_finalize (GObject *object)
{
  SysprofDocumentDBusMessage *self = SYSPROF_DOCUMENT_DBUS_MESSAGE (object);

  g_clear_object (&self->message);

  G_OBJECT_CLASS (sysprof_document_dbus_message_parent_class)->finalize (object);
}

static void
sysprof_document_dbus_message_class_init (SysprofDocumentDBusMessageClass *class)
{
  static const PropertyRow rows[] = {
    { "bus-type", PROPERTY_ENUM, G_CALLBACK (sysprof_document_dbus_message_get_bus_type),
      g_bus_type_get_type },
    { "destination", PROPERTY_STRING,
      G_CALLBACK (sysprof_document_dbus_message_get_destination) },
    { "flags", PROPERTY_FLAGS, G_CALLBACK (sysprof_document_dbus_message_get_flags),
      g_dbus_message_flags_get_type },
    { "interface", PROPERTY_STRING, G_CALLBACK (sysprof_document_dbus_message_get_interface) },
    { "member", PROPERTY_STRING, G_CALLBACK (sysprof_document_dbus_message_get_member) },
    { "message", PROPERTY_DUP_OBJECT, G_CALLBACK (sysprof_document_dbus_message_dup_message),
      g_dbus_message_get_type },
    { "message-length", PROPERTY_UINT,
      G_CALLBACK (sysprof_document_dbus_message_get_message_length) },
    { "message-type", PROPERTY_ENUM,
      G_CALLBACK (sysprof_document_dbus_message_get_message_type),
      g_dbus_message_type_get_type },
    { "path", PROPERTY_STRING, G_CALLBACK (sysprof_document_dbus_message_get_path) },
    { "reply-serial", PROPERTY_UINT,
      G_CALLBACK (sysprof_document_dbus_message_get_reply_serial) },
    { "sender", PROPERTY_STRING, G_CALLBACK (sysprof_document_dbus_message_get_sender) },
    { "serial", PROPERTY_UINT, G_CALLBACK (sysprof_document_dbus_message_get_serial) },
    { "signature", PROPERTY_STRING, G_CALLBACK (sysprof_document_dbus_message_get_signature) },
    { "string", PROPERTY_DUP_STRING, G_CALLBACK (sysprof_document_dbus_message_dup_string) },
  };

  class->parent_class.dup_details = sysprof_document_dbus_message_dup_details;
  sysprof_properties_install (G_OBJECT_CLASS (class), rows, G_N_ELEMENTS (rows));
  G_OBJECT_CLASS (class)->finalize = sysprof_document_dbus_message_finalize;
}

static void
sysprof_document_dbus_message_init (SysprofDocumentDBusMessage *self)
{
}
