// SPDX-License-Identifier: GPL-3.0-or-later

/* Goes through the frames in order of time and folds the stacks of samples, allocations and traces into the one tree.
 *
 * On all CPUs: a process belongs to one thread, which folds its stacks (stacks.c). Each thread goes through all frames,
 * for who has what mapped depends on other processes too; that is little work, and no thread waits for another. Then
 * the trees are put one behind the other. Only addresses that are the same in all processes meet in two of them. */

#include "store/stacks/stacks.h"

#define GRAIN        0x4000 /* stacks: below it a thread costs more than it saves */
#define MOST_THREADS 16     /* each goes through all frames */
#define CANCEL_EVERY 0x40   /* frames: half a million addresses where stacks are deepest */
#define LOOK_AHEAD   8      /* samples */

/* A stack of waits is stored once and may be used by many processes. The budget bounds a
 * hostile stream that uses one long stack for ever new processes. */
#define WAIT_WORDS_PER_BYTE 16
#define WAIT_WORDS_AT_LEAST (4u << 20)

/* A waker's stack is of the time at which it woke. */
typedef struct
{
  int64_t time;
  uint32_t wait;
} Wake;

typedef struct
{
  Builder *builder;
  uint8_t *owner;   /* [processes.n] the thread that folds the process's stacks */
  uint32_t *n_left; /* [processes.n] stacks that are yet to be folded */
  StackFold *folds; /* [n] */
  size_t n;
  bool is_together; /* the first of `folds` has what all had */
  Wake *wakes;      /* [n_wakes] by time */
  uint32_t n_wakes;
} SharedFold;

/* --- in each thread --- */

/* Counts one more stack of that process. Most stacks end while others continue, as those of
 * a compiler do, and leave nothing to cache. */
static void
count_off (const SharedFold *self, uint8_t thread, ProcessId process)
{
  if (--self->n_left[process] == 0)
    sysprof_stack_fold_forget (&self->folds[thread], process);
}

typedef struct
{
  uint32_t wait;
  uint32_t lock;
  uint32_t wake;
  uint64_t n_words; /* that may yet be taken apart */
} WaitSite;

/* `number` is not 0. If there is no room, the stack has no addresses. */
static StackId
fold_wait_stack (const SharedFold *self,
                 uint8_t thread,
                 uint32_t number,
                 ProcessId process,
                 WaitSite *place)
{
  const WaitStacks *stacks = &self->builder->wait_stacks;
  size_t begin = stacks->begin[number - 1];
  uint32_t n = (uint32_t) (stacks->begin[number] - begin);
  const StackDigest *digest = &stacks->digests[number - 1];

  if (!sysprof_stack_fold_knows (&self->folds[thread], digest, process))
    {
      if (place->n_words < n)
        return process;
      place->n_words -= n;
    }
  return sysprof_stack_fold_add_words (
      &self->folds[thread], (const uint8_t *) (stacks->words + begin), n, digest, process);
}

static void
fold_wait (const SharedFold *self, uint8_t thread, WaitSite *place)
{
  uint32_t wait = place->wait++;
  Waits *waits = &self->builder->store->waits;
  StackEvents *events = &waits->events;
  uint32_t number = self->builder->wait_stacks.of_wait[wait];
  ProcessId process = events->process[wait];
  WaitLock *lock =
      (waits->row[wait].flags & OFF_CPU_HAS_LOCK) != 0 ? &waits->locks[place->lock++] : NULL;

  if (self->owner[process] != thread)
    return;

  sysprof_mappings_go_to (&self->folds[thread].mappings, process, events->time[wait]);
  events->stack[wait] =
      number != 0 ? fold_wait_stack (self, thread, number, process, place) : process;
  if (lock != NULL)
    lock->data = sysprof_addresses_intern (&self->folds[thread].addresses, process,
                                           ADDRESS_DATA, lock->address, false);
  count_off (self, thread, process);
}

static void
fold_wake (const SharedFold *self, uint8_t thread, WaitSite *place)
{
  const Wake *wake = &self->wakes[place->wake++];
  uint32_t wait = wake->wait;
  Waits *waits = &self->builder->store->waits;
  ProcessId process = waits->threads[waits->row[wait].waker - 1].process;

  if (self->owner[process] != thread)
    return;

  sysprof_mappings_go_to (&self->folds[thread].mappings, process, wake->time);
  waits->row[wait].waker_stack =
      fold_wait_stack (self, thread, self->builder->wait_stacks.of_waker[wait], process, place);
  count_off (self, thread, process);
}

