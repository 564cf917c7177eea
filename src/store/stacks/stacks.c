// SPDX-License-Identifier: GPL-3.0-or-later

/* Most stacks are not new, so a stack is first looked up by its digest. Only a new stack is
 * read address by address. Most of its callers are those of the stack before it, or of another
 * one (caller-prefix-cache.h).
 *
 * Both tables have many megabytes. So a stack is prefetched some stacks in advance. */

#include "store/stacks/stacks.h"

#include "store/stacks/slots.h"
#include "util/large.h"

#define FIRST_NODES       4096
#define FIRST_NODE_SLOTS  64
#define KNOWN_SLOTS       0x10000 /* 2 MiB: near enough to look into for each sample */
#define MOST_ADDRESSES    8192    /* of a frame: less fit into 65535 bytes */
#define PREFETCH_WORDS    4
#define CACHE_LINE        64
#define FRAME_LINES_AHEAD 5      /* some 35 addresses; the processor fetches on by itself */
#define PAGES_AHEAD       0x4000 /* nodes, whose pages are taken at once */
#define JIT_MASK          0xffffffff00000000u
#define JIT_MARK          0xe000000000000000u
#define JIT_MASK_32       0xfffffffff0000000u
#define JIT_MARK_32       0xe0000000u

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
node_place (const StackFold *self, const NodeSet *set, StackId parent, AddressId address)
{
  return (uint32_t) sysprof_mix (((uint64_t) parent << 32 | address) ^ self->key, self->key) &
         (set->n_slots - 1);
}

/* The slot of the node, or the free one where it belongs. */
static NodeSlot *
find_node_slot (const StackFold *self, const NodeSet *set, StackId parent, AddressId address)
{
  uint32_t at = node_place (self, set, parent, address);

  while (set->slots[at].id != 0 &&
         (set->slots[at].parent != parent || set->slots[at].address != address))
    at = (at + 1) & (set->n_slots - 1);
  return &set->slots[at];
}

static void
grow_node_set (const StackFold *self, NodeSet *set)
{
  NodeSet old = *set;

  set->n_slots = MAX (old.n_slots * 2, FIRST_NODE_SLOTS);
  set->slots = sysprof_slots_new (set->n_slots, sizeof (NodeSlot));
  for (uint32_t i = 0; i < old.n_slots; i++)
    if (old.slots[i].id != 0)
      *find_node_slot (self, set, old.slots[i].parent, old.slots[i].address) = old.slots[i];

  sysprof_slots_free (old.slots, old.n_slots, sizeof (NodeSlot));
}

/* Room for `n` more nodes, whose pages are taken before they are filled. */
static void
make_room (StackFold *self, uint32_t n)
{
  StackTree *tree = &self->store->stacks;
  uint32_t needed = tree->n + n;

  if (needed > self->node_capacity)
    {
      uint32_t had = self->node_capacity;
      uint32_t capacity = MAX (MAX (had * 2, needed), FIRST_NODES);

      tree->parent = sysprof_growing_renew (tree->parent, had, capacity, sizeof *tree->parent);
      tree->address =
          sysprof_growing_renew (tree->address, had, capacity, sizeof *tree->address);
      tree->depth = sysprof_growing_renew (tree->depth, had, capacity, sizeof *tree->depth);
      self->node_capacity = capacity;
    }
  if (needed > self->n_faulted_in)
    {
      uint32_t from = MAX (tree->n, self->n_faulted_in);
      uint32_t n_pages = MIN (self->node_capacity - from, MAX (PAGES_AHEAD, n));

      sysprof_large_fault_in (tree->parent + from, n_pages * sizeof *tree->parent);
      sysprof_large_fault_in (tree->address + from, n_pages * sizeof *tree->address);
      sysprof_large_fault_in (tree->depth + from, n_pages * sizeof *tree->depth);
      self->n_faulted_in = from + n_pages;
    }
}

/* There is room for it. */
static StackId
add_node (StackFold *self, StackId parent, AddressId address, uint16_t depth)
{
  StackTree *tree = &self->store->stacks;

  tree->parent[tree->n] = parent;
  tree->address[tree->n] = address;
  tree->depth[tree->n] = depth;
  return tree->n++;
}

/* 0 = there is none yet, and what is to become it has to take `slot`, if that is not NULL. */
static StackId
find_child (const StackFold *self,
            const NodeSet *set,
            StackId node,
            AddressId address,
            NodeSlot **slot)
{
  const StackTree *tree = &self->store->stacks;
  StackId next = node + 1;

  *slot = NULL;
  if (next == tree->n)
    return 0;
  __builtin_prefetch (&set->slots[node_place (self, set, node, address)]);
  if (tree->parent[next] == node && tree->address[next] == address)
    return next;

  *slot = find_node_slot (self, set, node, address);
  return (*slot)->id;
}

