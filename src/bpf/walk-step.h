// SPDX-License-Identifier: GPL-3.0-or-later

/* One step of a walk: from a frame to its caller. One source for the program in the kernel and for the walker over
 * copied stacks.
 *
 * Who includes this defines the WalkInput and the functions below, and WALK_IS_ARM64 (state): in the kernel a constant, so
 * that nothing is left there of the other machine's steps; outside, where stacks of both are walked, what the state says.
 *
 *   WalkState state = { .ip = …, .sp = …, .fp = …, .is_exact = true, .first_mapping = …, .n_mappings = … };
 *   (arm64: .is_arm64 = true, .lr = …, .code_mask = …)
 *   do { push (state.ip); } while (sysprof_walk_step (&state, &input));
 *   … state.reason, state.used
 *
 * Loops have constant bounds, every index is checked, there is no signed division: the verifier reads this as well. */

#pragma once

#include "bpf/layout.h"

typedef struct WalkInput WalkInput;
typedef struct WalkState WalkState;

#ifdef __bpf__
#  ifdef __TARGET_ARCH_arm64
#    define WALK_IS_ARM64(state) true
#  else
#    define WALK_IS_ARM64(state) false
#  endif
#else
#  define WALK_IS_ARM64(state) ((state)->is_arm64)
#endif

/* A word of the stack; false: it is not there. */
static bool walk_read (WalkInput *input, uint64_t address, uint64_t *word);
/* UNWIND_SLAB_SIZE bytes, or NULL. */
static const uint8_t *walk_slab (WalkInput *input, uint32_t index);
/* An entry of the page directory; any one for an index beyond its end. */
static uint32_t walk_page (WalkInput *input, uint32_t index);
/* Never NULL; any one for an index beyond their end. */
static const UnwindMapping *walk_mapping (WalkInput *input, uint32_t index);
/* Of the first frame, by DWARF number; false: not among those that were kept. */
static bool walk_register (WalkInput *input, uint32_t number, uint64_t *value);
/* Where the thread's own variables end (FS); false: not known. */
static bool walk_thread_base (WalkInput *input, uint64_t *base);
/* Leaves the mapping that holds `address`, which is a program's, in the state: walk_find_listed(), or something better. */
static bool walk_look_up (WalkState *state, WalkInput *input, uint64_t address);
/* The rule in force at byte `address` of page `page`: walk_find_rule_at(), or something that remembers what it found. */
static uint32_t walk_rule_at (WalkInput *input, uint32_t page, uint32_t address);
/* Eight bytes of the program's code, the first in the lowest bits; false: not there. */
static bool walk_code (WalkInput *input, uint64_t address, uint64_t *bytes);

#define WALK_INLINE static inline __attribute__ ((always_inline))

/* For functions that are called several times, and for steps that are rare: the program in the kernel has them verified once, each
 * on its own, and not again for each way that leads to them. */
#ifdef __bpf__
#  define WALK_OUTLINE __attribute__ ((noinline))
#  define WALK_CHECK(pointer, otherwise) \
    if ((pointer) == 0)                  \
    return otherwise
#else
#  define WALK_OUTLINE WALK_INLINE
#  define WALK_CHECK(pointer, otherwise)
#endif

/* Keeps the compiler from moving a check away from what it guards, which the verifier would not follow. */
#define WALK_KEEP(value) __asm__ volatile("" : "+r"(value))

#define WALK_MOST_FP_FRAME \
  (UINT64_C (16) << 20) /* bytes that a frame may have where only the frame pointer tells */

struct WalkState
{
  uint64_t ip; /* of the frame that is next */
  uint64_t sp; /* after the call returned: the CFA of the frame before */
  uint64_t fp;
  uint64_t lr;        /* arm64: of this frame, as long as `has_registers` */
  uint64_t code_mask; /* arm64: the bits of a return address that are not its signature */
  uint64_t
      context; /* where a signal frame keeps the registers of this frame; 0 = they are those of the input, or gone */

  /* A copy of the mapping that was found last; end = 0: none. */
  UnwindMapping mapping;

  uint32_t first_mapping; /* of the process */
  uint32_t n_mappings;
  uint32_t reason; /* WalkReason */
  uint32_t used;   /* WALK_USED_… */

  bool is_by_fp; /* the step before was one by frame pointer */
  bool is_exact; /* ip is the instruction itself, not the one behind a call */
  bool
      has_registers; /* registers other than sp and fp are still this frame's: first frame, or behind a signal */
  bool has_bx; /* `bx` is this frame's */
  bool is_arm64;
  uint8_t n_stacks_left;    /* of Go's runtime, for that of a goroutine */
  uint8_t n_languages_left; /* C for Go, or the other way */
  bool
      has_lost_sp; /* arm64: `sp` lies somewhere in the frame that was left by its frame pointer */
  uint64_t bx;
  uint64_t
      from_c; /* where on the thread's stack C called the Go that is walked last; 0 = nowhere yet */
};

#define WALK_RBX 3u /* DWARF's number */

/* --- tables --- */

/* Masks instead of comparisons, here and in what follows: every branch doubles what the verifier has to follow, and an
 * offset that is wrong may read anything in a slab. */
WALK_INLINE uint32_t
walk_slab_u16 (const uint8_t *slab, uint32_t offset)
{
  offset &= (UNWIND_SLAB_SIZE - 1) & ~1u;
  WALK_KEEP (offset);
  return *(const uint16_t *) (const void *) (slab + (offset & (UNWIND_SLAB_SIZE - 1) & ~1u));
}

