// SPDX-License-Identifier: GPL-3.0-or-later

/* Derives unwind rules from instructions. Follows functions from their start along all
 * branches, and stores for each instruction the distances of the stack pointer and the frame
 * pointer from the CFA. If two paths reach an instruction with different stacks, the differing
 * part is unknown there.
 *
 * Targets of a jump through a table are found if the length of the table is known; otherwise
 * they have no rules. It is unknown whether a call returns. So the code after a call is not
 * followed if a function is known to begin there, or the code looks like the start of one.
 *
 * An instruction is visited again only when less is known about it, at most four times. So the
 * work is bounded by the bytes of the code. */

#include "unwind/code-reader.h"

#include "bpf/bpf.h"
#include "unwind/jump-table.h"
#include "unwind/x86.h"

#include <stdlib.h>
#include <string.h>

#define MOST_CODE    (UINT64_C (32) << 20) /* bytes read at once */
#define MOST_OUTSIDE 1024
#define MOST_STATES  4096 /* different stacks; a C library has a thousand */
#define HASH_SLOTS   (4 * MOST_STATES)
#define HASH_SHIFT   50        /* 64 - log2 (HASH_SLOTS) */
#define MOST_FRAME   (1 << 20) /* bytes */

#define FUNCTION_ALIGN 16

#define UNKNOWN   (-1)
#define OUTERMOST (-2) /* as `fp`: this code has no caller */

/* The stack before an instruction. */
typedef struct
{
  int32_t sp; /* CFA - SP */
  int32_t bp; /* CFA - BP if BP points into the frame; else UNKNOWN */
  int32_t fp; /* the caller's BP is at CFA - fp; 0: in BP; UNKNOWN: lost; OUTERMOST */
} Stack;

static const Stack at_entry = { 8, UNKNOWN, 0 };

enum
{
  UNVISITED,
  LOST, /* reached, but the stack is unknown */
  ENTRY,
  FIRST_STATE = LOST,
};

struct CodeReader
{
  ElfImage *image; /* borrowed */
  uint64_t start;
  uint64_t size;
  uint8_t *code; /* [size] */
  /* [size] of the instruction that begins there; UNVISITED within instructions */
  uint16_t *state;
  uint8_t *is_start; /* [size / 8 + 1] bits: a function begins there */

  Stack stack[MOST_STATES];
  uint32_t n_states;
  uint16_t hash[HASH_SLOTS]; /* of stacks; 0 = free */

  uint32_t *queue; /* [queue_capacity] offsets to visit */
  size_t n_queued;
  size_t queue_capacity;
  bool is_out_of_memory;
  /* a start of a function was found after its code had been reached as part of the function
   * before */
  bool is_late;

  uint32_t n_loops; /* loops searched for so far */
  uint32_t n_tables;

  uint64_t outside[MOST_OUTSIDE]; /* [n_outside] */
  size_t n_outside;
};

/* --- states --- */

static bool
is_equal (const Stack *a, const Stack *b)
{
  return a->sp == b->sp && a->bp == b->bp && a->fp == b->fp;
}

static uint16_t
intern (CodeReader *self, Stack stack)
{
  uint64_t key = ((uint64_t) (uint32_t) stack.sp << 40) ^
                 ((uint64_t) (uint32_t) stack.bp << 20) ^ (uint32_t) stack.fp;
  uint32_t slot = (uint32_t) (key * UINT64_C (0x9e3779b97f4a7c15) >> HASH_SHIFT);

  for (; self->hash[slot] != 0; slot = (slot + 1) % HASH_SLOTS)
    if (is_equal (&self->stack[self->hash[slot]], &stack))
      return self->hash[slot];
  if (self->n_states == MOST_STATES)
    return LOST;

  self->stack[self->n_states] = stack;
  self->hash[slot] = (uint16_t) self->n_states;
  return (uint16_t) self->n_states++;
}

static Stack
merge (Stack a, Stack b)
{
  return (Stack){
    .sp = a.sp == b.sp ? a.sp : UNKNOWN,
    .bp = a.bp == b.bp ? a.bp : UNKNOWN,
    .fp = a.fp == b.fp ? a.fp : UNKNOWN,
  };
}

