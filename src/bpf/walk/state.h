// SPDX-License-Identifier: GPL-3.0-or-later

/* The state of a walk, and the functions that whoever includes this file must define: they
 * read memory, tables and registers. */

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