WALK_INLINE uint32_t
walk_slab_u32 (const uint8_t *slab, uint32_t offset)
{
  offset &= (UNWIND_SLAB_SIZE - 1) & ~3u;
  WALK_KEEP (offset);
  return *(const uint32_t *) (const void *) (slab + (offset & (UNWIND_SLAB_SIZE - 1) & ~3u));
}

/* All bits where a ≤ b, else none; both below 2^31. */
WALK_INLINE uint32_t
walk_is_at_most (uint32_t a, uint32_t b)
{
  return (uint32_t) ((int32_t) (a - b - 1) >> 31);
}

/* The rule in force at the byte `address` of the page whose block begins at `block`. */
WALK_INLINE uint32_t
walk_find_rule (const uint8_t *slab, uint32_t block, uint32_t address)
{
  uint32_t at = block + 2 * (address >> 8 & 255);
  uint32_t low = walk_slab_u16 (slab, at);
  uint32_t n = walk_slab_u16 (slab, at + 2) - low;
  uint32_t n_rules = walk_slab_u16 (slab, block + UNWIND_N_RULES_OFFSET);
  uint32_t rows = block + UNWIND_RULES_OFFSET + 4 * n_rules;
  uint32_t rule;

  /* The row in force is that before these, or one of them: `n` of them are left, that before them is `low` - 1. 256 bytes
   * have at most 256 rows. */
  n &= 511;
  for (uint32_t i = 0; i < 9 && n > 0; i++)
    {
      uint32_t half = (n + 1) >> 1;
      uint32_t row = walk_slab_u16 (slab, rows + 2 * (low + half - 1)) >> 8;

      low = (low + (half & walk_is_at_most (row, address & 255))) & 0xffff;
      n = (n - half) & 511;
    }

  rule = walk_slab_u16 (slab, rows + 2 * (low - 1)) & 255;
  return walk_slab_u32 (slab, block + UNWIND_RULES_OFFSET + 4 * rule);
}

/* --- mappings --- */

/* From the list of the process. */
WALK_OUTLINE bool
walk_find_listed (WalkState *state, WalkInput *input, uint64_t address)
{
  const UnwindMapping *mapping;
  uint32_t low;
  uint32_t n;

  WALK_CHECK (state, false);
  WALK_CHECK (input, false);
  low = state->first_mapping;
  n = state->n_mappings;
  n &= 2 * UNWIND_MOST_MAPPINGS - 1;
  for (uint32_t i = 0; i < 17 && n > 0; i++)
    {
      uint32_t half = (n + 1) >> 1;
      uint64_t start = walk_mapping (input, low + half - 1)->start;

      /* All bits of the sign where start ≤ address. */
      low += half & (uint32_t) ((int64_t) (start - address - 1) >> 63);
      low &= UNWIND_MOST_MAPPINGS - 1;
      n = (n - half) & (2 * UNWIND_MOST_MAPPINGS - 1);
    }

  if (low == (state->first_mapping & (UNWIND_MOST_MAPPINGS - 1)))
    return false;
  mapping = walk_mapping (input, low - 1);
  if (address < mapping->start || address >= mapping->end)
    return false;
  state->mapping = *mapping;
  return true;
}

/* Leaves the mapping that holds `address` in the state. */
WALK_INLINE bool
walk_find_mapping (WalkState *state, WalkInput *input, uint64_t address)
{
  if (address - state->mapping.start < state->mapping.end - state->mapping.start)
    return true;
  if (address >> 63 != 0)
    return false;
  return walk_look_up (state, input, address);
}

/* From the tables. RULE_NONE where the page, one of the directory, has no rules. */
WALK_OUTLINE uint32_t
walk_find_rule_at (WalkInput *input, uint32_t page, uint32_t address)
{
  const uint8_t *slab;
  uint32_t entry;

  WALK_CHECK (input, RULE_NONE);
  entry = walk_page (input, page);
  if (entry == 0)
    return RULE_NONE;
  slab = walk_slab (input, UNWIND_PAGE_SLAB (entry));
  if (slab == 0)
    return RULE_NONE;

  return walk_find_rule (slab, UNWIND_PAGE_OFFSET (entry), address);
}

/* `address` lies in the state's mapping. */
WALK_INLINE uint32_t
walk_rule_of (WalkState *state, WalkInput *input, uint64_t address)
{
  uint64_t at = address - state->mapping.origin;
  uint64_t page = at >> UNWIND_PAGE_SHIFT;

  if (page >= state->mapping.n_pages)
    return RULE_NONE;
  return walk_rule_at (input, state->mapping.first_page + (uint32_t) page,
                       (uint32_t) at & (UNWIND_PAGE_SIZE - 1));
}

/* --- steps --- */

WALK_INLINE bool
walk_stop (WalkState *state, uint32_t reason)
{
  bool is_doubtful = (state->used & WALK_USED_DOUBT) != 0;

  state->reason =
      is_doubtful && (reason == WALK_END || reason == WALK_ROOT) ? WALK_TABLE_FAILED : reason;
  return false;
}

/* A return address without the signature that arm64 puts into bits that no address has. */
WALK_INLINE uint64_t
walk_strip (const WalkState *state, uint64_t ip)
{
  return WALK_IS_ARM64 (state) ? ip & state->code_mask : ip;
}