/* What was before that time; all if it is INT64_MAX. FALSE if cancelled. */
static bool
fold_waits_until (const SharedFold *self, uint8_t thread, int64_t time, WaitSite *place)
{
  const StackEvents *events = &self->builder->store->waits.events;

  for (;;)
    {
      bool has_wait =
          place->wait < events->n && (events->time[place->wait] < time || time == INT64_MAX);
      bool has_wake = place->wake < self->n_wakes &&
                      (self->wakes[place->wake].time < time || time == INT64_MAX);

      if (!has_wait && !has_wake)
        return true;
      if (((place->wait + place->wake) % CANCEL_EVERY) == 0 &&
          sysprof_progress_is_cancelled (self->builder->progress))
        return false;
      if (has_wait && (!has_wake || events->time[place->wait] <= self->wakes[place->wake].time))
        fold_wait (self, thread, place);
      else
        fold_wake (self, thread, place);
    }
}

static void
fold_sample (const SharedFold *self, uint8_t thread, FrameNo number, uint32_t sample)
{
  StackEvents *samples = &self->builder->store->samples;
  ProcessId process = samples->process[sample];
  uint32_t ahead = sample + LOOK_AHEAD;

  if (ahead < samples->n && self->owner[samples->process[ahead]] == thread)
    sysprof_stack_fold_expect (
        &self->folds[thread],
        self->builder->store->frames_of_type[SYSPROF_CAPTURE_FRAME_SAMPLE].frame[ahead],
        &self->builder->sample_digests[ahead], samples->process[ahead]);

  if (self->owner[process] != thread)
    return;

  sysprof_mappings_go_to (&self->folds[thread].mappings, process, samples->time[sample]);
  samples->stack[sample] =
      sysprof_stack_fold_add (&self->folds[thread], number, &sysprof_sample_layout,
                              &self->builder->sample_digests[sample], process);
  count_off (self, thread, process);
}

static void
fold_allocation (const SharedFold *self, uint8_t thread, FrameNo number, uint32_t allocation)
{
  StackEvents *events = &self->builder->store->allocations;
  /* Where the same stack was sampled, its first address is another one: no return address. */
  StackDigest digest = self->builder->allocation_digests[allocation];
  ProcessId process = events->process[allocation];
  Frame frame;

  if (self->owner[process] != thread)
    return;

  frame = sysprof_store_frame (self->builder->store, number);
  events->weight[allocation] = MAX (sysprof_frame_i64 (&frame, 32), 0);
  digest.high = ~digest.high;
  sysprof_mappings_go_to (&self->folds[thread].mappings, process, events->time[allocation]);
  events->stack[allocation] = sysprof_stack_fold_add (
      &self->folds[thread], number, &sysprof_allocation_layout, &digest, process);
  count_off (self, thread, process);
}

static void
fold_trace (const SharedFold *self, uint8_t thread, FrameNo number, uint32_t trace)
{
  StackEvents *events = &self->builder->store->traces;
  StackDigest digest = self->builder->trace_digests[trace];
  ProcessId process = events->process[trace];

  if (self->owner[process] != thread)
    return;

  digest.high = ~digest.high; /* as of allocations */
  sysprof_mappings_go_to (&self->folds[thread].mappings, process, events->time[trace]);
  events->stack[trace] = sysprof_stack_fold_add (&self->folds[thread], number,
                                                 &sysprof_trace_layout, &digest, process);
  count_off (self, thread, process);
}

