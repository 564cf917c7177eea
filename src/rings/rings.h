// SPDX-License-Identifier: GPL-3.0-or-later

/* rings: receives the frames that recorded programs write with the collector.
 *
 * A program requests rings over the control socket that it inherits, one for each thread. A
 * ring is shared memory: the thread writes frames, and this module polls them, because there
 * is no notification. It merges the frames of all rings by time and adds them to the
 * recording, with new counter ids.
 *
 *   ring-reader.c     reads the frames of one ring
 *   ring-set.c        merges all rings into the recording
 *   process-ids.c     translates the process and thread numbers of containers
 *   control-server.c  answers requests for rings
 *
 * Programs are untrusted. None of their bytes is used before it was copied and checked, and
 * the numbers of their rings and names are limited.
 *
 * *Owned* by one thread.
 *
 *   RingSet *set = sysprof_ring_set_new (writer, NULL, NULL);
 *   ControlServer *server = sysprof_control_server_new (our_end, set);
 *   // when the socket is readable:
 *   sysprof_control_server_answer (server);
 *   // every few milliseconds:
 *   sysprof_ring_set_drain (set, deadline); */

#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sysprof-capture.h>

/* --- all rings --- */

typedef struct RingSet RingSet;

/* Returns the writer of traces and D-Bus messages; NULL = they are lost. */
typedef SysprofCaptureWriter *(*RingLateWriterFunc) (void *data);

/* Borrows `writer`. `late_writer` may be NULL: `writer` then gets all frames. */
RingSet *
sysprof_ring_set_new (SysprofCaptureWriter *writer, RingLateWriterFunc late_writer, void *data);
void sysprof_ring_set_free (RingSet *self);

/* Makes a ring for a thread of the process `pid`. Returns a descriptor, which the caller closes
 * after passing it; -1 with errno if there are too many rings or no memory. */
int sysprof_ring_set_add (RingSet *self, pid_t pid);

/* Adds a ring in memory of the caller, with its body mapped or copied twice. */
void sysprof_ring_set_add_memory (RingSet *self,
                                  pid_t pid,
                                  uint8_t *header,
                                  const uint8_t *body,
                                  uint32_t size);

unsigned sysprof_ring_set_get_n (const RingSet *self);

typedef enum
{
  RINGS_EMPTY,
  RINGS_ACTIVE,  /* there were frames */
  RINGS_FILLING, /* a ring was more than a quarter full, or frames are left */
} RingActivity;

/* Copies the frames of all rings, in order of time, until about `deadline` (ns). */
RingActivity sysprof_ring_set_drain (RingSet *self, int64_t deadline);

typedef struct
{
  pid_t pid;
  char name[16];        /* as in /proc/PID/comm */
  uint64_t n_dropped;   /* frames that did not fit into a ring, if the program counts them */
  uint64_t n_rejected;  /* frames that the writer of the recording rejected */
  uint64_t n_shortened; /* frames whose text was longer than a capture may have */
  uint64_t n_invalid;   /* frames that contradict themselves */
  unsigned n_broken;    /* rings that were given up because their contents make no sense */
} RingProgram;

typedef void (*RingProgramFunc) (const RingProgram *program, void *data);

void sysprof_ring_set_foreach_program (const RingSet *self, RingProgramFunc func, void *data);

/* Frames that programs have lost so far, of any kind. */
uint64_t sysprof_ring_set_get_n_lost (const RingSet *self);

/* --- the control socket --- */

typedef struct ControlServer ControlServer;

/* Takes ownership of `fd`, our end of a stream socket pair, nonblocking. Borrows `rings`. */
ControlServer *sysprof_control_server_new (int fd, RingSet *rings);
int sysprof_control_server_get_fd (const ControlServer *self); /* borrowed */
/* Closes the socket. */
void sysprof_control_server_free (ControlServer *self);

typedef enum
{
  CONTROL_READING, /* waits for requests */
  CONTROL_WRITING, /* replies were not read yet: call again in a few milliseconds */
  CONTROL_CLOSED,  /* no request will come */
} ControlState;

/* Answers the requests that have arrived. Does not wait. */
ControlState sysprof_control_server_answer (ControlServer *self);