WALK_INLINE bool
walk_go_on (WalkState *state, uint64_t ip, uint64_t sp, uint64_t fp)
{
  if (ip == 0)
    return walk_stop (state, WALK_ZERO);

  state->ip = ip;
  state->sp = sp;
  state->fp = fp;
  state->context = 0;
  state->is_exact = false;
  state->is_by_fp = false;
  state->has_registers = false;
  state->has_bx = false;
  state->has_lost_sp = false;
  return true;
}

/* Where code that keeps frame pointers is without a frame of its own: in its first two instructions and in its last ones. How
 * many words stand on the stack before the return address; 2: the frame is there, or nobody knows. `bytes` begin a byte before
 * the instruction. */
WALK_INLINE uint32_t
walk_words_before_return (uint64_t bytes)
{
  uint32_t before = bytes & 0xff, one = bytes >> 8 & 0xff, two = bytes >> 8 & 0xffff;
  uint32_t three = bytes >> 8 & 0xffffff;

  if ((uint32_t) (bytes >> 8) == 0xfa1e0ff3u /* endbr64 */ || one == 0x55 /* push %rbp */ ||
      one == 0xc3 || one == 0xc2 || two == 0xc3f3 /* ret */)
    return 0;
  /* jmp *x(%rip), also with a prefix: a stub through which another file's or a chosen function is called (a static program's
   * have no rules), or a call in the tail. Jumps within a function do not look like this. */
  if (two == 0x25ff || three == 0x25fff2 || three == 0x25ff3e)
    return 0;
  /* jmp behind pop %rbp: a call in the tail */
  if (before == 0x5d && (one == 0xe9 || one == 0xeb || (two & 0x38ff) == 0x20ff))
    return 0;
  if (three == 0xe58948 || three == 0xec8b48 /* mov %rsp, %rbp: it is pushed */)
    return 1;
  return 2;
}

/* arm64: is the return address in X30, and the caller's frame pointer in X29, before this instruction? So they are where a
 * function begins, in its last instruction, and in the stubs through which another file's functions are called. */
WALK_INLINE bool
walk_is_before_frame (uint32_t instruction)
{
  return instruction == 0xd503233f /* paciasp */ || instruction == 0xd503245f /* bti c */ ||
         (instruction & 0xffc07fff) == 0xa9807bfd /* stp x29, x30, [sp, #n]! */ ||
         instruction == 0xd65f03c0 /* ret */ || instruction == 0xd65f0bff /* retaa */ ||
         instruction == 0xd50323bf /* autiasp */ ||
         (instruction & 0x9f00001f) == 0x90000010 /* adrp x16 */ ||
         (instruction & 0xffc003ff) == 0xf9400211 /* ldr x17, [x16, #n] */ ||
         (instruction & 0xffc003ff) == 0x91000210 /* add x16, x16, #n */ ||
         instruction == 0xd61f0220 /* br x17 */;
}

WALK_INLINE bool
walk_step_out_of_prologue_arm64 (WalkState *state, WalkInput *input)
{
  uint64_t bytes = 0, fp = state->fp, ip = state->lr, sp = state->sp;
  uint32_t instruction;
  bool is_pushed;

  if (!walk_code (input, state->ip - 1, &bytes))
    return false;
  instruction = (uint32_t) (bytes >> 8);
  is_pushed = (instruction & 0xffc003ff) == 0x910003fd; /* add x29, sp, #n: mov, with 0 */
  if (!is_pushed && !walk_is_before_frame (instruction))
    return false;
  if (is_pushed)
    {
      sp += instruction >> 10 & 0xfff;
      if (!walk_read (input, sp, &fp) || !walk_read (input, sp + 8, &ip))
        return false;
      sp += 16;
    }

  ip = walk_strip (state, ip);
  if (!walk_find_mapping (state, input, ip - 1))
    return false;
  state->used |= WALK_USED_FP;
  if (!walk_go_on (state, ip, sp, fp))
    return false;
  state->has_lost_sp = is_pushed;
  return true;
}

/* The first frame, in code without rules, where its own frame is not there; false: it is, or nobody knows. */
WALK_INLINE bool
walk_step_out_of_prologue (WalkState *state, WalkInput *input)
{
  uint64_t bytes = 0, fp = state->fp, ip = 0;
  uint32_t n;

  if (WALK_IS_ARM64 (state))
    return walk_step_out_of_prologue_arm64 (state, input);
  if (!walk_code (input, state->ip - 1, &bytes))
    return false;
  n = walk_words_before_return (bytes);
  if (n == 2 || !walk_read (input, state->sp + 8 * n, &ip) ||
      (n == 1 && !walk_read (input, state->sp, &fp)) ||
      !walk_find_mapping (state, input, ip - 1))
    return false;

  state->used |= WALK_USED_FP;
  return walk_go_on (state, ip, state->sp + 8 * n + 8, fp);
}

/* Code without rules. That the frame pointer points at a saved one, and a return address into code stands above it, is
 * as sure as it gets: a register that happens to hold a stack address rarely passes. */
