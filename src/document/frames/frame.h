// SPDX-License-Identifier: GPL-3.0-or-later

/* Frames as objects, made when somebody asks for one and thrown away freely.
 *
 * A frame knows its number; what its header says is in the columns, and the rest is read from a copy of its
 * own bytes, made on first use: checked, in this machine's byte order, its texts ended. *Owned*. */

#pragma once

#include "capture/capture.h"
#include "document/objects.h"

struct _SysprofDocumentFrame
{
  GObject parent_instance;
  Store *store;
  FrameNo number;
  SysprofCaptureFrame *bytes; /* NULL until asked for */
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

/* The bytes, of which at least those of the kind's structure and everything it counts are there; NULL
 * where they contradict themselves. Borrowed from the frame. */
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

/* Of SysprofMount: the mounts that the capture tells of the process. *(full)* */
GListModel *sysprof_mounts_read (const Store *store, int pid);

/* Whether the stack of a sample has a marker of a context, read from the file. */
bool sysprof_document_frame_has_context (const Store *store, FrameNo number);
