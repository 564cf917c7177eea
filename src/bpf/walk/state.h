// SPDX-License-Identifier: GPL-3.0-or-later

/* The state of a walk, and the functions that the including file must define: they read memory,
 * tables and registers. */

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

/* Reads a word of the stack. FALSE: it is not readable. */
static bool walk_read (WalkInput *input, uint64_t address, uint64_t *word);
/* UNWIND_SLAB_SIZE bytes, or NULL. */
static const uint8_t *walk_slab (WalkInput *input, uint32_t index);
/* An entry of the page directory; for an invalid index, any entry. */
static uint32_t walk_page (WalkInput *input, uint32_t index);
/* Never NULL; for an invalid index, any mapping. */
static const UnwindMapping *walk_mapping (WalkInput *input, uint32_t index);
/* A register of the first frame, by DWARF number. FALSE: it was not copied. */
static bool walk_register (WalkInput *input, uint32_t number, uint64_t *value);
/* The thread base (FS). FALSE: unknown. */
static bool walk_thread_base (WalkInput *input, uint64_t *base);
/* Stores the mapping that contains a user `address` in the state: walk_find_listed(), or a
 * faster way. */
static bool walk_look_up (WalkState *state, WalkInput *input, uint64_t address);
/* The rule for byte `address` of page `page`: walk_find_rule_at(), or a cache of it. */
static uint32_t walk_rule_at (WalkInput *input, uint32_t page, uint32_t address);
/* Eight bytes of the program's code, in little-endian order. FALSE: not readable. */
static bool walk_code (WalkInput *input, uint64_t address, uint64_t *bytes);

#define WALK_INLINE static inline __attribute__ ((always_inline))

/* For functions with several callers and for rare steps: the verifier checks each once, instead
 * of once for each path that leads to it. */
#ifdef __bpf__
#  define WALK_OUTLINE __attribute__ ((noinline))
#  define WALK_CHECK(pointer, otherwise) \
    if ((pointer) == 0)                  \
    return otherwise
#else
#  define WALK_OUTLINE WALK_INLINE
#  define WALK_CHECK(pointer, otherwise)
#endif

/* Keeps the compiler from moving a check away from the access that it guards, where the
 * verifier would not see it. */
#define WALK_KEEP(value) __asm__ volatile("" : "+r"(value))

/* bytes: maximum size of a frame that only the frame pointer describes */
#define WALK_MOST_FP_FRAME (UINT64_C (16) << 20)

struct WalkState
{
  uint64_t ip; /* of the next frame */
  uint64_t sp; /* the CFA of the previous frame: its value after the return */
  uint64_t fp;
  uint64_t lr;        /* arm64: of this frame, if `has_registers` */
  uint64_t code_mask; /* arm64: the bits of a return address that are not a signature */
  /* address of the registers that a signal frame saved; 0 = use those of the input */
  uint64_t context;

  /* The mapping that was found last; end = 0: none. */
  UnwindMapping mapping;

  uint32_t first_mapping; /* of the process */
  uint32_t n_mappings;
  uint32_t reason; /* WalkReason */
  uint32_t used;   /* WALK_USED_… */

  bool is_by_fp; /* the previous step used the frame pointer */
  bool is_exact; /* ip is the instruction itself, not a return address */
  /* registers other than sp and fp are known: first frame, or after a signal */
  bool has_registers;
  bool has_bx; /* `bx` is this frame's */
  bool is_arm64;
  uint8_t n_stacks_left;    /* changes of stack in Go's runtime */
  uint8_t n_languages_left; /* changes between Go and C */
  /* arm64: `sp` is unknown, because the previous step used the frame pointer; it is a lower
   * limit */
  bool has_lost_sp;
  uint64_t bx;
  uint64_t from_c; /* where C last called Go, on the thread's stack; 0 = unknown */
};

#define WALK_RBX 3u /* DWARF number */
