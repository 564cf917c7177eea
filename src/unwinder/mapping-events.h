// SPDX-License-Identifier: GPL-3.0-or-later

/* The event queue between the pump and the unwinder. It carries records of mappings, execs,
 * forks and exits. With it, one ring per CPU serves both, and the kernel delivers each record
 * only once.
 *
 * Where the BPF walker queries the kernel for mappings, the unwinder needs few of these
 * records: those that map new files, and those of processes whose samples it finishes. The
 * queue forwards these and keeps the others for a while, so that the unwinder can look them up.
 * The unwinder sleeps while nothing is new.
 *
 * In return, the pump gets the build IDs of files. The kernel reports either the inode or the
 * build ID of a mapping, but not both.
 *
 * *Guarded* by a lock of its own, which is held for at most one record. */

#pragma once

#include "perf/perf.h"

#include <glib.h>

typedef struct MappingEvents MappingEvents;

/* `wake_fd`, an eventfd, borrowed, is written when the unwinder has work. */
MappingEvents *sysprof_mapping_events_new (int wake_fd);
void sysprof_mapping_events_free (MappingEvents *self);

/* --- the pump --- */

/* A decoder's TellRecordFunc and DrainedFunc; `data` is the queue. */
size_t sysprof_mapping_events_add (const struct perf_event_header *record,
                                   int cpu,
                                   uint8_t *build_id,
                                   void *data);
void sysprof_mapping_events_drained (int64_t until, void *data);

/* Wakes the unwinder after all rings have been drained. */
void sysprof_mapping_events_wake_later (MappingEvents *self);

/* Writes mappings again, with the build ID, if they were written before the build ID was
 * known. */
void sysprof_mapping_events_write_named (MappingEvents *self, PerfDecoder *decoder);

/* --- the unwinder --- */

typedef struct
{
  uint64_t inode;
  uint64_t generation; /* 0 = unknown */
  uint32_t device_major;
  uint32_t device_minor;
} ReportedFile;

/* Marks the file as known for `believed_nsec`: until then, records that map it are not
 * forwarded. `build_id` NULL: the file is still being read. */
void sysprof_mapping_events_set_file (MappingEvents *self,
                                      const ReportedFile *file,
                                      const uint8_t *build_id,
                                      size_t build_id_size,
                                      int64_t believed_nsec);
void sysprof_mapping_events_forget_file (MappingEvents *self, const ReportedFile *file);

/* Keeps the event for a while. Used for events from the unwinder's own rings. */
void sysprof_mapping_events_remember (MappingEvents *self, const TaskEvent *event);
/* Stores the recent events of `pid`, including its fork, in the order of time into `found` (of
 * TaskEvent). */
void sysprof_mapping_events_recall (MappingEvents *self, int32_t pid, GArray *found);

/* Turns forwarding of all records of this process to sysprof_mapping_events_take() on or off. */
void sysprof_mapping_events_follow (MappingEvents *self, int32_t pid, bool follows);

/* Drops all kept events. */
void sysprof_mapping_events_forget_history (MappingEvents *self);

/* Appends the forwarded records to `records`. Returns the time (ns) until which records are
 * complete. `has_lost`: records are missing, because the kernel dropped them or the queue was
 * full. */
int64_t sysprof_mapping_events_take (MappingEvents *self, GByteArray *records, bool *has_lost);
