// SPDX-License-Identifier: GPL-3.0-or-later

/* Folds the stacks of samples and allocations into the one tree, in order of time.
 *
 * Most stacks were there before: a whole stack is looked up by its bytes first, and only a new one is
 * taken apart. */

#include "store/addresses.h"
#include "store/builder.h"

#define FIRST_SLOTS    4096
#define CANCEL_EVERY   0x4000 /* frames */
#define MOST_ADDRESSES 8192   /* of a frame: less fit into 65535 bytes */
#define FIRST_MARKER   ((uint64_t) -4095)
#define JIT_MASK       0xffffffff00000000u
#define JIT_MARK       0xe000000000000000u

/* A stack as it lies in the file. */
typedef struct
{
  uint64_t hash;
  const uint8_t *addresses;
  ProcessId process;
  uint32_t version; /* of the process's mappings when it was folded */
  StackId stack;
  uint16_t n;
  bool has_leaf; /* the first address is where the CPU was, not where a call returns to */
} Known;

typedef struct
{
  Builder *builder;
  Store *store;
  Mappings mappings;
  Addresses addresses;

  Known *known; /* [n_known_slots] by hash; addresses NULL = free */
  uint32_t n_known;
  uint32_t n_known_slots; /* a power of two */
  uint64_t seed;

  uint32_t *nodes;       /* [n_node_slots] StackId by parent and address, 0 = free */
  uint32_t n_node_slots; /* a power of two */
  uint32_t node_capacity;

  bool *has_user;   /* [processes.n] */
  bool *has_kernel; /* [processes.n] */
  AddressId *chain; /* [MOST_ADDRESSES] innermost first */
} Fold;

static AddressKind
kind_after_marker (uint64_t marker)
{
  switch ((int64_t) marker)
    {
    case -32:
      return ADDRESS_HYPERVISOR;
    case -128:
      return ADDRESS_KERNEL;
    case -2048:
      return ADDRESS_GUEST;
    case -2176:
      return ADDRESS_GUEST_KERNEL;
    case -2560:
      return ADDRESS_GUEST_USER;
    default:
      return ADDRESS_USER; /* -512, and contexts that are newer than this program */
    }
}

static uint32_t
node_slot (const Fold *self, StackId parent, AddressId address)
{
  return (uint32_t) sysprof_mix (((uint64_t) parent << 32 | address) ^ self->seed, self->seed) &
         (self->n_node_slots - 1);
}

static void
grow_node_slots (Fold *self)
{
  const StackTree *tree = &self->store->stacks;

  g_free (self->nodes);
  self->n_node_slots *= 2;
  self->nodes = g_new0 (uint32_t, self->n_node_slots);
  for (StackId id = self->store->processes.n; id < tree->n; id++)
    {
      uint32_t at = node_slot (self, tree->parent[id], tree->address[id]);

      while (self->nodes[at] != 0)
        at = (at + 1) & (self->n_node_slots - 1);
      self->nodes[at] = id;
    }
}

static StackId
add_node (Fold *self, StackId parent, AddressId address, uint16_t depth)
{
  StackTree *tree = &self->store->stacks;

  if (tree->n == self->node_capacity)
    {
      self->node_capacity *= 2;
      tree->parent = g_renew (StackId, tree->parent, self->node_capacity);
      tree->address = g_renew (AddressId, tree->address, self->node_capacity);
      tree->depth = g_renew (uint16_t, tree->depth, self->node_capacity);
    }

  tree->parent[tree->n] = parent;
  tree->address[tree->n] = address;
  tree->depth[tree->n] = depth;
  return tree->n++;
}

static StackId
intern_node (Fold *self, StackId parent, AddressId address)
{
  StackTree *tree = &self->store->stacks;
  uint32_t at = node_slot (self, parent, address);
  StackId id;

  while ((id = self->nodes[at]) != 0 &&
         (tree->parent[id] != parent || tree->address[id] != address))
    at = (at + 1) & (self->n_node_slots - 1);

  if (id == 0)
    {
      id = self->nodes[at] =
          add_node (self, parent, address, (uint16_t) (tree->depth[parent] + 1));
      if (tree->n > self->n_node_slots / 2)
        grow_node_slots (self);
    }

  return id;
}

static StackId
fold_stack (Fold *self, const Frame *frame, size_t at, const Known *stack)
{
  AddressKind context = ADDRESS_USER;
  StackId node = stack->process;
  bool is_return = !stack->has_leaf;
  uint32_t n = 0;

  for (uint32_t i = 0; i < stack->n; i++)
    {
      uint64_t address = sysprof_frame_u64 (frame, at + (size_t) i * 8);
      AddressKind kind = context;

      if (address >= FIRST_MARKER)
        {
          context = kind_after_marker (address);
          is_return = false; /* the first one of a context is where it was left */
          continue;
        }

      if (context == ADDRESS_USER && (address & JIT_MASK) == JIT_MARK)
        kind = ADDRESS_JIT;
      if (kind == ADDRESS_KERNEL)
        self->has_kernel[stack->process] = true;
      else
        self->has_user[stack->process] = true;

      self->chain[n++] =
          sysprof_addresses_intern (&self->addresses, stack->process, kind, address, is_return);
      is_return = true;
    }

  while (n > 0)
    node = intern_node (self, node, self->chain[--n]);

  return node;
}

