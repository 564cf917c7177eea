// SPDX-License-Identifier: GPL-3.0-or-later

/* What the kernel tells the pump of mappings, execs, forks and exits, for the unwinder: where walks ask the kernel itself what is
 * mapped, few of these records matter to it. New files do, and what processes do of which it finishes samples; the
 * rest is kept for a while, to be asked. So records come to us once, and the unwinder sleeps while nothing is new.
 *
 * In return the pump hears of the build IDs of files, which the kernel does not tell together with inodes.
 *
 * *Guarded* by a lock of its own, held for as long as one record takes. */

#pragma once

#include "record/perf/decode.h"
#include "record/perf/task-events.h"

#include <glib.h>

typedef struct Told Told;

/* `wake_fd`, an eventfd, borrowed, is written when the unwinder has something to do. */
Told *sysprof_told_new (int wake_fd);
void sysprof_told_free (Told *self);

/* --- the pump --- */

/* A decoder's TellRecordFunc and DrainedFunc; `data` is this. */
size_t sysprof_told_add (const struct perf_event_header *record,
                         int cpu,
                         uint8_t *build_id,
                         void *data);
void sysprof_told_drained (int64_t until, void *data);

/* The unwinder is to be woken when all rings were drained. */
void sysprof_told_wake_later (Told *self);

/* Mappings that were written before the build ID of their file was known are written once more, with it. */
void sysprof_told_write_named (Told *self, PerfDecoder *decoder);

/* --- the unwinder --- */

typedef struct
{
  uint64_t inode;
  uint64_t generation; /* 0 = not known */
  uint32_t device_major;
  uint32_t device_minor;
} ToldFile;

/* Records from now on tell nothing new where they map the file, for `believed_nsec`. `build_id` NULL: it is being looked at. */
void sysprof_told_set_file (Told *self,
                            const ToldFile *file,
                            const uint8_t *build_id,
                            size_t build_id_size,
                            int64_t believed_nsec);
void sysprof_told_forget_file (Told *self, const ToldFile *file);

/* What happened is kept for a while. Without the pump: from the unwinder's own rings. */
void sysprof_told_remember (Told *self, const TaskEvent *event);
/* What `pid` did, and who forked it, in the order of time, into `found` (of TaskEvent). */
void sysprof_told_recall (Told *self, int32_t pid, GArray *found);

/* From now on whatever the process does is for sysprof_told_take(), or not any more. */
void sysprof_told_follow (Told *self, int32_t pid, bool follows);

/* What happened is not to be asked for any more. */
void sysprof_told_forget_history (Told *self);

/* Appends the records that are new to `records`. Returns until when (ns) all has been told; `has_lost`: but for some that the kernel
 * could not tell, or for which there was no room. */
int64_t sysprof_told_take (Told *self, GByteArray *records, bool *has_lost);