static void
walk_frames (const SharedFold *self, uint8_t thread)
{
  const Builder *builder = self->builder;
  const Store *store = builder->store;
  Mappings *mappings = &self->folds[thread].mappings;
  uint32_t n_forks = 0, n_samples = 0, n_allocations = 0, n_traces = 0;
  size_t left_until = 0;
  WaitSite place = { .n_words = (WAIT_WORDS_AT_LEAST +
                                 (uint64_t) builder->wait_stacks.size * WAIT_WORDS_PER_BYTE) /
                                self->n };

  for (FrameNo i = 0; i < store->frames.n; i++)
    {
      /* Only the loading thread, which is the first, tells how far it is. */
      if (i % CANCEL_EVERY == 0 &&
          (thread == 0 ? !sysprof_progress_at (builder->progress, i, store->frames.n)
                       : sysprof_progress_is_cancelled (builder->progress)))
        return;
      if (!fold_waits_until (self, thread, store->frames.time[i], &place))
        return;
      switch (store->frames.type[i])
        {
        case SYSPROF_CAPTURE_FRAME_SAMPLE:
          fold_sample (self, thread, i, n_samples++);
          /* By samples only: a description may lie anywhere. */
          sysprof_file_bytes_leave_behind (builder->file, store->frames.offset[i], &left_until);
          break;
        case SYSPROF_CAPTURE_FRAME_ALLOCATION:
          fold_allocation (self, thread, i, n_allocations++);
          break;
        case SYSPROF_CAPTURE_FRAME_TRACE:
          fold_trace (self, thread, i, n_traces++);
          break;
        case SYSPROF_CAPTURE_FRAME_MAP:
          sysprof_mappings_advance (mappings);
          break;
        case SYSPROF_CAPTURE_FRAME_FORK:
          if (builder->fork_child[n_forks] != 0)
            {
              /* Its samples may be another thread's. */
              sysprof_mappings_go_to (mappings, builder->fork_parent[n_forks],
                                      store->frames.time[i]);
              sysprof_mappings_fork (mappings, builder->fork_parent[n_forks],
                                     builder->fork_child[n_forks]);
            }
          n_forks++;
          break;
        case SYSPROF_CAPTURE_FRAME_EXIT:
          sysprof_mappings_exit (mappings,
                                 sysprof_builder_process (builder, store->frames.pid[i]));
          break;
        default:
          break;
        }
    }
  (void) fold_waits_until (self, thread, INT64_MAX, &place); /* the caller sees it */
}

static void
fold_in_thread (size_t begin, size_t end, unsigned worker, void *data)
{
  const SharedFold *self = data;

  for (size_t i = begin; i < end; i++)
    {
      walk_frames (self, (uint8_t) i);
      sysprof_stack_fold_finish (&self->folds[i]);
    }
}

/* --- sharing out --- */

typedef struct
{
  ProcessId process;
  uint32_t n_stacks;
} Load;

static int
compare_loads (const void *a, const void *b)
{
  const Load *left = a, *right = b;

  if (left->n_stacks != right->n_stacks)
    return left->n_stacks > right->n_stacks ? -1 : 1;
  return left->process < right->process ? -1 : left->process > right->process;
}

static void
count_stacks_of (const StackEvents *events, uint32_t *n_stacks)
{
  for (uint32_t i = 0; i < events->n; i++)
    n_stacks[events->process[i]]++;
}

static void
count_stacks (SharedFold *self)
{
  const Store *store = self->builder->store;
  const Waits *waits = &store->waits;

  self->n_left = g_new0 (uint32_t, store->processes.n);
  count_stacks_of (&store->samples, self->n_left);
  count_stacks_of (&store->allocations, self->n_left);
  count_stacks_of (&store->traces, self->n_left);
  count_stacks_of (&waits->events, self->n_left);
  for (uint32_t i = 0; i < self->n_wakes; i++)
    self->n_left[waits->threads[waits->row[self->wakes[i].wait].waker - 1].process]++;
}

/* From the busiest process on, each to the thread that has least to do. */
static void
share_out_processes (SharedFold *self)
{
  const Store *store = self->builder->store;
  g_autofree Load *loads = g_new0 (Load, store->processes.n);
  uint64_t load_of_thread[MOST_THREADS] = { 0 };

  self->owner = g_new0 (uint8_t, store->processes.n);
  if (self->n == 1)
    return;

  for (ProcessId id = 0; id < store->processes.n; id++)
    loads[id] = (Load){ id, self->n_left[id] };
  qsort (loads, store->processes.n, sizeof *loads, compare_loads);
  for (uint32_t i = 0; i < store->processes.n; i++)
    {
      uint8_t least = 0;

      for (uint8_t thread = 1; thread < self->n; thread++)
        if (load_of_thread[thread] < load_of_thread[least])
          least = thread;
      self->owner[loads[i].process] = least;
      load_of_thread[least] += loads[i].n_stacks;
    }
}

/* --- putting together --- */

/* Roots, which all trees have, are those of the first; the other nodes of each tree go behind those of the tree before it. No two
 * columns are there twice at a time. `address` [n][stacks.n] tells which each is now; NULL for the first. */
