// SPDX-License-Identifier: GPL-3.0-or-later

/* The internals of the sampler, shared by the files of this folder. */

#pragma once

#include "record/instrument.h"
#include "record/record.h"
#include "record/sampling/feed.h"
#include "record/sampling/request.h"
#include "unwinder/unwinder.h"

/* Each needs a descriptor; most machines run the code of about 250 files. */
#define MOST_PINNED_FILES 512

/* The rows of stack-methods.c, in the order in which they are tried. */
typedef enum
{
  STACKS_BY_TABLES,
  STACKS_BY_COPIES,
  STACKS_BY_FRAME_POINTERS,
  STACKS_NONE,
} StackMethodId;

struct _SysprofSampler
{
  SysprofInstrument parent_instance;

  /* Frozen once made; owns its pointers. */
  SamplerOptions options;

  /* Owned by the pump thread. */
  SamplingRequest request;
  EventFeed feed;
  StackMethodId method;
  /* NULL: the kernel unwinds by frame pointers. Not NULL with STACKS_BY_FRAME_POINTERS if the
   * kernel rejected the BPF program. */
  Unwinder *unwinder;
  bool has_reserved_descriptors; /* MOST_PINNED_FILES of them */
  /* why the methods before `method` are unavailable; NULL = none was tried */
  char *why_not_better;
  bool is_narrowed; /* because of missing privileges; the user has been informed */
  int loaded_fd;    /* watched until the BPF program is loaded; -1 = not loading */
  UserFilter *filter;
  StackTally *tally;
  EventLedger *ledger; /* NULL = all samples of an event have the same period */
  GArray *watched;     /* [WatchedTask] the recording ends when all have exited */
};

/* --- sampler-session.c --- */

/* Opens the events of `request`, narrowed if privileges are missing. */
PerfSession *
sysprof_sampler_open_session (SysprofSampler *self, RecordingContext *context, GError **error);

/* --- stack-methods.c --- */

/* Opens events with the best method of taking stacks that they support. NULL: with `error` if
 * the events cannot be opened; without, if the requested method is unavailable. Then the
 * recording has failed. */
PerfSession *
sysprof_stack_methods_open (SysprofSampler *self, RecordingContext *context, GError **error);
/* Connects the method to the decoder of `session`, and reports if better methods were
 * unavailable. */
void sysprof_stack_method_attach (SysprofSampler *self,
                                  RecordingContext *context,
                                  PerfSession *session);
/* Writes the name of the method as metadata. */
void sysprof_stack_method_write (SysprofSampler *self, RecordingContext *context);
/* Whether the decoder forwards records of mappings to the unwinder. */
bool sysprof_sampler_feeds_unwinder (const SysprofSampler *self);

/* --- sampled-events.c --- */

/* If samples have different events or periods, each sample must contain them. The BPF program
 * does not send them. FALSE with `error` if the user requested the program. */
bool sysprof_sampler_prepare_ledger (SysprofSampler *self, GError **error);
void sysprof_sampler_finish_ledger (SysprofSampler *self, RecordingContext *context);
/* Why the BPF program cannot unwind samples of these events. */
void sysprof_sampler_set_no_program_error (const SysprofSampler *self, GError **error);
/* Writes the events at the start, so that readers of an unfinished capture have them. */
void sysprof_sampler_write_events (SysprofSampler *self, RecordingContext *context);

/* --- unwind-results.c --- */

/* Writes the samples that are still pending, then the number of stacks for each reason to
 * end. */
void sysprof_sampler_finish_unwinder (SysprofSampler *self, RecordingContext *context);
/* Writes the best unwind method of each process, and which samples used another. */
void sysprof_sampler_write_tally (SysprofSampler *self, RecordingContext *context);

/* --- watched-tasks.c --- */

/* Ends the recording when all tasks that the user has named have exited. */
void sysprof_sampler_watch_tasks (SysprofSampler *self, RecordingContext *context);
void sysprof_sampler_forget_tasks (SysprofSampler *self);