WALK_OUTLINE bool
walk_step_by_fp (WalkState *state, WalkInput *input)
{
  uint64_t caller_fp = 0, ip = 0;
  uint64_t fp;

  WALK_CHECK (state, false);
  WALK_CHECK (input, false);
  fp = state->fp;
  if (state->has_registers && walk_step_out_of_prologue (state, input))
    return true;

  /* Where a process or a thread begins, the frame pointer is 0. Where nothing tells that code keeps frame pointers, it may as well
   * be a number. */
  if (fp == 0 && state->is_by_fp)
    return walk_stop (state, WALK_ROOT);

  if ((fp & 7) != 0 || fp < state->sp || fp - state->sp > WALK_MOST_FP_FRAME)
    return walk_stop (state, WALK_BAD_FP);
  if (!walk_read (input, fp, &caller_fp) || !walk_read (input, fp + 8, &ip))
    return walk_stop (state, WALK_BAD_FP);
  ip = walk_strip (state, ip);
  if (ip == 0 && caller_fp == 0 && state->is_by_fp)
    return walk_stop (state, WALK_ROOT);
  /* What the caller's frame pointer was may be anything, as long as the caller has rules. */
  if (!walk_find_mapping (state, input, ip - 1))
    return walk_stop (state, WALK_BAD_FP);

  state->used |= state->has_registers ? WALK_USED_FP | WALK_USED_FP_FIRST : WALK_USED_FP;
  if (!walk_go_on (state, ip, fp + 16, caller_fp))
    return false;
  state->is_by_fp = true;
  /* The pair may stand anywhere in the frame. */
  state->has_lost_sp = WALK_IS_ARM64 (state);
  return true;
}

/* A 32-bit process has no tables. Where it waits in a system call, three words stand before the return address of the kernel's own
 * stub, which is called for it: the caller's frame pointer is the first of them. */
#define WALK_COMPAT_STUB_FRAME 16

WALK_INLINE bool
walk_step_out_of_compat_stub (WalkState *state, WalkInput *input)
{
  uint64_t low = 0, high = 0;

  if (!walk_read (input, state->sp, &low) || !walk_read (input, state->sp + 8, &high) ||
      !walk_find_mapping (state, input, (high >> 32) - 1))
    return false;
  return walk_go_on (state, high >> 32, state->sp + WALK_COMPAT_STUB_FRAME, (uint32_t) low);
}

/* Where a 32-bit process begins, the stack has the number of its arguments, the addresses of these, which lie above, and a 0. A
 * function that a compiler made and that begins there saves a frame pointer of 0, and seems to return to that number. */
WALK_INLINE bool
walk_is_compat_entry (WalkInput *input, uint64_t fp, uint64_t words)
{
  uint64_t n = words >> 32, argument = 0, end = 0;

  return (uint32_t) words == 0 && n > 0 && walk_read (input, fp + 8, &argument) &&
         (uint32_t) argument > fp && walk_read (input, fp + 8 + 4 * n, &end) &&
         (uint32_t) end == 0;
}

/* One step in a 32-bit process, whose words have four bytes. */
WALK_OUTLINE bool
sysprof_walk_compat_step (WalkState *state, WalkInput *input, bool is_in_call)
{
  uint64_t words = 0;
  uint64_t fp;

  WALK_CHECK (state, false);
  WALK_CHECK (input, false);
  fp = state->fp;
  state->used |= WALK_USED_COMPAT;
  if (state->has_registers && is_in_call && walk_step_out_of_compat_stub (state, input))
    return true;
  if (fp == 0 && !state->has_registers)
    return walk_stop (state, WALK_ROOT);

  if ((fp & 3) != 0 || fp < state->sp || fp - state->sp > WALK_MOST_FP_FRAME ||
      !walk_read (input, fp, &words))
    return walk_stop (state, WALK_COMPAT);
  /* In the first frame the register may hold any number. */
  if (words == 0)
    return walk_stop (state, state->has_registers ? WALK_COMPAT : WALK_ROOT);
  if (walk_is_compat_entry (input, fp, words))
    return walk_stop (state, WALK_ROOT);
  if (!walk_find_mapping (state, input, (words >> 32) - 1))
    return walk_stop (state, WALK_COMPAT);
  return walk_go_on (state, words >> 32, fp + 8, (uint32_t) words);
}

/* The signal handler's return address leads to a few bytes that ask the kernel to restore the registers: SP points at
 * struct ucontext. uc_flags, uc_link, uc_stack: 40 bytes; then r8 … r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip. */
#define WALK_SIGNAL_BP 120
#define WALK_SIGNAL_SP 160
#define WALK_SIGNAL_IP 168

/* arm64: SP points at siginfo, 128 bytes; then struct ucontext: uc_flags, uc_link, uc_stack, a mask as large as ever it may
 * become: 168 bytes, aligned to 16; then a fault's address, x0 … x30, sp, pc. */
#define WALK_SIGNAL_X0    312
#define WALK_SIGNAL_X29   (WALK_SIGNAL_X0 + 8 * 29)
#define WALK_SIGNAL_ARM64 (WALK_SIGNAL_X0 + 8 * 31) /* sp, pc */

