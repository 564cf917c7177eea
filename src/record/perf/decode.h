// SPDX-License-Identifier: GPL-3.0-or-later

/* Kernel records to capture frames: no allocation, and one copy, from the ring to the writer's buffer.
 *
 * All events are opened with PERF_DECODE_SAMPLE_TYPE (less the chain where stacks are not wanted; samples may name a cgroup,
 * and before it stands PERF_SAMPLE_RAW where a program in the kernel walks stacks, a PerfCopy where we do) and sample_id_all,
 * so that every record has the same layout whichever event it comes from. *Owned* by the pump
 * thread. */

#pragma once

#include "bpf/bpf.h"
#include "record/kernel-symbol-log.h"
#include "record/perf/cgroup-filter.h"
#include "record/perf/event-ledger.h"
#include "record/perf/stack-tally.h"
#include "record/perf/user-filter.h"
#include "record/process-log.h"
#include "record/thread-names.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sysprof-capture.h>

#define PERF_MOST_BUILD_ID 20

#define PERF_DECODE_SAMPLE_TYPE \
  (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN)

/* A sample whose stack was not walked to its end. What it points to is the record's. */
typedef struct
{
  int32_t pid;
  int32_t tid;
  int cpu;
  int64_t time;
  const uint64_t *kernel; /* [n_kernel] with context markers */
  size_t n_kernel;
  const uint64_t *user; /* [n_user] found before */
  size_t n_user;
  WalkReason reason;
  uint32_t used;        /* WALK_USED_… */
  bool is_from_copy;    /* finished with what was copied */
  const WalkRest *rest; /* NULL = nothing to go on with */
  const uint8_t *stack; /* [rest->size] */
  bool is_cut;          /* the stack may go on behind the copy */
} WalkedSample;

/* Tells somebody else of a mapping, a name, a fork or an exit, told on `cpu`. Returns the size of `build_id`, [PERF_MOST_BUILD_ID], that
 * of the file that is mapped; 0 = none, or not known yet. */
typedef size_t (*TellRecordFunc) (const struct perf_event_header *record,
                                  int cpu,
                                  uint8_t *build_id,
                                  void *data);
/* All records from before `until` (ns) have been told. */
typedef void (*DrainedFunc) (int64_t until, void *data);

/* Takes over a sample that can be finished: copies what it needs. FALSE: it is written as it is. */
typedef bool (*TakeUnfinishedFunc) (const WalkedSample *sample, void *data);

/* Events that are held back, of one ring. Zero is empty. */
typedef struct
{
  unsigned n;
  struct
  {
    uint64_t stream; /* the kernel's number of it */
    int64_t since;   /* ns */
  } event[64];
} ThrottledEvents;

typedef struct
{
  /* Set before the first record. */
  SysprofCaptureWriter *writer;
  ProcessLog *log;
  KernelSymbolLog *kernel_symbols; /* NULL = nobody asks */
  ThreadNames *thread_names;       /* NULL = not wanted */
  bool has_chains;                 /* samples carry call chains */
  bool
      has_walks; /* … and behind them, once it is attached, the user's part, as the program in the kernel found it */
  bool has_copies;     /* … or a copy of it, to be walked by us */
  unsigned call_depth; /* of stacks that were walked, with the kernel's part; 0 = any */
  bool
      drops_chainless; /* a sample without a chain is none: only a part of the stacks is wanted */
  /* Of each event, in the ledger's order: while it is held back, a sample is missed each so many; 0 = unknown. */
  int64_t nsec_per_sample[MOST_EVENTS];
  UserFilter *filter; /* whose samples are wanted; NULL = all */
  CgroupFilter
      *cgroups; /* samples name their cgroup, and these are wanted; NULL = they do not */
  TakeUnfinishedFunc take_unfinished; /* NULL = nobody does */
  void *take_data;
  TellRecordFunc tell; /* NULL = nobody is told; else mappings tell inodes */
  void *tell_data;
  DrainedFunc drained; /* NULL = not reported */
  void *drained_data;
  EventLedger *
      ledger; /* samples carry the id of their event and its period, behind the time; NULL = they do not */
  StackTally *tally; /* NULL = nobody counts */

  /* Of the ring that is being drained. */
  int cpu;
  bool drops_samples; /* the disk is behind */

  /* Sums since the recording began. */
  uint64_t n_kernel_lost;     /* records of any kind that found no room in a ring */
  uint64_t n_dropped_samples; /* malformed, no room in the writer, or lost by the hardware */
  uint64_t
      n_dropped_records; /* records other than samples: malformed, or no room in the writer */
  uint64_t n_throttled;
  uint64_t n_without_copy;        /* walks without a table whose stack was not kept for later */
  uint64_t n_walks[WALK_REASONS]; /* by how they ended */
  uint64_t marker[WALK_REASONS];  /* the address that stands for it, once it has one */
  ThrottledEvents *
      throttled; /* of the ring that is being drained; borrowed, NULL = only that it begins counts */
} PerfDecoder;

/* Writes a sample that was taken over. */
void sysprof_perf_decoder_write (PerfDecoder *self, const WalkedSample *sample);

/* Writes a mapping once more, now that its build ID is known; `record` told of it on `cpu`. */
void sysprof_perf_decoder_write_named (PerfDecoder *self,
                                       const struct perf_event_header *record,
                                       int cpu,
                                       const uint8_t *build_id,
                                       size_t build_id_size);

/* A PerfRecordFunc: `data` is a PerfDecoder. */
void sysprof_perf_decode (const struct perf_event_header *record, void *data);
