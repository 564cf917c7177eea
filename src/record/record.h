// SPDX-License-Identifier: GPL-3.0-or-later

/* record: runs instruments, drains them into one writer, and ends well whatever happens.
 *
 * The public API (sysprof.h) is the way in; this header adds what our own programs need beyond it.
 *
 *   profiler.c, recording.c   public objects; the pump thread is started by record_async
 *   pump.c, pump-sources.c    the thread that owns all sources and the writer
 *   output.c                  the flush thread and its bounded number of buffers
 *   instrument.h              what an instrument is to the pump
 *   sampled-counters.c        counters from texts in /proc and /sys: a parser and a row each
 *   privilege.c               the one door to what needs rights
 *   perf/                     kernel events: attributes, rings, decoding
 *   instruments/              one file per instrument */

#pragma once

#include "record/instrument.h"

#include <sysprof.h>

G_BEGIN_DECLS

/* How the user's part of stacks is found. */
typedef enum
{
  UNWIND_AUTO, /* by tables in the kernel where that is permitted, else from copies, else by frame pointers */
  UNWIND_FRAME_POINTER,
  UNWIND_TABLES, /* or not at all */
  UNWIND_COPY,   /* the same */
} UnwindMethod;

typedef struct
{
  guint frequency;  /* samples per second and CPU; 0 = 1000 */
  const gint *pids; /* [n_pids] only these and what they start; none = the whole system */
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
  guint stack_size;   /* bytes of each stack that are copied, where they are; 0 = 16 KiB */
  gboolean no_stacks; /* --unwind none: the address alone */
  gint64 delay_nsec;  /* start sampling so much later */
} SamplerOptions;

/* Strings and arrays are copied. */
SysprofInstrument *sysprof_sampler_new_with_options (const SamplerOptions *options);

/* Where threads wait, for how long, why, and who woke them; of those that the same options choose. *(full)* */
SYSPROF_DECLARE_INSTRUMENT (SysprofOffCpu, sysprof_off_cpu, OFF_CPU, extern)
SysprofInstrument *sysprof_off_cpu_new (const SamplerOptions *options);

/* Counters that other generations have not. */
SYSPROF_DECLARE_INSTRUMENT (SysprofGpuUsage, sysprof_gpu_usage, GPU_USAGE, extern)
SYSPROF_DECLARE_INSTRUMENT (SysprofOwnUsage, sysprof_own_usage, OWN_USAGE, extern)
SYSPROF_DECLARE_INSTRUMENT (SysprofPressure, sysprof_pressure, PRESSURE, extern)
SYSPROF_DECLARE_INSTRUMENT (SysprofThermal, sysprof_thermal, THERMAL, extern)

/* "GPU Percent", "GPU Memory" per process and engine or region, and of all processes together. *(full)* */
SysprofInstrument *sysprof_gpu_usage_new (void);
/* "Recorder": CPU use and memory of this process. *(full)* */
SysprofInstrument *sysprof_own_usage_new (void);
/* "Pressure": the share of time in which tasks waited, of the system and of its cgroups. *(full)* */
SysprofInstrument *sysprof_pressure_new (void);
/* "Temperature", "Throttling", "Cooling". *(full)* */
SysprofInstrument *sysprof_thermal_new (void);

/* That nobody asked for it: what is not there is noted in the capture only, as metadata org.gnome.sysprof.lacks.NAME. Before it
 * records. */
void sysprof_instrument_set_optional (SysprofInstrument *self, gboolean is_optional);

/* Messages of the kernel. */
SysprofInstrument *sysprof_kernel_log_new (void);

/* As sysprof_system_logs_new(), but without what the kernel says, which sysprof_kernel_log_new() records. */
SysprofInstrument *sysprof_system_logs_new_without_kernel (void);

typedef struct
{
  guint64 n_samples;
  guint64 n_frames;
  guint64 n_lost;         /* everything that was dropped, of any kind … */
  guint64 n_lost_samples; /* … of that samples */
  guint64 n_lost_records; /* … and records of processes and mappings */
  guint64 n_throttled;
  guint64 size;        /* bytes of the capture so far */
  gint64 cpu_nsec;     /* CPU time used by this process since the recording began */
  gint64 duration;     /* ns; 0 = has not begun */
  gint64 counted;      /* ns since the begin: when the numbers above `cpu_nsec` were taken */
  gboolean is_stopped; /* nothing is sampled any more; files and symbols are added */
} RecordingStatus;

/* From any thread. */
void sysprof_recording_get_status (SysprofRecording *self, RecordingStatus *status);

/* The capture, opened anew for reading, with what is written to the disk by now: no more often than once a second. Nobody is waited
 * for. -1 with errno where it cannot be read back. From any thread. */
int sysprof_recording_dup_written_fd (SysprofRecording *self);

/* A second Ctrl-C: leaves out what is still to be added (symbols) and finishes the file. From any thread. */
void sysprof_recording_skip_augment (SysprofRecording *self);

/* The recording ends by itself when the capture is that large (0 = never) or that old. Set before it starts. */
void sysprof_profiler_set_max_size (SysprofProfiler *self, guint64 bytes);
void sysprof_profiler_set_max_duration (SysprofProfiler *self, gint64 nsec);
/* A socket at whose other end somebody with more rights lends them (rights/rights.h), for the next recording; -1, the default, is
 * none. Borrowed until that has ended. */
void sysprof_profiler_set_helper (SysprofProfiler *self, int socket);
/* For tests: the machine that counters are read from is a tree of files below `root` (record/privilege.h). NULL is this one. */
void sysprof_profiler_set_machine (SysprofProfiler *self, const char *root);
/* Keep the spawned program's environment in the capture: it holds secrets. Default FALSE. */
void sysprof_profiler_set_record_environment (SysprofProfiler *self,
                                              gboolean record_environment);

G_END_DECLS
