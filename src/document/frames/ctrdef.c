// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofDocumentCtrdef: definitions of counters. */

#include "document/frame.h"
#include "document/properties.h"

struct _SysprofDocumentCtrdef
{
  SysprofDocumentFrame parent_instance;
};

struct _SysprofDocumentCtrdefClass
{
  SysprofDocumentFrameClass parent_class;
};

G_DEFINE_TYPE (SysprofDocumentCtrdef, sysprof_document_ctrdef, SYSPROF_TYPE_DOCUMENT_FRAME)

guint
sysprof_document_ctrdef_get_n_counters (SysprofDocumentCtrdef *self)
{
  const SysprofCaptureCounterDefine *frame;

  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_CTRDEF (self), 0);

  frame = sysprof_document_frame_read (SYSPROF_DOCUMENT_FRAME (self));
  return frame != NULL ? frame->n_counters : 0;
}

static void
set_text (const char **place, const SysprofCaptureCounter *counter, const char *text)
{
  if (place != NULL)
    *place = counter != NULL ? sysprof_frame_text_make_valid (text) : "";
}

void
sysprof_document_ctrdef_get_counter (SysprofDocumentCtrdef *self,
                                     guint nth,
                                     guint *id,
                                     guint *type,
                                     const char **category,
                                     const char **name,
                                     const char **description)
{
  const SysprofCaptureCounterDefine *frame;
  const SysprofCaptureCounter *counter = NULL;

  g_return_if_fail (SYSPROF_IS_DOCUMENT_CTRDEF (self));

  frame = sysprof_document_frame_read (SYSPROF_DOCUMENT_FRAME (self));
  if (frame != NULL && nth < frame->n_counters)
    counter = &frame->counters[nth];

  if (id != NULL)
    *id = counter != NULL ? counter->id : 0;
  if (type != NULL)
    *type = counter != NULL ? counter->type : 0;
  set_text (category, counter, counter != NULL ? counter->category : NULL);
  set_text (name, counter, counter != NULL ? counter->name : NULL);
  set_text (description, counter, counter != NULL ? counter->description : NULL);
}

static void
sysprof_document_ctrdef_class_init (SysprofDocumentCtrdefClass *class)
{
  static const PropertyRow rows[] = {
    { "n-counters", PROPERTY_UINT, G_CALLBACK (sysprof_document_ctrdef_get_n_counters) },
  };

  sysprof_properties_install (G_OBJECT_CLASS (class), rows, G_N_ELEMENTS (rows));
}

static void
sysprof_document_ctrdef_init (SysprofDocumentCtrdef *self)
{
}
