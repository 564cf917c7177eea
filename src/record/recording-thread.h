// SPDX-License-Identifier: GPL-3.0-or-later

/* The thread of a recording: it owns every source and, while the recording runs, the writer. It
 * never blocks.
 *
 *   prepare ─▶ record ─▶ (loop) ─▶ stop ─▶ augment ─▶ append ─▶ finish
 *
 * The *record* phase first takes the start time of the recording, then starts the instruments,
 * then spawns the program. Every way to end (request, duration, size, exit of the program,
 * fatal diagnostic, full disk) leads to the same *stop* phase. */

#pragma once

#include "record/record.h"

typedef struct RecordingThread RecordingThread;

typedef struct
{
  GPtrArray *instruments; /* [SysprofInstrument] in their order */
  SysprofSpawnable *spawnable;
  uint64_t max_size;    /* bytes, 0 = no limit */
  int64_t max_duration; /* ns, 0 = no limit */
  int helper;           /* socket to a process with more privileges; borrowed, -1 = none */
  bool asks_service;    /* for these privileges, if they are needed and `helper` is -1 */
  /* file tree to read instead of this machine; NULL = this machine. Copied */
  const char *machine;
  /* the capture keeps the environment of `spawnable`, which may contain secrets */
  bool record_environment;
} RecordingOptions;

/* Called on any thread. */
typedef struct
{
  void (*diagnostic) (void *data, const char *domain, const char *message, bool fatal);
  void (*spawned) (void *data, GSubprocess *subprocess);
  void (*second) (void *data);
  /* The last call. `error` is borrowed; NULL = success. */
  void (*ended) (void *data, const GError *error);
} RecordingEvents;

/* Takes references on the members of `options` and on `writer`, which nothing else may use
 * until the end. */
RecordingThread *sysprof_recording_thread_new (SysprofCaptureWriter *writer,
                                               const RecordingOptions *options,
                                               const RecordingEvents *events,
                                               void *data);
/* Starts the thread. */
bool sysprof_recording_thread_start (RecordingThread *self, GError **error);
/* Waits for the thread if it was started. */
void sysprof_recording_thread_free (RecordingThread *self);

/* From any thread. */
void sysprof_recording_thread_request_stop (RecordingThread *self);
/* From any thread. */
void sysprof_recording_thread_skip_augment (RecordingThread *self);
/* From any thread. */
void sysprof_recording_thread_get_status (RecordingThread *self, RecordingStatus *status);
/* From any thread but the pump's: writes out all buffers and opens the recording for reading.
 * -1 on failure. */
int sysprof_recording_thread_open_recording (RecordingThread *self);
/* From any thread: opens what has been written so far. -1 with errno on failure. */
int sysprof_recording_thread_dup_written_fd (RecordingThread *self);

/* From any thread: CPU time in ns of our threads and of our confined children, which make
 * tables of untrusted files. */
int64_t sysprof_recording_own_cpu_time (void);