WALK_OUTLINE bool
walk_step_by_signal (WalkState *state, WalkInput *input)
{
  uint64_t ip = 0, sp = 0, fp = 0, lr = 0;
  uint64_t context;
  bool is_arm64;

  WALK_CHECK (state, false);
  WALK_CHECK (input, false);
  is_arm64 = WALK_IS_ARM64 (state);
  context = state->sp;
  if (is_arm64 && state->has_lost_sp)
    return walk_stop (state, WALK_BAD_FP);
  if (!walk_read (input, context + (is_arm64 ? WALK_SIGNAL_ARM64 + 8 : WALK_SIGNAL_IP), &ip) ||
      !walk_read (input, context + (is_arm64 ? WALK_SIGNAL_ARM64 : WALK_SIGNAL_SP), &sp) ||
      !walk_read (input, context + (is_arm64 ? WALK_SIGNAL_X29 : WALK_SIGNAL_BP), &fp) ||
      (is_arm64 && !walk_read (input, context + WALK_SIGNAL_X29 + 8, &lr)))
    return walk_stop (state, WALK_FAULT);
  if (!walk_go_on (state, ip, sp, fp))
    return false;

  state->lr = lr;
  state->context = context;
  state->is_exact = true;
  state->has_registers = true;
  state->used |= WALK_USED_SIGNAL;
  return true;
}

/* Where struct ucontext has the first eight registers by DWARF number: rax, rdx, rcx, rbx, rsi, rdi, rbp, rsp, a byte
 * each from the lowest. (A table in memory would be one more map to load.) */
#define WALK_SIGNAL_LOW_REGISTERS UINT64_C (0xa078687080988890)
#define WALK_SIGNAL_R8            40

/* A register that is neither stack nor frame pointer. */
WALK_INLINE bool
walk_read_register (WalkState *state, WalkInput *input, uint32_t number, uint64_t *value)
{
  uint64_t offset = number < 8 ? WALK_SIGNAL_LOW_REGISTERS >> (8 * number) & 255
                               : WALK_SIGNAL_R8 + 8 * (number & 7);

  if (!state->has_registers)
    {
      *value = state->bx;
      return state->has_bx && number == WALK_RBX;
    }
  if (state->context == 0)
    return walk_register (input, number & 15, value);
  if (WALK_IS_ARM64 (state))
    offset = WALK_SIGNAL_X0 + 8 * (number & 15);
  return walk_read (input, state->context + offset, value);
}

/* The CFA by one of the rules that one frame in a hundred has; false: the walk ended. */
WALK_OUTLINE bool
walk_find_rare_cfa (WalkState *state, WalkInput *input, uint32_t rule, uint64_t *cfa)
{
  uint64_t value = 0;

  WALK_CHECK (state, false);
  WALK_CHECK (input, false);
  WALK_CHECK (cfa, false);
  switch (RULE_KIND (rule))
    {
    case RULE_SP_FAR:
      *cfa = state->sp + RULE_FAR_OFFSET (rule);
      break;
    case RULE_SP_BX:
      *cfa = state->sp + RULE_BX_OFFSET (rule);
      break;
    case RULE_BP_BX:
      *cfa = state->fp + RULE_BX_OFFSET (rule);
      break;
    case RULE_REG:
      if (!walk_read_register (state, input, RULE_REG_NUMBER (rule), &value))
        return walk_stop (state, WALK_ESCAPE);
      *cfa = value + RULE_REG_OFFSET (rule);
      break;
    case RULE_BP_LOAD:
      if (!walk_read (input, state->fp - RULE_OFFSET (rule), cfa))
        return walk_stop (state, WALK_FAULT);
      break;
    case RULE_SP_LOAD:
      if (!walk_read (input, state->sp + RULE_OFFSET (rule), &value))
        return walk_stop (state, WALK_FAULT);
      *cfa = value + 8;
      break;
    case RULE_PLT:
      *cfa = state->sp + ((state->ip & 15) >= RULE_OFFSET (rule) / 8 ? 16 : 8);
      break;
    default:
      return walk_stop (state, WALK_ESCAPE);
    }
  return true;
}

/* The CFA; false: the walk ended. */
WALK_INLINE bool
walk_find_cfa (WalkState *state, WalkInput *input, uint32_t rule, uint64_t *cfa)
{
  uint32_t kind = RULE_KIND (rule);

  if (kind == RULE_SP || kind == RULE_BP)
    *cfa = (kind == RULE_SP ? state->sp : state->fp) + RULE_OFFSET (rule);
  else if (!walk_find_rare_cfa (state, input, rule, cfa))
    return false;

  if (*cfa <= state->sp)
    return walk_stop (state, WALK_SP_NOT_RISING);
  return true;
}

/* The caller's frame pointer. */
WALK_INLINE void
walk_find_fp (WalkState *state, WalkInput *input, uint32_t rule, uint64_t cfa, uint64_t *fp)
{
  uint32_t slot = RULE_SLOT (rule);
  uint64_t place;

  if (RULE_KIND (rule) == RULE_SP_FAR)
    {
      slot = RULE_FAR_SLOT (rule);
      if (slot >= SLOT_FAR_AT_FP)
        slot += SLOT_AT_FP - SLOT_FAR_AT_FP;
    }
  if (RULE_KIND (rule) == RULE_SP_BX || RULE_KIND (rule) == RULE_BP_BX)
    {
      slot = RULE_BX_SLOT (rule);
      if (slot >= SLOT_BX_AT_FP)
        slot += SLOT_AT_FP - SLOT_BX_AT_FP;
    }

  *fp = state->fp;
  if (slot == SLOT_UNCHANGED)
    return;
  place = slot == SLOT_AT_FP ? state->fp : cfa - UINT64_C (8) * slot;
  if (slot != SLOT_LOST && walk_read (input, place, fp))
    return;
  /* Compilers go on saying that it is saved once it was popped, and Go's tables say so before. Below the stack pointer, where a
   * copy has nothing and a page need not be there, it is in its register. */
  *fp = slot <= SLOT_MOST && place < state->sp
            ? state->fp
            : UINT64_MAX; /* not 0, which is where processes begin; fails every check */
}

