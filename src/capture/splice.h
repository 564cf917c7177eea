// SPDX-License-Identifier: BSD-2-Clause

/* What the files that join captures share. */

#pragma once

#include "capture/boots.h"
#include "capture/number-map.h"
#include "capture/reader.h"
#include "capture/whole-file.h"
#include "capture/writer.h"

typedef enum
{
  COPY_EARLY = 1 << 0, /* what every reader knows */
  COPY_LATE =
      1 << 1, /* what readers of version 3.46 stop at: traces, D-Bus messages, unknown types */
  LEAVE_MERGED =
      1 << 2, /* of what all captures together have one, none is copied: symbol tables, lists */
} CopyFlags;

/* Which of those files `path` names, packed or not; 0 if none. */
JoinedFiles sysprof_joined_file (const char *path);
void sysprof_said_add_frame (Said *self, const SysprofCaptureFrame *frame);
/* Whether it says what its samples were taken on, or that there are some. */
bool sysprof_said_tells_events (const Said *self);
/* Whether what either says its samples were taken on is true of those of both: at most one has samples, or those of both are of the same
 * event, and all of the same period. */
bool sysprof_said_agree_on_events (const Said *a, const Said *b);
/* What both say together, where they agree. */
void sysprof_said_add (Said *self, const Said *other);

/* One capture on its way into another. *Owned* by the call that joins. */
typedef struct
{
  SysprofCaptureWriter *writer;
  SysprofCaptureReader *reader; /* a copy of our own */
  NumberMap addresses;          /* synthetic addresses of the source → ours */
  NumberMap counters;           /* pid and id → ours */
  NumberMap counters_by_id;     /* id alone, for values that another process sets */
  Said said;                    /* once its names are added */
  Boots boots;                  /* likewise */
  KernelMove kernel_move;
  JoinedFiles left;        /* files that are left out */
  bool joins_kernel_lists; /* with those of captures before it */
  bool keeps_kernel_lists; /* as they are: it is the only one that has them */
  bool moves_addresses;    /* of names: those within files would be wrong */
  bool contradicts_code;   /* of a process of the same number that was written before */
  bool fits_frames;        /* to what readers of version 3.46 take */
  uint64_t n_cut;          /* frames that lost something by that */
  unsigned int *ids;       /* scratch for the values of a frame */
  SysprofCaptureCounterValue *values;
} Translation;

bool sysprof_translation_init (Translation *self,
                               SysprofCaptureWriter *writer,
                               SysprofCaptureReader *reader);
void sysprof_translation_clear (Translation *self);

/* Gives the names of synthetic addresses new addresses in the writer: before the frames that use them. Looks at all frames, and learns
 * what the capture says. `keeps_addresses`: where they can, in a writer that has no names yet. */
bool sysprof_translation_add_names (Translation *self, bool keeps_addresses);

/* Copies all frames that `flags` name. */
bool sysprof_translation_copy (Translation *self, CopyFlags flags);

/* Cuts the texts of a frame that is longer than readers of version 3.46 take; such a D-Bus message becomes one that was too large. True
 * if something was lost, which a frame of unknown type is as a whole. */
bool sysprof_capture_frame_fit (SysprofCaptureFrame *frame);

/* True if `path` names an embedded symbol table, packed or not. */
bool sysprof_is_symbol_table (const char *path, bool *is_packed);

/* Makes one symbol table out of those of all captures and adds it. False with errno set on failure. */
bool sysprof_capture_writer_add_merged_symbols (SysprofCaptureWriter *self,
                                                int64_t time,
                                                const Translation *captures,
                                                size_t n_captures,
                                                SysprofCaptureUnpackFunc unpack);

typedef enum
{
  KERNEL_LIST_OF_SYMBOLS,
  KERNEL_LIST_OF_LIVES,
  KERNEL_LIST_OF_MODULES,
} KernelListKind;

/* Of several captures. Zero but for its kind, it is empty. */
typedef struct
{
  KernelListKind kind;
  WholeFile all;
  NumberMap lines; /* hash → 1 + where it is */
} KernelList;

/* Appends the list of one, less what is there already. False with errno set on failure. */
bool
sysprof_kernel_list_append (KernelList *self, const Translation *capture, const WholeFile *one);
void sysprof_kernel_list_clear (KernelList *self);

/* Makes one of each list of samples, processes, addresses or the kernel's code out of those of all captures that do not leave it out, and adds it. Which of them lack what could not be
 * unpacked is added to `left`, and to `kept` which the writer has now; the others are not in it then. False with errno set on failure. */
bool sysprof_capture_writer_add_joined_lists (SysprofCaptureWriter *self,
                                              int64_t time,
                                              const Translation *captures,
                                              size_t n_captures,
                                              SysprofCaptureUnpackFunc unpack,
                                              JoinedFiles *left,
                                              JoinedFiles *kept);
