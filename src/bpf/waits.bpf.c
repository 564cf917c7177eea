// SPDX-License-Identifier: GPL-3.0-or-later

/* Runs with every switch between threads and with every wake-up: keeps with each thread where and why it left its CPU and who woke
 * it, and tells of a wait when it is over. Stacks are told once: a table has those of which the recorder knows.
 *
 *   sched_switch       the thread that leaves a CPU: its stacks, its system call. The one that comes: the wait is told
 *   sched_waking       in the waker: its stacks
 *   sched_wakeup_new   a thread's first wait, for a CPU, begins
 *   begin, end         each thread, for what it does when the recording begins, and ends
 *
 * Interrupts are off in the former, or, where a thread wakes itself, there is nothing to tell: each CPU has one of them at a time, and
 * one ring and one scratch space do. What goes through all threads can be interrupted by them: it has its own.
 */

#define WALK_WITHOUT_EVENT
#define MOST_USER_SLOTS 96u
#define WALK_MORE_INPUT                                                       \
  uint64_t hash;                                                              \
  uint64_t base;                  /* SP as the walk began */                  \
  uint32_t n_read;                /* words of the stack that it depends on */ \
  uint32_t has_more;              /* it depends on more than those */         \
  uint16_t read[MOST_USER_SLOTS]; /* where they are, in words from `base` */  \
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

/* What a thread's stacks depend on is kept, and looked at the next time: where the program stands at the same place, and all words that
 * were return addresses, or that the walk has read, are what they were, so is the stack. Of the kernel's part they are counted from
 * where it stands, as each of its calls may begin somewhere else; its outermost function is called from one place. */
#define MOST_KERNEL_SLOTS 64u
#define KERNEL_WORDS      192u /* of its stack */
#define USER_WORDS        1024u
#define MEMO_BITS         5
#define MEMO_WAYS         4u     /* for the same place */
#define STACK_SIZE        16384u /* of the kernel's, of each thread */

#define TOLD_BITS            16
#define SKIPPED_FRAMES       2 /* the program itself, and what runs it */
#define TASK_UNINTERRUPTIBLE 0x0002u
#define TASK_DEAD            0x0080u
#define TASK_NOLOAD          0x0400u
#define MOST_CGROUPS         32u /* in each other */

/* How much earlier than it left its CPU a thread can have been woken: both are told by different CPUs. */
#define WAKING_BEFORE 20000u /* ns */

#define FUTEX_WAIT            0u
#define FUTEX_LOCK_PI         6u
#define FUTEX_WAIT_BITSET     9u
#define FUTEX_WAIT_REQUEUE_PI 11u
#define FUTEX_LOCK_PI2        13u
#define FUTEX_COMMAND         0x7fu
#define FUTEX_TID             0x3fffffffu
#define CONTENDED             2u /* what a lock of glibc's says while somebody waits for it */
#define OWNER_OFFSET          8u /* from there to the thread that has it */

enum
{
  UNDECIDED,
  WANTED,
  UNWANTED
};

/* Of each thread. `waking` … are written by who wakes it, the others by itself as it leaves or comes to a CPU. */
typedef struct
{
  uint64_t left;    /* ns: since when it waits; 0 = it runs */
  uint64_t arrived; /* ns: since when it runs; 0 = since before the recording */
  uint64_t ran;
  uint64_t stack;
  uint64_t lock;
  uint64_t waking;
  uint64_t waker_stack;
  uint64_t group; /* for which `wanted` is */
  uint64_t comm[2];
  uint64_t first_stack; /* where it waited when the recording began, if `has_first` */
  uint32_t tid;
  uint32_t pid;
  uint32_t uid;
  uint32_t holder;
  uint32_t waker;
  int32_t call;
  uint16_t cpu;
  uint8_t reason;
  uint8_t flags;
  uint8_t waker_flags;
  uint8_t inherited; /* WANTED, UNWANTED */
  uint8_t wanted;
  uint8_t has_first;
  int32_t first_call;
  uint16_t first_cpu;
  uint8_t first_reason;
  uint8_t first_flags;
} ThreadState;

struct
{
  __uint (type, BPF_MAP_TYPE_TASK_STORAGE);
  __uint (map_flags, BPF_F_NO_PREALLOC);
  __type (key, int);
  __type (value, ThreadState);
} waits_threads SEC (".maps");

struct
{
  __uint (type, BPF_MAP_TYPE_ARRAY);
  __uint (max_entries, 1);
  __uint (map_flags, BPF_F_MMAPABLE);
  __type (key, uint32_t);
  __type (value, WaitsControl);
} waits_control SEC (".maps");

/* Number and size of its values: set by the loader. */
struct
{
  __uint (type, BPF_MAP_TYPE_ARRAY);
  __uint (max_entries, 1);
  __uint (map_flags, BPF_F_MMAPABLE);
  __uint (key_size, sizeof (uint32_t));
  __uint (value_size, WAITS_RING_SIZE (4096));
} waits_rings SEC (".maps");

typedef struct
{
  uint64_t hash[1 << TOLD_BITS];
} Told;

struct
{
  __uint (type, BPF_MAP_TYPE_ARRAY);
  __uint (max_entries, 1);
  __type (key, uint32_t);
  __type (value, Told);
} waits_told SEC (".maps");

/* Kernel stacks: of each CPU. */
typedef struct
{
  uint64_t address[WAITS_MOST_KERNEL + 1];
} KernelStack;