static uint64_t
hash_stack (const Fold *self, const Known *stack)
{
  const uint8_t *at = stack->addresses;
  uint64_t even = self->seed ^ stack->process;
  uint64_t odd = (uint64_t) stack->n << 1 | stack->has_leaf;
  uint32_t n = stack->n;
  uint64_t pair[2] = { 0, 0 };

  /* Two chains, so that the multiplications overlap. */
  for (; n >= 2; n -= 2, at += 16)
    {
      memcpy (pair, at, 16);
      even = sysprof_mix (even, pair[0]);
      odd = sysprof_mix (odd, pair[1]);
    }
  if (n == 1)
    {
      memcpy (pair, at, 8);
      even = sysprof_mix (even, pair[0]);
    }

  return sysprof_mix (even ^ self->seed, odd);
}

static Known *
find_known (Fold *self, const Known *stack)
{
  uint32_t at = (uint32_t) stack->hash & (self->n_known_slots - 1);

  for (;; at = (at + 1) & (self->n_known_slots - 1))
    {
      Known *known = &self->known[at];

      if (known->addresses == NULL ||
          (known->hash == stack->hash && known->process == stack->process &&
           known->n == stack->n && known->has_leaf == stack->has_leaf &&
           memcmp (known->addresses, stack->addresses, (size_t) stack->n * 8) == 0))
        return known;
    }
}

static void
grow_known (Fold *self)
{
  Known *old = self->known;
  uint32_t n_old = self->n_known_slots;

  self->n_known_slots *= 2;
  self->known = g_new0 (Known, self->n_known_slots);
  for (uint32_t i = 0; i < n_old; i++)
    if (old[i].addresses != NULL)
      {
        uint32_t at = (uint32_t) old[i].hash & (self->n_known_slots - 1);

        while (self->known[at].addresses != NULL)
          at = (at + 1) & (self->n_known_slots - 1);
        self->known[at] = old[i];
      }

  g_free (old);
}

/* The stack of `n` addresses at offset `at` of the frame. */
static StackId
intern_stack (Fold *self,
              const Frame *frame,
              size_t at,
              uint16_t n,
              ProcessId process,
              bool has_leaf)
{
  Known stack = { .addresses = frame->bytes + at,
                  .process = process,
                  .version = sysprof_mappings_version (&self->mappings, process),
                  .n = n,
                  .has_leaf = has_leaf };
  Known *known;

  if (n == 0)
    return process;

  stack.hash = hash_stack (self, &stack);
  known = find_known (self, &stack);
  if (known->addresses != NULL)
    {
      if (known->version != stack.version)
        {
          known->stack = fold_stack (self, frame, at, &stack);
          known->version = stack.version;
        }
      return known->stack;
    }

  stack.stack = fold_stack (self, frame, at, &stack);
  *known = stack;
  if (++self->n_known > self->n_known_slots / 2)
    grow_known (self);
  return stack.stack;
}

static void
new_events (StackEvents *events, uint64_t n, bool has_weight)
{
  events->time = g_new (int64_t, n);
  events->pid = g_new (int32_t, n);
  events->tid = g_new (int32_t, n);
  events->cpu = g_new (int16_t, n);
  events->stack = g_new (StackId, n);
  events->process = g_new (ProcessId, n);
  if (has_weight)
    events->weight = g_new (int64_t, n);
}

static void
add_event (Fold *self,
           StackEvents *events,
           FrameNo number,
           int32_t tid,
           ProcessId process,
           StackId stack)
{
  uint32_t at = events->n++;

  events->time[at] = self->store->frames.time[number];
  events->pid[at] = self->store->frames.pid[number];
  events->tid[at] = tid;
  events->cpu[at] = self->store->frames.cpu[number];
  events->process[at] = process;
  events->stack[at] = stack;
}

static void
add_sample (Fold *self, FrameNo number, const Frame *frame)
{
  ProcessId process = sysprof_builder_process (self->builder, self->store->frames.pid[number]);
  StackId stack = intern_stack (self, frame, 32, sysprof_frame_u16 (frame, 24), process, true);

  add_event (self, &self->store->samples, number, sysprof_frame_i32 (frame, 28), process,
             stack);
}