/* --- the queue --- */

static bool
is_start (const CodeReader *self, uint32_t offset)
{
  return self->is_start[offset / 8] >> (offset % 8) & 1;
}

static void
enqueue (CodeReader *self, uint32_t offset)
{
  if (self->n_queued == self->queue_capacity)
    {
      size_t capacity = self->queue_capacity * 2 + 256;
      uint32_t *larger = realloc (self->queue, capacity * sizeof *larger);

      if (larger == NULL)
        {
          self->is_out_of_memory = true;
          return;
        }
      self->queue = larger;
      self->queue_capacity = capacity;
    }
  self->queue[self->n_queued++] = offset;
}

/* Adds the code at `offset` with this stack to the queue. */
static void
reach (CodeReader *self, uint64_t offset, Stack stack)
{
  uint16_t *state, fresh;

  if (offset >= self->size || is_start (self, (uint32_t) offset))
    return; /* outside the code; or a function, whose stack is known */

  state = &self->state[offset];
  if (*state != UNVISITED)
    stack = merge (self->stack[*state], stack);
  fresh = intern (self, stack);
  if (fresh == *state)
    return;
  *state = fresh;
  enqueue (self, (uint32_t) offset);
}

static void
add_start (CodeReader *self, uint64_t offset)
{
  if (offset >= self->size || is_start (self, (uint32_t) offset))
    return;

  self->is_start[offset / 8] |= (uint8_t) (1 << (offset % 8));
  self->is_late = self->is_late || self->state[offset] != UNVISITED;
  if (self->state[offset] != ENTRY)
    {
      self->state[offset] = ENTRY;
      enqueue (self, (uint32_t) offset);
    }
}

/* --- what an instruction does --- */

static int32_t
moved (int32_t from, int64_t by)
{
  if (from == UNKNOWN || by > MOST_FRAME || by < -MOST_FRAME || from + by < 0 ||
      from + by > 2 * MOST_FRAME)
    return UNKNOWN;
  return (int32_t) (from + by);
}

static void
spoil_bp (Stack *stack)
{
  if (stack->fp == 0)
    stack->fp = UNKNOWN;
  stack->bp = UNKNOWN;
}

static void
pop_bp (Stack *stack, int32_t from)
{
  bool is_callers = from != UNKNOWN && stack->fp == from;

  stack->bp = UNKNOWN;
  stack->fp = is_callers ? 0 : UNKNOWN;
}

static Stack
apply (Stack stack, const X86Instruction *instruction)
{
  switch (instruction->kind)
    {
    case X86_PUSH:
      stack.sp = moved (stack.sp, 8);
      if (instruction->number == X86_BP && stack.fp == 0 && stack.sp != UNKNOWN)
        stack.fp = stack.sp;
      break;
    case X86_POP:
      if (instruction->number == X86_BP)
        pop_bp (&stack, stack.sp);
      stack.sp = moved (stack.sp, -8);
      break;
    case X86_ADD_SP:
      stack.sp = moved (stack.sp, -instruction->value);
      break;
    case X86_SP_FROM_BP:
      stack.sp = moved (stack.bp, -instruction->value);
      break;
    case X86_BP_FROM_SP:
      spoil_bp (&stack);
      stack.bp = moved (stack.sp, -instruction->value);
      break;
    case X86_LEAVE:
      stack.sp = moved (stack.bp, -8);
      pop_bp (&stack, stack.bp);
      break;
    case X86_SPOIL_SP:
      stack.sp = UNKNOWN;
      break;
    case X86_SPOIL_BP:
      spoil_bp (&stack);
      break;
    case X86_ZERO_BP:
      /* A function with a caller saves BP first. */
      if (stack.fp == 0)
        stack.fp = OUTERMOST;
      spoil_bp (&stack);
      break;
    case X86_STORE_BP:
      if (stack.fp == 0 && stack.sp != UNKNOWN && stack.sp > instruction->value)
        stack.fp = moved (stack.sp, -instruction->value);
      break;
    case X86_LOAD_BP:
      pop_bp (&stack, moved (stack.sp, -instruction->value));
      break;
    default:
      break;
    }
  return stack;
}

