// SPDX-License-Identifier: GPL-3.0-or-later

/* What the steps of loading share. *Owned* by the loading thread until the store is frozen.
 *
 * The steps in order: input/file-bytes.c reads or maps the file; input/file-window.c reads
 * parts of it for callers that do not want to map them. input/scan.c finds the frames with
 * scan-parts.c, sorts them with frame- order.c, and fills their columns. processes.c finds the
 * processes. stacks/address-space.c maintains the mappings of each process while fold-stacks.c
 * goes through the samples in order of time. The other files fill one table each. */

#pragma once

#include "store/file-bytes.h"
#include "store/file-window.h"
#include "store/frame.h"
#include "store/store.h"

/* Equal for equal stacks and for no others; {0, 0} for the empty one. */
typedef struct
{
  uint64_t low;
  uint64_t high;
} StackDigest;

/* Where things lie in a kind of frame that has a stack. */
typedef struct
{
  size_t tid_at;
  size_t count_at;
  size_t addresses_at;
  bool has_leaf; /* the first address is where the CPU was, not where a call returns to */
} StackLayout;

extern const StackLayout sysprof_sample_layout;
extern const StackLayout sysprof_allocation_layout;
extern const StackLayout sysprof_trace_layout;

/* Until they are folded: what the stacks of waits are. */
typedef struct
{
  uint64_t *words;      /* [begin[n]] in the format of a frame of this capture */
  size_t *begin;        /* [n + 1] */
  StackDigest *digests; /* [n] */
  uint32_t n;
  uint32_t *of_wait;  /* [waits.events.n] 1 + where the thread was; 0 = unknown */
  uint32_t *of_waker; /* [waits.events.n] 1 + where its waker was */
  size_t size;        /* bytes that all that was read from */
} WaitStacks;

typedef struct
{
  Store *store;
  const FileBytes *file; /* what is behind Store.bytes */
  Progress *progress;

  /* scan.c */
  uint64_t key;                    /* random, of the digests */
  StackDigest *sample_digests;     /* [samples.n] */
  StackDigest *allocation_digests; /* [allocations.n] */
  StackDigest *trace_digests;      /* [traces.n] */

  WaitStacks wait_stacks; /* waits.c */

  /* processes.c */
  GHashTable *process_of_pid; /* pid → ProcessId */
  GHashTable *process_of_tid; /* thread ids that are no pids → ProcessId */
  ProcessId *fork_parent; /* [frames_of_type[SYSPROF_CAPTURE_FRAME_FORK].n] 0 = only a thread */
  ProcessId *fork_child;  /* [frames_of_type[SYSPROF_CAPTURE_FRAME_FORK].n] 0 = only a thread */
  bool *comm_is_derived;  /* [processes.n] from the command line: no frame brought it */
  bool *has_process_frame; /* [processes.n] */
  GString *damage;         /* sentences for Store.damage */
  GString *mixed;          /* sentences for Store.mixed */
} Builder;

/* For loops over frames, on the loading thread only: whether to continue at the `i`th of
 * `n`. */
static inline bool
sysprof_builder_goes_on (const Builder *self, uint64_t i, uint64_t n)
{
  return i % 0x1000 != 0 || sysprof_progress_at (self->progress, i, n);
}

static inline Frame
sysprof_store_frame (const Store *store, FrameNo number)
{
  Frame frame = { .bytes = store->bytes + store->frames.offset[number],
                  .is_swapped = store->is_swapped };

  frame.size = (uint32_t) MIN (sysprof_frame_u16 (&frame, 0),
                               store->size - store->frames.offset[number]);
  return frame;
}

/* The same for who reads frames here and there; valid until the next call. */
static inline Frame
sysprof_store_frame_in (const Store *store, FileWindow *window, FrameNo number)
{
  size_t at = store->frames.offset[number];
  Frame frame = { .bytes = sysprof_file_window_at (window, at, FRAME_HEADER_SIZE),
                  .is_swapped = store->is_swapped };

  frame.size = (uint32_t) MIN (sysprof_frame_u16 (&frame, 0), store->size - at);
  frame.bytes = sysprof_file_window_at (window, at, frame.size);
  return frame;
}

static inline StringId
sysprof_store_intern (Store *store, Text text)
{
  return sysprof_intern_bytes (&store->strings, text.at, sysprof_text_size (text));
}

