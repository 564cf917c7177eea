// SPDX-License-Identifier: GPL-3.0-or-later

/* The pump: one thread, one epoll set, one writer. It owns every source of a recording and,
 * while the recording runs, the writer. It never blocks. *Owned* by the pump thread, except for
 * the functions marked "from any thread".
 *
 *   prepare ─▶ record ─▶ (loop) ─▶ stop ─▶ augment ─▶ append ─▶ finish
 *
 * The *record* phase first takes the start time of the recording, then starts the instruments,
 * then spawns the program. Every way to end (request, duration, size, exit of the program,
 * fatal diagnostic, full disk) leads to the same *stop* phase. */

#pragma once

#include <gio/gio.h>
#include <stdbool.h>
#include <stdint.h>
#include <sysprof-capture.h>
#include <sysprof.h>

#include "perf/perf.h"
#include "util/pinned-files.h"

typedef struct Pump Pump;
typedef struct Privilege Privilege;
typedef struct Unwinder Unwinder;

typedef void (*PumpReadyFunc) (Pump *pump, int fd, void *data);
/* `now`: ns, CLOCK_MONOTONIC */
typedef void (*PumpTickFunc) (Pump *pump, int64_t now, void *data);
typedef void (*PumpFunc) (Pump *pump, void *data);
typedef bool (*PumpWorkFunc) (Pump *pump, int64_t deadline, void *data);

/* --- for instruments --- */

/* The writer that all sources share. */
SysprofCaptureWriter *sysprof_pump_get_writer (Pump *self);

/* The writer of frames at which Sysprof 3.46 stops reading, which therefore come after all
 * others: D-Bus messages. NULL with `error`. */
SysprofCaptureWriter *sysprof_pump_get_late_writer (Pump *self, GError **error);
/* FALSE when no more of these frames should be written, because they would take space that
 * other frames need. */
bool sysprof_pump_has_late_room (Pump *self);

/* Access to privileged operations. */
Privilege *sysprof_pump_get_privilege (Pump *self);

/* The unwinder whose tables the in-kernel stack walker uses; other instruments may use these
 * tables, too. NULL = none. Borrowed: its owner sets it to NULL before freeing it. */
Unwinder *sysprof_pump_get_unwinder (Pump *self);
void sysprof_pump_set_unwinder (Pump *self, Unwinder *unwinder);

/* For *augment*: the sampled code files, held open in case they are deleted. NULL = none.
 * Borrowed. */
const PinnedFiles *sysprof_pump_get_pinned_files (Pump *self);
/* Takes ownership of `kept`. */
void sysprof_pump_set_pinned_files (Pump *self, PinnedFiles *kept);

/* The processes that the recording covers, and those that were just started. */
ProcessLog *sysprof_pump_get_process_log (Pump *self);
KernelSymbolLog *sysprof_pump_get_kernel_symbol_log (Pump *self);
ThreadNames *sysprof_pump_get_thread_names (Pump *self);

/* Whether the augment phase of an instrument embeds the kernel symbols that the capture
 * needs. */
bool sysprof_pump_bundles_kernel_symbols (Pump *self);

/* The program to spawn, or NULL. */
SysprofSpawnable *sysprof_pump_get_spawnable (Pump *self);

/* Call these around starting a process. It then starts with the signal mask of the thread that
 * started the recording. The pump thread blocks all signals, and a child that inherited its
 * mask could not be interrupted. */
void sysprof_pump_begin_spawn (Pump *self);
void sysprof_pump_end_spawn (Pump *self);

/* Whether the capture may keep the spawned program's environment, which may contain secrets. */
bool sysprof_pump_get_record_environment (Pump *self);

/* ns, CLOCK_MONOTONIC; 0 before the record phase. No frame is older. */
int64_t sysprof_pump_get_begin_time (Pump *self);
/* ns, CLOCK_MONOTONIC; 0 before the stop phase. No frame is newer. */
int64_t sysprof_pump_get_end_time (Pump *self);

/* Calls `ready` when `fd` (borrowed) is readable or hung up. */
void sysprof_pump_watch_fd (Pump *self, int fd, PumpReadyFunc ready, void *data);
void sysprof_pump_unwatch_fd (Pump *self, int fd);

/* Calls `tick` at once when the recording starts, then every `interval` ns. All ticks share one
 * timer, so that equal intervals share their wake-ups. */
void sysprof_pump_add_tick (Pump *self, int64_t interval, PumpTickFunc tick, void *data);
void sysprof_pump_remove_tick (Pump *self, PumpTickFunc tick, void *data);
/* Changes the interval of `tick` from now on. `tick` itself may call this. */
void sysprof_pump_change_tick (Pump *self, int64_t interval, PumpTickFunc tick, void *data);

/* Calls `work` whenever nothing else is due, until it returns FALSE. `work` must return before
 * `deadline` (ns), which is a few milliseconds ahead, so that the rings are drained in time. */
