// SPDX-License-Identifier: GPL-3.0-or-later

/* What instructions weigh.
 *
 * An entry of a stack may be three places: what was sampled there was at its address, what it called returns behind the
 * instruction that called, and the kernel was entered at its address or, by a system call, before it. */

#include "analyze/analyze.h"

#include <string.h>

static bool
is_inlined (const Store *store, const SymbolTable *symbols, StackId stack)
{
  AddressId address = store->stacks.address[stack];

  return store->stacks.depth[stack] > 0 &&
         symbols->row[symbols->of_address[address]].is_inlined;
}

/* The stack entries of an address: one for its function, and one for each call inlined
 * there. The innermost has the highest number and represents the address. */
static bool
is_innermost_of_address (const Store *store, const SymbolTable *symbols, StackId stack)
{
  const StackTree *stacks = &store->stacks;

  return stack + 1 >= stacks->n || stacks->parent[stack + 1] != stack ||
         !is_inlined (store, symbols, stack + 1);
}

static StackId
find_function (const Store *store, const SymbolTable *symbols, StackId stack)
{
  while (is_inlined (store, symbols, stack))
    stack = store->stacks.parent[stack];
  return stack;
}

static uint64_t *
sum_totals (const Store *store, const StackWeights *weights)
{
  const StackTree *stacks = &store->stacks;
  uint64_t *total = g_new (uint64_t, MAX (stacks->n, 1));

  memcpy (total, weights->self, stacks->n * sizeof *total);
  for (StackId i = stacks->n; i-- > 0 && sysprof_is_wanted_at (i);)
    if (stacks->depth[i] > 0)
      total[stacks->parent[i]] += total[i];
  return total;
}

/* Whether there may be a file with the code. */
static bool
has_code (const Store *store, const SymbolTable *symbols, AddressId address)
{
  SymbolKind kind = (SymbolKind) symbols->row[symbols->of_address[address]].kind;

  return (kind == SYMBOL_USER && store->addresses.mapping[address] != 0) ||
         (kind == SYMBOL_KERNEL && store->addresses.kind[address] == ADDRESS_KERNEL) ||
         (kind == SYMBOL_JIT &&
          sysprof_address_table_get_code (&store->addresses, address) != 0);
}

void
sysprof_code_find_places (CodePlaces *places,
                          const Store *store,
                          const SymbolTable *symbols,
                          const StackWeights *weights,
                          const bool *is_wanted)
{
  const StackTree *stacks = &store->stacks;
  g_autofree uint64_t *total = sum_totals (store, weights);

  *places = (CodePlaces){ .is_at = g_new0 (bool, MAX (store->addresses.n, 1)) };
  for (StackId i = 0; i < stacks->n && sysprof_is_wanted_at (i); i++)
    {
      SymbolId symbol = symbols->of_address[stacks->address[i]];
      AddressId address;

      if (stacks->depth[i] == 0 || total[i] == 0 || !is_wanted[symbol])
        continue;
      address = stacks->address[find_function (store, symbols, i)];
      if (has_code (store, symbols, address))
        {
          places->is_at[address] = true;
          if (store->addresses.kind[address] == ADDRESS_KERNEL)
            places->kernel = address;
        }
      else
        {
          places->elsewhere += total[i];
          places->example = symbol;
        }
    }
}

/* --- weights --- */

typedef struct
{
  const Store *store;
  const SymbolTable *symbols;
  const Disassembly *code;
  uint64_t *through_kernel; /* [stacks.n] the part of the inner entries that the kernel spent */
  uint32_t *
      call_of; /* [stacks.n] 1 + the instruction that the entry called with; 0 = none of these */
  StackId *
      nearest; /* [stacks.n] the innermost entry, of this or outer ones, that called with any of these */
} Weighing;

/* 1 + the instruction at that distance before the address; 0 = none of these. */
static uint32_t
find_row (const Weighing *self, AddressId address, uint64_t before)
{
  const Instruction *instruction =
      sysprof_disassembly_find (self->code, self->store, address, before);

  return instruction != NULL ? (uint32_t) (instruction - self->code->row) + 1 : 0;
}

