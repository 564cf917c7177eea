// SPDX-License-Identifier: GPL-3.0-or-later

/* Frames as objects, made on demand and freed at any time.
 *
 * A frame knows its number. Its header is in the columns. The rest is read from a copy of its
 * bytes, made on first use: checked, in native byte order, with a NUL after each text. *Owned*. */

#pragma once

#include "capture/capture.h"
#include "document/objects.h"

struct _SysprofDocumentFrame
{
  GObject parent_instance;
  Store *store;
  FrameNo number;
  SysprofCaptureFrame *bytes; /* NULL until used */
};

struct _SysprofDocumentFrameClass
{
  GObjectClass parent_class;

  /* What a tooltip says beyond kind and time; NULL if nothing. *(full)* */
  char *(*dup_details) (SysprofDocumentFrame *self);
};

struct _SysprofDocumentTraceableInterface
{
  GTypeInterface parent_interface;

  const SysprofCaptureAddress *(*get_addresses) (SysprofDocumentTraceable *self,
                                                 guint *n_addresses);
  int (*get_thread_id) (SysprofDocumentTraceable *self);
};

/* The frame as an object of its kind. *(full)* */
SysprofDocumentFrame *sysprof_document_frame_new (Store *store, FrameNo number);

/* The bytes of the frame: at least those of its structure and of everything that it counts;
 * NULL if they are inconsistent. Borrowed from the frame. */
const void *sysprof_document_frame_read (SysprofDocumentFrame *self);

/* Texts for people are valid UTF-8; captures hold any bytes. Changes `text`, which is in a frame's own copy. */
const char *sysprof_frame_text_make_valid (const char *text);

/* For classes of frames with a stack, behind their own properties: `id` and the next are free. */
void sysprof_traceable_class_install (GObjectClass *class, guint id);

/* A frame of a function being entered or left; no type of the public API. */
GType sysprof_document_trace_get_type (void);

/* The process of the frame, whatever kind of frame it is. *(full)* */
SysprofDocumentProcess *sysprof_document_process_new (Store *store, FrameNo number);

/* *(full)* */
SysprofThreadInfo *sysprof_thread_info_new (SysprofDocumentProcess *process, int thread_id);

/* Of SysprofMount: the mounts of the process in the capture. *(full)* */
GListModel *sysprof_mounts_read (const Store *store, int pid);

/* Whether the stack of a sample has a marker of a context, read from the file. */
bool sysprof_document_frame_has_context (const Store *store, FrameNo number);