static bool
is_padding_at (const CodeReader *self, uint64_t offset)
{
  X86Instruction instruction;

  return sysprof_x86_decode (self->code + offset, self->size - offset, self->start + offset,
                             &instruction) &&
         instruction.kind == X86_PADDING;
}

/* Whether a function seems to begin here. Used only for the code after a call, which may not
 * return. */
static bool
looks_like_start (const CodeReader *self, uint64_t offset)
{
  const uint8_t *code = self->code + offset;
  uint64_t left = self->size - offset;

  if (left < 4)
    return true;
  if (code[0] == 0xcc || code[0] == 0x90 || (code[0] == 0x66 && code[1] == 0x90) ||
      (code[0] == 0x0f && code[1] == 0x1f) ||
      ((code[0] == 0x66 || code[0] == 0x2e) && (offset + self->start) % 16 != 0 &&
       is_padding_at (self, offset)))
    return true; /* padding */
  if ((offset + self->start) % 16 != 0)
    return false;
  return memcmp (code, "\xf3\x0f\x1e\xfa", 4) == 0 || code[0] == 0x55 ||
         (code[0] == 0x41 && code[1] >= 0x54 && code[1] <= 0x57) ||
         (code[0] == 0x48 && code[1] == 0x83 && code[2] == 0xec) || code[0] == 0x53;
}

#define MOST_PADDING 15 /* bytes of one instruction */

/* Whether there is padding before this offset. */
static bool
is_behind_padding (const CodeReader *self, uint64_t offset)
{
  X86Instruction instruction;

  for (unsigned n = 1; n <= MOST_PADDING && n <= offset; n++)
    if (sysprof_x86_decode (self->code + offset - n, n, 0, &instruction) &&
        instruction.length == n && instruction.kind == X86_PADDING)
      return true;
  return offset > 0 && self->code[offset - 1] == 0xcc;
}

#define MOST_LOOP  256   /* instructions */
#define MOST_LOOPS 16384 /* limit for searches, whatever the code is */

/* Whether the code after padding is the target of a backward jump: compilers align loops,
 * too. */
static bool
is_loop_behind_padding (CodeReader *self, uint64_t offset)
{
  uint64_t loop = 0;

  if (self->n_loops++ > MOST_LOOPS)
    return false;
  for (unsigned i = 0; i < MOST_LOOP && offset < self->size; i++)
    {
      X86Instruction instruction;

      if (!sysprof_x86_decode (self->code + offset, self->size - offset, self->start + offset,
                               &instruction) ||
          instruction.kind == X86_RETURN)
        return false;
      if (loop == 0 && instruction.kind != X86_PADDING)
        {
          if (i == 0)
            return false;
          loop = self->start + offset;
        }
      if ((instruction.kind == X86_BRANCH || instruction.kind == X86_JUMP) && loop != 0 &&
          instruction.target == loop)
        return true;
      offset += instruction.length;
    }
  return false;
}

void
sysprof_code_reader_add_start (CodeReader *self, uint64_t address)
{
  add_start (self, address - self->start);
}

void
sysprof_code_reader_add_likely_start (CodeReader *self, uint64_t address)
{
  uint64_t offset = address - self->start;

  /* LLVM fills gaps with int3, which is never executed. */
  while (offset < self->size && self->code[offset] == 0xcc)
    offset++;
  if (offset < self->size &&
      ((offset > address - self->start && (offset + self->start) % FUNCTION_ALIGN == 0) ||
       looks_like_start (self, offset)))
    add_start (self, offset);
}

/* Whether there is only an instruction that ends the process (as in musl's
 * __stack_chk_fail). */
static bool
is_end_of_process (const CodeReader *self, uint64_t offset)
{
  static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };

  if (offset + 6 > self->size)
    return false;
  if (memcmp (self->code + offset, endbr64, sizeof endbr64) == 0)
    offset += sizeof endbr64;
  return self->code[offset] == 0xf4 /* hlt */ ||
         (self->code[offset] == 0x0f && self->code[offset + 1] == 0x0b /* ud2 */);
}

