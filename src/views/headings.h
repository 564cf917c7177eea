// SPDX-License-Identifier: GPL-3.0-or-later

/* Words about a capture and about rows: headings, facts about the machine, and explanations of empty views. */

#pragma once

#include "views/views.h"

/* Counts of all sampled stacks, before any selection. */
typedef struct
{
  uint64_t samples;
  uint64_t whole;
  uint64_t kernel_only;
  uint64_t cut;
  uint64_t empty;
  uint64_t not_unwound;
} StackFacts;

StackFacts sysprof_stack_facts (const ViewRequest *request);
/* Path of the capture as messages show it. */
const char *sysprof_capture_path (const ViewRequest *request);
/* Lines about the machine, the time and the quality of the recording; NULL-terminated. *(full)* */
char **sysprof_dup_machine_facts (const ViewRequest *request);

/* "1,234 samples in 12.4 s". *(full)* */
char *sysprof_dup_amount (const ViewRequest *request, const Rows *rows);
/* "Functions of run.syscap: 1,234 samples in 12.4 s". One line. *(full)* */
char *sysprof_dup_heading (const View *view, const ViewRequest *request, const Rows *rows);
/* A sentence to show in place of missing rows: why there are none, and what to do. One line. *(full)* */
char *sysprof_dup_emptiness (const ViewRequest *request, const Rows *rows);
