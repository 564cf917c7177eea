// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofDocumentFrame: the common part of all frames. See frame.h. */

#include "document/frame.h"

G_DEFINE_TYPE (SysprofDocumentFrame, sysprof_document_frame, G_TYPE_OBJECT)

enum
{
  PROP_0,
  PROP_CPU,
  PROP_PID,
  PROP_TIME,
  PROP_TIME_OFFSET,
  PROP_TIME_STRING,
  PROP_TOOLTIP,
  PROP_TYPE_NAME,
  N_PROPS,
};

static GParamSpec *properties[N_PROPS];

/* By frame type. A kind without a type of its own is a plain frame. */
static const struct
{
  const char *name;
  GType (*get_type) (void);
} kinds[] = {
  [0] = { "Unknown" },
  [SYSPROF_CAPTURE_FRAME_TIMESTAMP] = { "Timestamp" },
  [SYSPROF_CAPTURE_FRAME_SAMPLE] = { "Sample", sysprof_document_sample_get_type },
  [SYSPROF_CAPTURE_FRAME_MAP] = { "Memory Map", sysprof_document_mmap_get_type },
  [SYSPROF_CAPTURE_FRAME_PROCESS] = { "Process", sysprof_document_process_get_type },
  [SYSPROF_CAPTURE_FRAME_FORK] = { "Fork", sysprof_document_fork_get_type },
  [SYSPROF_CAPTURE_FRAME_EXIT] = { "Exit", sysprof_document_exit_get_type },
  [SYSPROF_CAPTURE_FRAME_JITMAP] = { "JIT Map", sysprof_document_jitmap_get_type },
  [SYSPROF_CAPTURE_FRAME_CTRDEF] = { "Counter Definition", sysprof_document_ctrdef_get_type },
  [SYSPROF_CAPTURE_FRAME_CTRSET] = { "Counter Values", sysprof_document_ctrset_get_type },
  [SYSPROF_CAPTURE_FRAME_MARK] = { "Mark", sysprof_document_mark_get_type },
  [SYSPROF_CAPTURE_FRAME_METADATA] = { "Metadata", sysprof_document_metadata_get_type },
  [SYSPROF_CAPTURE_FRAME_LOG] = { "Log", sysprof_document_log_get_type },
  [SYSPROF_CAPTURE_FRAME_FILE_CHUNK] = { "File Chunk", sysprof_document_file_chunk_get_type },
  [SYSPROF_CAPTURE_FRAME_ALLOCATION] = { "Allocation", sysprof_document_allocation_get_type },
  [SYSPROF_CAPTURE_FRAME_OVERLAY] = { "Overlay", sysprof_document_overlay_get_type },
  [SYSPROF_CAPTURE_FRAME_TRACE] = { "Trace", sysprof_document_trace_get_type },
  [SYSPROF_CAPTURE_FRAME_DBUS_MESSAGE] = { "D-Bus Message",
                                           sysprof_document_dbus_message_get_type },
  [SYSPROF_CAPTURE_FRAME_DBUS_MESSAGE + 1] = { "Frame Index" },
};

G_STATIC_ASSERT (G_N_ELEMENTS (kinds) == STORE_N_FRAME_TYPES);

SysprofDocumentFrame *
sysprof_document_frame_new (Store *store, FrameNo number)
{
  GType (*get_type) (void) = kinds[store->frames.type[number]].get_type;
  SysprofDocumentFrame *self =
      g_object_new (get_type != NULL ? get_type () : SYSPROF_TYPE_DOCUMENT_FRAME, NULL);

  self->store = sysprof_store_ref (store);
  self->number = number;
  return self;
}

const void *
sysprof_document_frame_read (SysprofDocumentFrame *self)
{
  const Store *store = self->store;
  uint64_t offset = store->frames.offset[self->number];
  const uint8_t *bytes = store->bytes + offset;
  size_t size;

  if (self->bytes != NULL)
    return self->bytes;

  if (!sysprof_capture_frame_validate (bytes, store->size - offset, store->is_swapped))
    return NULL;

  /* One byte more: a text may fill the frame to its end. */
  size = sysprof_capture_frame_length (bytes, store->size - offset, store->is_swapped);
  self->bytes = g_malloc0 (size + 1);
  memcpy (self->bytes, bytes, size);
  if (store->is_swapped)
    sysprof_capture_frame_swap ((uint8_t *) self->bytes);
  sysprof_capture_frame_end_texts ((uint8_t *) self->bytes);
  return self->bytes;
}

const char *
sysprof_frame_text_make_valid (const char *text)
{
  const char *end;

  while (!g_utf8_validate (text, -1, &end))
    *(char *) end = '?';
  return text;
}

int
sysprof_document_frame_get_cpu (SysprofDocumentFrame *self)
{
  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_FRAME (self), -1);

  return self->store->frames.cpu[self->number];
}

