// SPDX-License-Identifier: GPL-3.0-or-later

/* The pump: one thread, one epoll set, one writer. It owns every source of a recording and the writer while the
 * recording runs; nothing in it blocks. *Owned* by the pump thread, but for the functions marked "from any
 * thread".
 *
 *   prepare ─▶ record ─▶ (loop) ─▶ stop ─▶ augment ─▶ append ─▶ finish
 *
 * The order within *record*: the time is taken as the begin of the recording, the instruments start, the program
 * is spawned. All ways to end (request, duration, size, end of the program, fatal diagnostic, a full disk) lead to
 * the same *stop*. */

#pragma once

#include <gio/gio.h>
#include <stdbool.h>
#include <stdint.h>
#include <sysprof-capture.h>
#include <sysprof.h>

#include "record/kernel-symbol-log.h"
#include "record/process-log.h"
#include "record/thread-names.h"
#include "util/kept-files.h"

typedef struct Pump Pump;
typedef struct Privilege Privilege;
typedef struct Unwinder Unwinder;

typedef void (*PumpReadyFunc) (Pump *pump, int fd, void *data);
typedef void (*PumpTickFunc) (Pump *pump,
                              int64_t now,
                              void *data); /* `now`: ns, CLOCK_MONOTONIC */
typedef void (*PumpFunc) (Pump *pump, void *data);
typedef bool (*PumpWorkFunc) (Pump *pump, int64_t deadline, void *data);

/* --- for instruments --- */

/* The writer that all sources share. */
SysprofCaptureWriter *sysprof_pump_get_writer (Pump *self);

/* The writer of frames at which readers of version 3.46 stop, and which therefore come behind all others: D-Bus messages.
 * NULL with `error`. */
SysprofCaptureWriter *sysprof_pump_get_late_writer (Pump *self, GError **error);
/* FALSE when no more of them should be written: they would take the room that others need. */
bool sysprof_pump_has_late_room (Pump *self);

/* The door to what needs rights. */
Privilege *sysprof_pump_get_privilege (Pump *self);

/* Whose tables the program that walks stacks in the kernel has, for others that do; NULL = there is none. Borrowed: it is its
 * owner's, who says so when it goes. */
Unwinder *sysprof_pump_get_unwinder (Pump *self);
void sysprof_pump_set_unwinder (Pump *self, Unwinder *unwinder);

/* For *augment*: files of whose code samples are, and which may have vanished. NULL = none were kept. Borrowed. */
const KeptFiles *sysprof_pump_get_kept_files (Pump *self);
/* Takes them. */
void sysprof_pump_set_kept_files (Pump *self, KeptFiles *kept);

/* Which processes the recording is about, and which have just been started. */
ProcessLog *sysprof_pump_get_process_log (Pump *self);
KernelSymbolLog *sysprof_pump_get_kernel_symbol_log (Pump *self);
ThreadNames *sysprof_pump_get_thread_names (Pump *self);

/* Some instrument's augment phase embeds what is needed of the kernel's symbols. */
bool sysprof_pump_bundles_kernel_symbols (Pump *self);

/* The program to be started, or NULL. */
SysprofSpawnable *sysprof_pump_get_spawnable (Pump *self);

/* Around starting a process: it begins with the signals blocked that whoever started the recording blocks, not
 * with those of the pump thread, which are all: it could not be interrupted then. */
void sysprof_pump_begin_spawn (Pump *self);
void sysprof_pump_end_spawn (Pump *self);

/* Whether the capture may keep the spawned program's environment, which holds secrets. */
bool sysprof_pump_get_record_environment (Pump *self);

/* ns, CLOCK_MONOTONIC; 0 before the record phase. Nothing in the capture is older. */
int64_t sysprof_pump_get_begin_time (Pump *self);
/* The same; 0 before the stop phase. Nothing in the capture is younger. */
int64_t sysprof_pump_get_end_time (Pump *self);

/* Calls `ready` when `fd` (borrowed) is readable or hung up. */
void sysprof_pump_watch_fd (Pump *self, int fd, PumpReadyFunc ready, void *data);
void sysprof_pump_unwatch_fd (Pump *self, int fd);

/* Calls `tick` at once when recording begins, then every `interval` ns. All ticks share one timer, so that equal
 * intervals fall on the same wake-up. */
void sysprof_pump_add_tick (Pump *self, int64_t interval, PumpTickFunc tick, void *data);
void sysprof_pump_remove_tick (Pump *self, PumpTickFunc tick, void *data);
/* From now on it comes in another interval; also from within it. */
void sysprof_pump_change_tick (Pump *self, int64_t interval, PumpTickFunc tick, void *data);

/* Calls `work` whenever nothing else is due, until it returns FALSE. It returns before `deadline` (ns), a few
 * milliseconds ahead, so that long work does not keep the rings waiting. */