static void
add_allocation (Fold *self, FrameNo number, const Frame *frame)
{
  int64_t size = sysprof_frame_i64 (frame, 32);
  StackEvents *allocations = &self->store->allocations;
  ProcessId process;

  if (size <= 0)
    return; /* freed */

  process = sysprof_builder_process (self->builder, self->store->frames.pid[number]);
  allocations->weight[allocations->n] = size;
  add_event (self, allocations, number, sysprof_frame_i32 (frame, 40), process,
             intern_stack (self, frame, 48, sysprof_frame_u16 (frame, 44), process, false));
}

/* FALSE if cancelled. */
static bool
walk_frames (Fold *self, GError **error)
{
  Store *store = self->store;
  const Builder *builder = self->builder;
  uint32_t n_forks = 0;

  for (FrameNo i = 0; i < store->frames.n; i++)
    {
      Frame frame = { 0 };

      if (i % CANCEL_EVERY == 0 &&
          g_cancellable_set_error_if_cancelled (builder->cancellable, error))
        return false;

      switch (store->frames.type[i])
        {
        case SYSPROF_CAPTURE_FRAME_SAMPLE:
          frame = sysprof_store_frame (store, i);
          add_sample (self, i, &frame);
          break;
        case SYSPROF_CAPTURE_FRAME_ALLOCATION:
          frame = sysprof_store_frame (store, i);
          add_allocation (self, i, &frame);
          break;
        case SYSPROF_CAPTURE_FRAME_MAP:
          sysprof_mappings_advance (&self->mappings);
          break;
        case SYSPROF_CAPTURE_FRAME_FORK:
          if (builder->fork_child[n_forks] != 0)
            sysprof_mappings_fork (&self->mappings, builder->fork_parent[n_forks],
                                   builder->fork_child[n_forks]);
          n_forks++;
          break;
        case SYSPROF_CAPTURE_FRAME_EXIT:
          sysprof_mappings_exit (&self->mappings,
                                 sysprof_builder_process (builder, store->frames.pid[i]));
          break;
        default:
          break;
        }
    }

  return true;
}

/* The kernel's own threads have nothing mapped and never run user code. */
static void
find_kernel_processes (Fold *self)
{
  Store *store = self->store;

  for (ProcessId id = 1; id < store->processes.n; id++)
    {
      Process *process = &store->processes.row[id];
      bool is_known = self->has_kernel[id] || self->builder->has_process_frame[id];

      process->is_kernel = process->pid == 0 || (self->mappings.now[id].root == 0 &&
                                                 !self->has_user[id] && is_known);
      if (process->is_kernel && self->builder->comm_is_derived[id])
        process->comm = process->command_line; /* "kworker/0:1" is no path */
    }
}

static void
init (Fold *self, Builder *builder)
{
  Store *store = builder->store;
  uint32_t n_processes = store->processes.n;

  *self = (Fold){ .builder = builder,
                  .store = store,
                  .n_known_slots = FIRST_SLOTS,
                  .n_node_slots = FIRST_SLOTS,
                  .node_capacity = MAX (n_processes, FIRST_SLOTS),
                  .seed = sysprof_random_seed () };
  self->known = g_new0 (Known, self->n_known_slots);
  self->nodes = g_new0 (uint32_t, self->n_node_slots);
  self->has_user = g_new0 (bool, n_processes);
  self->has_kernel = g_new0 (bool, n_processes);
  self->chain = g_new (AddressId, MOST_ADDRESSES);
  store->stacks.parent = g_new (StackId, self->node_capacity);
  store->stacks.address = g_new (AddressId, self->node_capacity);
  store->stacks.depth = g_new (uint16_t, self->node_capacity);
  for (ProcessId id = 0; id < n_processes; id++)
    add_node (self, 0, 0, 0);

  sysprof_mappings_init (&self->mappings, builder);
  sysprof_addresses_init (&self->addresses, store, &self->mappings);
  new_events (&store->samples, store->n_frames_by_type[SYSPROF_CAPTURE_FRAME_SAMPLE], false);
  new_events (&store->allocations, store->n_frames_by_type[SYSPROF_CAPTURE_FRAME_ALLOCATION],
              true);
}

static void
clear (Fold *self)
{
  sysprof_mappings_clear (&self->mappings);
  sysprof_addresses_clear (&self->addresses);
  g_free (self->known);
  g_free (self->nodes);
  g_free (self->has_user);
  g_free (self->has_kernel);
  g_free (self->chain);
}

bool
sysprof_builder_fold_stacks (Builder *self, GError **error)
{
  Fold fold;
  bool done;

  init (&fold, self);
  done = walk_frames (&fold, error);
  if (done)
    {
      find_kernel_processes (&fold);
      sysprof_mappings_compact (&fold.mappings, self->store->addresses.mapping,
                                self->store->addresses.n);
    }

  clear (&fold);
  return done;
}