/* The nodes reached from `node` by the `n` addresses of `chain`, last one first; returns the
 * innermost. */
static StackId
intern_path (StackFold *self, NodeSet *set, StackId node, uint32_t n)
{
  const AddressId *chain = self->chain;
  const StackTree *tree = &self->store->stacks;
  NodeSlot *slot = NULL;
  StackId child;

  /* Of several unmapped ones in turn, one says it all: the caller's is there already. */
  if (n > 0 && chain[n - 1] == self->addresses.unmapped && chain[n - 1] != 0 &&
      chain[n - 1] == tree->address[node])
    self->chain_node[--n] = node;

  if (set->n_used >= set->n_slots / 3 * 2)
    grow_node_set (self, set);
  while (n > 0 && (child = find_child (self, set, node, chain[n - 1], &slot)) != 0)
    self->chain_node[--n] = node = child;
  if (n == 0)
    return node;

  /* All nodes below a new node are new. */
  if (slot != NULL)
    {
      *slot = (NodeSlot){ node, chain[n - 1], tree->n };
      set->n_used++;
    }
  make_room (self, n);
  while (n > 0)
    {
      node = add_node (self, node, chain[n - 1], (uint16_t) (tree->depth[node] + 1));
      self->chain_node[--n] = node;
    }
  return node;
}

static StackWords
words_of_frame (const StackFold *self, FrameNo number, const StackLayout *layout)
{
  Frame frame = sysprof_store_frame (self->store, number);

  return (StackWords){ frame.bytes + layout->addresses_at,
                       sysprof_frame_count (&frame, layout->count_at, layout->addresses_at, 8),
                       self->store->is_swapped };
}

/* The context of the outermost address. */
static AddressKind
last_context (const StackWords *words)
{
  for (uint32_t i = words->n; i > 0; i--)
    {
      uint64_t word = sysprof_stack_word (words, i - 1);

      if (word >= STACK_FIRST_MARKER)
        return kind_after_marker (word);
    }

  return ADDRESS_USER;
}

/* How many of the outermost words mean the same as in the stack before: equal, in the same
 * context, and callers in both. The first of a context is none. 0 if their node is not known
 * any more. */
static uint32_t
count_shared (const Recent *recent,
              const StackWords *words,
              uint32_t version,
              AddressKind context)
{
  const StackWords *before = &recent->words;
  uint32_t most = MIN (words->n, before->n);
  uint32_t shared = 0;

  if (recent->version != version || recent->context != context)
    return 0;

  while (shared < most)
    {
      uint64_t word = sysprof_stack_word (words, words->n - shared - 1);

      if (word >= STACK_FIRST_MARKER ||
          word != sysprof_stack_word (before, before->n - shared - 1))
        break;
      shared++;
    }

  if (shared > 0 && (shared == words->n ||
                     sysprof_stack_word (words, words->n - shared - 1) >= STACK_FIRST_MARKER ||
                     shared == before->n ||
                     sysprof_stack_word (before, before->n - shared - 1) >= STACK_FIRST_MARKER))
    shared--;
  return before->n - shared < recent->n_found ? shared : 0;
}

/* Recorders with 32 bits have no room for the mark where it belongs; code may lie there, too,
 * but has no such name. */
static bool
is_synthetic (const Store *store, uint64_t address)
{
  return (address & JIT_MASK) == JIT_MARK ||
         ((address & JIT_MASK_32) == JIT_MARK_32 &&
          sysprof_store_find_jit_name (store, address) != NULL);
}

/* Fills `chain` with the addresses of the `n` innermost words, and `place`. Returns how many
 * addresses there are. */