void sysprof_pump_add_work (Pump *self, PumpWorkFunc work, void *data);

/* From any thread: runs `func` on the pump thread soon; never, once the recording has ended. */
void sysprof_pump_invoke (Pump *self, PumpFunc func, void *data);

/* From any thread: a diagnostic for the person who records. `fatal` ends the recording. */
void sysprof_pump_report (Pump *self, const char *domain, bool fatal, const char *format, ...)
    G_GNUC_PRINTF (4, 5);

/* From any thread: the same for whoever asks the capture later, as metadata org.gnome.sysprof.lacks.NAME, in which NAME has
 * room for 15 bytes. */
void sysprof_pump_note_lack (Pump *self, const char *name, const char *reason);

/* From any thread: asks the recording to end, as SIGINT would. */
void sysprof_pump_request_stop (Pump *self);

/* From any thread: whether it was asked to end. Who waits outside of the loop looks at this now and then. */
bool sysprof_pump_is_stop_requested (Pump *self);

/* ns, of our threads and of the children that work for us: those that make tables of strangers' files. From any thread. */
int64_t sysprof_pump_own_cpu_time (void);

typedef enum
{
  LOST_SAMPLES,
  LOST_RECORDS, /* of processes and mappings */
  LOST_OTHERS,  /* waits, messages, files … */
  N_LOSS_KINDS,
} LossKind;

/* Counts what was dropped: shown while recording and at the end, written to the capture. */
void sysprof_pump_add_lost (Pump *self, LossKind kind, uint64_t n);

/* Samples that were not taken because the kernel held sampling back. Told like the lost ones, but apart. */
void sysprof_pump_add_throttled (Pump *self, uint64_t n);

/* The disk is behind: what can be left out (samples, not names and mappings) should be, and counted as lost. */
bool sysprof_pump_is_congested (Pump *self);

/* For *augment*: everything written so far is on the disk; then a descriptor of the recording for reading
 * (the caller closes it), or -1 with `error`. */
int sysprof_pump_dup_fd (Pump *self, GError **error);

/* From any thread: whether the person wants the file without what is still to be added. */
bool sysprof_pump_is_augment_skipped (Pump *self);
GCancellable *
sysprof_pump_get_augment_cancellable (Pump *self); /* borrowed; cancelled when skipped */

/* Adds a text as an embedded file, gzip'd under NAME.gz where that makes it smaller and `compress` is set.
 * FALSE when it could not be written; that is counted as lost. */
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
  GPtrArray *instruments; /* of SysprofInstrument, in their order */
  SysprofSpawnable *spawnable;
  uint64_t max_size;    /* bytes, 0 = no limit */
  int64_t max_duration; /* ns, 0 = no limit */
  int helper; /* a socket to who has the rights that we have not; borrowed, -1 = none */
  const char *machine; /* a tree of files in its place; NULL = this one. Copied */
  bool record_environment;
} PumpOptions;

/* Called on any thread. */
typedef struct
{
  void (*diagnostic) (void *data, const char *domain, const char *message, bool fatal);
  void (*spawned) (void *data, GSubprocess *subprocess);
  void (*second) (void *data);
  /* The last call. `error` is borrowed, NULL for success. */
  void (*ended) (void *data, const GError *error);
} PumpEvents;

typedef struct
{
  uint64_t n_samples;
  uint64_t n_frames;
  uint64_t n_lost[N_LOSS_KINDS];
  uint64_t n_throttled;
  uint64_t size;    /* bytes */
  int64_t cpu_nsec; /* CPU time of this process since the recording began */
  int64_t duration; /* ns */
  int64_t counted;  /* ns since the begin: when the numbers above `cpu_nsec` were taken */
  bool is_stopped;  /* nothing is sampled any more; files and symbols are added */
} PumpStatus;

/* Takes references on what is in `options`. `writer` is referenced and must not be used by others until the end. */
Pump *sysprof_pump_new (SysprofCaptureWriter *writer,
                        const PumpOptions *options,
                        const PumpEvents *events,
                        void *data);
/* Starts the thread. */
bool sysprof_pump_start (Pump *self, GError **error);
/* Waits for the thread, if it was started. */
void sysprof_pump_free (Pump *self);

void sysprof_pump_get_status (Pump *self, PumpStatus *status); /* from any thread */
void sysprof_pump_skip_augment (Pump *self);                   /* from any thread */
/* From any thread but the pump's: writes out what is buffered and opens the recording. -1 if that cannot be. */
int sysprof_pump_open_recording (Pump *self);
/* From any thread: opens it as it is. -1 with errno if that cannot be. */
int sysprof_pump_dup_written_fd (Pump *self);
