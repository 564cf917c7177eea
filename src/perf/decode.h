// SPDX-License-Identifier: GPL-3.0-or-later

/* Converts perf records to capture frames. It does not allocate, and it copies each record
 * once, from the ring to the writer's buffer.
 *
 * All events are opened with PERF_DECODE_SAMPLE_TYPE and sample_id_all, so that records have
 * the same layout whichever event they come from. The sample type differs between sessions
 * only: it has no call chain if stacks are not wanted; it may contain the cgroup; before the
 * cgroup it contains PERF_SAMPLE_RAW if the BPF walker unwinds, or a PerfCopy if this process
 * unwinds.
 *
 * *Owned* by the pump thread. */

#pragma once

#include "bpf/bpf.h"
#include "perf/cgroup-filter.h"
#include "perf/event-ledger.h"
#include "perf/kernel-symbol-log.h"
#include "perf/process-log.h"
#include "perf/stack-tally.h"
#include "perf/thread-names.h"
#include "perf/user-filter.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sysprof-capture.h>

#define PERF_MOST_BUILD_ID 20

#define PERF_DECODE_SAMPLE_TYPE \
  (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN)

/* A sample whose stack may be truncated. Its pointers point into the record. */
typedef struct
{
  int32_t pid;
  int32_t tid;
  int cpu;
  int64_t time;
  const uint64_t *kernel; /* [n_kernel] with context markers */
  size_t n_kernel;
  const uint64_t *user; /* [n_user] addresses found so far */
  size_t n_user;
  WalkReason reason;
  uint32_t used;        /* WALK_USED_… */
  bool is_from_copy;    /* finished from a stack copy */
  const WalkRest *rest; /* NULL = unwinding cannot continue */
  const uint8_t *stack; /* [rest->size] */
  bool is_cut;          /* the copy ends before the stack may */
} WalkedSample;

/* Receives each record of a mapping, a name, a fork, an exit or lost records, which was read on
 * `cpu`. Stores the build ID of a mapped file in `build_id`, [PERF_MOST_BUILD_ID], and returns
 * its size; 0 = no build ID, or not known yet. */
typedef size_t (*TellRecordFunc) (const struct perf_event_header *record,
                                  int cpu,
                                  uint8_t *build_id,
                                  void *data);
/* All records from before `until` (ns) have been delivered. */
typedef void (*DrainedFunc) (int64_t until, void *data);

/* Takes a sample that can be finished later, and copies what it needs. FALSE: the sample is
 * written as it is. */
typedef bool (*TakePendingFunc) (const WalkedSample *sample, void *data);

/* The events of one ring that the kernel throttles now. All zero is a valid empty value. */
typedef struct
{
  unsigned n;
  struct
  {
    uint64_t stream; /* the kernel's stream ID */
    int64_t since;   /* ns */
  } event[64];
} ThrottledEvents;

typedef struct
{
  /* Set these members before the first record. */
  SysprofCaptureWriter *writer;
  ProcessLog *log;
  KernelSymbolLog *kernel_symbols; /* NULL = not wanted */
  ThreadNames *thread_names;       /* NULL = not wanted */
  bool has_chains;                 /* samples carry call chains */
  /* … and then, once the program is attached, the user stack that the BPF program found. */
  bool has_walks;
  bool has_copies;     /* … or a stack copy, which this process unwinds */
  unsigned call_depth; /* limit for unwound stacks including the kernel's part; 0 = none */
  /* Drop samples without a call chain, because only one part of each stack is wanted. */
  bool drops_chainless;
  /* For each event, in the ledger's order: the time between two samples, to estimate how many
   * samples are missing while the event is throttled; 0 = unknown. */
  int64_t nsec_per_sample[MOST_EVENTS];
  UserFilter *filter; /* accept only this user's samples; NULL = all */
  /* Samples contain their cgroup, and this filter accepts some; NULL = they do not. */
  CgroupFilter *cgroups;
  TakePendingFunc take_unfinished; /* NULL = not wanted */
  void *take_data;
  TellRecordFunc tell; /* NULL = not wanted; otherwise mappings contain inodes */
  void *tell_data;
  DrainedFunc drained; /* NULL = not reported */
  void *drained_data;
  /* Samples contain their event's ID and period after the time; NULL = they do not. */
  EventLedger *ledger;
  StackTally *tally; /* NULL = not wanted */

  /* State of the ring that is being drained. */
  int cpu;
  bool drops_samples; /* the disk is too slow */

  /* Totals since the start of the recording. */
  uint64_t n_kernel_lost;     /* records of any kind that did not fit into a ring */
  uint64_t n_dropped_samples; /* malformed, no room in the writer, or dropped by the hardware */
  uint64_t
      n_dropped_records; /* records other than samples: malformed, or no room in the writer */
  uint64_t n_throttled;
  /* Truncated at a missing table, without a stack copy for later. */
  uint64_t n_without_copy;
  uint64_t n_walks[WALK_REASONS]; /* by reason */
  /* The address that marks a truncated stack; 0 = not defined yet. */
  uint64_t marker[WALK_REASONS];
  /* Events of the ring that is being drained; borrowed. NULL = count only the starts of
   * throttling. */
  ThrottledEvents *throttled;
} PerfDecoder;

/* Writes a sample that TakePendingFunc took. */
void sysprof_perf_decoder_write (PerfDecoder *self, const WalkedSample *sample);

/* Writes a mapping again when its build ID is known. `record` is the original record, read on
 * `cpu`. */
void sysprof_perf_decoder_write_named (PerfDecoder *self,
                                       const struct perf_event_header *record,
                                       int cpu,
                                       const uint8_t *build_id,
                                       size_t build_id_size);

/* A PerfRecordFunc: `data` is a PerfDecoder. */
void sysprof_perf_decode (const struct perf_event_header *record, void *data);

/* The address that marks stacks truncated for this reason; `marker` has those that the capture
 * already names. */
uint64_t sysprof_truncation_marker (uint64_t marker[WALK_REASONS],
                                    WalkReason reason,
                                    SysprofCaptureWriter *writer);
