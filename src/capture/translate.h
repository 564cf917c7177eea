// SPDX-License-Identifier: BSD-2-Clause

/* Copies the frames of one capture into another one with new counter ids and new synthetic
 * addresses.
 *
 * sysprof_capture_writer_cat() uses this, and so does the module `join`, which is not part of
 * the library. capture.h includes this header. */

#pragma once

#include "capture/byte-order.h"
#include "capture/number-map.h"

#include <sysprof-capture.h>

/* Bytes. We do not make longer frames, because version 3.46 cannot join them. */
#define SYSPROF_CAPTURE_FRAME_USUAL_MAX 16384

#define SYSPROF_CAPTURE_BUILD_ID_MAX 128 /* hex digits */

/* Metadata with the boot of a recording: the boot ID, a space, and the build ID of the kernel
 * or `-`. docs/format.md */
#define CAPTURE_BOOT_ID "org.gnome.sysprof.boot-id"
/* The value for a recording of another boot, whose kernel addresses a join has replaced. */
#define CAPTURE_BOOT_ID_OTHER "other"
/* The address that replaces them. No kernel has code there. */
#define CAPTURE_OTHER_KERNEL_ADDRESS UINT64_C (0xffffffffffffe000)

/* Embedded files that describe one recording. A capture has at most one of each. */
typedef enum
{
  JOINED_EVENTS = 1 << 0,   /* the events that samples were taken on */
  JOINED_PERIODS = 1 << 1,  /* and their periods */
  JOINED_WAITS = 1 << 2,    /* off-CPU times */
  JOINED_FOUND = 1 << 3,    /* the unwind method of each sample */
  JOINED_UNWIND = 1 << 4,   /* the same by process */
  JOINED_UNNAMED = 1 << 5,  /* why functions have no name */
  JOINED_KALLSYMS = 1 << 6, /* the lists of kernel symbols and modules */
  JOINED_JIT_CODE = 1 << 7, /* generated code, by pid and time */
  JOINED_LINES = 1 << 8,    /* source lines and inlined functions */
  JOINED_THREADS = 1 << 9,  /* names of threads */
  JOINED_ALL = (1 << 10) - 1,
  JOINED_SYMBOLS =
      1 << 10, /* the symbol table: not in JOINED_ALL, as a capture may have several */
  JOINED_SAMPLED_ON = JOINED_EVENTS | JOINED_PERIODS,
  JOINED_LISTS = JOINED_FOUND | JOINED_UNWIND | JOINED_UNNAMED | JOINED_LINES | JOINED_THREADS,
} JoinedFiles;

/* Which of those files `path` names, with or without `.gz`; 0 if none. */
JoinedFiles sysprof_joined_file (const char *path);

/* What a capture contains, as far as joins need it. Zero is an empty capture. */
typedef struct
{
  bool has_samples;
  bool has_kernel_code; /* a sample has a kernel address */
  JoinedFiles files;
  char boot[64]; /* its boot ID; "" = not recorded */
  /* [events_size] of JOINED_EVENTS; for a longer one JOINED_PERIODS is set */
  uint8_t events[512];
  size_t events_size;
  size_t events_again; /* bytes of a second copy of the file that are equal so far */
  bool has_whole_events;
} CaptureContents;

void sysprof_capture_contents_add_frame (CaptureContents *self,
                                         const SysprofCaptureFrame *frame);
/* Whether it has samples, or a file that states their events. */
bool sysprof_capture_contents_have_events (const CaptureContents *self);

typedef enum
{
  COPY_EARLY = 1 << 0, /* frames that every reader knows */
  COPY_LATE = 1 << 1, /* traces, D-Bus messages and unknown types: version 3.46 stops at them */
} CopyFlags;

/* Shortens a frame. True if that loses something. */
typedef bool (*CaptureShortenFunc) (SysprofCaptureFrame *frame);

/* One capture on its way into another. *Owned* by the caller that joins. */
typedef struct
{
  SysprofCaptureWriter *writer;
  SysprofCaptureWriter *late_writer; /* gets traces and D-Bus messages; NULL = `writer` */
  SysprofCaptureReader *reader;      /* a copy of our own; NULL = frames come one by one */
  NumberMap addresses;               /* synthetic address in the source → in the writer */
  NumberMap counters;                /* pid and counter id → counter id in the writer */
  NumberMap counters_by_id; /* counter id → the same, for values that another process sets */
  bool separates_processes; /* the keys of `counters_by_id` contain the pid, too */
  CaptureContents contents; /* filled by sysprof_translation_add_names() */
  JoinedFiles left;         /* files that are not copied */
  JoinedFiles merged;       /* files that the caller merges instead */
  bool moves_addresses;  /* some name has a new address, so those within files would be wrong */
  bool contradicts_code; /* an earlier capture may have a process with the same pid */
  bool is_of_other_boot; /* replace its kernel addresses by CAPTURE_OTHER_KERNEL_ADDRESS */
  CaptureShortenFunc
      shorten;       /* for frames that version 3.46 cannot join; NULL: copy them as they are */
  uint64_t n_cut;    /* frames that were shortened */
  unsigned int *ids; /* scratch for the values of a frame */
  SysprofCaptureCounterValue *values;
} Translation;

/* `reader` may be NULL; then only sysprof_translation_copy_frame() may be called. */
bool sysprof_translation_init (Translation *self,
                               SysprofCaptureWriter *writer,
                               SysprofCaptureReader *reader);
void sysprof_translation_clear (Translation *self);

/* Reads all frames, fills `contents`, and gives the names of synthetic addresses new addresses
 * in the writer. Call it before copying. `keeps_addresses`: keep the addresses if the writer
 * has no names yet. */
bool sysprof_translation_add_names (Translation *self, bool keeps_addresses);

/* Selects the files that are not copied, given the contents of the captures before, to which it
 * adds its own. False if the captures disagree about the events that samples were taken on.
 * `is_one_of_many`: another capture may have processes with the same pids, so generated code is
 * not copied. */
bool sysprof_translation_choose_files (Translation *self,
                                       CaptureContents *before,
                                       bool is_one_of_many);

/* Copy a definition of counters, and values of counters, with new ids. The first changes its
 * frame. */
bool sysprof_translation_copy_definitions (Translation *self,
                                           SysprofCaptureCounterDefine *define);
bool sysprof_translation_copy_values (Translation *self, const SysprofCaptureCounterSet *set);

/* Copies the frames that `flags` select. */
bool sysprof_translation_copy (Translation *self, CopyFlags flags);

/* Copies one frame of known type, which was validated and whose texts were ended; changes it. */
bool sysprof_translation_copy_frame (Translation *self, SysprofCaptureFrame *frame);

/* The time range of joined captures, ns. */
typedef struct
{
  int64_t begin;
  int64_t end;
} CaptureRange;

/* The range of the frames that the writer has; empty if it has none. */
CaptureRange sysprof_capture_range_of_writer (const SysprofCaptureWriter *writer);
/* Extends the range to that of a capture that was read to its end. */
void sysprof_capture_range_add (CaptureRange *self, const SysprofCaptureReader *reader);
/* Writes names, range and buffer. */
bool sysprof_capture_writer_finish_join (SysprofCaptureWriter *self, CaptureRange range);

/* Puts the names of addresses that are not yet written into the buffer. */
bool sysprof_capture_writer_flush_jitmap (SysprofCaptureWriter *self);

/* Whether reading ended at the end of the capture. False with errno set if a read failed, of
 * this reader or of a copy. */
bool sysprof_capture_reader_check (const SysprofCaptureReader *self);