/* Finds all frames in Store.bytes, drops those that contradict themselves to FRAME_UNKNOWN,
 * sorts, and fills frames, frames_of_type, n_frames_by_type, begin and end, and everything of
 * samples and allocations but the stacks and the processes. */
void sysprof_builder_scan (Builder *self);

/* Columns for `n` events, which has none yet; returns room for as many digests. */
StackDigest *sysprof_stack_events_new (StackEvents *events, uint32_t n, bool has_weight);
StackDigest sysprof_stack_digest (uint64_t key, const uint8_t *addresses, uint32_t n);

/* Both halves of the product of 128 bits, one on the other. */
static inline uint64_t
sysprof_fold_product (uint64_t a, uint64_t b)
{
#ifdef __SIZEOF_INT128__
  __uint128_t product = (__uint128_t) a * b;

  return (uint64_t) product ^ (uint64_t) (product >> 64);
#else
  uint64_t low = (a & UINT32_MAX) * (b & UINT32_MAX);
  uint64_t middle = (a >> 32) * (b & UINT32_MAX) + (low >> 32); /* cannot overflow */
  uint64_t other = (a & UINT32_MAX) * (b >> 32) + (middle & UINT32_MAX);

  return (a * b) ^ ((a >> 32) * (b >> 32) + (middle >> 32) + (other >> 32));
#endif
}

/* Scatters well; keyed by what no file knows. */
static inline uint64_t
sysprof_mix (uint64_t a, uint64_t b)
{
  return sysprof_fold_product (a ^ 0x9e3779b97f4a7c15, b ^ 0xd1b54a32d192ed03);
}

static inline uint64_t
sysprof_random_key (void)
{
  return (uint64_t) g_random_int () << 32 | g_random_int ();
}

/* A store with what only its owner needs. */
typedef struct
{
  Store store; /* must be the first member: the rest of the program has a pointer to it */
  FileBytes bytes;
  char *path;
  char *damage; /* Store.damage, or "" */
  char *mixed;  /* Store.mixed, or "" */
  gatomicrefcount n_refs;
} OpenStore;

/* For a store that was not published; others are freed with sysprof_store_unref(). */
void sysprof_open_store_free (OpenStore *self);

void sysprof_builder_find_processes (Builder *self);
ProcessId sysprof_builder_process (const Builder *self, int32_t pid);

/* Whoever has read from a mapped file leaves its pages behind: they come back for who looks at
 * them again. */
void sysprof_store_leave_file (const Store *store);

/* A frame, for steps that go through those of a type in their order; `*left_until` is 0 before
 * the first. */
static inline Frame
sysprof_builder_next_frame (const Builder *self, FrameNo number, size_t *left_until)
{
  sysprof_file_bytes_leave_behind (self->file, self->store->frames.offset[number], left_until);
  return sysprof_store_frame (self->store, number);
}

/* mappings, addresses, stacks, those of samples and allocations, and what is known of processes
 * only then. */
void sysprof_builder_fold_stacks (Builder *self);

void sysprof_builder_read_marks (Builder *self);
void sysprof_builder_read_metadata (Builder *self);
void sysprof_builder_read_logs (Builder *self);
void sysprof_builder_read_dbus (Builder *self);
void sysprof_builder_read_heap (Builder *self);
/* Drops rows of Store.allocations that are frees. All their stacks go to Store.heap. */
void sysprof_builder_drop_frees (Builder *self);
void sysprof_builder_read_counters (Builder *self);
void sysprof_builder_count_lost (Builder *self);
void sysprof_builder_read_embedded_files (Builder *self);
/* NULL if there is none. */
const EmbeddedFile *sysprof_builder_find_file (const Builder *self, const char *name);
/* A sentence for Store.mixed. */
void sysprof_builder_note_mixed (Builder *self, const char *format, ...) G_GNUC_PRINTF (2, 3);
/* All but their stacks and processes. */
void sysprof_builder_read_waits (Builder *self);
void sysprof_builder_read_thread_names (Builder *self);
void sysprof_wait_stacks_clear (WaitStacks *self);
void sysprof_builder_read_sample_notes (Builder *self);
void sysprof_builder_read_weights (Builder *self);
void sysprof_builder_read_sampled_events (Builder *self);
void sysprof_builder_read_jit_names (Builder *self);
void sysprof_builder_read_jit_code (Builder *self);
