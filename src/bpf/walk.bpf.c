// SPDX-License-Identifier: GPL-3.0-or-later

/* Runs with every sample, in the interrupt that takes it: walks the user stack of the current
 * thread and sends it to the perf ring of the CPU. The kernel adds time, thread and the
 * kernel's part of the stack, as to any record. */

#include "bpf/walk-kernel.h"

/* 0 keeps perf from writing a record of its own. A test overrides it to get that record. */
#ifndef WALK_RESULT
#  define WALK_RESULT 0
#endif

struct
{
  __uint (type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
  __type (key, uint32_t);
  __type (value, uint32_t);
} walk_events SEC (".maps");

#ifdef TRUTH_BASE

/* Only for a test, whose own header is included first: copies the list of functions that the
 * test program keeps, at the moment of the sample. */
static __always_inline uint32_t
add_truth (WalkInput *scratch, const struct task_struct *task)
{
  uint64_t list = TRUTH_AT ((uint32_t) task->pid);
  uint32_t n = scratch->record.n;
  uint64_t skipped;
  TruthCopy *copy;

  WALK_KEEP (n);
  if (n > WALK_MOST_ADDRESSES - sizeof *copy / 8)
    return 0;
  copy = (TruthCopy *) (void *) &scratch->record.address[n];
  copy->head.n = 0;
  if (bpf_probe_read_user (&copy->head, sizeof copy->head, (const void *) list) != 0)
    return sizeof *copy;
  skipped = copy->head.n > TRUTH_COPIED ? copy->head.n - TRUTH_COPIED : 0;
  (void) bpf_probe_read_user (copy->id, sizeof copy->id,
                              (const void *) (list + sizeof (TruthHead) + 2 * skipped));
  return sizeof *copy;
}
#endif

/* Reports the file whose table is missing, so that the recorder starts to build it at once. The
 * sample itself stays in the large ring until the recorder drains it. */
static __always_inline void
report_unknown_file (struct bpf_perf_event_data *context, WalkInput *input, uint32_t cpu)
{
  KnownMappings *known =
      &input->known_mappings[input->known & ((1u << KNOWN_PROCESS_BITS) - 1)];
  uint64_t file = input->key.inode ^ (uint64_t) input->key.generation << 32;
  uint64_t now = bpf_ktime_get_ns (), pause = WALK_LEAST_REPORT_PAUSE;

  if (known->reported_file == file && known->report_pause > pause)
    pause = known->report_pause;
  if (now - known->reported_nsec < pause)
    return;

  if (known->reported_file != file)
    pause = WALK_LEAST_REPORT_PAUSE / 2;
  known->report_pause = pause < WALK_MOST_REPORT_PAUSE ? 2 * pause : pause;
  known->reported_file = file;
  known->reported_nsec = now;
  bpf_perf_event_output (context, &walk_events,
                         WALK_OUTPUT_INDEX (cpu, WALK_OUTPUT_UNKNOWN_FILES), &input->key,
                         sizeof input->key);
}

SEC ("perf_event")
int
sysprof_walk (struct bpf_perf_event_data *context)
{
  uint32_t cpu = bpf_get_smp_processor_id ();
  WalkInput *scratch = bpf_map_lookup_elem (&walk_scratch, &cpu);
  struct task_struct *task = bpf_get_current_task_btf ();
  uint32_t rest_size = 0;
  uint64_t size;

  if (scratch == 0 || (uint32_t) bpf_get_current_pid_tgid () == 0)
    return 0;

  scratch->record.n = 0;
  scratch->record.used = 0;
  scratch->record.reason = (uint8_t) walk_stack (context, task, scratch, &rest_size);

  if (walk_asks_kernel && scratch->record.reason == WALK_NO_TABLE)
    report_unknown_file (context, scratch, cpu);

#ifdef TRUTH_BASE
  scratch->record.used &= (uint8_t) ~WALK_HAS_REST;
  rest_size = add_truth (scratch, task);
#endif
  size = (WALK_RECORD_SIZE (scratch->record.n) + rest_size) & 0xffff;
  bpf_perf_event_output (context, &walk_events, WALK_OUTPUT_INDEX (cpu, WALK_OUTPUT_STACKS),
                         &scratch->record, size);
  return WALK_RESULT;
}

const char walk_license[] SEC ("license") = "GPL";