static uint32_t
intern_addresses (StackFold *self,
                  const StackLayout *layout,
                  ProcessId process,
                  const StackWords *words,
                  uint32_t n_words)
{
  AddressKind context = ADDRESS_USER;
  bool is_return = !layout->has_leaf;
  uint32_t n = 0;

  for (uint32_t i = 0; i < n_words; i++)
    {
      uint64_t address = sysprof_stack_word (words, i);
      AddressKind kind = context;
      AddressId id;

      if (i + PREFETCH_WORDS < n_words)
        sysprof_addresses_expect (&self->addresses, process,
                                  sysprof_stack_word (words, i + PREFETCH_WORDS));
      self->place[i] = (uint16_t) (n > 0 ? n - 1 : 0);
      if (address >= STACK_FIRST_MARKER)
        {
          context = kind_after_marker (address);
          is_return = false; /* the first one of a context is where it was left */
          continue;
        }

      if (context == ADDRESS_USER && is_synthetic (self->builder->store, address))
        kind = ADDRESS_JIT;
      if (kind == ADDRESS_KERNEL)
        self->has_kernel[process] = true;
      else
        self->has_user[process] = true;

      id = sysprof_addresses_intern (&self->addresses, process, kind, address, is_return);
      is_return = true;
      if (n > 0 && id == self->chain[n - 1] && id == self->addresses.unmapped)
        continue; /* as in intern_path() */

      self->place[i] = (uint16_t) n;
      self->chain[n++] = id;
    }

  return n;
}

/* Makes room for the nodes of `n_new` words before those of the `n_shared` outermost ones. */
static void
remember_stack (Recent *recent, const StackWords *words, uint32_t n_new, uint32_t n_shared)
{
  uint32_t first_shared = recent->words.n - n_shared;
  uint32_t n_kept = n_shared > 0 ? recent->n_found - first_shared : 0;

  if (n_new + n_kept > recent->capacity)
    {
      recent->capacity = (n_new + n_kept) + (n_new + n_kept) / 2;
      recent->node = g_renew (StackId, recent->node, recent->capacity);
    }

  if (n_kept > 0)
    memmove (recent->node + n_new, recent->node + first_shared, n_kept * sizeof (StackId));
  recent->words = *words;
  recent->n_found = n_new + n_kept;
}

static StackId
fold_stack (StackFold *self,
            StackWords words,
            const StackLayout *layout,
            ProcessId process,
            uint32_t version)
{
  Recent *recent = &self->recent[process];
  AddressKind context = last_context (&words);
  uint32_t n_shared = count_shared (recent, &words, version, context);
  StackId node = n_shared > 0 ? recent->node[recent->words.n - n_shared] : process;
  CallersDigests *callers = &self->callers;
  uint32_t n_known, n_new;
  StackId known;

  sysprof_caller_prefix_cache_digest (&self->caller_prefixes, callers, &words, process, version,
                                      context);
  known =
      sysprof_caller_prefix_cache_find (&self->caller_prefixes, callers, n_shared, &n_known);
  if (known != 0)
    node = known;
  n_new = words.n - MAX (n_known, n_shared);
  node = intern_path (self, &self->node_sets[process], node,
                      intern_addresses (self, layout, process, &words, n_new));

  remember_stack (recent, &words, n_new, known != 0 ? 0 : n_shared);
  recent->version = version;
  recent->context = context;
  for (uint32_t i = 0; i < n_new; i++)
    recent->node[i] = self->chain_node[self->place[i]];
  for (uint32_t i = callers->n; i > 0 && callers->item[i - 1].n > words.n - n_new; i--)
    sysprof_caller_prefix_cache_add (&self->caller_prefixes, &callers->item[i - 1],
                                     recent->node[words.n - callers->item[i - 1].n]);
  return node;
}

/* Two slots, which lie in one line of the cache. */
static Known *
known_place (const StackFold *self, const StackDigest *digest, ProcessId process)
{
  return &self->known[(sysprof_mix (digest->low, process) % KNOWN_SLOTS) & ~1u];
}

/* NULL if it has to be taken apart. */
static const Known *
find_known (const StackFold *self,
            const StackDigest *digest,
            ProcessId process,
            uint32_t version)
{
  const Known *known = known_place (self, digest, process);

  for (unsigned i = 0; i < 2; i++)
    if (known[i].digest.low == digest->low && known[i].digest.high == digest->high &&
        known[i].process == process && known[i].version == version)
      return &known[i];
  return NULL;
}

void
sysprof_stack_fold_expect (const StackFold *self,
                           FrameNo number,
                           const StackDigest *digest,
                           ProcessId process)
{
  const uint8_t *bytes = self->store->bytes + self->store->frames.offset[number];

  __builtin_prefetch (known_place (self, digest, process));
  for (unsigned i = 0; i < FRAME_LINES_AHEAD; i++)
    __builtin_prefetch (bytes + i * CACHE_LINE);
}

static StackId
remember_known (StackFold *self, const Known *found)
{
  Known *known = known_place (self, &found->digest, found->process);

  known[1] = known[0];
  known[0] = *found;
  return found->stack;
}

