// SPDX-License-Identifier: GPL-3.0-or-later

/* perf: kernel events. A session opens the events, maps one ring per CPU, and decodes the
 * records into frames of the capture.
 *
 *   session.h           opens, drains and closes the events of a recording
 *   attributes.h        perf_event_attr for each role of an event
 *   ring.h              the ring buffer of a CPU
 *   decode.h            records to frames
 *   copy.h              the stack copy of a sample
 *   event-ledger.h      the event and the period of each sample
 *   stack-tally.h       how the stacks of each process were unwound
 *   cgroup-filter.h, user-filter.h
 *                       samples of one cgroup, of one user
 *   task-events.h       mappings, forks, execs and exits, for code that tracks processes
 *   process-log.h       processes that have started or that generate code
 *   thread-names.h      the names of threads over time
 *   kernel-symbol-log.h kernel code that was loaded or unloaded
 *   scheduler-marks.h   sched_switch records to marks
 *   tracepoint-format.h the fields of a tracepoint
 *   cpus.h              lists of CPUs
 *   events/             events by name: generic ones, caches, PMUs, tracepoints
 *
 * All of it is *owned* by the thread that drains the session. */

#pragma once

#include "perf/attributes.h"
#include "perf/copy.h"
#include "perf/cpus.h"
#include "perf/decode.h"
#include "perf/events/event-list.h"
#include "perf/events/event.h"
#include "perf/scheduler-marks.h"
#include "perf/session.h"
#include "perf/task-events.h"
