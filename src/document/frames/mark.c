// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofDocumentMark: a span of time with a group, a name and a message. */

#include "document/frame.h"

struct _SysprofDocumentMark
{
  SysprofDocumentFrame parent_instance;
};

struct _SysprofDocumentMarkClass
{
  SysprofDocumentFrameClass parent_class;
};

G_DEFINE_TYPE (SysprofDocumentMark, sysprof_document_mark, SYSPROF_TYPE_DOCUMENT_FRAME)

enum
{
  PROP_0,
  PROP_DURATION,
  PROP_END_TIME,
  PROP_GROUP,
  PROP_MESSAGE,
  PROP_NAME,
  N_PROPS,
};

static GParamSpec *properties[N_PROPS];

static const SysprofCaptureMark *
read_mark (SysprofDocumentMark *self)
{
  return sysprof_document_frame_read (SYSPROF_DOCUMENT_FRAME (self));
}

gint64
sysprof_document_mark_get_duration (SysprofDocumentMark *self)
{
  const SysprofCaptureMark *mark;

  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_MARK (self), 0);

  mark = read_mark (self);
  return mark != NULL ? mark->duration : 0;
}

gint64
sysprof_document_mark_get_end_time (SysprofDocumentMark *self)
{
  gint64 begin;
  gint64 end;

  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_MARK (self), 0);

  begin = sysprof_document_frame_get_time (SYSPROF_DOCUMENT_FRAME (self));
  return __builtin_add_overflow (begin, sysprof_document_mark_get_duration (self), &end)
             ? G_MAXINT64
             : end;
}

const char *
sysprof_document_mark_get_group (SysprofDocumentMark *self)
{
  const SysprofCaptureMark *mark;

  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_MARK (self), NULL);

  mark = read_mark (self);
  return mark != NULL ? sysprof_frame_text_make_valid (mark->group) : "";
}

const char *
sysprof_document_mark_get_name (SysprofDocumentMark *self)
{
  const SysprofCaptureMark *mark;

  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_MARK (self), NULL);

  mark = read_mark (self);
  return mark != NULL ? sysprof_frame_text_make_valid (mark->name) : "";
}

const char *
sysprof_document_mark_get_message (SysprofDocumentMark *self)
{
  const SysprofCaptureMark *mark;

  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_MARK (self), NULL);

  mark = read_mark (self);
  return mark != NULL ? sysprof_frame_text_make_valid (mark->message) : "";
}

static char *
sysprof_document_mark_dup_details (SysprofDocumentFrame *frame)
{
  SysprofDocumentMark *self = SYSPROF_DOCUMENT_MARK (frame);
  const char *message = sysprof_document_mark_get_message (self);
  gint64 duration = sysprof_document_mark_get_duration (self);
  GString *text = g_string_new (NULL);

  g_string_append_printf (text, "%s / %s", sysprof_document_mark_get_group (self),
                          sysprof_document_mark_get_name (self));
  if (duration != 0)
    {
      g_autofree char *length = sysprof_time_offset_to_string (duration);

      g_string_append_printf (text, " (%s)", length);
    }
  if (message[0] != 0)
    g_string_append_printf (text, ": %s", message);
  return g_string_free (text, FALSE);
}

static void
sysprof_document_mark_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  SysprofDocumentMark *self = SYSPROF_DOCUMENT_MARK (object);

  switch (id)
    {
    case PROP_DURATION:
      g_value_set_int64 (value, sysprof_document_mark_get_duration (self));
      break;
    case PROP_END_TIME:
      g_value_set_int64 (value, sysprof_document_mark_get_end_time (self));
      break;
    case PROP_GROUP:
      g_value_set_string (value, sysprof_document_mark_get_group (self));
      break;
    case PROP_MESSAGE:
      g_value_set_string (value, sysprof_document_mark_get_message (self));
      break;
    case PROP_NAME:
      g_value_set_string (value, sysprof_document_mark_get_name (self));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
sysprof_document_mark_class_init (SysprofDocumentMarkClass *class)
{
  const GParamFlags flags = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;
  GObjectClass *object_class = G_OBJECT_CLASS (class);

  object_class->get_property = sysprof_document_mark_get_property;
  class->parent_class.dup_details = sysprof_document_mark_dup_details;

  properties[PROP_DURATION] =
      g_param_spec_int64 ("duration", NULL, NULL, G_MININT64, G_MAXINT64, 0, flags);
  properties[PROP_END_TIME] =
      g_param_spec_int64 ("end-time", NULL, NULL, G_MININT64, G_MAXINT64, 0, flags);
  properties[PROP_GROUP] = g_param_spec_string ("group", NULL, NULL, NULL, flags);
  properties[PROP_MESSAGE] = g_param_spec_string ("message", NULL, NULL, NULL, flags);
  properties[PROP_NAME] = g_param_spec_string ("name", NULL, NULL, NULL, flags);
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
sysprof_document_mark_init (SysprofDocumentMark *self)
{
}
