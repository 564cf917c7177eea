// SPDX-License-Identifier: GPL-3.0-or-later

/* Stacks of the workload, compared with the list that it keeps itself of its active functions,
 * and that the test's build of the walker in the kernel copies in the moment of the sample.
 *
 * A function is active a little before it is on its list and a little behind: one more at the
 * inner end is right. Two where a signal came in such a moment: the handler and the function
 * that it came upon.
 *
 * The functions are known by their symbols: listedN_… has the number N. */

#pragma once

#include "truth.h"

#include "bpf/bpf.h"

#include <gio/gio.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#define TRUTH_IDS 128u /* numbers of functions are below */

typedef struct
{
  uint64_t start;
  uint64_t end;
  unsigned id; /* 0: of those at which an outermost one that is not listed may stand */
} Function;

typedef struct
{
  GArray *functions; /* of Function, by start: addresses of the running process */
  char *name[TRUTH_IDS];
  bool is_seen[TRUTH_IDS]; /* on a stack that was compared */
  const char *const *tops; /* NULL-terminated names: see n_elsewhere; NULL = none */
  uint64_t n_samples;
  uint64_t n_unsettled;
  uint64_t n_broken; /* neither unsettled nor complete */
  uint64_t n_short;  /* of them, those of a few small frames, on one stack */
  uint64_t n_short_of[WALK_REASONS];
  uint64_t n_without;   /* whole, of threads without a list */
  uint64_t n_elsewhere; /* whole, on the stack of a runtime that has one beside the program's */
  uint64_t n_whole;
  uint64_t n_unequal;
  uint64_t n_deep; /* more than 5000 functions */
  uint64_t n_reasons[WALK_REASONS];
  uint64_t n_first_by_fp; /* of the whole ones, those that say that they may miss a caller */
} Comparison;

typedef struct
{
  WalkReason reason;
  uint32_t used; /* WALK_USED_… */
  unsigned n;
  const uint64_t *address; /* [n] innermost first */
  TruthCopy truth;
} TruthSample;

/* The BPF program was not loaded. Skips the test if errno shows that this machine cannot run
 * it; fails it if the kernel refused the program. */
void skip_or_fail (void);

/* Runs until its standard input ends. */
GSubprocess *start_program (const char *program);
/* Of type pid_t. */
GArray *list_threads (pid_t pid);

/* The caller frees with clear_comparison(). */
void find_functions (Comparison *self, const char *program, pid_t pid);
void clear_comparison (Comparison *self);

/* The record that the program in the kernel has sent. FALSE: another one, or without a user
 * stack. */
bool parse_truth (TruthSample *self, const struct perf_event_header *record);

/* Complete stacks must be equal; the others are counted. */
void compare_sample (Comparison *self, const TruthSample *sample);

/* Whether each function has been on a stack that was compared. */
bool has_seen_all (const Comparison *self);

/* Something was compared, and nothing differs. */
void tell_comparison (const Comparison *self);