/* The caller's RBX, by a rule that says where it is; false: not known. */
WALK_OUTLINE bool
walk_find_bx (WalkState *state, WalkInput *input, uint32_t rule, uint64_t cfa, uint64_t *bx)
{
  uint32_t slot = RULE_BX_BX (rule);

  WALK_CHECK (state, false);
  WALK_CHECK (input, false);
  WALK_CHECK (bx, false);
  if (slot > SLOT_BX_MOST)
    return false;
  if (slot == SLOT_UNCHANGED)
    return walk_read_register (state, input, WALK_RBX, bx);
  return walk_read (input, cfa - UINT64_C (8) * slot, bx);
}

/* The CFA may be the stack pointer itself; there is one such step at most, as the registers are known once. */
WALK_INLINE bool
walk_step_by_register (WalkState *state, WalkInput *input, uint32_t rule)
{
  uint64_t ip = 0;

  if (!walk_read_register (state, input, RULE_REG_NUMBER (rule), &ip))
    return walk_stop (state, WALK_ESCAPE);
  return walk_go_on (state, ip, state->sp + RULE_REG_OFFSET (rule), state->fp);
}

/* Where Go's runtime has what it knows of a goroutine: the thread it runs on; SP and IP with which it goes on. */
#define WALK_GO_THREAD 0x30
#define WALK_GO_SP     0x38
#define WALK_GO_IP     0x40

#define WALK_MOST_GO_STACKS \
  3 /* one stack is left for another twice at most: a signal's, and the runtime's */

#define WALK_GO_STACK_END \
  8 /* where the goroutine's stack ends; and a thread notes its own goroutine, with its own stack, first of all */
#define WALK_MOST_LANGUAGES 200

#define WALK_TAKE_WORD        0x0d8b48u /* mov …(%rip), %rcx */
#define WALK_TAKE_WORD_LENGTH 7

/* What the thread notes on what it works for; false: the walk ended. */
WALK_INLINE bool
walk_find_own_goroutine (WalkState *state, WalkInput *input, uint32_t rule, uint64_t *own)
{
  uint64_t base = 0, bytes = 0, below = -(uint64_t) RULE_GO_BELOW (rule);
  uint64_t at = state->is_exact ? state->ip : state->ip - 1;

  /* Of a copy, which has this stack alone. */
  if (!walk_thread_base (input, &base))
    return walk_stop (state, WALK_DEPTH);
  if (RULE_GO_BELOW (rule) == RULE_GO_BY_WORD)
    {
      at = (at & ~(uint64_t) (GO_BLOCK - 1)) - GO_BEFORE_BLOCK + RULE_GO_DISTANCE (rule);
      if (!walk_code (input, at, &bytes) || (bytes & 0xffffff) != WALK_TAKE_WORD)
        return walk_stop (state, WALK_ESCAPE);
      at += WALK_TAKE_WORD_LENGTH + (uint64_t) (int64_t) (int32_t) (bytes >> 24);
      if (!walk_read (input, at, &below))
        return walk_stop (state, WALK_FAULT);
    }
  if (!walk_read (input, base + below, own))
    return walk_stop (state, WALK_FAULT);
  return true;
}

/* Go has called C, or C has called Go. The CFA need not rise. */
WALK_OUTLINE bool
walk_step_by_foreign (WalkState *state, WalkInput *input, uint32_t rule)
{
  uint64_t base = 0, own = 0, thread = 0, goroutine = 0, sp = 0, ip = 0, fp;

  WALK_CHECK (state, false);
  WALK_CHECK (input, false);
  fp = state->fp;
  if (state->n_languages_left++ == WALK_MOST_LANGUAGES)
    return walk_stop (state, WALK_SP_NOT_RISING);
  if (!walk_thread_base (input, &base))
    return walk_stop (state, WALK_DEPTH);

  if (RULE_GO_BELOW (rule) == 0)
    {
      uint64_t end = 0, at = state->sp + RULE_GO_SIZE (rule);

      if (!walk_read (input, at, &sp) || !walk_read (input, at + 8, &goroutine) ||
          (goroutine != 0 && !walk_read (input, goroutine + WALK_GO_STACK_END, &end)))
        return walk_stop (state, WALK_FAULT);
      if (goroutine != 0)
        sp = end - sp;
      sp += 8;
    }
  else
    {
      if (RULE_GO_PLACE (rule) != 0)
        {
          sp = state->sp;
        }
      else if (state->from_c != 0)
        {
          if (!walk_read (input, state->from_c, &sp))
            return walk_stop (state, WALK_FAULT);
        }
      else if (!walk_find_own_goroutine (state, input, rule, &own))
        {
          return false;
        }
      else if (!walk_read (input, own + WALK_GO_THREAD, &thread) ||
               !walk_read (input, thread, &goroutine) ||
               !walk_read (input, goroutine + WALK_GO_SP, &sp))
        {
          return walk_stop (state, WALK_FAULT);
        }
      state->from_c = sp;
      sp += RULE_GO_SIZE (rule);
      if (!walk_read (input, sp - 16, &fp))
        return walk_stop (state, WALK_FAULT);
    }

  if (!walk_read (input, sp - 8, &ip))
    return walk_stop (state, WALK_FAULT);
  return walk_go_on (state, ip, sp, fp);
}