StackId
sysprof_stack_fold_add (StackFold *self,
                        FrameNo number,
                        const StackLayout *layout,
                        const StackDigest *digest,
                        ProcessId process)
{
  uint32_t version = sysprof_mappings_version (&self->mappings, process);
  const Known *known;

  if (digest->low == 0)
    return process;
  known = find_known (self, digest, process, version);
  if (known != NULL)
    return known->stack;

  return remember_known (self,
                         &(Known){ *digest, process, version,
                                   fold_stack (self, words_of_frame (self, number, layout),
                                               layout, process, version) });
}

bool
sysprof_stack_fold_knows (const StackFold *self, const StackDigest *digest, ProcessId process)
{
  return digest->low == 0 ||
         find_known (self, digest, process,
                     sysprof_mappings_version (&self->mappings, process)) != NULL;
}

StackId
sysprof_stack_fold_add_words (StackFold *self,
                              const uint8_t *bytes,
                              uint32_t n_words,
                              const StackDigest *digest,
                              ProcessId process)
{
  uint32_t version = sysprof_mappings_version (&self->mappings, process);
  StackWords words = { bytes, n_words, self->store->is_swapped };
  const Known *known;

  if (digest->low == 0)
    return process;
  known = find_known (self, digest, process, version);
  if (known != NULL)
    return known->stack;

  return remember_known (
      self, &(Known){ *digest, process, version,
                      fold_stack (self, words, &sysprof_sample_layout, process, version) });
}

void
sysprof_stack_fold_init (StackFold *self, const Builder *builder, Mapping *mappings)
{
  uint32_t n_processes = builder->store->processes.n;

  *self = (StackFold){ .builder = builder,
                       .own = *builder->store,
                       .store = &self->own,
                       .key = sysprof_random_key () };
  self->known = sysprof_large_new (KNOWN_SLOTS, sizeof (Known));
  memset (self->known, 0, KNOWN_SLOTS * sizeof (Known));
  sysprof_caller_prefix_cache_init (&self->caller_prefixes, self->key);
  self->node_sets = g_new0 (NodeSet, n_processes);
  self->has_user = g_new0 (bool, n_processes);
  self->has_kernel = g_new0 (bool, n_processes);
  self->recent = g_new0 (Recent, n_processes);
  self->chain = g_new (AddressId, MOST_ADDRESSES);
  self->chain_node = g_new0 (StackId, MOST_ADDRESSES);
  self->place = g_new (uint16_t, MOST_ADDRESSES);
  make_room (self, n_processes);
  for (ProcessId id = 0; id < n_processes; id++)
    add_node (self, 0, 0, 0);

  self->own.mappings = mappings;
  sysprof_mappings_init (&self->mappings, &self->own);
  sysprof_addresses_init (&self->addresses, &self->own, &self->mappings);
}

void
sysprof_stack_fold_forget (StackFold *self, ProcessId process)
{
  NodeSet *set = &self->node_sets[process];

  sysprof_slots_free (set->slots, set->n_slots, sizeof (NodeSlot));
  *set = (NodeSet){ 0 };
  g_free (self->recent[process].node);
  self->recent[process] = (Recent){ 0 };
  sysprof_addresses_forget (&self->addresses, process);
}

void
sysprof_stack_fold_drop_nodes (StackFold *self)
{
  StackTree *tree = &self->own.stacks;

  sysprof_growing_free (tree->parent, self->node_capacity, sizeof *tree->parent);
  sysprof_growing_free (tree->address, self->node_capacity, sizeof *tree->address);
  sysprof_growing_free (tree->depth, self->node_capacity, sizeof *tree->depth);
  *tree = (StackTree){ 0 };
  self->node_capacity = 0;
}

void
sysprof_stack_fold_finish (StackFold *self)
{
  for (ProcessId id = 0; id < self->own.processes.n; id++)
    sysprof_stack_fold_forget (self, id);
  g_clear_pointer (&self->node_sets, g_free);
  g_clear_pointer (&self->recent, g_free);
  g_clear_pointer (&self->known, g_free);
  sysprof_caller_prefix_cache_clear (&self->caller_prefixes);
  g_clear_pointer (&self->chain, g_free);
  g_clear_pointer (&self->chain_node, g_free);
  g_clear_pointer (&self->place, g_free);
}

void
sysprof_stack_fold_clear (StackFold *self)
{
  sysprof_mappings_clear (&self->mappings);
  sysprof_addresses_clear (&self->addresses);
  g_free (self->has_user);
  g_free (self->has_kernel);
}