#define MOST_JUMP   (1 << 18) /* bytes within a function */
#define MOST_TABLES 16384     /* limit for searches, as for loops */

/* Reads the targets of a table. FALSE: it is not a table. */
static bool
read_targets (const CodeReader *self,
              const JumpTable *table,
              uint64_t offset,
              uint32_t *targets)
{
  uint8_t bytes[8 * JUMP_TABLE_MOST];
  size_t size = table->is_relative ? 4 : 8;

  if (sysprof_elf_image_peek_code (self->image, table->address, bytes, table->n * size) !=
      ELF_OK)
    return false;
  for (uint32_t i = 0; i < table->n; i++)
    {
      uint64_t target = 0;
      int32_t distance;

      memcpy (table->is_relative ? (void *) &distance : &target, bytes + i * size, size);
      if (table->is_relative)
        target = table->address + (uint64_t) (int64_t) distance;
      target -= self->start;
      if (target >= self->size ||
          (target > offset ? target - offset : offset - target) > MOST_JUMP)
        return false;
      targets[i] = (uint32_t) target;
    }
  return true;
}

/* Finds the table of the jump at `offset`. `targets` [JUMP_TABLE_MOST] are its possible
 * targets. */
static bool
find_table (CodeReader *self, uint32_t offset, JumpTable *table, uint32_t *targets)
{
  JumpCode code = { self->code, self->size, self->start, self->state };

  return self->n_tables++ < MOST_TABLES && sysprof_jump_table_find (&code, offset, table) &&
         read_targets (self, table, offset, targets);
}

static void
jump_by_table (CodeReader *self, uint32_t offset, Stack stack)
{
  uint32_t targets[JUMP_TABLE_MOST];
  JumpTable table;

  if (find_table (self, offset, &table, targets))
    for (uint32_t i = 0; i < table.n; i++)
      reach (self, targets[i], stack);
}

/* Applies the instruction at `offset`, and adds the instructions that may follow it. */
static void
visit (CodeReader *self, uint32_t offset)
{
  Stack stack = self->stack[self->state[offset]];
  X86Instruction instruction;
  uint64_t next;

  if (!sysprof_x86_decode (self->code + offset, self->size - offset, self->start + offset,
                           &instruction))
    return;

  next = offset + (uint64_t) instruction.length;
  switch (instruction.kind)
    {
    case X86_RETURN:
      return;
    case X86_JUMP:
      if (instruction.target != 0)
        reach (self, instruction.target - self->start, stack);
      else
        jump_by_table (self, offset, stack);
      return;
    case X86_BRANCH:
      reach (self, instruction.target - self->start, stack);
      break;
    case X86_CALL:
      if (instruction.target != 0 && instruction.target != self->start + next)
        {
          if (instruction.target - self->start < self->size)
            add_start (self, instruction.target - self->start);
          else if (self->n_outside < MOST_OUTSIDE)
            self->outside[self->n_outside++] = instruction.target;
          if (is_end_of_process (self, instruction.target - self->start))
            return;
        }
      if (next < self->size && looks_like_start (self, next) &&
          !is_loop_behind_padding (self, next))
        return;
      break;
    case X86_CODE_ADDRESS: /* a function whose address is taken; or a label */
      if (instruction.target - self->start < self->size &&
          instruction.target % FUNCTION_ALIGN == 0 &&
          (looks_like_start (self, instruction.target - self->start) ||
           is_behind_padding (self, instruction.target - self->start)))
        add_start (self, instruction.target - self->start);
      break;
    default:
      stack = apply (stack, &instruction);
      break;
    }
  reach (self, next, stack);
}

static void
follow (CodeReader *self)
{
  while (self->n_queued > 0 && !self->is_out_of_memory)
    visit (self, self->queue[--self->n_queued]);
}

/* Follows the code again, with all starts of functions known. */
static void
follow_again (CodeReader *self)
{
  memset (self->state, 0, self->size * sizeof *self->state);
  self->n_outside = 0;
  for (uint64_t offset = 0; offset < self->size && !self->is_out_of_memory; offset++)
    if (is_start (self, (uint32_t) offset))
      {
        self->state[offset] = ENTRY;
        enqueue (self, (uint32_t) offset);
      }
  follow (self);
}