/* Go's runtime has left a goroutine's stack for its own, and goes on as if called there. A thread without a goroutine works for
 * the runtime alone. The CFA need not rise. */
WALK_OUTLINE bool
walk_step_by_go (WalkState *state, WalkInput *input, uint32_t rule)
{
  uint64_t own = 0, thread = 0, goroutine = 0, sp = 0, ip = 0, fp;

  WALK_CHECK (state, false);
  WALK_CHECK (input, false);
  fp = state->fp;
  if (state->n_stacks_left++ == WALK_MOST_GO_STACKS)
    return walk_stop (state, WALK_SP_NOT_RISING);
  if (RULE_GO_MODE (rule) == GO_FRAME)
    {
      sp = fp + RULE_GO_SIZE (rule);
    }
  else
    {
      if (!walk_find_own_goroutine (state, input, rule, &own))
        return false;
      if (!walk_read (input, own + WALK_GO_THREAD, &thread) ||
          !walk_read (input, thread + RULE_GO_PLACE (rule), &goroutine))
        return walk_stop (state, WALK_FAULT);
      if (goroutine == 0)
        return walk_stop (state, WALK_END);
      if (!walk_read (input, goroutine + WALK_GO_SP, &sp) ||
          !walk_read (input, goroutine + WALK_GO_IP, &ip))
        return walk_stop (state, WALK_FAULT);
      if (RULE_GO_MODE (rule) == GO_GROWTH)
        return walk_go_on (state, ip, sp, fp);
      sp += RULE_GO_SIZE (rule) + 8;
    }

  if (!walk_read (input, sp - 8, &ip) ||
      (RULE_GO_SIZE (rule) != 0 && !walk_read (input, sp - 16, &fp)))
    return walk_stop (state, WALK_FAULT);
  return walk_go_on (state, ip, sp, fp);
}

/* What libgcc knows of a frame, struct _Unwind_Context since gcc 4.1: where each register of its is, by DWARF number; what its SP
 * is; where it is to go on; and how many bytes of arguments are on its stack. */
#define WALK_CONTEXT_FP        (8 * 6)
#define WALK_CONTEXT_SP        0x90
#define WALK_CONTEXT_IP        0x98
#define WALK_CONTEXT_ARGUMENTS 0xd0

/* An exception is being handed over: on the stack is already who catches it, with some registers still in memory. It goes on
 * at an instruction to which it is jumped, while addresses are looked up a byte before, as behind a call. */
WALK_OUTLINE bool
walk_step_by_handover (WalkState *state, WalkInput *input, uint32_t rule)
{
  uint64_t sp = 0, ip = 0, fp, place = 0, arguments = 0;
  uint32_t mode = RULE_HANDOVER_MODE (rule);

  WALK_CHECK (state, false);
  WALK_CHECK (input, false);
  fp = state->fp;
  sp = state->sp;
  if (mode == HANDOVER_CONTEXT)
    {
      uint64_t context = fp - RULE_HANDOVER_OFFSET (rule);

      if (!walk_read (input, context + WALK_CONTEXT_IP, &ip) ||
          !walk_read (input, context + WALK_CONTEXT_SP, &sp) ||
          !walk_read (input, context + WALK_CONTEXT_ARGUMENTS, &arguments) ||
          !walk_read (input, context + WALK_CONTEXT_FP, &place) ||
          !walk_read (input, place, &fp))
        return walk_stop (state, WALK_FAULT);
      sp += arguments;
    }
  else
    {
      if (mode != HANDOVER_TOP &&
          !walk_read_register (state, input, RULE_HANDOVER_REGISTER (rule), &place))
        return walk_stop (state, WALK_ESCAPE);
      if (mode == HANDOVER_SLOT)
        sp = place;
      ip = place;
      if (mode != HANDOVER_JUMP)
        {
          if (!walk_read (input, sp, &ip))
            return walk_stop (state, WALK_FAULT);
          sp += 8;
        }
    }

  if (mode != HANDOVER_JUMP && sp <= state->sp)
    return walk_stop (state, WALK_SP_NOT_RISING);
  return walk_go_on (state, ip + (ip != 0), sp, fp);
}

/* A large frame. */
WALK_INLINE bool
walk_step_by_far_rule_arm64 (WalkState *state, WalkInput *input, uint32_t rule)
{
  uint32_t place = RULE_FAR_SLOT (rule);
  uint64_t distance = UINT64_C (8) * (place & 63);
  uint64_t sp = state->sp, fp = state->fp, ip = state->lr, cfa, at;

  if (place == FAR_IN_LR)
    {
      if (!state->has_registers)
        return walk_stop (state, WALK_ESCAPE);
      return walk_go_on (state, walk_strip (state, ip), sp + RULE_FAR_OFFSET (rule), fp);
    }
  if (state->has_lost_sp)
    {
      if ((place & FAR_LINK) != 0)
        return walk_stop (state, WALK_BAD_FP);
      sp = (place & FAR_FROM_CFA) != 0 ? fp + distance - RULE_FAR_OFFSET (rule) : fp - distance;
    }

  cfa = sp + RULE_FAR_OFFSET (rule);
  if (cfa <= state->sp)
    return walk_stop (state, WALK_SP_NOT_RISING);
  at = (place & FAR_FROM_CFA) != 0 ? cfa - distance : sp + distance;
  if ((place & FAR_LINK) == 0)
    {
      if (!walk_read (input, at, &fp))
        return walk_stop (state, WALK_FAULT);
      at += 8;
    }
  if (!walk_read (input, at, &ip))
    return walk_stop (state, WALK_FAULT);
  return walk_go_on (state, walk_strip (state, ip), cfa, fp);
}

