// SPDX-License-Identifier: GPL-3.0-or-later

/* The BPF programs that watch the scheduler. They run with every switch between threads and
 * every wake-up. For each thread they store where and why it left its CPU and which thread woke
 * it, and write an event when its wait is over. A stack is written once; later events refer to
 * it by its hash.
 *
 *   sched_switch       takes the stacks and the system call of the thread that leaves a CPU,
 *                      and writes the wait of the thread that gets the CPU
 *   sched_waking       takes the stacks of the waker
 *   sched_wakeup_new   begins the first wait of a new thread, which is for a CPU
 *   begin, end         iterate over all threads when the recording begins and when it ends
 *
 * While sched_switch and sched_waking run, interrupts are off. (The exception is a thread that
 * wakes itself, which is ignored.) Each CPU therefore runs one of them at a time and needs one
 * ring and one scratch space. The iterators can be interrupted by these programs. They have a
 * ring and scratch space of their own. */

#define WALK_WITHOUT_EVENT
#define MOST_USER_SLOTS 96u
#define WALK_MORE_INPUT                                                        \
  uint64_t hash;                                                               \
  uint64_t base;                  /* SP when the walk began */                 \
  uint32_t n_read;                /* words of the stack that were read */      \
  uint32_t has_more;              /* the walk also read other memory */        \
  uint16_t read[MOST_USER_SLOTS]; /* offsets of these, in words from `base` */ \
  uint64_t read_word[MOST_USER_SLOTS];
#define MIX(hash, word)                     (((hash) ^ (word)) * UINT64_C (0x9e3779b97f4a7c15))
#define FOLD(hash, word)                    ((hash) = MIX (hash, word), (hash) ^= (hash) >> 29)
#define WALK_FOUND(input)                   FOLD ((input)->hash, (input)->state.ip)
#define WALK_HAS_READ(input, address, word) waits_note_read (input, address, word)
#define WALK_HAS_ASKED(input)               ((input)->has_more = 1)

struct WalkInput;
static inline void
waits_note_read (struct WalkInput *input, unsigned long long address, unsigned long long word);

#include "bpf/walk-kernel.h"

#include "bpf/waits-layout.h"

#include "bpf/waits/switches.h"
#include "bpf/waits/threads.h"
#include "bpf/waits/wake-ups.h"

const char waits_license[] SEC ("license") = "GPL";
