// SPDX-License-Identifier: BSD-2-Clause

/* What the files that join captures share. */

#pragma once

#include "capture/number-map.h"
#include "capture/reader.h"
#include "capture/writer.h"

typedef enum
{
  COPY_EARLY = 1 << 0, /* what every reader knows */
  COPY_LATE =
      1 << 1, /* what readers of version 3.46 stop at: traces, D-Bus messages, unknown types */
  LEAVE_SYMBOLS = 1 << 2, /* symbol tables are left out */
  LEAVE_EVENTS = 1 << 3,  /* so is what samples were taken on */
} CopyFlags;

#define SYSPROF_CAPTURE_BUILD_ID_MAX 128 /* hex digits */

/* One capture on its way into another. *Owned* by the call that joins. */
typedef struct
{
  SysprofCaptureWriter *writer;
  SysprofCaptureReader *reader; /* a copy of our own */
  NumberMap addresses;          /* synthetic addresses of the source → ours */
  NumberMap counters;           /* pid and id → ours */
  NumberMap counters_by_id;     /* id alone, for values that another process sets */
  bool fits_frames;             /* to what readers of version 3.46 take */
  uint64_t n_cut;               /* frames that lost something by that */
  unsigned int *ids;            /* scratch for the values of a frame */
  SysprofCaptureCounterValue *values;
} Translation;

bool sysprof_translation_init (Translation *self,
                               SysprofCaptureWriter *writer,
                               SysprofCaptureReader *reader);
void sysprof_translation_clear (Translation *self);

/* Gives the names of synthetic addresses new addresses in the writer: before the frames that use them. */
bool sysprof_translation_add_names (Translation *self);

/* Copies all frames that `flags` name. */
bool sysprof_translation_copy (Translation *self, CopyFlags flags);

/* Cuts the texts of a frame that is longer than readers of version 3.46 take; such a D-Bus message becomes one that was too large. True
 * if something was lost, which a frame of unknown type is as a whole. */
bool sysprof_capture_frame_fit (SysprofCaptureFrame *frame);

/* True if `path` names an embedded symbol table, packed or not. */
bool sysprof_is_symbol_table (const char *path, bool *is_packed);

/* True if `path` names a file that says what samples were taken on. */
bool sysprof_is_event_file (const char *path);

/* Makes one symbol table out of those of all readers and adds it. False with errno set on failure. */
bool sysprof_capture_writer_add_merged_symbols (SysprofCaptureWriter *self,
                                                int64_t time,
                                                SysprofCaptureReader *const *readers,
                                                size_t n_readers,
                                                SysprofCaptureUnpackFunc unpack);