static StackTree
join_nodes (const SharedFold *self, AddressId *const *address, const uint32_t *shift)
{
  uint32_t n_roots = self->builder->store->processes.n;
  const StackFold *last = &self->folds[self->n - 1];
  StackTree tree = { .n = shift[self->n - 1] + last->own.stacks.n };

  tree.parent = sysprof_large_new (tree.n, sizeof *tree.parent);
  for (size_t i = 0; i < self->n; i++)
    {
      StackTree *from = &self->folds[i].own.stacks;

      for (uint32_t j = i == 0 ? 0 : n_roots; j < from->n; j++)
        tree.parent[shift[i] + j] =
            from->parent[j] < n_roots ? from->parent[j] : from->parent[j] + shift[i];
      sysprof_growing_free (from->parent, self->folds[i].node_capacity, sizeof *from->parent);
      from->parent = NULL;
    }

  tree.address = sysprof_large_new (tree.n, sizeof *tree.address);
  for (size_t i = 0; i < self->n; i++)
    {
      StackTree *from = &self->folds[i].own.stacks;

      for (uint32_t j = i == 0 ? 0 : n_roots; j < from->n; j++)
        tree.address[shift[i] + j] =
            address[i] == NULL ? from->address[j] : address[i][from->address[j]];
      sysprof_growing_free (from->address, self->folds[i].node_capacity, sizeof *from->address);
      from->address = NULL;
    }

  tree.depth = sysprof_large_new (tree.n, sizeof *tree.depth);
  for (size_t i = 0; i < self->n; i++)
    {
      StackTree *from = &self->folds[i].own.stacks;
      uint32_t begin = i == 0 ? 0 : n_roots;

      memcpy (tree.depth + shift[i] + begin, from->depth + begin,
              (from->n - begin) * sizeof *from->depth);
      sysprof_growing_free (from->depth, self->folds[i].node_capacity, sizeof *from->depth);
      *from = (StackTree){ 0 };
      self->folds[i].node_capacity = 0;
    }
  return tree;
}

static void
shift_stacks (const SharedFold *self, StackEvents *events, const uint32_t *shift)
{
  uint32_t n_roots = self->builder->store->processes.n;

  for (uint32_t i = 0; i < events->n; i++)
    if (events->stack[i] >= n_roots)
      events->stack[i] += shift[self->owner[events->process[i]]];
}

static void
shift_wakers (const SharedFold *self, const uint32_t *shift)
{
  Waits *waits = &self->builder->store->waits;
  uint32_t n_roots = self->builder->store->processes.n;

  for (uint32_t i = 0; i < self->n_wakes; i++)
    {
      Wait *row = &waits->row[self->wakes[i].wait];

      if (row->waker_stack >= n_roots)
        row->waker_stack += shift[self->owner[waits->threads[row->waker - 1].process]];
    }
}

/* `address` [n] as for join_nodes(). */
static void
renumber_locks (const SharedFold *self, AddressId *const *address)
{
  Waits *waits = &self->builder->store->waits;

  for (uint32_t i = 0; i < waits->n_locks; i++)
    {
      WaitLock *lock = &waits->locks[i];
      const AddressId *id = address[self->owner[waits->events.process[lock->wait]]];

      if (id != NULL)
        lock->data = id[lock->data];
    }
}

static void
put_together (SharedFold *self)
{
  Store *store = self->builder->store;
  StackFold *first = &self->folds[0];
  uint32_t n_roots = store->processes.n;
  uint32_t shift[MOST_THREADS] = { 0 };
  AddressId *address[MOST_THREADS] = { NULL };

  for (size_t i = 1; i < self->n; i++)
    {
      StackFold *fold = &self->folds[i];

      address[i] = g_new (AddressId, fold->own.addresses.n);
      sysprof_addresses_absorb (&first->addresses, &fold->own.addresses, address[i]);
      sysprof_addresses_drop_rows (&fold->addresses);
      shift[i] = shift[i - 1] + self->folds[i - 1].own.stacks.n - n_roots;
      for (ProcessId id = 0; id < n_roots; id++)
        {
          first->has_user[id] |= fold->has_user[id];
          first->has_kernel[id] |= fold->has_kernel[id];
        }
    }

  sysprof_addresses_finish (&first->addresses);
  first->own.stacks = join_nodes (self, address, shift);
  renumber_locks (self, address);
  self->is_together = true;
  for (size_t i = 1; i < self->n; i++)
    g_free (address[i]);

  if (self->n > 1)
    {
      shift_stacks (self, &store->samples, shift);
      shift_stacks (self, &store->allocations, shift);
      shift_stacks (self, &store->traces, shift);
      shift_stacks (self, &store->waits.events, shift);
      shift_wakers (self, shift);
    }
}