/* Of the machines that are disassembled. */
static bool
is_system_call (const char *text)
{
  static const char *const mnemonics[] = { "syscall", "sysenter", "int 0x80",
                                           "svc ",    "sc",       "ecall" };

  for (size_t i = 0; i < G_N_ELEMENTS (mnemonics); i++)
    if (g_str_has_prefix (text, mnemonics[i]) &&
        (mnemonics[i][1] != 'c' || text[2] == '\0' || text[2] == ' '))
      return true;
  return false;
}

/* 1 + the instruction at which the kernel was entered that returns to the address. */
static uint32_t
find_kernel_entry (const Weighing *self, AddressId address)
{
  uint32_t before = find_row (self, address, 1);

  if (before != 0 && is_system_call (sysprof_intern_get (&self->code->strings,
                                                         self->code->row[before - 1].text)))
    return before;
  return find_row (self, address, 0);
}

static uint64_t *
sum_kernel (const Store *store, const uint64_t *total)
{
  const StackTree *stacks = &store->stacks;
  uint64_t *sums = g_new0 (uint64_t, MAX (stacks->n, 1));

  for (StackId i = 0; i < stacks->n && sysprof_is_wanted_at (i); i++)
    {
      AddressKind kind = (AddressKind) store->addresses.kind[stacks->address[i]];
      AddressId outer = stacks->depth[i] > 1 ? stacks->address[stacks->parent[i]] : 0;

      /* Within itself the kernel calls as programs do. */
      if (outer != 0 && kind == ADDRESS_KERNEL &&
          store->addresses.kind[outer] != ADDRESS_KERNEL)
        sums[stacks->parent[i]] += total[i];
    }
  return sums;
}

/* Whether the stack that ends at `at` called with that instruction anywhere. */
static bool
is_called_with (const Weighing *self, StackId at, uint32_t row)
{
  for (at = self->nearest[at]; at != 0; at = self->nearest[self->store->stacks.parent[at]])
    if (self->call_of[at] == row)
      return true;
  return false;
}

/* What is in `row`, and in no stack calls more of these. */
static void
add_end (const Weighing *self, StackId outer, uint32_t row, uint64_t weight, uint64_t *total)
{
  if (row != 0 && !is_called_with (self, outer, row))
    total[row - 1] += weight;
}

static void
weigh_entry (Weighing *self,
             StackId at,
             uint64_t weight,
             uint64_t through,
             uint64_t *own,
             uint64_t *total)
{
  const StackTree *stacks = &self->store->stacks;
  const AddressTable *addresses = &self->store->addresses;
  AddressId address = stacks->address[find_function (self->store, self->symbols, at)];
  StackId outer = stacks->parent[at];
  uint64_t kernel = self->through_kernel[at];

  if (weight > 0)
    {
      /* What was met as a return address alone is one also where a stack ends. */
      uint32_t row = find_row (self, address, addresses->is_return[address] != 0);

      if (row != 0)
        own[row - 1] += weight;
      add_end (self, outer, row, weight, total);
    }
  if (kernel > 0)
    add_end (self, outer, find_kernel_entry (self, address), kernel, total);
  if (through > kernel)
    {
      uint32_t row = find_row (self, address, 1);

      add_end (self, outer, row, through - kernel, total);
      self->call_of[at] = row;
      if (row != 0)
        self->nearest[at] = at;
    }
}

void
sysprof_code_weigh (const Store *store,
                    const SymbolTable *symbols,
                    const StackWeights *weights,
                    const Disassembly *code,
                    uint64_t *self,
                    uint64_t *total)
{
  const StackTree *stacks = &store->stacks;
  g_autofree uint64_t *sum = sum_totals (store, weights);
  g_autofree uint64_t *through_kernel = sum_kernel (store, sum);
  g_autofree uint32_t *call_of = g_new0 (uint32_t, MAX (stacks->n, 1));
  g_autofree StackId *nearest = g_new0 (StackId, MAX (stacks->n, 1));
  Weighing weighing = { store, symbols, code, through_kernel, call_of, nearest };

  memset (self, 0, code->n * sizeof *self);
  memset (total, 0, code->n * sizeof *total);
  for (StackId i = 0; i < stacks->n && sysprof_is_wanted_at (i); i++)
    {
      if (stacks->depth[i] == 0)
        continue;
      nearest[i] = nearest[stacks->parent[i]];
      if (is_innermost_of_address (store, symbols, i))
        weigh_entry (&weighing, i, weights->self[i], sum[i] - weights->self[i], self, total);
    }
}
