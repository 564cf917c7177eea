// SPDX-License-Identifier: GPL-3.0-or-later

/* Findings: short sentences about what stands out in a recording, each with the command that
 * shows more. Each rule is a function that adds sentences or nothing. A rule must use the
 * figures of the view that it names.
 *
 *   findings.c        the list of rules
 *   finding-rows.c    how a finding becomes a row
 *   cpu-rules.c       processes, functions, the kernel
 *   frame-rules.c     slow frames of toolkits
 *   memory-rules.c    processes that grow
 *   wait-rules.c      what was waited for
 *   path-rules.c      the process on which a command depended
 *   interpreter-rules.c  runtimes that do not name their functions
 *   quality-rules.c   truncated stacks, lost samples, missing names
 *   event-rules.c     marks, logs, messages, memory, busy seconds */

#pragma once

#include "text/text.h"
#include "views/overview/own-functions.h"
#include "views/overview/summary-parts.h"
#include "views/sample-rows.h"

#include <math.h>

#define FINDING_MAX_OPTIONS 8

typedef struct
{
  const ViewRequest *request;
  const Store *store;
  const SymbolTable *symbols;
  Rows *rows;
  StackWeights weights;     /* of the request */
  FunctionTable *functions; /* likewise */
  Quality *quality;
  OwnFunctions own;         /* of all stacks */
  OwnFunction own_function; /* the heaviest one of the request */
} Findings;

/* Zeroed members are unknown. Texts are copied. */
typedef struct
{
  const char *kind;    /* one word, listed in sysprof-report(1) */
  const char *view;    /* that shows more, and its switches */
  const char *process; /* COMM/PID */
  const char *symbol;  /* the program's own function */
  const char *reason;
  const char *remedy; /* a sentence: what to do */
  double share;       /* a fraction of the weight, or of the wall time for waits */
  /* Names and values in turn, NULL-terminated, added to the selection of the request; "" is the
   * value of a switch. */
  const char *options[FINDING_MAX_OPTIONS + 1];
} Finding;

void sysprof_findings_init_rows (Findings *self);
/* Adds a finding. The sentence is `format`, followed by the remedy. */
void sysprof_findings_add (Findings *self, const Finding *finding, const char *format, ...)
    G_GNUC_PRINTF (3, 4);

/* Percentage of the weight of the request. */
double sysprof_findings_percent (const Findings *self, uint64_t part);
/* What shares refer to: "time", "samples", "page-faults". */
const char *sysprof_findings_noun (const Findings *self);
/* "were", or the verb for time. */
const char *sysprof_findings_verb (const Findings *self, const char *of_time);
/* Whether the weights include waits. */
bool sysprof_findings_weigh_waits (const Findings *self);

/* The function's name, shortened. *(full)* */
char *sysprof_findings_dup_shown_name (const Findings *self, SymbolId symbol);
/* " (sort.c:123)", or "" if the source location is unknown. *(full)* */
char *sysprof_findings_dup_location (const Findings *self, SymbolId symbol);

void sysprof_find_frames (Findings *self);
void sysprof_find_waits (Findings *self);
void sysprof_find_critical_path (Findings *self);
void sysprof_find_cpu_use (Findings *self);
void sysprof_find_kernel_use (Findings *self);
void sysprof_find_interpreters (Findings *self);
void sysprof_find_quality (Findings *self);
void sysprof_find_memory_growth (Findings *self);
void sysprof_find_events (Findings *self);