/* --- code without references --- */

/* deregister_tm_clones() and register_tm_clones(), after which a program's own code begins: lea
 * …, %rdi; lea …; then cmp %rdi, %rax, or sub %rdi, %rsi. */
static bool
is_compilers_own (const CodeReader *self, uint64_t offset)
{
  static const uint8_t first[] = { 0x48, 0x8d, 0x3d };
  static const uint8_t compares[] = { 0x48, 0x39, 0xf8 };
  static const uint8_t subtracts[] = { 0x48, 0x29, 0xfe };
  const uint8_t *code = self->code + offset;

  return self->size - offset > 17 && memcmp (code, first, sizeof first) == 0 &&
         (memcmp (code + 14, compares, sizeof compares) == 0 ||
          memcmp (code + 14, subtracts, sizeof subtracts) == 0);
}

/* Whether this is a call followed by padding that is not reached: then it does not return. */
static bool
is_last_call (const CodeReader *self, uint64_t offset, const X86Instruction *call)
{
  uint64_t next = offset + call->length;

  return call->kind == X86_CALL && next < self->size && self->state[next] == UNVISITED &&
         is_padding_at (self, next);
}

/* After the end of reached code, a function may begin whose address is only used elsewhere: it
 * is aligned, and looks like a function. But it may also be a part of the function before, if
 * that has a jump through an unknown table; then it gets no rules. One pass from the beginning
 * finds all such functions, because everything that is reached from one is followed at once. */
static void
follow_loose_functions (CodeReader *self)
{
  bool is_behind_end = false; /* the code before was reached, and does not continue here */
  bool has_table = false;     /* the function has a jump through an unknown table */
  X86Kind before = X86_OTHER; /* the previous instruction */
  uint32_t targets[JUMP_TABLE_MOST];
  JumpTable table;

  for (uint64_t offset = 0; offset < self->size && !self->is_out_of_memory;)
    {
      X86Instruction instruction;

      if (!sysprof_x86_decode (self->code + offset, self->size - offset, self->start + offset,
                               &instruction))
        {
          offset++;
          is_behind_end = false;
          before = X86_OTHER;
          continue;
        }

      if (self->state[offset] == UNVISITED && is_behind_end && !has_table &&
          (self->start + offset) % FUNCTION_ALIGN == 0 &&
          (is_compilers_own (self, offset) || looks_like_start (self, offset)) &&
          instruction.kind != X86_PADDING && instruction.kind != X86_RETURN)
        {
          add_start (self, offset);
          follow (self);
        }

      if (is_start (self, (uint32_t) offset))
        has_table = false;
      /* Right after a branch, this is a tail call through a weak pointer. */
      if (instruction.kind == X86_JUMP && instruction.target == 0 && !instruction.is_got &&
          before != X86_BRANCH && !find_table (self, (uint32_t) offset, &table, targets))
        has_table = true;
      before = instruction.kind;
      if (self->state[offset] != UNVISITED)
        is_behind_end = instruction.kind == X86_JUMP || instruction.kind == X86_RETURN ||
                        is_last_call (self, offset, &instruction);
      else if (instruction.kind != X86_PADDING && self->code[offset] != 0xcc)
        is_behind_end = false;
      offset += instruction.length;
    }
}

/* --- rows --- */

static uint32_t
rule_of (const Stack *stack)
{
  uint32_t slot = SLOT_LOST;

  if (stack->fp == OUTERMOST)
    return RULE_END;
  if (stack->fp == 0)
    slot = SLOT_UNCHANGED;
  else if (stack->fp > 0 && stack->fp % 8 == 0)
    slot = (uint32_t) stack->fp / 8;

  /* If both are known, the frame pointer is better: after a function has aligned its stack,
   * only the frame pointer gives the exact SP of its caller. */
  if (stack->bp > 0 && stack->bp % 8 == 0 && stack->bp <= (int32_t) RULE_MOST_OFFSET)
    return RULE_MAKE (RULE_BP, stack->bp, slot);
  if (stack->sp <= 0 || stack->sp % 8 != 0)
    return RULE_NONE;
  if (stack->sp <= (int32_t) RULE_MOST_OFFSET)
    return RULE_MAKE (RULE_SP, stack->sp, slot);
  return RULE_MAKE_FAR (stack->sp, slot <= RULE_FAR_MOST_SLOT ? slot : SLOT_FAR_LOST);
}