int
sysprof_document_frame_get_pid (SysprofDocumentFrame *self)
{
  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_FRAME (self), -1);

  return self->store->frames.pid[self->number];
}

gint64
sysprof_document_frame_get_time (SysprofDocumentFrame *self)
{
  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_FRAME (self), 0);

  return self->store->frames.time[self->number];
}

gint64
sysprof_document_frame_get_time_offset (SysprofDocumentFrame *self)
{
  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_FRAME (self), 0);

  return sysprof_time_between (self->store->begin, self->store->frames.time[self->number]);
}

gboolean
sysprof_document_frame_equal (SysprofDocumentFrame *a, SysprofDocumentFrame *b)
{
  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_FRAME (a), FALSE);
  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_FRAME (b), FALSE);

  return a->store == b->store && a->number == b->number;
}

char *
sysprof_document_frame_dup_time_string (SysprofDocumentFrame *self)
{
  gint64 offset;

  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_FRAME (self), NULL);

  offset = sysprof_document_frame_get_time_offset (self) / 100000; /* ten-thousandths */
  return g_strdup_printf ("%02d:%02d:%02d.%04d", (int) (offset / (3600 * 10000)),
                          (int) (offset / (60 * 10000) % 60), (int) (offset / 10000 % 60),
                          (int) (offset % 10000));
}

char *
sysprof_document_frame_dup_tooltip (SysprofDocumentFrame *self)
{
  SysprofDocumentFrameClass *class;
  g_autofree char *time = NULL;
  g_autofree char *details = NULL;
  const char *kind;

  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_FRAME (self), NULL);

  class =
      G_TYPE_INSTANCE_GET_CLASS (self, SYSPROF_TYPE_DOCUMENT_FRAME, SysprofDocumentFrameClass);
  kind = kinds[self->store->frames.type[self->number]].name;
  time = sysprof_document_frame_dup_time_string (self);
  if (class->dup_details == NULL)
    return g_strdup_printf ("%s: %s", time, kind);

  details = class->dup_details (self);
  return g_strdup_printf ("%s: %s", time, details);
}

static void
sysprof_document_frame_finalize (GObject *object)
{
  SysprofDocumentFrame *self = SYSPROF_DOCUMENT_FRAME (object);

  g_clear_pointer (&self->store, sysprof_store_unref);
  g_free (self->bytes);

  G_OBJECT_CLASS (sysprof_document_frame_parent_class)->finalize (object);
}

static void
sysprof_document_frame_get_property (GObject *object,
                                     guint id,
                                     GValue *value,
                                     GParamSpec *pspec)
{
  SysprofDocumentFrame *self = SYSPROF_DOCUMENT_FRAME (object);

  switch (id)
    {
    case PROP_CPU:
      g_value_set_int (value, sysprof_document_frame_get_cpu (self));
      break;
    case PROP_PID:
      g_value_set_int (value, sysprof_document_frame_get_pid (self));
      break;
    case PROP_TIME:
      g_value_set_int64 (value, sysprof_document_frame_get_time (self));
      break;
    case PROP_TIME_OFFSET:
      g_value_set_int64 (value, sysprof_document_frame_get_time_offset (self));
      break;
    case PROP_TIME_STRING:
      g_value_take_string (value, sysprof_document_frame_dup_time_string (self));
      break;
    case PROP_TOOLTIP:
      g_value_take_string (value, sysprof_document_frame_dup_tooltip (self));
      break;
    case PROP_TYPE_NAME:
      g_value_set_static_string (value, kinds[self->store->frames.type[self->number]].name);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
sysprof_document_frame_class_init (SysprofDocumentFrameClass *class)
{
  const GParamFlags flags = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;
  GObjectClass *object_class = G_OBJECT_CLASS (class);

  object_class->finalize = sysprof_document_frame_finalize;
  object_class->get_property = sysprof_document_frame_get_property;

  properties[PROP_CPU] = g_param_spec_int ("cpu", NULL, NULL, G_MININT, G_MAXINT, -1, flags);
  properties[PROP_PID] = g_param_spec_int ("pid", NULL, NULL, G_MININT, G_MAXINT, -1, flags);
  properties[PROP_TIME] =
      g_param_spec_int64 ("time", NULL, NULL, G_MININT64, G_MAXINT64, 0, flags);
  properties[PROP_TIME_OFFSET] =
      g_param_spec_int64 ("time-offset", NULL, NULL, 0, G_MAXINT64, 0, flags);
  properties[PROP_TIME_STRING] = g_param_spec_string ("time-string", NULL, NULL, NULL, flags);
  properties[PROP_TOOLTIP] = g_param_spec_string ("tooltip", NULL, NULL, NULL, flags);
  properties[PROP_TYPE_NAME] = g_param_spec_string ("type-name", NULL, NULL, NULL, flags);
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
sysprof_document_frame_init (SysprofDocumentFrame *self)
{
}
