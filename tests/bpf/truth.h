// SPDX-License-Identifier: GPL-3.0-or-later

/* The list that a program keeps of its active functions, where the test's build of the walker
 * finds it: one for each of its threads, by the thread's number, at a fixed address. */

#pragma once

#define TRUTH_BASE    0x100000000000ull
#define TRUTH_SIZE    0x10000ull /* of one list */
#define TRUTH_LISTS   (1u << 22)
#define TRUTH_MOST    32000u /* functions on a list */
#define TRUTH_COPIED  256u   /* the innermost ones, with a sample */
#define TRUTH_AT(tid) (TRUTH_BASE + ((tid) & (TRUTH_LISTS - 1)) * TRUTH_SIZE)

typedef struct
{
  unsigned n;
  unsigned is_unsettled; /* a jump out of several functions is on its way */
} TruthHead;

/* Behind the addresses of a record. */
typedef struct
{
  TruthHead head;
  unsigned short id[TRUTH_COPIED]; /* the last of the list; outermost first */
} TruthCopy;

/* Name and number of every function that truth-workload.c lists. Those of the others have their
 * numbers in their names. */
#define TRUTH_FUNCTIONS(FUNCTION) \
  FUNCTION (main, 1)              \
  FUNCTION (run_thread, 2)        \
  FUNCTION (one_round, 3)         \
  FUNCTION (leaf, 4)              \
  FUNCTION (many_registers, 5)    \
  FUNCTION (variable_frame, 6)    \
  FUNCTION (aligned_frame, 7)     \
  FUNCTION (large_frame, 8)       \
  FUNCTION (recurse, 9)           \
  FUNCTION (recurse_deep, 10)     \
  FUNCTION (compare, 11)          \
  FUNCTION (sort, 12)             \
  FUNCTION (call_kernel, 13)      \
  FUNCTION (ask_time, 14)         \
  FUNCTION (handler, 15)          \
  FUNCTION (raise_signal, 16)     \
  FUNCTION (through_pointer, 17)  \
  FUNCTION (jump_back, 18)        \
  FUNCTION (jump_from, 19)        \
  FUNCTION (switch_cases, 20)     \
  FUNCTION (format, 21)           \
  FUNCTION (stack_handler, 22)    \
  FUNCTION (fault_in, 23)         \
  FUNCTION (call_chosen, 24)

#define TRUTH_FUNCTIONS_END 25
