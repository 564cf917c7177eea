// SPDX-License-Identifier: GPL-3.0-or-later

/* Words about a capture and about rows: headings, facts about the machine, and explanations
 * of empty views. */

#pragma once

#include "views/views.h"

/* Counts of sampled stacks. */
typedef struct
{
  uint64_t samples;
  uint64_t whole;
  uint64_t kernel_only;
  uint64_t cut;
  uint64_t empty;
  uint64_t not_unwound;
} StackFacts;

/* `filter`: NULL = of all samples. */
StackFacts sysprof_stack_facts (const ViewRequest *request, const SampleFilter *filter);

/* What was sampled outside the selected processes. */
typedef struct
{
  double percent;   /* of the samples that the rest of the selection takes */
  const char *most; /* the name of the processes with most of them; NULL = none */
  uint32_t n_processes;
} Beside;

/* FALSE if the recorded command is not selected. */
bool sysprof_find_beside (const ViewRequest *request, Beside *beside);
/* Path of the capture as messages show it. */
const char *sysprof_capture_path (const ViewRequest *request);
/* Lines about the machine, the time, the selection and the quality of its samples;
 * NULL-terminated. *(full)* */
char **sysprof_dup_machine_facts (const ViewRequest *request);

/* The recorded command in one line, without the folder of its program; NULL if the whole
 * machine was recorded. *(full)* */
char *sysprof_dup_command (const ViewRequest *request);
/* What is selected: "command make, --time 1s..2s"; NULL for the whole capture. *(full)* */
char *sysprof_dup_selection (const ViewRequest *request);

/* A weight of the rows with its unit: "1,234 samples", "12.40 s". *(full)* */
char *sysprof_dup_weight (const Rows *rows, uint64_t weight);
/* What was sampled and how often: " (cpu-clock at 1000 Hz)"; "" if the capture does not say it.
 * Only the rate of the event called `weight_name`, if there is one; NULL = all. *(full)* */
char *sysprof_dup_events (const Store *store, const char *weight_name);
/* "1,234 samples (cpu-clock at 1000 Hz) in 12.4 s". *(full)* */
char *sysprof_dup_amount (const ViewRequest *request, const Rows *rows);
/* "Functions of run.syscap (--process make): 1,234 samples (cpu-clock at 1000 Hz) in 12.4 s".
 * One line. *(full)* */
char *sysprof_dup_heading (const View *view, const ViewRequest *request, const Rows *rows);
/* Title of a picture: "python3 slow.py – 1,234 samples (cpu-clock at 1000 Hz), 12.40 s,
 * --no-kernel", with "whole machine" if no command was recorded, or with --all. One line.
 * *(full)* */
char *sysprof_dup_title (const ViewRequest *request, const Rows *rows);
/* A sentence to show in place of missing rows: why there are none, and what to do. One
 * line. *(full)* */
char *sysprof_dup_emptiness (const ViewRequest *request, const Rows *rows);
