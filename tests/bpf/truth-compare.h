// SPDX-License-Identifier: GPL-3.0-or-later

/* Stacks of the workload, compared with the list that it keeps itself of its active functions, and that the test's build of the
 * walker in the kernel copies in the moment of the sample.
 *
 * A function is active a little before it is on its list and a little behind: one more at the inner end is right. Two
 * where a signal came in such a moment: the handler and the function that it came upon. */

#pragma once

#include "truth.h"

#include "bpf/bpf.h"

#include <gio/gio.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct
{
  uint64_t start;
  uint64_t end;
  unsigned id;
} Function;

typedef struct
{
  Function function[TRUTH_FUNCTIONS_END]; /* addresses of the running process */
  unsigned n_functions;
  uint64_t n_samples;
  uint64_t n_unsettled;
  uint64_t n_whole;
  uint64_t n_unequal;
  uint64_t n_deep; /* more than 5000 functions */
  uint64_t n_reasons[WALK_REASONS];
} Comparison;

typedef struct
{
  WalkReason reason;
  unsigned n;
  const uint64_t *address; /* [n] innermost first */
  TruthCopy truth;
} TruthSample;

/* Runs until its standard input ends. */
GSubprocess *start_program (const char *program);
/* Of type pid_t. */
GArray *list_threads (pid_t pid);

void find_functions (Comparison *self, const char *program, pid_t pid);

/* The record that the program in the kernel has sent. FALSE: another one, or without a user stack. */
bool parse_truth (TruthSample *self, const struct perf_event_header *record);

/* Whole stacks are to be equal; the others are counted. */
void compare_sample (Comparison *self, const TruthSample *sample);

/* What was compared, and nothing unequal. */
void tell_comparison (const Comparison *self);