/* By a rule that says where the CFA and the pair are. */
WALK_INLINE bool
walk_step_by_rule_arm64 (WalkState *state, WalkInput *input, uint32_t rule)
{
  uint32_t kind = RULE_KIND (rule), slot = RULE_SLOT (rule);
  uint64_t cfa = 0, fp = state->fp, ip = state->lr, pair;

  if (kind == RULE_SP_FAR)
    return walk_step_by_far_rule_arm64 (state, input, rule);
  if (kind == RULE_LR)
    {
      /* Which nobody can have left by a call. */
      if (!state->has_registers)
        return walk_stop (state, WALK_ESCAPE);
      cfa = state->sp + RULE_OFFSET (rule);
      if (slot != SLOT_UNCHANGED && !walk_read (input, cfa - UINT64_C (8) * slot, &fp))
        return walk_stop (state, WALK_FAULT);
      return walk_go_on (state, walk_strip (state, ip), cfa, fp);
    }
  if (kind == RULE_SP_LINK)
    {
      if (state->has_lost_sp)
        return walk_stop (state, WALK_BAD_FP);
      cfa = state->sp + RULE_OFFSET (rule);
      if (cfa <= state->sp)
        return walk_stop (state, WALK_SP_NOT_RISING);
      if (!walk_read (input, cfa - UINT64_C (8) * slot, &ip))
        return walk_stop (state, WALK_FAULT);
      return walk_go_on (state, walk_strip (state, ip), cfa, fp);
    }

  /* Its frame pointer is that of the chain, which points at the pair. */
  if (state->has_lost_sp && kind == RULE_SP)
    {
      cfa = fp + UINT64_C (8) * slot;
      if (cfa <= state->sp)
        return walk_stop (state, WALK_SP_NOT_RISING);
    }
  else if (!walk_find_cfa (state, input, rule, &cfa))
    {
      return false;
    }
  pair = cfa - UINT64_C (8) * slot;
  if (!walk_read (input, pair, &fp) || !walk_read (input, pair + 8, &ip))
    return walk_stop (state, WALK_FAULT);
  return walk_go_on (state, walk_strip (state, ip), cfa, fp);
}

/* Without a rule. Where there might have been one, that is why the walk ends. */
WALK_INLINE bool
walk_step_without_rule (WalkState *state, WalkInput *input, uint32_t rule)
{
  bool has_failed =
      (state->mapping.n_pages == 0 && state->mapping.first_page == MAPPING_FAILED) ||
      rule == RULE_DOUBT;

  if (rule == RULE_DOUBT)
    state->used |= WALK_USED_DOUBT;
  if (walk_step_by_fp (state, input))
    return true;
  if (has_failed && state->reason == WALK_BAD_FP)
    state->reason = WALK_TABLE_FAILED;
  return false;
}

/* From state->ip to its caller. False: the walk ended, and state->reason says why. */
WALK_INLINE bool
sysprof_walk_step (WalkState *state, WalkInput *input)
{
  uint64_t address = state->is_exact ? state->ip : state->ip - 1;
  uint64_t cfa = 0, ip = 0, fp = 0, bx = 0;
  uint32_t rule;
  bool has_bx;

  if (!walk_find_mapping (state, input, address))
    return walk_stop (state, WALK_NO_MAPPING);
  if (state->mapping.n_pages == 0 && state->mapping.first_page == MAPPING_PENDING)
    return walk_stop (state, WALK_NO_TABLE);

  rule = walk_rule_of (state, input, address);
  if (RULE_KIND (rule) == RULE_NONE)
    return walk_step_without_rule (state, input, rule);
  if (RULE_KIND (rule) == RULE_END)
    return walk_stop (state, WALK_END);
  if (RULE_KIND (rule) == RULE_SIGNAL)
    return walk_step_by_signal (state, input);
  if (WALK_IS_ARM64 (state))
    return walk_step_by_rule_arm64 (state, input, rule);
  if (RULE_KIND (rule) == RULE_RA)
    return walk_step_by_register (state, input, rule);
  if (RULE_KIND (rule) == RULE_GO && RULE_GO_MODE (rule) == GO_FOREIGN)
    return walk_step_by_foreign (state, input, rule);
  if (RULE_KIND (rule) == RULE_GO)
    return walk_step_by_go (state, input, rule);
  if (RULE_KIND (rule) == RULE_HANDOVER)
    return walk_step_by_handover (state, input, rule);

  if (!walk_find_cfa (state, input, rule, &cfa))
    return false;
  if (!walk_read (input, cfa - 8, &ip))
    return walk_stop (state, WALK_FAULT);
  walk_find_fp (state, input, rule, cfa, &fp);
  has_bx = (RULE_KIND (rule) == RULE_SP_BX || RULE_KIND (rule) == RULE_BP_BX) &&
           walk_find_bx (state, input, rule, cfa, &bx);
  if (!walk_go_on (state, ip, cfa, fp))
    return false;
  state->bx = bx;
  state->has_bx = has_bx;
  return true;
}