/* The kernel's own threads have nothing mapped and never run user code. */
static void
find_kernel_processes (const SharedFold *self)
{
  Store *store = self->builder->store;
  const StackFold *fold = &self->folds[0];

  for (ProcessId id = 1; id < store->processes.n; id++)
    {
      Process *process = &store->processes.row[id];
      bool is_known = fold->has_kernel[id] || self->builder->has_process_frame[id];

      process->is_kernel = process->pid == 0 || (fold->mappings.now[id].root == 0 &&
                                                 !fold->has_user[id] && is_known);
      if (process->is_kernel && self->builder->comm_is_derived[id])
        process->comm = process->command_line; /* "kworker/0:1" is no path */
    }
}

static int
compare_wakes (const void *a, const void *b, void *data)
{
  const Wake *left = a, *right = b;

  if (left->time != right->time)
    return left->time < right->time ? -1 : 1;
  return (left->wait > right->wait) - (left->wait < right->wait);
}

static void
order_wakes (SharedFold *self)
{
  const Waits *waits = &self->builder->store->waits;

  self->wakes = g_new (Wake, MAX (waits->events.n, 1));
  for (uint32_t i = 0; i < waits->events.n; i++)
    if (waits->row[i].waker != 0 && self->builder->wait_stacks.of_waker[i] != 0)
      self->wakes[self->n_wakes++] =
          (Wake){ waits->events.time[i] + waits->events.weight[i] - waits->row[i].runnable, i };
  (void) sysprof_progress_sort (self->builder->progress, self->wakes, self->n_wakes,
                                sizeof *self->wakes, compare_wakes,
                                NULL); /* the caller sees it */
}

static void
init (SharedFold *self, Builder *builder)
{
  Store *store = builder->store;
  size_t n_stacks = (size_t) store->samples.n + store->allocations.n + store->traces.n +
                    store->waits.events.n;

  *self = (SharedFold){ .builder = builder };
  self->n = CLAMP (n_stacks / GRAIN, 1, MIN (sysprof_parallel_workers (), MOST_THREADS));
  order_wakes (self);
  count_stacks (self);
  share_out_processes (self);
  sysprof_mappings_read (builder);
  sysprof_file_bytes_leave (builder->file); /* it has read frames all over the file */

  self->folds = g_new0 (StackFold, self->n);
  for (size_t i = 0; i < self->n; i++)
    sysprof_stack_fold_init (
        &self->folds[i], builder,
        i == 0 ? store->mappings
               : g_memdup2 (store->mappings, store->n_mappings * sizeof (Mapping)));
}

/* What the first thread has, and with it all, is the store's. If cancelled, there is nothing but mappings. */
static void
clear (SharedFold *self)
{
  Store *store = self->builder->store;
  const Store *own = &self->folds[0].own;

  for (size_t i = self->is_together ? 1 : 0; i < self->n; i++)
    {
      sysprof_stack_fold_drop_nodes (&self->folds[i]);
      sysprof_addresses_drop_rows (&self->folds[i].addresses);
    }
  store->stacks = own->stacks;
  store->addresses = own->addresses;
  store->mappings = own->mappings;
  store->n_mappings = own->n_mappings;
  for (size_t i = 0; i < self->n; i++)
    {
      sysprof_stack_fold_clear (&self->folds[i]);
      if (i > 0)
        g_free (self->folds[i].own.mappings);
    }
  g_free (self->folds);
  g_free (self->n_left);
  g_free (self->wakes);
  g_free (self->owner);
}

void
sysprof_builder_fold_stacks (Builder *self)
{
  SharedFold fold;

  init (&fold, self);
  sysprof_parallel_ranges (fold.n, 1, fold_in_thread, &fold);
  if (!sysprof_progress_is_cancelled (self->progress))
    {
      StackFold *first = &fold.folds[0];

      /* From here on a stack is its number. */
      g_clear_pointer (&self->sample_digests, g_free);
      g_clear_pointer (&self->allocation_digests, g_free);
      g_clear_pointer (&self->trace_digests, g_free);
      put_together (&fold);
      sysprof_builder_drop_frees (self);
      find_kernel_processes (&fold);
      sysprof_mappings_compact (&first->mappings, first->own.addresses.mapping,
                                first->own.addresses.n);
    }

  clear (&fold);
}
