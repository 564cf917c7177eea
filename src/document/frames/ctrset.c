// SPDX-License-Identifier: GPL-3.0-or-later

/* Values are in groups of eight. Unused positions of a group do not count. */

#include "document/frame.h"
#include "document/properties.h"

#include <string.h>

struct _SysprofDocumentCtrset
{
  SysprofDocumentFrame parent_instance;
};

struct _SysprofDocumentCtrsetClass
{
  SysprofDocumentFrameClass parent_class;
};

G_DEFINE_TYPE (SysprofDocumentCtrset, sysprof_document_ctrset, SYSPROF_TYPE_DOCUMENT_FRAME)

guint
sysprof_document_ctrset_get_n_values (SysprofDocumentCtrset *self)
{
  const SysprofCaptureCounterSet *frame;
  guint n = 0;

  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_CTRSET (self), 0);

  frame = sysprof_document_frame_read (SYSPROF_DOCUMENT_FRAME (self));
  for (guint i = 0; frame != NULL && i < frame->n_values; i++)
    for (guint j = 0; j < G_N_ELEMENTS (frame->values[i].ids); j++)
      n += frame->values[i].ids[j] != 0;
  return n;
}

void
sysprof_document_ctrset_get_raw_value (SysprofDocumentCtrset *self,
                                       guint nth,
                                       guint *id,
                                       guint8 value[8])
{
  const SysprofCaptureCounterSet *frame;
  guint n = 0;

  g_return_if_fail (SYSPROF_IS_DOCUMENT_CTRSET (self));
  g_return_if_fail (id != NULL && value != NULL);

  *id = 0;
  memset (value, 0, 8);
  frame = sysprof_document_frame_read (SYSPROF_DOCUMENT_FRAME (self));
  for (guint i = 0; frame != NULL && i < frame->n_values; i++)
    for (guint j = 0; j < G_N_ELEMENTS (frame->values[i].ids); j++)
      if (frame->values[i].ids[j] != 0 && n++ == nth)
        {
          *id = frame->values[i].ids[j];
          memcpy (value, &frame->values[i].values[j], 8);
        }
}

static void
sysprof_document_ctrset_class_init (SysprofDocumentCtrsetClass *class)
{
  static const PropertyRow rows[] = {
    { "n-values", PROPERTY_UINT, G_CALLBACK (sysprof_document_ctrset_get_n_values) },
  };

  sysprof_properties_install (G_OBJECT_CLASS (class), rows, G_N_ELEMENTS (rows));
}

static void
sysprof_document_ctrset_init (SysprofDocumentCtrset *self)
{
}