struct
{
  __uint (type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint (max_entries, 1);
  __type (key, uint32_t);
  __type (value, KernelStack);
} waits_kernel SEC (".maps");

/* Of what goes through all threads. */
typedef struct
{
  KernelStack kernel;
  WalkInput input;
  ThreadState first;
} EachScratch;

struct
{
  __uint (type, BPF_MAP_TYPE_ARRAY);
  __uint (max_entries, 1);
  __type (key, uint32_t);
  __type (value, EachScratch);
} waits_each SEC (".maps");

/* Frozen when the programs are loaded: size of a ring's data, a power of two, less 1; and which ring is no CPU's. */
const volatile struct
{
  uint64_t ring_mask;
  uint64_t each_ring;
} waits_constants SEC (".rodata.waits") = { 4095, 0 };
#define waits_ring_mask waits_constants.ring_mask

typedef struct
{
  uint64_t ip; /* of the program; 0 = it has none */
  uint64_t sp;
  uint64_t fp;
  uint64_t memory;
  uint64_t stack; /* 0 = nothing is kept here */
  uint32_t tid;
  uint32_t call;
  uint32_t exec_id;
  uint32_t n_changes;
  uint32_t version;
  uint32_t has_fault;
  uint32_t site;        /* which of the programs */
  uint32_t kernel_size; /* bytes up from where the kernel stands */
  uint32_t user_size;   /* and from SP */
  uint32_t n_kernel;
  uint32_t n_user;
  uint16_t kernel[MOST_KERNEL_SLOTS]; /* where the words are, and what they were */
  uint16_t user[MOST_USER_SLOTS];
  uint64_t kernel_word[MOST_KERNEL_SLOTS];
  uint64_t user_word[MOST_USER_SLOTS];
} Memo;

/* One of each CPU. */
typedef struct
{
  Memo memo[MEMO_WAYS << MEMO_BITS];
  Memo now;
  uint64_t position; /* where the kernel stands */
  uint32_t set;      /* where what is kept of the place begins */
  uint32_t turn;
  uint64_t word[KERNEL_WORDS];
  uint64_t user_word[USER_WORDS];
} Memos;

struct
{
  __uint (type, BPF_MAP_TYPE_ARRAY);
  __uint (max_entries, 1); /* as many as there can be CPUs: set by the loader */
  __type (key, uint32_t);
  __type (value, Memos);
} waits_memos SEC (".maps");

/* --- the ring --- */

/* Room for `size` bytes, 8-aligned and at most WAITS_MOST_RECORD, or 0. */
static __always_inline void *
reserve (WaitsRing *ring, uint32_t size)
{
  uint64_t head = ring->head;
  uint64_t offset;

  if (head - *(volatile uint64_t *) &ring->tail + size > waits_ring_mask + 1)
    {
      ring->n_lost++;
      return 0;
    }
  offset = head & waits_ring_mask;
  WALK_KEEP (offset);
  return ring->data + (offset & waits_ring_mask);
}

/* What was written there can be read now. */
static __always_inline void
commit (WaitsRing *ring, uint32_t size)
{
#ifdef __TARGET_ARCH_arm64
  WALK_KEEP (size);
  size += (uint32_t) __sync_fetch_and_add (&ring->head, size) & 0; /* with a barrier */
  WALK_KEEP (size);
#else
  __asm__ volatile("" ::: "memory");
  *(volatile uint64_t *) &ring->head += size;
#endif
}

/* --- who is wanted --- */

/* Loops of many turns are the kernel's (bpf_loop), so that the verifier goes through them once: it follows each turn of ours, in each of
 * the programs, and that takes longer than what a short recording does. */
typedef struct
{
  const WaitsControl *control;
  uint32_t pid;
  uint32_t tid;
  uint32_t is_found;
} Named;

static long
compare_id (uint32_t i, Named *named)
{
  const WaitsControl *control = named->control;

  if (i >= WAITS_MOST_IDS)
    return 1;
  if (control->id[i] != (i < control->n_pids ? named->pid : named->tid))
    return 0;
  named->is_found = 1;
  return 1;
}

__noinline int
waits_is_named (const WaitsControl *control, uint32_t pid, uint32_t tid)
{
  Named named = { control, pid, tid, 0 };

  if (control == 0)
    return 0;
  bpf_loop (control->n_ids, compare_id, &named, 0);
  return named.is_found != 0;
}

/* Kernels that were built without (CONFIG_CGROUP_PERF) have no such number, and refuse what asks for it. */
static __always_inline bool
has_groups (void)
{
  return bpf_core_field_exists (struct task_struct, cgroups) &&
         bpf_core_enum_value_exists (enum cgroup_subsys_id, perf_event_cgrp_id);
}

/* By which of its cgroups the kernel's events know it. Read by a helper, as a verifier that we know searches all types of the kernel by
 * name, for a millisecond, for each pointer that it sees taken out of a task. */
static __always_inline uint64_t
group_of (struct task_struct *task)
{
  struct css_set *set;
  uint64_t group = 0;

  if (!has_groups ())
    return 0;
  set = BPF_CORE_READ (task, cgroups);
  bpf_probe_read_kernel (
      &group, sizeof group,
      (const uint8_t *) set + bpf_core_field_offset (struct css_set, subsys) +
          bpf_core_enum_value (enum cgroup_subsys_id, perf_event_cgrp_id) * sizeof group);
  return group;
}

__noinline int
waits_is_in_group (uint64_t address, uint64_t wanted)
{
  struct cgroup_subsys_state *group = (struct cgroup_subsys_state *) address;

  for (uint32_t i = 0; i < MOST_CGROUPS && group != 0; i++)
    {
      if (BPF_CORE_READ (group, cgroup, kn, id) == wanted)
        return 1;
      group = BPF_CORE_READ (group, parent);
    }
  return 0;
}

static __always_inline bool
is_wanted (const WaitsControl *control, ThreadState *state, struct task_struct *task)
{
  uint64_t group = 0;
  uint32_t uid = 0;

  if (control->n_ids == 0 && !control->has_user && control->cgroup == 0)
    return true;
  if (state->inherited == UNDECIDED)
    state->inherited = control->n_ids == 0 || waits_is_named (control, (uint32_t) task->tgid,
                                                              (uint32_t) task->pid)
                           ? WANTED
                           : UNWANTED;
  if (state->inherited == UNWANTED)
    return false;

  if (control->has_user)
    uid = BPF_CORE_READ (task, real_cred, euid.val);
  if (control->cgroup != 0)
    group = group_of (task);
  if (state->wanted == UNDECIDED || state->group != group || state->uid != uid)
    {
      state->group = group;
      state->uid = uid;
      state->wanted =
          (!control->has_user || uid == control->uid) &&
                  (control->cgroup == 0 || waits_is_in_group (group, control->cgroup) != 0)
              ? WANTED
              : UNWANTED;
    }
  return state->wanted == WANTED;
}

static __always_inline bool
is_wanted_cpu (const WaitsControl *control, uint32_t cpu)
{
  return !control->has_cpus || control->cpu[cpu & (WAITS_MOST_CPUS - 1)] != 0;
}

/* --- stacks --- */

/* Of the walk, in the order in which it reads. */
static inline void
waits_note_read (WalkInput *input, unsigned long long address, unsigned long long word)
{
  uint64_t place = (address - input->base) >> 3;
  uint32_t n = input->n_read;

  WALK_KEEP (n);
  if (n >= MOST_USER_SLOTS || (address & 7) != 0 || place >= USER_WORDS)
    {
      input->has_more = 1;
      return;
    }
  input->read[n] = (uint16_t) place;
  input->read_word[n] = word;
  input->n_read = n + 1;
}

/* The current thread's own part. */
__noinline int
waits_walk (WalkInput *input)
{
  struct task_struct *task = bpf_get_current_task_btf ();
  uint32_t rest_size = 0;

  if (input == 0)
    return 0;
  input->record.n = 0;
  input->record.used = 0;
  input->hash = 0;
  input->n_read = 0;
  input->has_more = 0;
  input->record.reason = (uint8_t) walk_stack (0, task, input, &rest_size);
  return 0;
}

/* What a kernel stack went through: how many of its `n` frames are those of an interrupt that goes on, 0 = none; and whether there is
 * a page fault. */
typedef struct
{
  uint32_t n_interrupt;
  uint32_t has_fault;
} Passed;

static __always_inline bool
is_in_range (const WaitsRange *range, uint64_t address)
{
  return address - range->start < range->end - range->start;
}

static __always_inline bool
is_in_any (const WaitsRange *ranges, uint32_t n, uint64_t address)
{
  for (uint32_t i = 0; i < n; i++)
    if (is_in_range (&ranges[i], address))
      return true;
  return false;
}

typedef struct
{
  const WaitsControl *control;
  const KernelStack *kernel;
  Passed *passed;
} LookAt;

/* What is done on the way back to the program is the thread's own, whatever the kernel was entered by. */
static long
look_at_address (uint32_t i, LookAt *look)
{
  const WaitsControl *control = look->control;
  Passed *passed = look->passed;
  uint64_t address;

  if (i >= WAITS_MOST_KERNEL)
    return 1;
  address = look->kernel->address[i];
  if (is_in_any (control->interrupts, WAITS_N_INTERRUPTS, address))
    passed->n_interrupt = i + 1;
  else if (passed->n_interrupt != 0 || is_in_any (control->exits, WAITS_N_EXITS, address))
    return 1;
  else if (is_in_range (&control->faults, address))
    passed->has_fault = 1;
  return 0;
}

__noinline int
waits_look_at (const WaitsControl *control,
               const KernelStack *kernel,
               uint32_t n,
               Passed *passed)
{
  LookAt look = { control, kernel, passed };

  if (control == 0 || kernel == 0 || passed == 0)
    return 0;
  passed->n_interrupt = 0;
  passed->has_fault = 0;
  bpf_loop (n, look_at_address, &look, 0);
  return 0;
}

typedef struct
{
  const KernelStack *kernel;
  uint64_t hash;
} HashOf;

static long
hash_address (uint32_t i, HashOf *of)
{
  if (i >= WAITS_MOST_KERNEL)
    return 1;
  FOLD (of->hash, of->kernel->address[i]);
  return 0;
}

/* Of both parts; never 0. */
__noinline uint64_t
waits_hash (WalkInput *input, const KernelStack *kernel, uint32_t n)
{
  HashOf of = { kernel, 0 };

  if (input == 0 || kernel == 0)
    return 1;
  of.hash = input->hash + input->record.reason;
  bpf_loop (n, hash_address, &of, 0);
  return of.hash != 0 ? of.hash : 1;
}

/* Tells the recorder, unless it knows already. FALSE: there was no room. */
static __always_inline bool
tell_stack (WaitsRing *ring,
            WalkInput *input,
            KernelStack *kernel,
            uint32_t n_kernel,
            uint64_t hash)
{
  uint32_t zero = 0, size;
  Told *told = bpf_map_lookup_elem (&waits_told, &zero);
  uint32_t slot = mix (hash, TOLD_BITS);
  uint32_t n_user = input->record.n;
  WaitsStack *stack;

  if (told == 0)
    return false;
  if (told->hash[slot & ((1u << TOLD_BITS) - 1)] == hash)
    return true;

  WALK_KEEP (n_user);
  WALK_KEEP (n_kernel);
  if (n_user > WAITS_MOST_USER || n_kernel > WAITS_MOST_KERNEL)
    return false;
  size = sizeof *stack + 8 * (n_user + n_kernel);
  stack = reserve (ring, size);
  if (stack == 0)
    return false;
  stack->head.kind = WAITS_STACK;
  stack->head.size = (uint16_t) size;
  stack->head.tid = 0;
  stack->hash = hash;
  stack->reason = input->record.reason;
  stack->used = input->record.used;
  stack->n_kernel = (uint16_t) n_kernel;
  stack->n_user = (uint16_t) n_user;
  bpf_probe_read_kernel (stack->address, 8 * n_kernel, kernel->address);
  bpf_probe_read_kernel (stack->address + n_kernel, 8 * n_user, input->record.address);
  commit (ring, size);
  told->hash[slot & ((1u << TOLD_BITS) - 1)] = hash;
  return true;
}

/* --- stacks that were found before --- */

/* Takes down where the current thread stands. Its registers become the input's. FALSE: nothing is kept of such a thread. */
__noinline int
waits_stand (Memos *memos, WalkInput *input, uint32_t site)
{
  struct task_struct *task = bpf_get_current_task_btf ();
  struct mm_struct *memory = task->mm;
  uint64_t stack = (uint64_t) task->stack, position, key;
  Memo *now;
  uint32_t size;

  if (memos == 0 || input == 0)
    return 0;
  now = &memos->now;
  position = memos->position;
  now->site = site;
  now->tid = (uint32_t) task->pid;
  now->ip = 0;
  now->sp = 0;
  now->fp = 0;
  now->call = 0;
  now->memory = (uint64_t) memory;
  now->exec_id = (uint32_t) task->self_exec_id;
  now->version = walk_index.version;
  now->n_changes = 0;
  input->registers[IP] = 0;
  input->registers[CALL_NUMBER] = ~UINT64_C (0);
  input->base = 0;
  if ((task->flags & PF_KTHREAD) == 0 && memory != 0)
    {
      if (bpf_probe_read_kernel (input->registers, sizeof input->registers,
                                 (const void *) bpf_task_pt_regs (task)) != 0)
        return 0;
      input->base = input->registers[SP];
      now->ip = input->registers[IP];
      now->sp = input->registers[SP];
      now->fp = input->registers[FRAME_POINTER];
      now->call = (uint32_t) input->registers[CALL_NUMBER];
      if (!count_changes (memory, &now->n_changes) || is_compat (input->registers))
        return 0;
    }
  if (position - stack >= STACK_SIZE)
    return 0;
  size = STACK_SIZE - (uint32_t) (position - stack);
  if (size > KERNEL_WORDS * 8)
    size = KERNEL_WORDS * 8;
  now->kernel_size = size;
  key = MIX (now->ip, now->sp);
  key = MIX (key ^ key >> 32, now->tid << 8 ^ now->call << 1 ^ site);
  memos->set = mix (key, MEMO_BITS) * MEMO_WAYS;
  WALK_KEEP (size);
  return size <= sizeof memos->word &&
         bpf_probe_read_kernel (memos->word, size, (const void *) position) == 0;
}

static __always_inline bool
is_same_place (const Memo *memo, const Memo *now)
{
  return memo->stack != 0 && memo->site == now->site && memo->tid == now->tid &&
         memo->ip == now->ip && memo->sp == now->sp && memo->fp == now->fp &&
         memo->call == now->call && memo->memory == now->memory &&
         memo->exec_id == now->exec_id && memo->n_changes == now->n_changes &&
         memo->version == now->version;
}

static __always_inline Memo *
memo_at (Memos *memos, uint32_t way)
{
  uint32_t i = memos->set + way;

  WALK_KEEP (i);
  return &memos->memo[i & ((MEMO_WAYS << MEMO_BITS) - 1)];
}

/* Whether all words are what they were. */
static __always_inline bool
are_same (uint32_t n,
          uint32_t most,
          const uint16_t *places,
          const uint64_t *words,
          const uint64_t *found,
          uint32_t n_found)
{
  for (uint32_t i = 0; i < most && i < n; i++)
    {
      uint32_t place = places[i];

      WALK_KEEP (place);
      if (place >= n_found || found[place] != words[i])
        return false;
    }
  return true;
}

static __always_inline bool
read_user_words (Memos *memos, const Memo *memo)
{
  uint32_t size = memo->user_size;

  if (memo->n_user == 0)
    return true;
  WALK_KEEP (size);
  return size <= sizeof memos->user_word &&
         bpf_probe_read_user (memos->user_word, size, (const void *) memo->sp) == 0;
}

/* Of its own, so that the verifier follows its turns once, and not for each way again. */
__noinline int
waits_is_that (Memos *memos, uint32_t way)
{
  const Memo *memo;

  if (memos == 0)
    return 0;
  memo = memo_at (memos, way);
  return is_same_place (memo, &memos->now) && memo->kernel_size <= memos->now.kernel_size &&
         are_same (memo->n_kernel, MOST_KERNEL_SLOTS, memo->kernel, memo->kernel_word,
                   memos->word, KERNEL_WORDS) &&
         read_user_words (memos, memo) &&
         are_same (memo->n_user, MOST_USER_SLOTS, memo->user, memo->user_word, memos->user_word,
                   USER_WORDS);
}

/* The stack that was found there before, if it is still that; else 0. */
__noinline uint64_t
waits_recall (Memos *memos, Passed *passed)
{
  if (memos == 0 || passed == 0)
    return 0;
  for (uint32_t way = 0; way < MEMO_WAYS; way++)
    {
      const Memo *memo = memo_at (memos, way);

      if (!waits_is_that (memos, way))
        continue;
      passed->n_interrupt = 0;
      passed->has_fault = memo->has_fault;
      return memo->stack;
    }
  return 0;
}

typedef struct
{
  Memos *memos;
  Memo *memo;
} Forget;

static long
keep_kernel_word (uint32_t i, Forget *forget)
{
  Memo *memo = forget->memo;
  uint32_t n = memo->n_kernel, place;

  WALK_KEEP (n);
  if (i >= MOST_KERNEL_SLOTS || n >= MOST_KERNEL_SLOTS)
    return 1;
  place = memo->kernel[i];
  WALK_KEEP (place);
  if (place >= KERNEL_WORDS)
    return 1;
  if (forget->memos->word[place] == memo->kernel_word[i])
    {
      memo->kernel[n] = (uint16_t) place;
      memo->kernel_word[n] = memo->kernel_word[i];
      memo->n_kernel = n + 1;
    }
  return 0;
}

static long
keep_user_word (uint32_t i, Forget *forget)
{
  Memo *memo = forget->memo;
  uint32_t n = memo->n_user, place;

  WALK_KEEP (n);
  if (i >= MOST_USER_SLOTS || n >= MOST_USER_SLOTS)
    return 1;
  place = memo->user[i];
  WALK_KEEP (place);
  if (place >= USER_WORDS)
    return 1;
  if (forget->memos->user_word[place] == memo->user_word[i])
    {
      memo->user[n] = (uint16_t) place;
      memo->user_word[n] = memo->user_word[i];
      memo->n_user = n + 1;
    }
  return 0;
}

/* The same stack was found though words have changed: it does not depend on these. */
__noinline int
waits_forget_words (Memos *memos, uint32_t way)
{
  Forget forget = { memos, 0 };
  uint32_t n;

  if (memos == 0)
    return 0;
  forget.memo = memo_at (memos, way);
  if (!read_user_words (memos, forget.memo))
    return 0;
  n = forget.memo->n_kernel;
  forget.memo->n_kernel = 0;
  bpf_loop (n, keep_kernel_word, &forget, 0);
  n = forget.memo->n_user;
  forget.memo->n_user = 0;
  bpf_loop (n, keep_user_word, &forget, 0);
  return 0;
}

typedef struct
{
  Memos *memos;
  Memo *memo;
  const KernelStack *kernel;
  WalkInput *input;
  uint64_t lowest;
  uint64_t highest;
  uint32_t furthest;
} Learn;

static long
widen_range (uint32_t i, Learn *learn)
{
  uint64_t address;

  if (i >= WAITS_MOST_KERNEL)
    return 1;
  address = learn->kernel->address[i];
  if (address < learn->lowest)
    learn->lowest = address;
  if (address > learn->highest)
    learn->highest = address;
  return 0;
}

/* Whatever could be a return address is kept, and so all that are. */
static long
learn_kernel_word (uint32_t i, Learn *learn)
{
  uint32_t n = learn->memo->n_kernel;
  uint64_t word;

  if (i >= KERNEL_WORDS)
    return 1;
  word = learn->memos->word[i];
  if (word < learn->lowest || word > learn->highest)
    return 0;
  WALK_KEEP (n);
  if (n >= MOST_KERNEL_SLOTS)
    {
      learn->memo->stack = 0;
      return 1;
    }
  learn->memo->kernel[n] = (uint16_t) i;
  learn->memo->kernel_word[n] = word;
  learn->memo->n_kernel = n + 1;
  learn->furthest = i;
  return 0;
}

static long
learn_user_word (uint32_t i, Learn *learn)
{
  Memo *memo = learn->memo;
  uint32_t place;

  if (i >= MOST_USER_SLOTS)
    return 1;
  place = learn->input->read[i];
  memo->user[i] = (uint16_t) place;
  memo->user_word[i] = learn->input->read_word[i];
  if (place > learn->furthest)
    learn->furthest = place;
  return 0;
}

/* Keeps what was found now. */
__noinline int
waits_learn (Memos *memos,
             WalkInput *input,
             const KernelStack *kernel,
             uint32_t n,
             uint64_t stack)
{
  Learn learn = { memos, 0, kernel, input, ~UINT64_C (0), 0, 0 };
  uint32_t size;
  Memo *memo;

  if (memos == 0 || input == 0 || kernel == 0)
    return 0;
  for (uint32_t way = 0; way < MEMO_WAYS; way++)
    {
      memo = memo_at (memos, way);
      if (is_same_place (memo, &memos->now) && memo->stack == stack &&
          memo->kernel_size <= memos->now.kernel_size)
        return waits_forget_words (memos, way);
    }
  if ((input->record.reason != WALK_END && input->record.reason != WALK_ROOT &&
       input->record.reason != WALK_KERNEL_THREAD) ||
      input->has_more || (input->record.n != 0) != (memos->now.ip != 0) || n == 0)
    return 0;
  bpf_loop (n, widen_range, &learn, 0);

  memo = memo_at (memos, memos->turn++ & (MEMO_WAYS - 1));
  memo->site = memos->now.site;
  memo->tid = memos->now.tid;
  memo->ip = memos->now.ip;
  memo->sp = memos->now.sp;
  memo->fp = memos->now.fp;
  memo->call = memos->now.call;
  memo->memory = memos->now.memory;
  memo->exec_id = memos->now.exec_id;
  memo->n_changes = memos->now.n_changes;
  memo->version = memos->now.version;
  memo->has_fault = memos->now.has_fault;
  memo->n_kernel = 0;
  memo->stack = stack;
  size = memos->now.kernel_size;
  learn.memo = memo;
  bpf_loop (size / 8, learn_kernel_word, &learn, 0);
  memo->kernel_size = 8 * (learn.furthest + 1);

  learn.furthest = 0;
  memo->n_user = input->n_read;
  bpf_loop (input->n_read, learn_user_word, &learn, 0);
  memo->user_size = 8 * (learn.furthest + 1);
  return 0;
}

/* The stacks of the current thread; 0 = none. Of a waker in an interrupt, that one's alone. A part of each program, as helpers want its
 * context, and so that what is left out is the same number of frames. */
static __always_inline uint64_t
take_stack (void *context,
            uint32_t cpu,
            WaitsRing *ring,
            const WaitsControl *control,
            WalkInput *input,
            uint32_t site,
            bool is_waker,
            bool is_idle,
            Passed *passed)
{
  uint32_t zero = 0, n;
  KernelStack *kernel = bpf_map_lookup_elem (&waits_kernel, &zero);
  Memos *memos = bpf_map_lookup_elem (&waits_memos, &cpu);
  bool is_kept = false;
  uint64_t hash;
  long size;

  if (kernel == 0 || memos == 0)
    return 0;
  if (!is_idle)
    {
      /* Through memory, from where it comes as a number. */
      *(void *volatile *) &memos->position = context;
      is_kept = waits_stand (memos, input, site) != 0;
    }
  if (is_kept)
    {
      hash = waits_recall (memos, passed);
      if (hash != 0)
        return hash;
    }

  size = bpf_get_stack (context, kernel->address, WAITS_MOST_KERNEL * 8, SKIPPED_FRAMES);
  /* Where others watch the same tracepoint, there is one frame more. */
  if (size > 0 && is_in_range (&control->tracing, kernel->address[0]))
    size = bpf_get_stack (context, kernel->address, WAITS_MOST_KERNEL * 8, SKIPPED_FRAMES + 1);
  n = size > 0 ? (uint32_t) size / 8 : 0;
  waits_look_at (control, kernel, n, passed);
  if (is_idle && passed->n_interrupt == 0)
    passed->n_interrupt = n;
  if (is_waker && passed->n_interrupt > 0)
    {
      n = passed->n_interrupt;
      input->record.n = 0;
      input->record.used = 0;
      input->record.reason = WALK_KERNEL_THREAD;
      input->hash = 0;
    }
  else
    waits_walk (input);
  hash = waits_hash (input, kernel, n);
  if (!tell_stack (ring, input, kernel, n, hash))
    return 0;
  if (is_kept && passed->n_interrupt == 0)
    {
      memos->now.has_fault = passed->has_fault;
      waits_learn (memos, input, kernel, n, hash);
    }
  return hash;
}

/* --- threads --- */

/* Tells who it is, if that is new. */
static __always_inline void
tell_thread (WaitsRing *ring, ThreadState *state, struct task_struct *task, uint64_t now)
{
  const void *name = task->comm;
  uint64_t comm[2];
  WaitsThread *thread;

  WALK_KEEP (name); /* two words, not sixteen letters */
  comm[0] = ((const uint64_t *) name)[0];
  comm[1] = ((const uint64_t *) name)[1];
  /* A thread that executes a program gets the first one's id. */
  if (state->tid == (uint32_t) task->pid && state->pid == (uint32_t) task->tgid &&
      state->comm[0] == comm[0] && state->comm[1] == comm[1])
    return;

  thread = reserve (ring, sizeof *thread);
  if (thread == 0)
    return; /* the next time */
  thread->head.kind = WAITS_THREAD;
  thread->head.size = sizeof *thread;
  thread->head.tid = (uint32_t) task->pid;
  thread->pid = (uint32_t) task->tgid;
  thread->padding = 0;
  thread->time = now;
  ((uint64_t *) thread->comm)[0] = comm[0];
  ((uint64_t *) thread->comm)[1] = comm[1];
  commit (ring, sizeof *thread);
  state->tid = (uint32_t) task->pid;
  state->pid = (uint32_t) task->tgid;
  state->comm[0] = comm[0];
  state->comm[1] = comm[1];
}

static __always_inline void
tell_ran (WaitsRing *ring, ThreadState *state, uint32_t tid, uint64_t now)
{
  WaitsRan *ran = reserve (ring, sizeof *ran);

  if (ran == 0)
    return;
  ran->head.kind = WAITS_RAN;
  ran->head.size = sizeof *ran;
  ran->head.tid = tid;
  ran->time = now;
  ran->ran = state->ran;
  commit (ring, sizeof *ran);
  state->ran = 0;
}

static __always_inline void
tell_wait (WaitsRing *ring, ThreadState *state, uint32_t tid, uint64_t now, uint8_t flags)
{
  bool is_woken = state->waking + WAKING_BEFORE >= state->left;
  WaitsWait *wait = reserve (ring, sizeof *wait);

  if (wait == 0)
    return;
  wait->head.kind = WAITS_WAIT;
  wait->head.size = sizeof *wait;
  wait->head.tid = tid;
  wait->begin = state->left;
  wait->end = now;
  wait->ran = state->ran;
  wait->stack = state->stack;
  wait->lock = state->lock;
  wait->holder = state->holder;
  wait->call = state->call;
  wait->cpu = state->cpu;
  wait->reason = state->reason;
  wait->flags = state->flags | flags;
  if (state->reason == WAIT_PREEMPTED)
    {
      wait->woken = state->left;
      is_woken = false;
    }
  else
    wait->woken = is_woken ? state->waking : 0;
  wait->waker = is_woken ? state->waker : 0;
  wait->waker_stack = is_woken ? state->waker_stack : 0;
  wait->flags |= is_woken ? state->waker_flags : 0;
  commit (ring, sizeof *wait);
  state->ran = 0;
}

/* --- why it waits --- */

/* Who has the lock that it waits for, as far as that can be told. Ids of threads are those of the first namespace. */
static __always_inline void
find_lock (ThreadState *state, struct task_struct *task, const uint64_t *registers)
{
  uint32_t command = (uint32_t) registers[SECOND] & FUTEX_COMMAND;
  uint32_t word = 0, owner = 0;

  if (command != FUTEX_WAIT && command != FUTEX_WAIT_BITSET && command != FUTEX_LOCK_PI &&
      command != FUTEX_LOCK_PI2 && command != FUTEX_WAIT_REQUEUE_PI)
    return;
  state->lock = registers[FIRST];
  state->flags |= WAIT_HAS_LOCK;
  if (bpf_probe_read_user (&word, sizeof word, (const void *) state->lock) != 0 ||
      task->thread_pid->level != 0)
    return;
  if (command == FUTEX_LOCK_PI || command == FUTEX_LOCK_PI2)
    state->holder = word & FUTEX_TID;
  else if (word == CONTENDED && (uint32_t) registers[THIRD] == CONTENDED &&
           bpf_probe_read_user (&owner, sizeof owner,
                                (const void *) (state->lock + OWNER_OFFSET)) == 0)
    state->holder = owner & FUTEX_TID;
}

static __always_inline uint8_t
reason_of_call (uint32_t call)
{
  switch (call)
    {
    case CALL_WAIT4:
    case CALL_WAITID:
      return WAIT_CHILD;
    case CALL_NANOSLEEP:
    case CALL_CLOCK_NANOSLEEP:
      return WAIT_SLEEP;
    case CALL_FUTEX:
    case CALL_FUTEX_WAITV:
    case CALL_FUTEX_WAIT:
      return WAIT_FUTEX;
    default:
      return WAIT_SYSCALL;
    }
}

/* Its registers were taken if it has any. */
static __always_inline void
find_reason (ThreadState *state,
             struct task_struct *task,
             const WaitsControl *control,
             WalkInput *input,
             const Passed *passed,
             bool is_able,
             bool is_current)
{
  uint64_t *registers = input->registers;
  bool is_exception = false;

  state->lock = 0;
  state->holder = 0;
  state->call = -1;
  state->reason = WAIT_OTHER;
  if (registers[IP] == 0)
    {
      if (BPF_CORE_READ_BITFIELD (task, in_iowait))
        state->reason = WAIT_IO;
    }
  else
    {
      int64_t number = (int32_t) registers[CALL_NUMBER];

      if (is_compat (registers))
        number = -1;
      else if (number < 0)
        is_exception = true;
      state->call = (int32_t) number;
      if (number >= 0)
        state->reason = reason_of_call ((uint32_t) number);
      if (state->reason >= WAIT_SYSCALL && BPF_CORE_READ_BITFIELD (task, in_iowait))
        state->reason = WAIT_IO;
      if (state->reason == WAIT_FUTEX && !is_able && number == CALL_FUTEX && is_current)
        find_lock (state, task, registers);
    }
  if (is_able)
    state->reason = WAIT_PREEMPTED;
  else if (passed->has_fault || (is_exception && control->faults.end == 0))
    state->reason = WAIT_PAGE_FAULT;
}

/* --- the programs --- */

/* It leaves and has not been seen to come: the kernel passed over that switch. It came soon after it was woken, where it was; when else is not
 * known, and that wait is not told. */
static __always_inline void
arrive_unseen (WaitsRing *ring, ThreadState *state, uint32_t tid)
{
  if (state->waking >= state->left && state->reason != WAIT_PREEMPTED)
    {
      tell_wait (ring, state, tid, state->waking, 0);
      state->arrived = state->waking;
    }
  else
    state->arrived = state->left; /* up to there it is counted */
}

static __always_inline void
leave (void *context,
       WaitsRing *ring,
       const WaitsControl *control,
       struct task_struct *task,
       uint64_t now,
       uint32_t cpu,
       bool is_preempted,
       uint32_t task_state)
{
  Passed passed = { 0, 0 };
  ThreadState *state;
  WalkInput *input;
  uint64_t since;

  state = bpf_task_storage_get (&waits_threads, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
  if (state == 0)
    {
      ring->n_unknown++;
      return;
    }
  if (!is_wanted (control, state, task) || !is_wanted_cpu (control, cpu))
    {
      state->left = 0;
      state->arrived = now; /* what was before is not told either */
      return;
    }
  if (state->left != 0)
    arrive_unseen (ring, state, (uint32_t) task->pid);
  state->left = 0;
  since = state->arrived > control->begin ? state->arrived : control->begin;
  if (now > since)
    state->ran += now - since;
  if ((task_state & TASK_DEAD) != 0)
    {
      tell_thread (ring, state, task, now);
      tell_ran (ring, state, (uint32_t) task->pid, now);
      return;
    }
  input = bpf_map_lookup_elem (&walk_scratch, &cpu);
  if (input == 0)
    return;
  tell_thread (ring, state, task, now);
  state->flags = 0;
  state->stack = take_stack (context, cpu, ring, control, input, 0, false, false, &passed);
  find_reason (state, task, control, input, &passed, is_preempted || task_state == 0, true);
  /* What takes its CPU away may come when it is about to wait. */
  if (!is_preempted && (task_state & TASK_UNINTERRUPTIBLE) != 0 &&
      (task_state & TASK_NOLOAD) == 0)
    state->flags |= WAIT_UNINTERRUPTIBLE;
  state->cpu = (uint16_t) cpu;
  state->left = now;
}

/* Nobody has seen it come or leave: it does what it did when the recording began. */
static __always_inline bool
is_as_at_begin (const WaitsControl *control, const ThreadState *state)
{
  return state->left == 0 && state->arrived <= control->begin;
}

/* It has waited since then. */
static __always_inline void
take_first (const WaitsControl *control, ThreadState *state, uint32_t cpu)
{
  bool has_first = state->has_first != 0;

  state->left = control->begin;
  state->reason = has_first ? state->first_reason : WAIT_OTHER;
  state->call = has_first ? state->first_call : -1;
  state->flags = WAIT_BEGAN_BEFORE | (has_first ? state->first_flags : 0);
  state->stack = has_first ? state->first_stack : 0;
  state->cpu = has_first ? state->first_cpu : (uint16_t) cpu;
  state->lock = 0;
  state->holder = 0;
}

static __always_inline void
arrive (WaitsRing *ring,
        const WaitsControl *control,
        struct task_struct *task,
        uint64_t now,
        uint32_t cpu)
{
  ThreadState *state;

  state = bpf_task_storage_get (&waits_threads, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
  if (state == 0)
    {
      ring->n_unknown++;
      return;
    }
  if (is_wanted (control, state, task))
    {
      if (is_as_at_begin (control, state) && (!control->has_cpus || state->has_first))
        take_first (control, state, cpu);
      if (state->left != 0)
        {
          tell_thread (ring, state, task, now);
          tell_wait (ring, state, (uint32_t) task->pid, now, 0);
        }
    }
  state->arrived = now;
  state->left = 0;
  state->waking = 0;
}

static __always_inline bool
is_enabled (const WaitsControl *control)
{
  return *(volatile const uint32_t *) &control->is_enabled != 0;
}

#define LOOK_UP(cpu, ring, control)                                          \
  uint32_t zero = 0;                                                         \
  uint32_t cpu = bpf_get_smp_processor_id ();                                \
  WaitsRing *ring = bpf_map_lookup_elem (&waits_rings, &cpu);                \
  const WaitsControl *control = bpf_map_lookup_elem (&waits_control, &zero); \
                                                                             \
  if (ring == 0 || control == 0)                                             \
  return 0

SEC ("tp_btf/sched_switch")
int
sysprof_switch (unsigned long long *args)
{
  LOOK_UP (cpu, ring, control);
  struct task_struct *previous = (struct task_struct *) args[1];
  struct task_struct *next = (struct task_struct *) args[2];
  uint64_t now = bpf_ktime_get_ns ();

  if (!is_enabled (control))
    return 0;
  if (ring->current != 0 && ring->current != 1 + (uint64_t) previous->pid)
    ring->n_unseen++;
  ring->current = 1 + (uint64_t) next->pid;
  if (previous->pid != 0)
    leave (args, ring, control, previous, now, cpu, args[0] != 0, (uint32_t) args[3]);
  if (next->pid != 0)
    arrive (ring, control, next, now, cpu);
  return 0;
}

SEC ("tp_btf/sched_waking")
int
sysprof_waking (unsigned long long *args)
{
  LOOK_UP (cpu, ring, control);
  struct task_struct *task = (struct task_struct *) args[0];
  struct task_struct *waker = bpf_get_current_task_btf ();
  ThreadState *state, *own;
  Passed passed = { 0, 0 };
  WalkInput *input;
  uint64_t now;
  bool is_interrupt;

  /* With itself interrupts are on. */
  if (task->pid == waker->pid || !is_enabled (control))
    return 0;
  /* Also one that still runs: it was about to wait, and this may be what ends that. */
  state = bpf_task_storage_get (&waits_threads, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
  if (state == 0)
    {
      ring->n_unknown++;
      return 0;
    }
  if (!is_wanted (control, state, task))
    return 0;

  input = bpf_map_lookup_elem (&walk_scratch, &cpu);
  if (input == 0)
    return 0;
  state->waker_stack =
      take_stack (args, cpu, ring, control, input, 1, true, waker->pid == 0, &passed);
  is_interrupt = passed.n_interrupt > 0;
  state->waker_flags = is_interrupt ? WAIT_BY_INTERRUPT : 0;
  state->waker = is_interrupt ? 0 : (uint32_t) waker->pid;
  now = bpf_ktime_get_ns ();
  state->waking = now;
  if (!is_interrupt)
    {
      own = bpf_task_storage_get (&waits_threads, waker, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
      if (own != 0)
        tell_thread (ring, own, waker, now);
    }
  return 0;
}

/* Who it is started by: of them, it may be wanted. */
static __always_inline void
inherit (const WaitsControl *control,
         ThreadState *own,
         struct task_struct *parent,
         ThreadState *state,
         struct task_struct *task)
{
  bool is_own_thread = task->tgid == parent->tgid;

  (void) is_wanted (control, own, parent);
  state->inherited = own->inherited == WANTED && (control->follows_forks ||
                                                  (is_own_thread && control->follows_threads))
                         ? WANTED
                         : UNWANTED;
}

SEC ("tp_btf/sched_wakeup_new")
int
sysprof_wakeup_new (unsigned long long *args)
{
  LOOK_UP (cpu, ring, control);
  struct task_struct *task = (struct task_struct *) args[0];
  struct task_struct *parent = bpf_get_current_task_btf ();
  uint64_t now = bpf_ktime_get_ns ();
  ThreadState *state, *own;
  Passed passed = { 0, 0 };
  WalkInput *input;

  if (!is_enabled (control) && (!control->is_chosen || control->n_ids == 0))
    return 0;
  own = bpf_task_storage_get (&waits_threads, parent, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
  state = bpf_task_storage_get (&waits_threads, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
  if (state == 0 || own == 0)
    {
      ring->n_unknown++;
      return 0;
    }
  if (control->n_ids != 0)
    inherit (control, own, parent, state, task);
  if (!is_enabled (control))
    return 0;
  state->arrived = now;
  if (!is_wanted (control, state, task) || !is_wanted_cpu (control, cpu))
    return 0;
  input = bpf_map_lookup_elem (&walk_scratch, &cpu);
  if (input == 0)
    return 0;

  tell_thread (ring, own, parent, now);
  state->waker_stack = take_stack (args, cpu, ring, control, input, 2, true, false, &passed);
  state->waker_flags = 0;
  state->waker = (uint32_t) parent->pid;
  state->waking = now;
  state->left = now;
  state->cpu = (uint16_t) cpu;
  state->stack = 0;
  state->flags = 0;
  state->lock = 0;
  state->holder = 0;
  state->call = -1;
  state->reason = WAIT_OTHER;
  return 0;
}

/* A thread of those that there are, as the kernel goes through them. */
typedef struct
{
  struct bpf_iter_meta *meta;
  struct task_struct *task; /* 0 = that was the last */
} EachTask;

/* One byte of each: who reads them comes to look at the ring now and then. */
static __always_inline void
tick (EachTask *each)
{
  const char byte = 0;

  bpf_seq_write (each->meta->seq, &byte, sizeof byte);
}

/* One that waits already: what the kernel did for it, and where it called that. Its memory is not ours to read. */
static __always_inline uint64_t
take_stack_of (WaitsRing *ring,
               const WaitsControl *control,
               EachScratch *scratch,
               struct task_struct *task,
               Passed *passed)
{
  KernelStack *kernel = &scratch->kernel;
  WalkInput *input = &scratch->input;
  uint64_t hash;
  uint32_t n;
  long size;

  input->registers[IP] = 0;
  input->registers[CALL_NUMBER] = ~UINT64_C (0);
  input->record.n = 0;
  input->record.used = 0;
  input->record.reason = WALK_KERNEL_THREAD;
  input->hash = 0;
  if ((task->flags & PF_KTHREAD) == 0 && task->mm != 0 &&
      bpf_probe_read_kernel (input->registers, sizeof input->registers,
                             (const void *) bpf_task_pt_regs (task)) == 0 &&
      input->registers[IP] != 0)
    {
      input->record.address[0] = input->registers[IP];
      input->record.n = 1;
      input->record.reason = WALK_NOT_YET;
      FOLD (input->hash, input->registers[IP]);
    }
  size = bpf_get_task_stack (task, kernel->address, WAITS_MOST_KERNEL * 8, 0);
  n = size > 0 ? (uint32_t) size / 8 : 0;
  waits_look_at (control, kernel, n, passed);
  hash = waits_hash (input, kernel, n);
  return tell_stack (ring, input, kernel, n, hash) ? hash : 0;
}

#define LOOK_UP_EACH(ring, control, scratch)                           \
  uint32_t zero = 0, place = (uint32_t) waits_constants.each_ring;     \
  WaitsRing *ring = bpf_map_lookup_elem (&waits_rings, &place);        \
  WaitsControl *control = bpf_map_lookup_elem (&waits_control, &zero); \
  EachScratch *scratch = bpf_map_lookup_elem (&waits_each, &zero);     \
                                                                       \
  if (ring == 0 || control == 0 || scratch == 0)                       \
  return 0

/* The others run already, so that nothing is missed, and what they write is theirs: this only says what a thread does of which they have
 * not seen anything by the time that it comes. */
SEC ("iter/task")
int
sysprof_begin (EachTask *each)
{
  LOOK_UP_EACH (ring, control, scratch);
  struct task_struct *task = each->task;
  ThreadState *first = &scratch->first;
  Passed passed = { 0, 0 };
  ThreadState *state;
  uint32_t task_state, cpu;

  if (!has_groups ())
    control->lacks_groups = 1;
  tick (each);
  if (task == 0 || task->pid == 0)
    return 0;
  state = bpf_task_storage_get (&waits_threads, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
  /* The first time there was only to be room: where an interrupt finds this program making some, it gets none. */
  if (state == 0 || control->begin == 0 || !is_wanted (control, state, task))
    return 0;
  tell_thread (ring, state, task, control->begin);
  cpu = task->thread_info.cpu;
  if (task->on_cpu != 0 || !is_as_at_begin (control, state) || !is_wanted_cpu (control, cpu))
    return 0;

  task_state = task->__state;
  first->flags = 0;
  state->first_stack = take_stack_of (ring, control, scratch, task, &passed);
  find_reason (first, task, control, &scratch->input, &passed, task_state == 0, false);
  if ((task_state & TASK_UNINTERRUPTIBLE) != 0 && (task_state & TASK_NOLOAD) == 0)
    first->flags |= WAIT_UNINTERRUPTIBLE;
  state->first_reason = first->reason;
  state->first_flags = first->flags;
  state->first_call = first->call;
  state->first_cpu = (uint16_t) cpu;
  /* It may have come meanwhile, and what was found be of its next wait: its `arrived` says so where this is asked for. */
  (void) __sync_fetch_and_add (&state->group, 0);
  if (task->on_cpu == 0 && is_as_at_begin (control, state))
    *(volatile uint8_t *) &state->has_first = 1;
  return 0;
}

/* All others are off. */
SEC ("iter/task")
int
sysprof_end (EachTask *each)
{
  LOOK_UP_EACH (ring, control, scratch);
  struct task_struct *task = each->task;
  ThreadState *state;
  uint64_t since;
  uint32_t cpu;

  tick (each);
  if (task == 0 || task->pid == 0 || control->is_enabled)
    return 0;
  state = bpf_task_storage_get (&waits_threads, task, 0, 0);
  if (state == 0 || !is_wanted (control, state, task))
    return 0;
  tell_thread (ring, state, task, control->end);
  cpu = task->thread_info.cpu;
  if (is_as_at_begin (control, state) && task->on_cpu == 0 &&
      (!control->has_cpus || state->has_first))
    take_first (control, state, cpu);
  if (state->left != 0)
    {
      tell_wait (ring, state, (uint32_t) task->pid, control->end, WAIT_NOT_ENDED);
      return 0;
    }
  since = state->arrived > control->begin ? state->arrived : control->begin;
  if (control->end > since && is_wanted_cpu (control, cpu))
    state->ran += control->end - since;
  if (state->ran > 0)
    tell_ran (ring, state, (uint32_t) task->pid, control->end);
  return 0;
}

const char waits_license[] SEC ("license") = "GPL";