/* A return finds its address at SP, whatever the distance of SP from the CFA is. An addition to
 * SP right before it gives the distance there. */
static uint32_t
rule_before_return (const CodeReader *self, uint64_t offset)
{
  X86Instruction instruction;
  int64_t size = 0;

  if (sysprof_x86_decode (self->code + offset, self->size - offset, self->start + offset,
                          &instruction) &&
      instruction.kind == X86_ADD_SP)
    {
      size = instruction.value;
      offset += instruction.length;
    }
  if (offset >= self->size || (self->code[offset] != 0xc3 && self->code[offset] != 0xc2) ||
      size < 0 || size % 8 != 0 || size + 8 > (int64_t) RULE_MOST_OFFSET)
    return RULE_NONE;
  return RULE_MAKE (RULE_SP, size + 8, SLOT_LOST);
}

/* Whether [from, to) is padding, which is never executed and needs no rows. */
static bool
is_padding (const CodeReader *self, uint64_t from, uint64_t to)
{
  while (from < to)
    {
      X86Instruction instruction;

      if (self->code[from] == 0xcc || self->code[from] == 0)
        from++;
      else if (sysprof_x86_decode (self->code + from, to - from, self->start + from,
                                   &instruction) &&
               instruction.kind == X86_PADDING)
        from += instruction.length;
      else
        return false;
    }
  return true;
}

uint64_t
sysprof_code_reader_run (CodeReader *self, CfiRow row, void *data)
{
  uint64_t covered = 0;

  follow (self);
  follow_loose_functions (self);
  if (self->is_late)
    follow_again (self);
  if (self->is_out_of_memory)
    return 0;

  for (uint64_t offset = 0; offset < self->size;)
    {
      uint64_t next = offset;
      uint16_t state = self->state[offset];
      X86Instruction instruction;
      uint32_t rule;

      while (next < self->size && self->state[next] == UNVISITED)
        next++;
      if (next > offset)
        {
          if (offset == 0 || !is_padding (self, offset, next))
            row (data, self->start + offset, RULE_NONE);
          offset = next;
          continue;
        }

      rule = rule_of (&self->stack[state]);
      if (RULE_KIND (rule) == RULE_NONE)
        rule = rule_before_return (self, offset);
      row (data, self->start + offset, rule);
      if (!sysprof_x86_decode (self->code + offset, self->size - offset, self->start + offset,
                               &instruction))
        instruction.length = 1;
      covered += rule != RULE_NONE ? instruction.length : 0;
      offset += instruction.length;
    }
  return covered;
}

/* --- the reader --- */

CodeReader *
sysprof_code_reader_new (ElfImage *image, uint64_t start, uint64_t end)
{
  CodeReader *self;

  if (end <= start || end - start > MOST_CODE)
    return NULL;
  self = calloc (1, sizeof *self);
  if (self == NULL)
    return NULL;

  self->image = image;
  self->start = start;
  self->size = end - start;
  self->state = calloc (self->size, sizeof *self->state);
  self->is_start = calloc (self->size / 8 + 1, 1);
  if (self->state == NULL || self->is_start == NULL ||
      sysprof_elf_image_read_code (image, start, end, &self->code) != ELF_OK)
    {
      sysprof_code_reader_free (self);
      return NULL;
    }

  self->n_states = FIRST_STATE;
  (void) intern (self, (Stack){ UNKNOWN, UNKNOWN, UNKNOWN }); /* LOST */
  (void) intern (self, at_entry);                             /* ENTRY */
  return self;
}

const uint64_t *
sysprof_code_reader_get_outside (const CodeReader *self, size_t *n)
{
  *n = self->n_outside;
  return self->outside;
}

void
sysprof_code_reader_free (CodeReader *self)
{
  if (self == NULL)
    return;
  free (self->code);
  free (self->state);
  free (self->is_start);
  free (self->queue);
  free (self);
}
