// SPDX-License-Identifier: GPL-3.0-or-later

/* record: runs instruments, collects their data in one capture writer, and finishes the capture
 * however the recording ends.
 *
 * The public API is sysprof.h. This header adds what our own programs need beyond it.
 *
 *   profiler.c, recording.c   public objects; record_async starts the pump thread
 *   recording-thread.c        the phases of a recording, on the pump thread
 *   pump.c                    the event loop of that thread
 *   recording-context.h       what instruments share and request of their recording
 *   output.c                  the flush thread and its bounded number of buffers
 *   instrument.h              the interface between an instrument and the recording
 *   counters/                 counters from texts in /proc and /sys: a parser and a row each
 *   sampling/                 the sampler, and the perf events that instruments share
 *   processes/                the process watcher: what the capture says of processes
 *   dbus/, logs/              a D-Bus client; the journal
 *   instruments/              one file per other instrument, with its row for registry.h */

#pragma once

#include "record/instrument.h"

#include <stdbool.h>
#include <sysprof.h>

G_BEGIN_DECLS

/* How user stacks are unwound. */
typedef enum
{
  UNWIND_AUTO, /* tables in the kernel if permitted, else stack copies, else frame pointers */
  UNWIND_FRAME_POINTER,
  UNWIND_TABLES, /* or the recording fails */
  UNWIND_COPY,   /* or the recording fails */
} UnwindMethod;

typedef struct SamplerOptions
{
  guint frequency;  /* samples per second and CPU; 0 = 1000 */
  const gint *pids; /* [n_pids] only these and their descendants; none = the whole system */
  guint n_pids;
  const gint *tids; /* [n_tids] */
  guint n_tids;
  gboolean no_follow_forks;
  const gint *cpus; /* [n_cpus] none = all */
  guint n_cpus;
  const char *cgroup;        /* path below the cgroup v2 mount, or absolute; NULL = all */
  const char *user;          /* login name or number; NULL = all */
  const char *const *events; /* NULL-terminated, NAME[:PERIOD]; NULL = cycles, else cpu-clock */
  gboolean kernel_only;
  gboolean user_only;
  guint call_depth; /* frames; 0 = the kernel's limit */
  UnwindMethod unwind;
  guint stack_size;   /* bytes copied of each stack, if stacks are copied; 0 = 16 KiB */
  gboolean no_stacks; /* --unwind none: record only the sampled address */
  gint64 delay_nsec;  /* start sampling after this delay */
} SamplerOptions;

/* Strings and arrays are copied. */
SysprofInstrument *sysprof_sampler_new_with_options (const SamplerOptions *options);
/* Whether UNWIND_COPY works on this kind of processor. */
gboolean sysprof_sampler_has_copies (void);

/* Records where threads wait, for how long, why, and which thread woke them. The same options
 * choose the threads. *(full)* */
SYSPROF_DECLARE_INSTRUMENT (SysprofOffCpu, sysprof_off_cpu, OFF_CPU, extern)
SysprofInstrument *sysprof_off_cpu_new (const SamplerOptions *options);

/* Marks the instrument as implicit: the user did not request it. If it is unavailable, only the
 * metadata org.gnome.sysprof.lacks.NAME reports it. Call this before the instrument records. */
void sysprof_instrument_set_optional (SysprofInstrument *self, gboolean is_optional);

typedef struct
{
  guint64 n_samples;
  guint64 n_frames;
  guint64 n_lost;         /* all dropped frames, of any kind … */
  guint64 n_lost_samples; /* … of these, samples */
  guint64 n_lost_records; /* … of these, records of processes and mappings */
  guint64 n_throttled;
  guint64 size;        /* bytes of the capture so far */
  gint64 cpu_nsec;     /* CPU time used by this process since the recording started */
  gint64 duration;     /* ns; 0 = not started */
  gint64 counted;      /* ns since the start: when the counts and `size` were taken */
  gboolean is_stopped; /* sampling has ended; files and symbols are being added */
} RecordingStatus;

/* From any thread. */
void sysprof_recording_get_status (SysprofRecording *self, RecordingStatus *status);

/* Reopens the capture for reading. It contains what has been written to the disk so far. Call
 * this at most once a second. The call does not block. Returns -1 with errno if the capture
 * cannot be read back. From any thread. */
int sysprof_recording_dup_written_fd (SysprofRecording *self);

/* Skips the data that is still to be added (symbols) and finishes the file, as a second Ctrl-C
 * does. From any thread. */
void sysprof_recording_skip_augment (SysprofRecording *self);

/* What the n-th signal or key that interrupts a program does: the first stops the recording,
 * the second skips what is still to be added. FALSE for later ones: the program ends at once.
 * `self` is NULL before the recording has begun. */
bool sysprof_recording_interrupt (SysprofRecording *self, guint n);

typedef void (*RecordingMessage) (const char *domain, const char *message, gpointer data);
/* Reports the diagnostics from `first` on. Returns how many there are now. One that ends the
 * recording is left out, because it is the error of sysprof_recording_wait_finish(). */
guint sysprof_recording_report_diagnostics (SysprofRecording *self,
                                            guint first,
                                            RecordingMessage report,
                                            gpointer data);

/* Ends the recording when the capture reaches this size or duration; 0 = no limit. Call these
 * before recording. */
void sysprof_profiler_set_max_size (SysprofProfiler *self, guint64 bytes);
void sysprof_profiler_set_max_duration (SysprofProfiler *self, gint64 nsec);
/* Whether this process may not sample the whole machine, so that a recording asks the service
 * sysprofd for the right if it may acquire privileges. */
bool sysprof_may_need_service (void);
/* A socket to a process that performs privileged operations for the next recording
 * (rights/rights.h). -1, the default, is none. Borrowed until that recording has ended. */
void sysprof_profiler_set_helper (SysprofProfiler *self, int socket);
/* For tests: read counters from a file tree below `root` (access/privilege.h); NULL reads those
 * of this machine. */
void sysprof_profiler_set_machine (SysprofProfiler *self, const char *root);
/* Whether the program runs outside of the Flatpak sandbox of this process, if there is one. The
 * default is FALSE. */
void sysprof_spawnable_set_on_host (SysprofSpawnable *self, gboolean on_host);
/* Whether this process is in such a sandbox, and `program` does not leave it by itself. */
bool sysprof_runs_on_host (const char *program);
/* Whether the capture keeps the spawned program's environment, which may contain secrets.
 * Default FALSE. */
void sysprof_profiler_set_record_environment (SysprofProfiler *self,
                                              gboolean record_environment);

G_END_DECLS