void sysprof_pump_add_work (Pump *self, PumpWorkFunc work, void *data);

/* From any thread: runs `func` on the pump thread soon, or never if the recording has ended. */
void sysprof_pump_invoke (Pump *self, PumpFunc func, void *data);

/* From any thread: reports a diagnostic to the user. `fatal` ends the recording. */
void sysprof_pump_report (Pump *self, const char *domain, bool fatal, const char *format, ...)
    G_GNUC_PRINTF (4, 5);

/* From any thread: records in the capture that data is unavailable, as metadata
 * org.gnome.sysprof.lacks.NAME. NAME has at most 15 bytes. */
void sysprof_pump_note_lack (Pump *self, const char *name, const char *reason);

/* From any thread: requests the end of the recording, as SIGINT does. */
void sysprof_pump_request_stop (Pump *self);

/* From any thread: whether the end of the recording was requested. Code that waits outside of
 * the loop checks this from time to time. */
bool sysprof_pump_is_stop_requested (Pump *self);

/* From any thread: CPU time in ns of our threads and of our confined children, which make
 * tables of untrusted files. */
int64_t sysprof_pump_own_cpu_time (void);

typedef enum
{
  LOST_SAMPLES,
  LOST_RECORDS, /* of processes and mappings */
  LOST_OTHERS,  /* waits, messages, files … */
  N_LOSS_KINDS,
} LossKind;

/* Counts dropped frames. The count is shown while recording and at the end, and is written to
 * the capture. */
void sysprof_pump_add_lost (Pump *self, LossKind kind, uint64_t n);

/* Counts samples that were not taken because the kernel throttled sampling. They are reported
 * like lost samples, but separately. */
void sysprof_pump_add_throttled (Pump *self, uint64_t n);

/* The disk is behind: drop what can be spared (samples, but not symbols and mappings), and
 * count it as lost. */
bool sysprof_pump_is_congested (Pump *self);

/* For *augment*: writes everything to the disk and returns a descriptor for reading the
 * recording, which the caller closes. -1 with `error`. */
int sysprof_pump_dup_fd (Pump *self, GError **error);

/* From any thread: whether the user wants the file without the data that is still to be
 * added. */
bool sysprof_pump_is_augment_skipped (Pump *self);
/* borrowed; canceled when the user skips augment */
GCancellable *sysprof_pump_get_augment_cancellable (Pump *self);

/* Adds a text as an embedded file. With `compress` it is gzipped as NAME.gz if that makes it
 * smaller. Returns FALSE if it could not be written, and counts it as lost. */
bool sysprof_pump_add_file (Pump *self,
                            int64_t time,
                            int32_t pid,
                            const char *name,
                            const void *bytes,
                            size_t size,
                            bool compress);

/* --- for the recording --- */

typedef struct
{
  GPtrArray *instruments; /* [SysprofInstrument] in their order */
  SysprofSpawnable *spawnable;
  uint64_t max_size;    /* bytes, 0 = no limit */
  int64_t max_duration; /* ns, 0 = no limit */
  int helper;           /* socket to a process with more privileges; borrowed, -1 = none */
  /* file tree to read instead of this machine; NULL = this machine. Copied */
  const char *machine;
  bool record_environment;
} PumpOptions;

/* Called on any thread. */
typedef struct
{
  void (*diagnostic) (void *data, const char *domain, const char *message, bool fatal);
  void (*spawned) (void *data, GSubprocess *subprocess);
  void (*second) (void *data);
  /* The last call. `error` is borrowed; NULL = success. */
  void (*ended) (void *data, const GError *error);
} PumpEvents;

typedef struct
{
  uint64_t n_samples;
  uint64_t n_frames;
  uint64_t n_lost[N_LOSS_KINDS];
  uint64_t n_throttled;
  uint64_t size;    /* bytes */
  int64_t cpu_nsec; /* CPU time of this process since the recording started */
  int64_t duration; /* ns */
  int64_t counted;  /* ns since the start: when the counts and `size` were taken */
  bool is_stopped;  /* sampling has ended; files and symbols are being added */
} PumpStatus;

/* Takes references on the members of `options` and on `writer`, which nothing else may use
 * until the end. */
Pump *sysprof_pump_new (SysprofCaptureWriter *writer,
                        const PumpOptions *options,
                        const PumpEvents *events,
                        void *data);
/* Starts the thread. */
bool sysprof_pump_start (Pump *self, GError **error);
/* Waits for the thread if it was started. */
void sysprof_pump_free (Pump *self);

void sysprof_pump_get_status (Pump *self, PumpStatus *status); /* from any thread */
void sysprof_pump_skip_augment (Pump *self);                   /* from any thread */
/* From any thread but the pump's: writes out all buffers and opens the recording for reading.
 * -1 on failure. */
int sysprof_pump_open_recording (Pump *self);
/* From any thread: opens what has been written so far. -1 with errno on failure. */
int sysprof_pump_dup_written_fd (Pump *self);
