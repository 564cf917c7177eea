// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofDocumentJitmap: names of generated code, by address. */

#include "document/frame.h"
#include "document/properties.h"

typedef struct
{
  guint64 address;
  const char *name; /* in the frame's bytes */
} JitMapping;

struct _SysprofDocumentJitmap
{
  SysprofDocumentFrame parent_instance;
  GArray *mappings; /* of JitMapping; NULL until used */
};

struct _SysprofDocumentJitmapClass
{
  SysprofDocumentFrameClass parent_class;
};

G_DEFINE_TYPE (SysprofDocumentJitmap, sysprof_document_jitmap, SYSPROF_TYPE_DOCUMENT_FRAME)

static GArray *
read_mappings (SysprofDocumentJitmap *self)
{
  const SysprofCaptureJitmap *frame;
  SysprofCaptureJitmapIter iter;
  SysprofCaptureAddress address;
  const char *name;

  if (self->mappings != NULL)
    return self->mappings;

  self->mappings = g_array_new (FALSE, FALSE, sizeof (JitMapping));
  frame = sysprof_document_frame_read (SYSPROF_DOCUMENT_FRAME (self));
  if (frame == NULL)
    return self->mappings;

  sysprof_capture_jitmap_iter_init (&iter, frame);
  while (sysprof_capture_jitmap_iter_next (&iter, &address, &name))
    {
      JitMapping mapping = { address, name };

      g_array_append_val (self->mappings, mapping);
    }
  return self->mappings;
}

guint
sysprof_document_jitmap_get_size (SysprofDocumentJitmap *self)
{
  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_JITMAP (self), 0);

  return read_mappings (self)->len;
}

const char *
sysprof_document_jitmap_get_mapping (SysprofDocumentJitmap *self,
                                     guint position,
                                     guint64 *address)
{
  const JitMapping *mapping = NULL;

  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_JITMAP (self), NULL);

  if (position < read_mappings (self)->len)
    mapping = &g_array_index (self->mappings, JitMapping, position);
  if (address != NULL)
    *address = mapping != NULL ? mapping->address : 0;
  return mapping != NULL ? sysprof_frame_text_make_valid (mapping->name) : NULL;
}

static void
sysprof_document_jitmap_finalize (GObject *object)
{
  SysprofDocumentJitmap *self = SYSPROF_DOCUMENT_JITMAP (object);

  g_clear_pointer (&self->mappings, g_array_unref);

  G_OBJECT_CLASS (sysprof_document_jitmap_parent_class)->finalize (object);
}

static void
sysprof_document_jitmap_class_init (SysprofDocumentJitmapClass *class)
{
  static const PropertyRow rows[] = {
    { "size", PROPERTY_UINT, G_CALLBACK (sysprof_document_jitmap_get_size) },
  };

  sysprof_properties_install (G_OBJECT_CLASS (class), rows, G_N_ELEMENTS (rows));
  G_OBJECT_CLASS (class)->finalize = sysprof_document_jitmap_finalize;
}

static void
sysprof_document_jitmap_init (SysprofDocumentJitmap *self)
{
}
