// SPDX-License-Identifier: GPL-3.0-or-later

/* The state that the instruments of a recording share. The recording makes it, and passes it to
 * every function of an instrument and every callback of the pump. *Owned* by the pump thread,
 * except for the functions marked "from any thread". */

#pragma once

#include "perf/perf.h"
#include "record/pump.h"
#include "util/pinned-files.h"

#include <gio/gio.h>
#include <sysprof-capture.h>
#include <sysprof.h>

typedef struct Unwinder Unwinder;

struct RecordingContext
{
  Pump *pump;                   /* the loop in which the instruments run */
  SysprofCaptureWriter *writer; /* all sources write to it */
  Privilege *privilege;         /* access to privileged operations */
  SysprofSpawnable *spawnable;  /* the program to spawn; NULL = none */
  int32_t program_pid;          /* of the spawned program; 0 = none yet */

  int64_t begin; /* ns, CLOCK_MONOTONIC; 0 before the record phase. No frame is older. */
  int64_t end;   /* ns, CLOCK_MONOTONIC; 0 before the stop phase. No frame is newer. */

  /* The processes that the recording covers, and those that were just started. */
  ProcessLog process_log;
  KernelSymbolLog kernel_symbol_log;
  ThreadNames thread_names;

  /* The unwinder whose tables the in-kernel stack walker uses; other instruments may use these
   * tables, too. NULL = none. Borrowed: its owner sets it to NULL before freeing it. */
  Unwinder *unwinder;
  /* For *augment*: the sampled code files, held open in case they are deleted. NULL = none. */
  PinnedFiles *pinned_files;

  /* The augment phase of an instrument embeds the kernel symbols that the capture needs. */
  bool bundles_kernel_symbols;

  /* Canceled, by any thread, when the user wants the file without the data that is still to be
   * added. */
  GCancellable *augment_cancellable;
};

typedef enum
{
  LOST_SAMPLES,
  LOST_RECORDS, /* of processes and mappings, and frames that recorded programs dropped */
  LOST_OTHERS,  /* waits, messages, files … */
  N_LOSS_KINDS,
} LossKind;

/* From any thread: reports a diagnostic to the user. `fatal` ends the recording. */
void sysprof_context_report (RecordingContext *self,
                             const char *domain,
                             bool fatal,
                             const char *format,
                             ...) G_GNUC_PRINTF (4, 5);

/* From any thread: records in the capture that data is unavailable, as metadata
 * org.gnome.sysprof.lacks.NAME. NAME has at most 15 bytes. */
void
sysprof_context_note_missing (RecordingContext *self, const char *name, const char *reason);

/* Counts dropped frames. The count is shown while recording and at the end, and is written to
 * the capture. */
void sysprof_context_add_lost (RecordingContext *self, LossKind kind, uint64_t n);

/* Counts samples that were not taken because the kernel throttled sampling. They are reported
 * like lost samples, but separately. */
void sysprof_context_add_throttled (RecordingContext *self, uint64_t n);

/* The disk is behind: drop what can be spared (samples, but not symbols and mappings), and
 * count it as lost. */
bool sysprof_context_is_congested (RecordingContext *self);

/* The writer of frames at which Sysprof 3.46 stops reading, which therefore come after all
 * others: D-Bus messages. NULL with `error`. */
SysprofCaptureWriter *sysprof_context_get_tail_writer (RecordingContext *self, GError **error);
/* FALSE when no more of these frames should be written, because they would take space that
 * other frames need. */
bool sysprof_context_has_tail_room (RecordingContext *self);

/* Adds a text as an embedded file. With `compress` it is gzipped as NAME.gz if that makes it
 * smaller. Returns FALSE if it could not be written, and counts it as lost. */
bool sysprof_context_add_file (RecordingContext *self,
                               int64_t time,
                               int32_t pid,
                               const char *name,
                               const void *bytes,
                               size_t size,
                               bool compress);

/* Call these around starting a process. It then starts with the signal mask of the thread that
 * started the recording. The pump thread blocks all signals, and a child that inherited its
 * mask could not be interrupted. */
void sysprof_context_begin_spawn (RecordingContext *self);
void sysprof_context_end_spawn (RecordingContext *self);

/* For *augment*: writes everything to the disk and returns a descriptor for reading the
 * recording, which the caller closes. -1 with `error`. */
int sysprof_context_dup_fd (RecordingContext *self, GError **error);

/* From any thread: whether `augment_cancellable` is canceled. */
bool sysprof_context_is_augment_skipped (RecordingContext *self);

/* All symbols of the kernel, also those that went away while recording, as /proc/kallsyms shows
 * them. NULL if its addresses are hidden from us. *(full)* */
GBytes *sysprof_context_read_kernel_symbols (RecordingContext *context);
